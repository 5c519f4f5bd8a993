// RUN: napkin-opt %s --nap-mixed-precision | FileCheck %s

nap.declare parameter @w : tensor<7x5xf32>
nap.declare parameter @b : tensor<7xf32>
nap.declare parameter @table : tensor<9x5xf32>

// The products and sums that a parameter receives are kept as they are summed: f32. What stands before
// them, a gradient of an activation, is bf16.
// CHECK-LABEL: func.func @micro_step
func.func @micro_step(%dy: tensor<3x7xbf16>, %x: tensor<3x5xbf16>, %ids: tensor<3xi32>)
    -> (tensor<7x5xf32> {nap.gradient_of = @w}, tensor<7xf32> {nap.gradient_of = @b},
        tensor<9x5xf32> {nap.gradient_of = @table}) {
  // CHECK: %[[W:.*]] = nap.einsum "nv,nd->vd" %arg0, %arg1 : (tensor<3x7xbf16>, tensor<3x5xbf16>) -> tensor<7x5xf32>
  %w = nap.einsum "nv,nd->vd" %dy, %x : (tensor<3x7xbf16>, tensor<3x5xbf16>) -> tensor<7x5xbf16>
  %gw = nap.cast %w : tensor<7x5xbf16> -> tensor<7x5xf32>
  // CHECK: %[[WIDE:.*]] = nap.cast %arg0 : tensor<3x7xbf16> -> tensor<3x7xf32>
  // CHECK: %[[B:.*]] = nap.reduce sum %[[WIDE]] [0] : tensor<3x7xf32> -> tensor<7xf32>
  %b = nap.reduce sum %dy [0] : tensor<3x7xbf16> -> tensor<7xbf16>
  %gb = nap.cast %b : tensor<7xbf16> -> tensor<7xf32>
  // A table that is also multiplied by: both parts and their sum.
  // CHECK: %[[ROWS:.*]] = nap.cast %arg1 : tensor<3x5xbf16> -> tensor<3x5xf32>
  // CHECK: %[[SCATTER:.*]] = nap.scatter_add %[[ROWS]], %arg2 {{.*}} -> tensor<9x5xf32>
  // CHECK: %[[PRODUCT:.*]] = nap.einsum {{.*}} -> tensor<9x5xf32>
  // CHECK: %[[TABLE:.*]] = nap.add %[[SCATTER]], %[[PRODUCT]] : tensor<9x5xf32>
  %scatter = nap.scatter_add %x, %ids : tensor<3x5xbf16>, tensor<3xi32> -> tensor<9x5xbf16>
  %z = nap.constant dense<1.0> : tensor<3x9xbf16>
  %product = nap.einsum "nv,nd->vd" %z, %x : (tensor<3x9xbf16>, tensor<3x5xbf16>) -> tensor<9x5xbf16>
  %sum = nap.add %scatter, %product : tensor<9x5xbf16>
  %gt = nap.cast %sum : tensor<9x5xbf16> -> tensor<9x5xf32>
  // CHECK: return %[[W]], %[[B]], %[[TABLE]]
  return %gw, %gb, %gt : tensor<7x5xf32>, tensor<7xf32>, tensor<9x5xf32>
}

// What is no parameter's gradient keeps its roundings, and so does what others read too.
// CHECK-LABEL: func.func @evaluate
func.func @evaluate(%dy: tensor<3x7xbf16>, %x: tensor<3x5xbf16>)
    -> (tensor<7x5xf32> {nap.result = "output a"}, tensor<7x5xf32> {nap.gradient_of = @w},
        tensor<7x5xbf16> {nap.result = "output b"}) {
  // CHECK: nap.einsum {{.*}} -> tensor<7x5xbf16>
  // CHECK: nap.cast
  // CHECK: nap.einsum {{.*}} -> tensor<7x5xbf16>
  // CHECK: nap.cast
  %a = nap.einsum "nv,nd->vd" %dy, %x : (tensor<3x7xbf16>, tensor<3x5xbf16>) -> tensor<7x5xbf16>
  %wide = nap.cast %a : tensor<7x5xbf16> -> tensor<7x5xf32>
  %b = nap.einsum "nv,nd->vd" %dy, %x : (tensor<3x7xbf16>, tensor<3x5xbf16>) -> tensor<7x5xbf16>
  %g = nap.cast %b : tensor<7x5xbf16> -> tensor<7x5xf32>
  return %wide, %g, %b : tensor<7x5xf32>, tensor<7x5xf32>, tensor<7x5xbf16>
}

// Rows are added in memory: a scatter_add of bf16 is one of f32, rounded once.
// CHECK-LABEL: func.func @predict
func.func @predict(%x: tensor<3x5xbf16>, %ids: tensor<3xi32>) -> (tensor<9x5xbf16> {nap.result = "output c"}) {
  // CHECK: nap.cast %arg0
  // CHECK: nap.scatter_add {{.*}} -> tensor<9x5xf32>
  // CHECK: nap.cast {{.*}} -> tensor<9x5xbf16>
  %sum = nap.scatter_add %x, %ids : tensor<3x5xbf16>, tensor<3xi32> -> tensor<9x5xbf16>
  return %sum : tensor<9x5xbf16>
}

// A product that rows are added to is one of the sums.
// CHECK-LABEL: func.func @added_rows
func.func @added_rows(%dy: tensor<3x9xbf16>, %x: tensor<3x5xbf16>, %rows: tensor<3x5xf32>, %ids: tensor<3xi32>)
    -> (tensor<9x5xf32> {nap.gradient_of = @table}) {
  // CHECK: %[[PRODUCT:.*]] = nap.einsum "nv,nd->vd" %arg0, %arg1 : {{.*}} -> tensor<9x5xf32>
  // CHECK-NEXT: %[[TABLE:.*]] = nap.scatter_add %arg2, %arg3 into %[[PRODUCT]]
  // CHECK-NEXT: return %[[TABLE]]
  %product = nap.einsum "nv,nd->vd" %dy, %x : (tensor<3x9xbf16>, tensor<3x5xbf16>) -> tensor<9x5xbf16>
  %wide = nap.cast %product : tensor<9x5xbf16> -> tensor<9x5xf32>
  %sum = nap.scatter_add %rows, %ids into %wide : tensor<3x5xf32>, tensor<3xi32>, tensor<9x5xf32> -> tensor<9x5xf32>
  return %sum : tensor<9x5xf32>
}
