// Attention prints what it parses.
// RUN: napkin-opt %s | napkin-opt | FileCheck %s

// CHECK-LABEL: func.func @plain
func.func @plain(%q: tensor<2x4x5x6xf32>, %k: tensor<2x2x7x6xf32>, %v: tensor<2x2x7x3xf32>) -> tensor<2x4x5x3xf32> {
  // CHECK: nap.attention %{{.+}}, %{{.+}}, %{{.+}} {scale = 5.000000e-01 : f64} : (tensor<2x4x5x6xf32>, tensor<2x2x7x6xf32>, tensor<2x2x7x3xf32>) -> (tensor<2x4x5x3xf32>, tensor<2x4x5xf32>)
  %out, %lse = nap.attention %q, %k, %v {scale = 0.5} : (tensor<2x4x5x6xf32>, tensor<2x2x7x6xf32>, tensor<2x2x7x3xf32>) -> (tensor<2x4x5x3xf32>, tensor<2x4x5xf32>)
  return %out : tensor<2x4x5x3xf32>
}

// CHECK-LABEL: func.func @both
func.func @both(%q: tensor<1x5x6xbf16>, %k: tensor<1x7x6xbf16>, %v: tensor<1x7x3xbf16>, %key: tensor<4xi32>) -> tensor<1x5x6xbf16> {
  // CHECK: nap.attention %{{.+}} key %{{.+}} {from = 0 : i64, rate = 1.000000e-01 : f64, scale = 1.000000e+00 : f64, site = 7 : i32, to = 2 : i64} : {{.+}} -> (tensor<1x5x3xbf16>, tensor<1x5xf32>)
  %out, %lse = nap.attention %q, %k, %v key %key {scale = 1.0, from = 0, to = 2, rate = 0.1, site = 7 : i32}
    : (tensor<1x5x6xbf16>, tensor<1x7x6xbf16>, tensor<1x7x3xbf16>, tensor<4xi32>) -> (tensor<1x5x3xbf16>, tensor<1x5xf32>)
  // CHECK: nap.attention_backward {{.+}} key %{{.+}} {from = 0 : i64, rate = 1.000000e-01 : f64, scale = 1.000000e+00 : f64, site = 7 : i32, to = 2 : i64}
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %out key %key {scale = 1.0, from = 0, to = 2, rate = 0.1, site = 7 : i32}
    : (tensor<1x5x6xbf16>, tensor<1x7x6xbf16>, tensor<1x7x3xbf16>, tensor<1x5x3xbf16>, tensor<1x5xf32>, tensor<1x5x3xbf16>, tensor<4xi32>) -> (tensor<1x5x6xbf16>, tensor<1x7x6xbf16>, tensor<1x7x3xbf16>)
  return %dq : tensor<1x5x6xbf16>
}
