// RUN: napkin-opt %s -split-input-file --nap-fuse=single-ops | FileCheck %s

// A view stands inside its reader; the tensors in memory are the kernel's operands.
// CHECK-LABEL: func.func @view_inside
// CHECK-SAME: (%[[X:.+]]: tensor<3x5xf32>{{.*}}, %[[B:.+]]: tensor<5xf32>
// CHECK-NEXT: %[[K:.+]] = nap.kernel pointwise "add"(%[[B]], %[[X]])
// CHECK-NEXT: ^bb0(%[[IB:.+]]: tensor<5xf32>, %[[IX:.+]]: tensor<3x5xf32>):
// CHECK-NEXT:   %[[V:.+]] = nap.broadcast %[[IB]] [1]
// CHECK-NEXT:   %[[S:.+]] = nap.add %[[IX]], %[[V]]
// CHECK-NEXT:   nap.yield %[[S]]
// CHECK: return %[[K]]
func.func @view_inside(%x: tensor<3x5xf32>, %b: tensor<5xf32>) -> tensor<3x5xf32> {
  %0 = nap.broadcast %b [1] : tensor<5xf32> -> tensor<3x5xf32>
  %1 = nap.add %x, %0 : tensor<3x5xf32>
  return %1 : tensor<3x5xf32>
}

// -----

// Each reader has a constant for itself.
// CHECK-LABEL: func.func @constants_are_cloned
// CHECK: nap.kernel pointwise "mul"
// CHECK: nap.constant dense<2.0
// CHECK: nap.kernel pointwise "sub"
// CHECK: nap.constant dense<2.0
func.func @constants_are_cloned(%x: tensor<3xf32>) -> tensor<3xf32> {
  %c = nap.constant dense<2.0> : tensor<3xf32>
  %0 = nap.mul %x, %c : tensor<3xf32>
  %1 = nap.sub %0, %c : tensor<3xf32>
  return %1 : tensor<3xf32>
}

// -----

// The class is that of the op that is not elementwise.
// CHECK-LABEL: func.func @classes
// CHECK: nap.kernel contraction "matmul"
// CHECK: nap.kernel reduction "max"
// CHECK: nap.kernel scatter "put_along"
// CHECK: nap.kernel row "argmax"
// CHECK: nap.kernel pointwise "embed"
func.func @classes(%x: tensor<3x5xf32>, %y: tensor<7x5xf32>, %ids: tensor<3xi32>)
    -> (tensor<3xf32>, tensor<3x5xf32>, tensor<3xi32>, tensor<3x5xf32>) {
  %0 = nap.einsum "ij,kj->ik" %x, %y : (tensor<3x5xf32>, tensor<7x5xf32>) -> tensor<3x7xf32>
  %1 = nap.reduce max %0 [1] : tensor<3x7xf32> -> tensor<3xf32>
  %2 = nap.put_along %1, %ids : tensor<3xf32>, tensor<3xi32> -> tensor<3x5xf32>
  %3 = nap.argmax %2 : tensor<3x5xf32> -> tensor<3xi32>
  %4 = nap.embed %y, %ids : tensor<7x5xf32>, tensor<3xi32> -> tensor<3x5xf32>
  return %1, %2, %3, %4 : tensor<3xf32>, tensor<3x5xf32>, tensor<3xi32>, tensor<3x5xf32>
}

// -----

// A split of an axis has constant strides; merging axes that do not lie together has none, and a
// contraction wants them: a copy.
// CHECK-LABEL: func.func @merge_wants_copy
// CHECK: nap.kernel pointwise "exp"
// CHECK: %[[COPY:.+]] = nap.kernel pointwise "copy"
// CHECK: nap.permute
// CHECK-NEXT: nap.yield
// CHECK: nap.kernel contraction "matmul"(%[[COPY]],
// CHECK: nap.reshape
func.func @merge_wants_copy(%x: tensor<2x15xf32>, %w: tensor<5x7xf32>) -> tensor<6x7xf32> {
  %0 = nap.exp %x : tensor<2x15xf32>
  %1 = nap.reshape %0 : tensor<2x15xf32> -> tensor<2x3x5xf32>
  %2 = nap.permute %1 [1, 0, 2] : tensor<2x3x5xf32> -> tensor<3x2x5xf32>
  %3 = nap.reshape %2 : tensor<3x2x5xf32> -> tensor<6x5xf32>
  %4 = nap.einsum "ij,jk->ik" %3, %w : (tensor<6x5xf32>, tensor<5x7xf32>) -> tensor<6x7xf32>
  return %4 : tensor<6x7xf32>
}

// -----

// Splits, and merges of axes that lie together in another order, want none.
// CHECK-LABEL: func.func @split_wants_none
// CHECK-NOT: "copy"
// CHECK: nap.kernel contraction "matmul"
func.func @split_wants_none(%x: tensor<4x15xf32>, %w: tensor<4x7xf32>) -> tensor<15x7xf32> {
  %0 = nap.reshape %x : tensor<4x15xf32> -> tensor<4x3x5xf32>
  %1 = nap.permute %0 [1, 2, 0] : tensor<4x3x5xf32> -> tensor<3x5x4xf32>
  %2 = nap.reshape %1 : tensor<3x5x4xf32> -> tensor<15x4xf32>
  %3 = nap.einsum "ij,jk->ik" %2, %w : (tensor<15x4xf32>, tensor<4x7xf32>) -> tensor<15x7xf32>
  return %3 : tensor<15x7xf32>
}

// -----

// A returned view or constant is stored by a kernel; a declaration's own argument needs none.
// CHECK-LABEL: func.func @returns
// CHECK-SAME: %[[W:.+]]: tensor<3x5xf32>
// CHECK: %[[T:.+]] = nap.kernel pointwise "copy"(%[[W]])
// CHECK: nap.permute
// CHECK: %[[Z:.+]] = nap.kernel pointwise "fill"()
// CHECK: nap.constant
// CHECK: %[[Z2:.+]] = nap.kernel pointwise "fill"()
// CHECK: return %[[T]], %[[W]], %[[Z]], %[[Z2]]
nap.declare parameter @w : tensor<3x5xf32>
nap.declare buffer @a : tensor<2xf32>
nap.declare buffer @b : tensor<2xf32>
func.func @returns(%w: tensor<3x5xf32> {nap.of = @w})
    -> (tensor<5x3xf32> {nap.result = "output t"}, tensor<3x5xf32> {nap.updates = @w},
        tensor<2xf32> {nap.updates = @a}, tensor<2xf32> {nap.updates = @b}) {
  %0 = nap.permute %w [1, 0] : tensor<3x5xf32> -> tensor<5x3xf32>
  %z = nap.constant dense<0.0> : tensor<2xf32>
  return %0, %w, %z, %z : tensor<5x3xf32>, tensor<3x5xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// A kernel is named by what it does and the path, with numbers generalised.
// CHECK-LABEL: func.func @names
// CHECK: nap.kernel pointwise "tanh.h_N_mlp_c_fc"
func.func @names(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = nap.tanh %x : tensor<3xf32> loc("h.11.mlp.c_fc")
  return %0 : tensor<3xf32>
}
