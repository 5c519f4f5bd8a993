// RUN: napkin-opt %s -split-input-file --nap-fuse | FileCheck %s

// A chain is one kernel.
// CHECK-LABEL: func.func @chain
// CHECK-COUNT-1: nap.kernel
// CHECK-NOT: nap.kernel
// CHECK: return
func.func @chain(%x: tensor<64x64xf32>, %b: tensor<64xf32>) -> tensor<64x64xf32> {
  %0 = nap.broadcast %b [1] : tensor<64xf32> -> tensor<64x64xf32>
  %1 = nap.add %x, %0 : tensor<64x64xf32>
  %2 = nap.tanh %1 : tensor<64x64xf32>
  %3 = nap.mul %2, %1 : tensor<64x64xf32>
  return %3 : tensor<64x64xf32>
}

// -----

// A value between two kernels that depend on each other joins neither in a circle: the sum is stored, the
// contraction reads it, and the last sum reads both: inside the contraction, which is not written over the
// sum that it reads.
// CHECK-LABEL: func.func @no_circle
// CHECK: %[[S:.+]] = nap.kernel pointwise "add"
// CHECK: nap.kernel contraction "matmul_add"(%[[S]],
// CHECK-NOT: nap.kernel
func.func @no_circle(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = nap.add %x, %y : tensor<64x64xf32>
  %1 = nap.einsum "ij,jk->ik" %0, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = nap.add %0, %1 : tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}

// -----

// What two kernels need and reads little is computed in both; here the sums and the quotient need exp(x),
// and the sums are needed along the other axis, so they are stored.
// CHECK-LABEL: func.func @computed_again
// CHECK: %[[S:.+]] = nap.kernel reduction "exp_sum"(%[[X:.+]]) :
// CHECK: nap.exp
// CHECK: nap.kernel pointwise "exp_div"(%[[X]], %[[S]])
// CHECK: nap.exp
func.func @computed_again(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = nap.exp %x : tensor<64x64xf32>
  %1 = nap.reduce sum %0 [0] : tensor<64x64xf32> -> tensor<64xf32>
  %2 = nap.broadcast %1 [1] : tensor<64xf32> -> tensor<64x64xf32>
  %3 = nap.div %0, %2 : tensor<64x64xf32>
  return %3 : tensor<64x64xf32>
}

// -----

// A softmax over rows that nothing else looks into is one kernel.
// CHECK-LABEL: func.func @row_softmax
// CHECK-COUNT-1: nap.kernel reduction
// CHECK-NOT: nap.kernel
// CHECK: return
func.func @row_softmax(%x: tensor<256x64xf32>) -> tensor<256x64xf32> {
  %0 = nap.reduce max %x [1] : tensor<256x64xf32> -> tensor<256xf32>
  %1 = nap.broadcast %0 [0] : tensor<256xf32> -> tensor<256x64xf32>
  %2 = nap.sub %x, %1 : tensor<256x64xf32>
  %3 = nap.exp %2 : tensor<256x64xf32>
  %4 = nap.reduce sum %3 [1] : tensor<256x64xf32> -> tensor<256xf32>
  %5 = nap.broadcast %4 [0] : tensor<256xf32> -> tensor<256x64xf32>
  %6 = nap.div %3, %5 : tensor<256x64xf32>
  return %6 : tensor<256x64xf32>
}

// -----

// An update of one parameter and its state is one kernel of several results.
// CHECK-LABEL: func.func @update
// CHECK-COUNT-1: nap.kernel pointwise
// CHECK-NOT: nap.kernel
// CHECK: return %{{.+}}#{{.}}, %{{.+}}#{{.}}
nap.declare parameter @w : tensor<64x64xf32>
nap.declare state @"w#m" of @w : tensor<64x64xf32>
nap.declare gradient @"w#g" of @w : tensor<64x64xf32>
func.func @update(%w: tensor<64x64xf32> {nap.of = @w}, %m: tensor<64x64xf32> {nap.of = @"w#m"},
                  %g: tensor<64x64xf32> {nap.of = @"w#g"})
    -> (tensor<64x64xf32> {nap.updates = @w}, tensor<64x64xf32> {nap.updates = @"w#m"}) {
  %c = nap.constant dense<0.9> : tensor<64x64xf32>
  %0 = nap.mul %m, %c : tensor<64x64xf32>
  %1 = nap.add %0, %g : tensor<64x64xf32>
  %2 = nap.sub %w, %1 : tensor<64x64xf32>
  return %2, %1 : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// Only the elements that a gather picks are computed: the logarithms are never stored.
// CHECK-LABEL: func.func @gather_through
// CHECK-COUNT-1: nap.kernel pointwise
// CHECK-NOT: nap.kernel
// CHECK: return
func.func @gather_through(%x: tensor<64x999xf32>, %ids: tensor<64xi32>) -> tensor<64xf32> {
  %0 = nap.log %x : tensor<64x999xf32>
  %1 = nap.take_along %0, %ids : tensor<64x999xf32>, tensor<64xi32> -> tensor<64xf32>
  return %1 : tensor<64xf32>
}

// -----

// A mask that reads nothing is computed where it is needed.
// CHECK-LABEL: func.func @mask
// CHECK-COUNT-2: nap.iota
// CHECK: nap.compare
// CHECK-COUNT-1: nap.select
// CHECK-NOT: nap.kernel
// CHECK: return
func.func @mask(%x: tensor<8x32x32xf32>) -> tensor<8x32x32xf32> {
  %i = nap.iota : tensor<32xi32>
  %r = nap.broadcast %i [0] : tensor<32xi32> -> tensor<32x32xi32>
  %j = nap.iota : tensor<32xi32>
  %c = nap.broadcast %j [1] : tensor<32xi32> -> tensor<32x32xi32>
  %p = nap.compare ge %r, %c : tensor<32x32xi32> -> tensor<32x32xi1>
  %m = nap.broadcast %p [1, 2] : tensor<32x32xi1> -> tensor<8x32x32xi1>
  %z = nap.constant dense<0.0> : tensor<8x32x32xf32>
  %y = nap.select %m, %x, %z : tensor<8x32x32xi1>, tensor<8x32x32xf32>
  return %y : tensor<8x32x32xf32>
}

// -----

// A norm over several tensors is one kernel a tensor, not one that grows with their number.
// CHECK-LABEL: func.func @chain_of_sums
// CHECK: %[[A:.+]] = nap.kernel reduction "mul_sum_add"
// CHECK: %[[B:.+]] = nap.kernel reduction "mul_sum_add"(%{{.+}}, %[[A]])
// CHECK: nap.kernel pointwise "sqrt"(%[[B]])
func.func @chain_of_sums(%x: tensor<39xf32>, %y: tensor<39xf32>, %z: tensor<39xf32>) -> tensor<f32> {
  %xx = nap.mul %x, %x : tensor<39xf32>
  %0 = nap.reduce sum %xx [0] : tensor<39xf32> -> tensor<f32>
  %yy = nap.mul %y, %y : tensor<39xf32>
  %1 = nap.reduce sum %yy [0] : tensor<39xf32> -> tensor<f32>
  %2 = nap.add %0, %1 : tensor<f32>
  %zz = nap.mul %z, %z : tensor<39xf32>
  %3 = nap.reduce sum %zz [0] : tensor<39xf32> -> tensor<f32>
  %4 = nap.add %2, %3 : tensor<f32>
  %5 = nap.sqrt %4 : tensor<f32>
  return %5 : tensor<f32>
}

// -----

// A row's sum that a sum over the rows needs again and again is stored.
// CHECK-LABEL: func.func @not_again_and_again
// CHECK: %[[R:.+]] = nap.kernel reduction "sum"
// CHECK: nap.kernel reduction "mul_sum"(%[[R]], %{{.+}})
func.func @not_again_and_again(%x: tensor<64x64xf32>) -> tensor<64xf32> {
  %0 = nap.reduce sum %x [1] : tensor<64x64xf32> -> tensor<64xf32>
  %1 = nap.broadcast %0 [0] : tensor<64xf32> -> tensor<64x64xf32>
  %2 = nap.mul %x, %1 : tensor<64x64xf32>
  %3 = nap.reduce sum %2 [0] : tensor<64x64xf32> -> tensor<64xf32>
  return %3 : tensor<64xf32>
}

// -----

// A contraction writes in the order in which it is read: merged heads need no copy.
// CHECK-LABEL: func.func @merged_heads
// CHECK: nap.kernel contraction
// CHECK: nap.einsum "bhgts,bshgd->bthdg"
// CHECK-NOT: "copy"
// CHECK: nap.kernel contraction
// CHECK: nap.reshape %{{.+}} : tensor<2x5x3x7x1xf32> -> tensor<2x5x3x7xf32>
// CHECK: return
func.func @merged_heads(%p: tensor<2x3x1x5x5xf32>, %v: tensor<2x5x3x1x7xf32>, %w: tensor<21x4xf32>) -> tensor<2x5x4xf32> {
  %0 = nap.einsum "bhgts,bshgd->bhgtd" %p, %v : (tensor<2x3x1x5x5xf32>, tensor<2x5x3x1x7xf32>) -> tensor<2x3x1x5x7xf32>
  %1 = nap.reshape %0 : tensor<2x3x1x5x7xf32> -> tensor<2x3x5x7xf32>
  %2 = nap.permute %1 [0, 2, 1, 3] : tensor<2x3x5x7xf32> -> tensor<2x5x3x7xf32>
  %3 = nap.reshape %2 : tensor<2x5x3x7xf32> -> tensor<2x5x21xf32>
  %4 = nap.einsum "bti,io->bto" %3, %w : (tensor<2x5x21xf32>, tensor<21x4xf32>) -> tensor<2x5x4xf32>
  return %4 : tensor<2x5x4xf32>
}
