// Attention, forward and backward: what is executed is what the cost rules say.
// RUN: nap-interpret %s --count > %t.executed
// RUN: nap-print-cost %s > %t.counted
// RUN: diff %t.executed %t.counted
// RUN: FileCheck %s < %t.counted

// 35 pairs of 4 heads: 35 * 4 * (2 * 9 + 6 * 6 + 4 * 3) + 20 * 2 * 3.
// CHECK: @plain mm 9360
func.func @plain(%q: tensor<4x5x6xf32>, %k: tensor<2x7x6xf32>, %v: tensor<2x7x3xf32>, %c: tensor<4x5x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x5xf32>, tensor<4x5x6xf32>, tensor<2x7x6xf32>, tensor<2x7x3xf32>) {
  %out, %lse = nap.attention %q, %k, %v {scale = 0.5} : (tensor<4x5x6xf32>, tensor<2x7x6xf32>, tensor<2x7x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x5xf32>)
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %c {scale = 0.5}
    : (tensor<4x5x6xf32>, tensor<2x7x6xf32>, tensor<2x7x3xf32>, tensor<4x5x3xf32>, tensor<4x5xf32>, tensor<4x5x3xf32>) -> (tensor<4x5x6xf32>, tensor<2x7x6xf32>, tensor<2x7x3xf32>)
  return %out, %lse, %dq, %dk, %dv : tensor<4x5x3xf32>, tensor<4x5xf32>, tensor<4x5x6xf32>, tensor<2x7x6xf32>, tensor<2x7x3xf32>
}

// Only whole blocks are left out: of 3 x 3 blocks of 64, the last ones of 6 and 11, rows 0 to 63 see one, rows 64 to 127 two.
// CHECK: @band
func.func @band(%q: tensor<1x1x134x4xf32>, %k: tensor<1x1x139x4xf32>, %v: tensor<1x1x139x2xf32>, %c: tensor<1x1x134x2xf32>) -> (tensor<1x1x134x2xf32>, tensor<1x1x134xf32>, tensor<1x1x134x4xf32>, tensor<1x1x139x4xf32>, tensor<1x1x139x2xf32>) {
  %out, %lse = nap.attention %q, %k, %v {scale = 0.5, from = -70, to = 0} : (tensor<1x1x134x4xf32>, tensor<1x1x139x4xf32>, tensor<1x1x139x2xf32>) -> (tensor<1x1x134x2xf32>, tensor<1x1x134xf32>)
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %c {scale = 0.5, from = -70, to = 0}
    : (tensor<1x1x134x4xf32>, tensor<1x1x139x4xf32>, tensor<1x1x139x2xf32>, tensor<1x1x134x2xf32>, tensor<1x1x134xf32>, tensor<1x1x134x2xf32>) -> (tensor<1x1x134x4xf32>, tensor<1x1x139x4xf32>, tensor<1x1x139x2xf32>)
  return %out, %lse, %dq, %dk, %dv : tensor<1x1x134x2xf32>, tensor<1x1x134xf32>, tensor<1x1x134x4xf32>, tensor<1x1x139x4xf32>, tensor<1x1x139x2xf32>
}

// Dropout: rows that are no whole fours share words with none.
// CHECK: @draws
func.func @draws(%q: tensor<2x2x5x6xf32>, %k: tensor<2x1x7x6xf32>, %v: tensor<2x1x7x3xf32>, %c: tensor<2x2x5x3xf32>, %key: tensor<4xi32>) -> (tensor<2x2x5x3xf32>, tensor<2x2x5xf32>, tensor<2x2x5x6xf32>, tensor<2x1x7x6xf32>, tensor<2x1x7x3xf32>) {
  %out, %lse = nap.attention %q, %k, %v key %key {scale = 0.5, to = 2, rate = 0.25, site = 9 : i32} : (tensor<2x2x5x6xf32>, tensor<2x1x7x6xf32>, tensor<2x1x7x3xf32>, tensor<4xi32>) -> (tensor<2x2x5x3xf32>, tensor<2x2x5xf32>)
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %c key %key {scale = 0.5, to = 2, rate = 0.25, site = 9 : i32}
    : (tensor<2x2x5x6xf32>, tensor<2x1x7x6xf32>, tensor<2x1x7x3xf32>, tensor<2x2x5x3xf32>, tensor<2x2x5xf32>, tensor<2x2x5x3xf32>, tensor<4xi32>) -> (tensor<2x2x5x6xf32>, tensor<2x1x7x6xf32>, tensor<2x1x7x3xf32>)
  return %out, %lse, %dq, %dk, %dv : tensor<2x2x5x3xf32>, tensor<2x2x5xf32>, tensor<2x2x5x6xf32>, tensor<2x1x7x6xf32>, tensor<2x1x7x3xf32>
}

// CHECK: @narrow
func.func @narrow(%q: tensor<2x3x5xbf16>, %k: tensor<1x8x5xbf16>, %v: tensor<1x8x4xbf16>, %c: tensor<2x3x4xbf16>, %key: tensor<4xi32>) -> (tensor<2x3x4xbf16>, tensor<2x3xf32>, tensor<2x3x5xbf16>, tensor<1x8x5xbf16>, tensor<1x8x4xbf16>) {
  %out, %lse = nap.attention %q, %k, %v key %key {scale = 0.5, rate = 0.25, site = 9 : i32} : (tensor<2x3x5xbf16>, tensor<1x8x5xbf16>, tensor<1x8x4xbf16>, tensor<4xi32>) -> (tensor<2x3x4xbf16>, tensor<2x3xf32>)
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %c key %key {scale = 0.5, rate = 0.25, site = 9 : i32}
    : (tensor<2x3x5xbf16>, tensor<1x8x5xbf16>, tensor<1x8x4xbf16>, tensor<2x3x4xbf16>, tensor<2x3xf32>, tensor<2x3x4xbf16>, tensor<4xi32>) -> (tensor<2x3x5xbf16>, tensor<1x8x5xbf16>, tensor<1x8x4xbf16>)
  return %out, %lse, %dq, %dk, %dv : tensor<2x3x4xbf16>, tensor<2x3xf32>, tensor<2x3x5xbf16>, tensor<1x8x5xbf16>, tensor<1x8x4xbf16>
}
