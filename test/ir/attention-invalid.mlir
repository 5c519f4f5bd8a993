// Each constraint of attention, broken.
// RUN: napkin-opt %s -split-input-file -verify-diagnostics

// nap.attention C1
func.func @rank(%q: tensor<5x6xf32>, %k: tensor<7x6xf32>, %v: tensor<7x3xf32>) {
  // expected-error@+1 {{q has 2 axes, wanted at least 3}}
  %out, %lse = nap.attention %q, %k, %v {scale = 1.0} : (tensor<5x6xf32>, tensor<7x6xf32>, tensor<7x3xf32>) -> (tensor<5x3xf32>, tensor<5xf32>)
  return
}

// -----

// nap.attention C1
func.func @ranks(%q: tensor<2x5x6xf32>, %k: tensor<7x6xf32>, %v: tensor<2x7x3xf32>) {
  // expected-error@+1 {{k and v have 2 and 3 axes, wanted 3 as q}}
  %out, %lse = nap.attention %q, %k, %v {scale = 1.0} : (tensor<2x5x6xf32>, tensor<7x6xf32>, tensor<2x7x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x5xf32>)
  return
}

// -----

// nap.attention C1
func.func @heads(%q: tensor<4x5x6xf32>, %k: tensor<3x7x6xf32>, %v: tensor<3x7x3xf32>) {
  // expected-error@+1 {{4 query heads do not share 3 key heads evenly}}
  %out, %lse = nap.attention %q, %k, %v {scale = 1.0} : (tensor<4x5x6xf32>, tensor<3x7x6xf32>, tensor<3x7x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x5xf32>)
  return
}

// -----

// nap.attention C1
func.func @sizes(%q: tensor<4x5x6xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x7x3xf32>) {
  // expected-error@+1 {{k has sizes 2x7x8, wanted 2x7x6}}
  %out, %lse = nap.attention %q, %k, %v {scale = 1.0} : (tensor<4x5x6xf32>, tensor<2x7x8xf32>, tensor<2x7x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x5xf32>)
  return
}

// -----

// nap.attention C2
func.func @element(%q: tensor<4x5x6xf32>, %k: tensor<2x7x6xf32>, %v: tensor<2x7x3xf64>) {
  // expected-error@+1 {{v has element type 'f64', wanted 'f32'}}
  %out, %lse = nap.attention %q, %k, %v {scale = 1.0} : (tensor<4x5x6xf32>, tensor<2x7x6xf32>, tensor<2x7x3xf64>) -> (tensor<4x5x3xf32>, tensor<4x5xf32>)
  return
}

// -----

// nap.attention C3
func.func @blind(%q: tensor<4x5x6xf32>, %k: tensor<2x3x6xf32>, %v: tensor<2x3x3xf32>) {
  // expected-error@+1 {{query 0 sees none of the 3 keys, wanted at least one}}
  %out, %lse = nap.attention %q, %k, %v {scale = 1.0, to = -2} : (tensor<4x5x6xf32>, tensor<2x3x6xf32>, tensor<2x3x3xf32>) -> (tensor<4x5x3xf32>, tensor<4x5xf32>)
  return
}

// -----

// nap.attention C4
func.func @rate(%q: tensor<4x5x6xf32>, %k: tensor<2x3x6xf32>, %v: tensor<2x3x3xf32>, %key: tensor<4xi32>) {
  // expected-error@+1 {{the rate is 1}}
  %out, %lse = nap.attention %q, %k, %v key %key {scale = 1.0, rate = 1.0, site = 1 : i32} : (tensor<4x5x6xf32>, tensor<2x3x6xf32>, tensor<2x3x3xf32>, tensor<4xi32>) -> (tensor<4x5x3xf32>, tensor<4x5xf32>)
  return
}

// -----

// nap.attention C4
func.func @site(%q: tensor<4x5x6xf32>, %k: tensor<2x3x6xf32>, %v: tensor<2x3x3xf32>, %key: tensor<4xi32>) {
  // expected-error@+1 {{comes with a key and a site}}
  %out, %lse = nap.attention %q, %k, %v key %key {scale = 1.0, rate = 0.5} : (tensor<4x5x6xf32>, tensor<2x3x6xf32>, tensor<2x3x3xf32>, tensor<4xi32>) -> (tensor<4x5x3xf32>, tensor<4x5xf32>)
  return
}

// -----

// nap.attention C5
func.func @out(%q: tensor<4x5x6xf32>, %k: tensor<2x3x6xf32>, %v: tensor<2x3x3xf32>) {
  // expected-error@+1 {{out has sizes 4x5x6, wanted 4x5x3}}
  %out, %lse = nap.attention %q, %k, %v {scale = 1.0} : (tensor<4x5x6xf32>, tensor<2x3x6xf32>, tensor<2x3x3xf32>) -> (tensor<4x5x6xf32>, tensor<4x5xf32>)
  return
}

// -----

// nap.attention C5
func.func @lse(%q: tensor<4x5x6xbf16>, %k: tensor<2x3x6xbf16>, %v: tensor<2x3x3xbf16>) {
  // expected-error@+1 {{lse has element type 'bf16', wanted 'f32'}}
  %out, %lse = nap.attention %q, %k, %v {scale = 1.0} : (tensor<4x5x6xbf16>, tensor<2x3x6xbf16>, tensor<2x3x3xbf16>) -> (tensor<4x5x3xbf16>, tensor<4x5xbf16>)
  return
}

// -----

// nap.attention_backward C3
func.func @backwardBlind(%q: tensor<4x5x6xf32>, %k: tensor<2x3x6xf32>, %v: tensor<2x3x3xf32>, %out: tensor<4x5x3xf32>, %lse: tensor<4x5xf32>) {
  // expected-error@+1 {{query 2 sees none of the 3 keys}}
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %out {scale = 1.0, from = 1} : (tensor<4x5x6xf32>, tensor<2x3x6xf32>, tensor<2x3x3xf32>, tensor<4x5x3xf32>, tensor<4x5xf32>, tensor<4x5x3xf32>) -> (tensor<4x5x6xf32>, tensor<2x3x6xf32>, tensor<2x3x3xf32>)
  return
}

// -----

// nap.attention_backward C5
func.func @backwardOut(%q: tensor<4x5x6xf32>, %k: tensor<2x3x6xf32>, %v: tensor<2x3x3xf32>, %out: tensor<4x5x6xf32>, %lse: tensor<4x5xf32>) {
  // expected-error@+1 {{out has sizes 4x5x6, wanted 4x5x3}}
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %out {scale = 1.0} : (tensor<4x5x6xf32>, tensor<2x3x6xf32>, tensor<2x3x3xf32>, tensor<4x5x6xf32>, tensor<4x5xf32>, tensor<4x5x6xf32>) -> (tensor<4x5x6xf32>, tensor<2x3x6xf32>, tensor<2x3x3xf32>)
  return
}

// -----

// nap.attention_backward C6
func.func @backwardGradient(%q: tensor<4x5x6xf32>, %k: tensor<2x3x6xf32>, %v: tensor<2x3x3xf32>, %out: tensor<4x5x3xf32>, %lse: tensor<4x5xf32>) {
  // expected-error@+1 {{dk has sizes 4x5x6, wanted 2x3x6}}
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %out {scale = 1.0} : (tensor<4x5x6xf32>, tensor<2x3x6xf32>, tensor<2x3x3xf32>, tensor<4x5x3xf32>, tensor<4x5xf32>, tensor<4x5x3xf32>) -> (tensor<4x5x6xf32>, tensor<4x5x6xf32>, tensor<2x3x3xf32>)
  return
}
