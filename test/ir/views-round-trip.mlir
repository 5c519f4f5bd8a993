// Every view prints what it parses.
// RUN: napkin-opt %s | napkin-opt | FileCheck %s

// CHECK-LABEL: func.func @views
func.func @views(%x: tensor<3x5x5xf32>) -> tensor<2x3x4x2x2xf32> {
  // CHECK: nap.reshape %{{.+}} : tensor<3x5x5xf32> -> tensor<15x5xf32>
  %flat = nap.reshape %x : tensor<3x5x5xf32> -> tensor<15x5xf32>
  // CHECK: nap.permute %{{.+}} [1, 0] : tensor<15x5xf32> -> tensor<5x15xf32>
  %turned = nap.permute %flat [1, 0] : tensor<15x5xf32> -> tensor<5x15xf32>
  // CHECK: nap.diagonal %{{.+}} axes 1, 2 : tensor<3x5x5xf32> -> tensor<3x5xf32>
  %diagonal = nap.diagonal %x axes 1, 2 : tensor<3x5x5xf32> -> tensor<3x5xf32>
  // CHECK: nap.slice %{{.+}} [0, 4] step [1, -1] : tensor<3x5xf32> -> tensor<3x5xf32>
  %back = nap.slice %diagonal [0, 4] step [1, -1] : tensor<3x5xf32> -> tensor<3x5xf32>
  // CHECK: nap.broadcast %{{.+}} [1, 2] : tensor<3x5xf32> -> tensor<2x3x5xf32>
  %twice = nap.broadcast %back [1, 2] : tensor<3x5xf32> -> tensor<2x3x5xf32>
  // CHECK: nap.window %{{.+}} sizes [2] strides [1] dilations [1] : tensor<2x3x5xf32> -> tensor<2x3x4x2xf32>
  %windows = nap.window %twice sizes [2] strides [1] dilations [1] : tensor<2x3x5xf32> -> tensor<2x3x4x2xf32>
  %result = nap.broadcast %windows [0, 1, 2, 3] : tensor<2x3x4x2xf32> -> tensor<2x3x4x2x2xf32>
  return %result : tensor<2x3x4x2x2xf32>
}
