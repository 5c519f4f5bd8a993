// Kernels and launches cost what they hold, and move what they name.
// RUN: nap-interpret %s --count > %t.executed
// RUN: nap-print-cost %s > %t.counted
// RUN: diff %t.executed %t.counted
// RUN: FileCheck %s < %t.counted
// RUN: nap-interpret %s --bytes | FileCheck %s --check-prefix=BYTES

nap.kernel_def pointwise @double {
^bb0(%x: tensor<3x5xf32>):
  %y = nap.add %x, %x : tensor<3x5xf32>
  nap.yield %y : tensor<3x5xf32>
}

// One launched twice is counted twice. An element read twice in a kernel is moved once.
// CHECK: @kernels mm 0 vec 48
// BYTES: @kernels bytes 288
func.func @kernels(%x: tensor<3x5xf32>) -> tensor<3xf32> {
  %twice = nap.launch @double(%x) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %again = nap.launch @double(%twice) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %total = nap.kernel reduction "total"(%again) : (tensor<3x5xf32>) -> tensor<3xf32> {
  ^bb0(%y: tensor<3x5xf32>):
    %part = nap.slice %y [0, 0] step [1, 2] : tensor<3x5xf32> -> tensor<3x3xf32>
    %square = nap.mul %part, %part : tensor<3x3xf32>
    %sum = nap.reduce sum %square [1] : tensor<3x3xf32> -> tensor<3xf32>
    %scaled = nap.add %sum, %sum : tensor<3xf32>
    nap.yield %scaled : tensor<3xf32>
  }
  return %total : tensor<3xf32>
}

// Rows that nobody asks for are not read; a row asked for twice is read once; a splat is no memory.
// BYTES: @gathered bytes 112
func.func @gathered(%table: tensor<7x5xf32>) -> tensor<3x5xf32> {
  %ids = nap.constant dense<2> : tensor<3xi32>
  %more = nap.constant dense<[1, 2, 1]> : tensor<3xi32>
  %rows = nap.embed %table, %more : tensor<7x5xf32>, tensor<3xi32> -> tensor<3x5xf32>
  return %rows : tensor<3x5xf32>
}
