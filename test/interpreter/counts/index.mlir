// Gathers, scatters, joins and rows: what is executed is what the cost rules say.
// RUN: nap-interpret %s --count > %t.executed
// RUN: nap-print-cost %s > %t.counted
// RUN: diff %t.executed %t.counted
// RUN: FileCheck %s < %t.counted

// CHECK: @moved mm 0 vec 0 trn 0 cmp 0 cvt 0 integer 0
func.func @moved(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>, %table: tensor<7x5xf32>, %ids: tensor<2x3xi32>, %places: tensor<2xi32>) -> (tensor<3x9xf32>, tensor<2x3x5xf32>, tensor<2xf32>) {
  %joined = nap.concat %x, %y axis 1 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  %padded = nap.pad %joined low [0, 2] high [0, 0] inner [1, 0] with -1.0 : tensor<2x7xf32> -> tensor<3x9xf32>
  %rows = nap.embed %table, %ids : tensor<7x5xf32>, tensor<2x3xi32> -> tensor<2x3x5xf32>
  %taken = nap.take_along %joined, %places : tensor<2x7xf32>, tensor<2xi32> -> tensor<2xf32>
  return %padded, %rows, %taken : tensor<3x9xf32>, tensor<2x3x5xf32>, tensor<2xf32>
}

// CHECK: @viewed mm 0 vec 0 trn 0 cmp 0 cvt 0 integer 0
func.func @viewed(%x: tensor<3x5x5xf32>) -> (tensor<2x3x4x2xf32>, tensor<75xf32>) {
  %diagonal = nap.diagonal %x axes 1, 2 : tensor<3x5x5xf32> -> tensor<3x5xf32>
  %back = nap.slice %diagonal [2, 0] step [-1, 1] : tensor<3x5xf32> -> tensor<3x5xf32>
  %wide = nap.broadcast %back [1, 2] : tensor<3x5xf32> -> tensor<2x3x5xf32>
  %windows = nap.window %wide sizes [2] strides [1] dilations [1] : tensor<2x3x5xf32> -> tensor<2x3x4x2xf32>
  %turned = nap.permute %x [2, 1, 0] : tensor<3x5x5xf32> -> tensor<5x5x3xf32>
  %flat = nap.reshape %turned : tensor<5x5x3xf32> -> tensor<75xf32>
  return %windows, %flat : tensor<2x3x4x2xf32>, tensor<75xf32>
}

// One addition an element of the rows, the first into a place too.
// CHECK: @scattered mm 0 vec 60
func.func @scattered(%rows: tensor<2x3x5xf32>, %ids: tensor<2x3xi32>, %values: tensor<2x3xf32>, %windows: tensor<3x4x2xf32>) -> (tensor<7x5xf32>, tensor<2x9xf32>, tensor<3x5xf32>) {
  %sums = nap.scatter_add %rows, %ids : tensor<2x3x5xf32>, tensor<2x3xi32> -> tensor<7x5xf32>
  %put = nap.put_along %values, %ids : tensor<2x3xf32>, tensor<2x3xi32> -> tensor<2x9xf32>
  %folded = nap.fold %windows sizes [2] strides [1] dilations [1] : tensor<3x4x2xf32> -> tensor<3x5xf32>
  return %sums, %put, %folded : tensor<7x5xf32>, tensor<2x9xf32>, tensor<3x5xf32>
}

// CHECK: @into mm 0 vec 30
func.func @into(%rows: tensor<2x3x5xf32>, %ids: tensor<2x3xi32>, %x: tensor<7x5xf32>) -> tensor<7x5xf32> {
  %sums = nap.scatter_add %rows, %ids into %x : tensor<2x3x5xf32>, tensor<2x3xi32>, tensor<7x5xf32> -> tensor<7x5xf32>
  return %sums : tensor<7x5xf32>
}

// CHECK: @rows mm 0 vec 37 trn 0 cmp 75
func.func @rows(%x: tensor<3x8xf32>) -> (tensor<3xi32>, tensor<3x3xf32>, tensor<3x8xf32>) {
  %best = nap.argmax %x : tensor<3x8xf32> -> tensor<3xi32>
  %values, %ids = nap.top_k %x : tensor<3x8xf32> -> tensor<3x3xf32>, tensor<3x3xi32>
  %running = nap.cumsum %x axis 1 : tensor<3x8xf32>
  %back = nap.cumsum %running axis 0 reverse : tensor<3x8xf32>
  return %best, %values, %back : tensor<3xi32>, tensor<3x3xf32>, tensor<3x8xf32>
}
