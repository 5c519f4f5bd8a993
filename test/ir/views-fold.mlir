// Views of views are one view, views that change nothing vanish, views of splats are splats.
// RUN: napkin-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @identities
// CHECK-SAME: (%[[X:.+]]: tensor<3x5xf32>)
// CHECK-NEXT: return %[[X]] : tensor<3x5xf32>
func.func @identities(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %a = nap.reshape %x : tensor<3x5xf32> -> tensor<3x5xf32>
  %b = nap.permute %a [0, 1] : tensor<3x5xf32> -> tensor<3x5xf32>
  %c = nap.broadcast %b [0, 1] : tensor<3x5xf32> -> tensor<3x5xf32>
  %d = nap.slice %c [0, 0] step [1, 1] : tensor<3x5xf32> -> tensor<3x5xf32>
  %e = nap.reshape %d : tensor<3x5xf32> -> tensor<15xf32>
  %f = nap.reshape %e : tensor<15xf32> -> tensor<3x5xf32>
  return %f : tensor<3x5xf32>
}

// A slice of the whole axis that runs backwards stays.
// CHECK-LABEL: func.func @backwards
// CHECK: nap.slice %{{.+}} [2] step [-1]
func.func @backwards(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = nap.slice %x [2] step [-1] : tensor<3xf32> -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// CHECK-LABEL: func.func @permutes
// CHECK-NEXT: nap.permute %{{.+}} [2, 1, 0] : tensor<2x3x5xf32> -> tensor<5x3x2xf32>
// CHECK-NEXT: return
func.func @permutes(%x: tensor<2x3x5xf32>) -> tensor<5x3x2xf32> {
  %a = nap.permute %x [1, 2, 0] : tensor<2x3x5xf32> -> tensor<3x5x2xf32>
  %b = nap.permute %a [1, 0, 2] : tensor<3x5x2xf32> -> tensor<5x3x2xf32>
  return %b : tensor<5x3x2xf32>
}

// CHECK-LABEL: func.func @broadcasts
// CHECK-NEXT: nap.broadcast %{{.+}} [2] : tensor<5xf32> -> tensor<2x3x5x7xf32>
// CHECK-NEXT: return
func.func @broadcasts(%x: tensor<5xf32>) -> tensor<2x3x5x7xf32> {
  %a = nap.broadcast %x [1] : tensor<5xf32> -> tensor<3x5xf32>
  %b = nap.broadcast %a [1, 2] : tensor<3x5xf32> -> tensor<2x3x5x7xf32>
  return %b : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @slices
// CHECK-NEXT: nap.slice %{{.+}} [7] step [-4] : tensor<9xf32> -> tensor<2xf32>
// CHECK-NEXT: return
func.func @slices(%x: tensor<9xf32>) -> tensor<2xf32> {
  %a = nap.slice %x [1] step [2] : tensor<9xf32> -> tensor<4xf32>
  %b = nap.slice %a [3] step [-2] : tensor<4xf32> -> tensor<2xf32>
  return %b : tensor<2xf32>
}

// CHECK-LABEL: func.func @splats
// CHECK-NEXT: nap.constant dense<2.000000e+00> : tensor<4x15xf32>
// CHECK-NEXT: return
func.func @splats() -> tensor<4x15xf32> {
  %a = nap.constant dense<2.0> : tensor<9x3xf32>
  %b = nap.slice %a [0, 0] step [2, 1] : tensor<9x3xf32> -> tensor<5x3xf32>
  %c = nap.permute %b [1, 0] : tensor<5x3xf32> -> tensor<3x5xf32>
  %d = nap.reshape %c : tensor<3x5xf32> -> tensor<15xf32>
  %e = nap.broadcast %d [1] : tensor<15xf32> -> tensor<4x15xf32>
  return %e : tensor<4x15xf32>
}

// CHECK-LABEL: func.func @list
// CHECK-NEXT: nap.constant dense<{{\[\[}}1, 2], [3, 4]]> : tensor<2x2xi32>
func.func @list() -> tensor<2x2xi32> {
  %a = nap.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %b = nap.reshape %a : tensor<4xi32> -> tensor<2x2xi32>
  return %b : tensor<2x2xi32>
}
