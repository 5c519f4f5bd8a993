// RUN: napkin-opt --nap-simplify %s | FileCheck %s

// CHECK-LABEL: func.func @square(
// CHECK-SAME: [[X:%.+]]: tensor<3xf32>)
func.func @square(%x: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK-NEXT: [[Y:%.+]] = nap.exp [[X]]
  // CHECK-NEXT: nap.mul [[Y]], [[Y]]
  %y = nap.exp %x : tensor<3xf32>
  %z = nap.exp %x : tensor<3xf32>
  %p = nap.mul %y, %z : tensor<3xf32>
  return %p : tensor<3xf32>
}
