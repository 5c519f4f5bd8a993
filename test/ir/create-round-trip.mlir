// Constants, ramps and random draws print what they parse.
// RUN: napkin-opt %s | napkin-opt | FileCheck %s

// CHECK-LABEL: func.func @create
func.func @create(%key: tensor<4xi32>) -> tensor<3x5xf32> {
  // CHECK: nap.constant dense<1.500000e+00> : tensor<3x5xf32>
  %splat = nap.constant dense<1.5> : tensor<3x5xf32>
  // CHECK: nap.constant dense<[1, 2, 3]> : tensor<3xi32>
  %list = nap.constant dense<[1, 2, 3]> : tensor<3xi32>
  // CHECK: nap.iota : tensor<7xi32>
  %ramp = nap.iota : tensor<7xi32>
  // CHECK: nap.random_uniform %{{.+}} site 17 : tensor<4xi32> -> tensor<3x5xf32>
  %uniform = nap.random_uniform %key site 17 : tensor<4xi32> -> tensor<3x5xf32>
  // CHECK: nap.random_normal %{{.+}} site -3 : tensor<4xi32> -> tensor<3x5xf32>
  %normal = nap.random_normal %key site -3 : tensor<4xi32> -> tensor<3x5xf32>
  return %uniform : tensor<3x5xf32>
}
