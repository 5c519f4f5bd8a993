// Declarations, averages, kernels and launches print what they parse.
// RUN: napkin-opt %s | napkin-opt | FileCheck %s

// CHECK: nap.declare parameter @weight {axes = ["out", ""]} : tensor<3x5xf32>
nap.declare parameter @weight {axes = ["out", ""]} : tensor<3x5xf32>
// CHECK: nap.declare state @"weight#m" of @weight : tensor<3x5xf32>
nap.declare state @"weight#m" of @weight : tensor<3x5xf32>
// CHECK: nap.declare scalar @lr = 6.000000e-04 : tensor<f32>
nap.declare scalar @lr = 6.0e-4 : tensor<f32>
// CHECK: nap.declare random @rng : tensor<4xi32>
nap.declare random @rng : tensor<4xi32>

// CHECK: nap.kernel_def pointwise @double {
nap.kernel_def pointwise @double {
^bb0(%x: tensor<3x5xf32>):
  %y = nap.add %x, %x : tensor<3x5xf32>
  nap.yield %y : tensor<3x5xf32>
}

// CHECK-LABEL: func.func @kernels
func.func @kernels(%w: tensor<3x5xf32> {nap.of = @weight}, %n: tensor<f32>) -> tensor<f32> {
  // CHECK: nap.launch @double(%{{.+}}) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %twice = nap.launch @double(%w) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  // CHECK: nap.kernel reduction "total"(%{{.+}}) : (tensor<3x5xf32>) -> tensor<f32> {
  %total = nap.kernel reduction "total"(%twice) : (tensor<3x5xf32>) -> tensor<f32> {
  ^bb0(%x: tensor<3x5xf32>):
    %sum = nap.reduce sum %x [0, 1] : tensor<3x5xf32> -> tensor<f32>
    nap.yield %sum : tensor<f32>
  }
  // CHECK: nap.average %{{.+}}, %{{.+}} index 0 : tensor<f32>
  %mean = nap.average %total, %n index 0 : tensor<f32>
  return %mean : tensor<f32>
}
