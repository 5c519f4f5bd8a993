// Gathers, scatters, joins and rows print what they parse.
// RUN: napkin-opt %s | napkin-opt | FileCheck %s

// CHECK-LABEL: func.func @joins
func.func @joins(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) -> tensor<3x9xf32> {
  // CHECK: nap.concat %{{.+}}, %{{.+}} axis 1 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  %joined = nap.concat %x, %y axis 1 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  // CHECK: nap.pad %{{.+}} low [0, 2] high [0, 0] inner [1, 0] with -1.000000e+00 : tensor<2x7xf32> -> tensor<3x9xf32>
  %padded = nap.pad %joined low [0, 2] high [0, 0] inner [1, 0] with -1.0 : tensor<2x7xf32> -> tensor<3x9xf32>
  return %padded : tensor<3x9xf32>
}

// CHECK-LABEL: func.func @gathers
func.func @gathers(%table: tensor<7x5xf32>, %ids: tensor<2x3xi32>, %rows: tensor<2xi32>) -> tensor<2xf32> {
  // CHECK: nap.embed %{{.+}}, %{{.+}} : tensor<7x5xf32>, tensor<2x3xi32> -> tensor<2x3x5xf32>
  %found = nap.embed %table, %ids : tensor<7x5xf32>, tensor<2x3xi32> -> tensor<2x3x5xf32>
  // CHECK: nap.scatter_add %{{.+}}, %{{.+}} : tensor<2x3x5xf32>, tensor<2x3xi32> -> tensor<7x5xf32>
  %sums = nap.scatter_add %found, %ids : tensor<2x3x5xf32>, tensor<2x3xi32> -> tensor<7x5xf32>
  %two = nap.slice %sums [0, 0] step [1, 1] : tensor<7x5xf32> -> tensor<2x5xf32>
  // CHECK: nap.take_along %{{.+}}, %{{.+}} : tensor<2x5xf32>, tensor<2xi32> -> tensor<2xf32>
  %taken = nap.take_along %two, %rows : tensor<2x5xf32>, tensor<2xi32> -> tensor<2xf32>
  // CHECK: nap.put_along %{{.+}}, %{{.+}} : tensor<2xf32>, tensor<2xi32> -> tensor<2x5xf32>
  %put = nap.put_along %taken, %rows : tensor<2xf32>, tensor<2xi32> -> tensor<2x5xf32>
  return %taken : tensor<2xf32>
}

// CHECK-LABEL: func.func @rows
func.func @rows(%x: tensor<3x8xf64>) -> tensor<3xi32> {
  // CHECK: nap.cumsum %{{.+}} axis 1 : tensor<3x8xf64>
  %running = nap.cumsum %x axis 1 : tensor<3x8xf64>
  // CHECK: nap.cumsum %{{.+}} axis 0 reverse : tensor<3x8xf64>
  %back = nap.cumsum %running axis 0 reverse : tensor<3x8xf64>
  // CHECK: nap.top_k %{{.+}} : tensor<3x8xf64> -> tensor<3x2xf64>, tensor<3x2xi32>
  %values, %ids = nap.top_k %back : tensor<3x8xf64> -> tensor<3x2xf64>, tensor<3x2xi32>
  // CHECK: nap.argmax %{{.+}} : tensor<3x2xf64> -> tensor<3xi32>
  %best = nap.argmax %values : tensor<3x2xf64> -> tensor<3xi32>
  // CHECK: nap.fold %{{.+}} sizes [2] strides [2] dilations [1] : tensor<3x4x2xf64> -> tensor<3x8xf64>
  %windows = nap.window %x sizes [2] strides [2] dilations [1] : tensor<3x8xf64> -> tensor<3x4x2xf64>
  %folded = nap.fold %windows sizes [2] strides [2] dilations [1] : tensor<3x4x2xf64> -> tensor<3x8xf64>
  return %best : tensor<3xi32>
}

// CHECK-LABEL: func.func @into
func.func @into(%rows: tensor<3x5xf32>, %ids: tensor<3xi32>, %x: tensor<7x5xf32>) -> tensor<7x5xf32> {
  // CHECK: nap.scatter_add %{{.+}}, %{{.+}} into %{{.+}} : tensor<3x5xf32>, tensor<3xi32>, tensor<7x5xf32> -> tensor<7x5xf32>
  %y = nap.scatter_add %rows, %ids into %x : tensor<3x5xf32>, tensor<3xi32>, tensor<7x5xf32> -> tensor<7x5xf32>
  return %y : tensor<7x5xf32>
}
