// RUN: %python %S/check.py %s | FileCheck %s
// CHECK: {{^}}4 modules, 0 wrong{{$}}

// one block

nap.declare parameter @q : tensor<1x5x6xf64>
nap.declare parameter @k : tensor<1x7x6xf64>
nap.declare parameter @v : tensor<1x7x3xf64>
nap.declare parameter @c : tensor<1x5x3xf64>
func.func @forward(%q: tensor<1x5x6xf64> {nap.of = @q}, %k: tensor<1x7x6xf64> {nap.of = @k}, %v: tensor<1x7x3xf64> {nap.of = @v}, %c: tensor<1x5x3xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %out, %lse = nap.attention %q, %k, %v {scale = 0.5} : (tensor<1x5x6xf64>, tensor<1x7x6xf64>, tensor<1x7x3xf64>) -> (tensor<1x5x3xf64>, tensor<1x5xf64>)
  %loss = nap.einsum "abc,abc->" %out, %c : (tensor<1x5x3xf64>, tensor<1x5x3xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// key heads that query heads share, a band

nap.declare parameter @q : tensor<2x4x5x3xf64>
nap.declare parameter @k : tensor<2x2x7x3xf64>
nap.declare parameter @v : tensor<2x2x7x4xf64>
nap.declare parameter @c : tensor<2x4x5x4xf64>
func.func @forward(%q: tensor<2x4x5x3xf64> {nap.of = @q}, %k: tensor<2x2x7x3xf64> {nap.of = @k}, %v: tensor<2x2x7x4xf64> {nap.of = @v}, %c: tensor<2x4x5x4xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %out, %lse = nap.attention %q, %k, %v {scale = 0.4, from = -1, to = 2} : (tensor<2x4x5x3xf64>, tensor<2x2x7x3xf64>, tensor<2x2x7x4xf64>) -> (tensor<2x4x5x4xf64>, tensor<2x4x5xf64>)
  %loss = nap.einsum "abcd,abcd->" %out, %c : (tensor<2x4x5x4xf64>, tensor<2x4x5x4xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// several blocks

nap.declare parameter @q : tensor<2x67x2xf64>
nap.declare parameter @k : tensor<1x70x2xf64>
nap.declare parameter @v : tensor<1x70x1xf64>
nap.declare parameter @c : tensor<2x67x1xf64>
func.func @forward(%q: tensor<2x67x2xf64> {nap.of = @q}, %k: tensor<1x70x2xf64> {nap.of = @k}, %v: tensor<1x70x1xf64> {nap.of = @v}, %c: tensor<2x67x1xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %out, %lse = nap.attention %q, %k, %v {scale = 0.7, to = 3} : (tensor<2x67x2xf64>, tensor<1x70x2xf64>, tensor<1x70x1xf64>) -> (tensor<2x67x1xf64>, tensor<2x67xf64>)
  %loss = nap.einsum "abc,abc->" %out, %c : (tensor<2x67x1xf64>, tensor<2x67x1xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// dropout

nap.declare parameter @q : tensor<2x2x5x6xf64>
nap.declare parameter @k : tensor<2x2x7x6xf64>
nap.declare parameter @v : tensor<2x2x7x3xf64>
nap.declare parameter @c : tensor<2x2x5x3xf64>
nap.declare random @rng : tensor<4xi32>
func.func @forward(%q: tensor<2x2x5x6xf64> {nap.of = @q}, %k: tensor<2x2x7x6xf64> {nap.of = @k}, %v: tensor<2x2x7x3xf64> {nap.of = @v}, %c: tensor<2x2x5x3xf64> {nap.of = @c}, %key: tensor<4xi32> {nap.of = @rng})
    -> (tensor<f64> {nap.result = "loss"}) {
  %out, %lse = nap.attention %q, %k, %v key %key {scale = 0.4, to = 2, rate = 0.3, site = 12 : i32} : (tensor<2x2x5x6xf64>, tensor<2x2x7x6xf64>, tensor<2x2x7x3xf64>, tensor<4xi32>) -> (tensor<2x2x5x3xf64>, tensor<2x2x5xf64>)
  %loss = nap.einsum "abcd,abcd->" %out, %c : (tensor<2x2x5x3xf64>, tensor<2x2x5x3xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}
