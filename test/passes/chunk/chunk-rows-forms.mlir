// Heads of other forms have the same bits in parts: weights on the left, a soft cap, a metric per row, masks per
// element, transposed weights, 64-bit floats, and rows that nothing sums over.
// RUN: napkin-opt %s --nap-chunk-rows=chunks=3 -o %t.3
// RUN: FileCheck %s < %t.3
// RUN: nap-interpret %s --function=capped --compare-file=%t.3
// RUN: nap-interpret %s --function=scored --compare-file=%t.3

// CHECK-LABEL: func.func @capped
// CHECK-COUNT-3: nap.tanh %{{.+}} : tensor<{{3|2}}x7xf64>
// CHECK-COUNT-1: nap.concat
func.func @capped(%x: tensor<8x4xf64>, %w: tensor<4x7xf64>, %mask: tensor<8x7xf64>) -> (tensor<8xf64> {nap.result = "output e"}, tensor<7x4xf64> {nap.result = "output dw"}) {
  %l = nap.einsum "dv,rd->rv" %w, %x : (tensor<4x7xf64>, tensor<8x4xf64>) -> tensor<8x7xf64>
  %t = nap.tanh %l : tensor<8x7xf64>
  %m = nap.mul %t, %mask : tensor<8x7xf64>
  %e = nap.exp %m : tensor<8x7xf64>
  %total = nap.reduce sum %e [1] : tensor<8x7xf64> -> tensor<8xf64>
  %totals = nap.broadcast %total [0] : tensor<8xf64> -> tensor<8x7xf64>
  %p = nap.div %e, %totals : tensor<8x7xf64>
  %dw = nap.einsum "rd,rv->vd" %x, %p : (tensor<8x4xf64>, tensor<8x7xf64>) -> tensor<7x4xf64>
  return %total, %dw : tensor<8xf64>, tensor<7x4xf64>
}

// Places of the largest, per row.
// CHECK-LABEL: func.func @scored
// CHECK-COUNT-3: nap.argmax
// CHECK: nap.concat %{{.+}}, %{{.+}}, %{{.+}} axis 0 : (tensor<4xi32>, tensor<4xi32>, tensor<2xi32>) -> tensor<10xi32>
func.func @scored(%x: tensor<2x5x4xf32>, %w: tensor<7x4xf32>) -> (tensor<2x5xi32> {nap.result = "output best"}, tensor<2x5xf32> {nap.result = "output most"}) {
  %l = nap.einsum "bsd,vd->bsv" %x, %w : (tensor<2x5x4xf32>, tensor<7x4xf32>) -> tensor<2x5x7xf32>
  %most = nap.reduce max %l [2] : tensor<2x5x7xf32> -> tensor<2x5xf32>
  %best = nap.argmax %l : tensor<2x5x7xf32> -> tensor<2x5xi32>
  return %best, %most : tensor<2x5xi32>, tensor<2x5xf32>
}
