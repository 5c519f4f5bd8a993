// RUN: napkin-opt -nap-split-reductions %s | FileCheck %s
// RUN: napkin-opt -nap-split-reductions %s -o %t.mlir
// RUN: %unit/nap-interpret %s --compare-file=%t.mlir

// 73 blocks of 4096, a rest of 992, and the sum of their results: the same bits.
// CHECK-LABEL: func.func @norm
// CHECK: nap.reshape {{.*}} -> tensor<1x300000xf32>
// CHECK: nap.reduce sum {{.*}} [2] : tensor<1x73x4096xf32> -> tensor<1x73xf32>
// CHECK: nap.reduce sum {{.*}} [1] : tensor<1x992xf32> -> tensor<1xf32>
// CHECK: nap.concat
// CHECK: nap.reduce sum {{.*}} [1] : tensor<1x74xf32> -> tensor<1xf32>
func.func @norm(%x: tensor<300x1000xf32>) -> tensor<f32> {
  %s = nap.reduce sum %x [0, 1] : tensor<300x1000xf32> -> tensor<f32>
  return %s : tensor<f32>
}

// Summed axes that lie apart come together first.
// CHECK-LABEL: func.func @apart
// CHECK: nap.permute {{.*}} [1, 0, 2]
func.func @apart(%x: tensor<40x3x1000xf32>) -> tensor<3xf32> {
  %s = nap.reduce sum %x [0, 2] : tensor<40x3x1000xf32> -> tensor<3xf32>
  return %s : tensor<3xf32>
}

// Many results are tasks enough; sums along other axes have another order.
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-2: nap.reduce
// CHECK-NOT: nap.reduce
func.func @kept(%x: tensor<20x5000xf32>, %y: tensor<50000x3xf32>) -> (tensor<20xf32>, tensor<3xf32>) {
  %s = nap.reduce sum %x [1] : tensor<20x5000xf32> -> tensor<20xf32>
  %t = nap.reduce sum %y [0] : tensor<50000x3xf32> -> tensor<3xf32>
  return %s, %t : tensor<20xf32>, tensor<3xf32>
}
