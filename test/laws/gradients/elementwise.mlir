// RUN: %python %S/check.py %s | FileCheck %s
// CHECK: {{^}}27 modules, 0 wrong{{$}}

// add

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @y : tensor<3x5xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %y: tensor<3x5xf64> {nap.of = @y}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %z = nap.add %x, %y : tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %z, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// sub

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @y : tensor<3x5xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %y: tensor<3x5xf64> {nap.of = @y}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %z = nap.sub %x, %y : tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %z, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// mul

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @y : tensor<3x5xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %y: tensor<3x5xf64> {nap.of = @y}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %z = nap.mul %x, %y : tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %z, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// div

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @y : tensor<3x5xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %y: tensor<3x5xf64> {nap.of = @y}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %half = nap.constant dense<0.5> : tensor<3x5xf64>
  %q = nap.mul %y, %y : tensor<3x5xf64>
  %p = nap.add %q, %half : tensor<3x5xf64>
  %z = nap.div %x, %p : tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %z, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// rem

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @y : tensor<3x5xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %y: tensor<3x5xf64> {nap.of = @y}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %half = nap.constant dense<0.5> : tensor<3x5xf64>
  %q = nap.mul %y, %y : tensor<3x5xf64>
  %p = nap.add %q, %half : tensor<3x5xf64>
  %z = nap.rem %x, %p : tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %z, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// pow

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @y : tensor<3x5xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %y: tensor<3x5xf64> {nap.of = @y}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %half = nap.constant dense<0.5> : tensor<3x5xf64>
  %q = nap.mul %x, %x : tensor<3x5xf64>
  %p = nap.add %q, %half : tensor<3x5xf64>
  %z = nap.pow %p, %y : tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %z, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// pow with a constant exponent, of negative numbers too

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %e = nap.constant dense<3.0> : tensor<3x5xf64>
  %z = nap.pow %x, %e : tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %z, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// pow with a constant exponent that no product replaces

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %half = nap.constant dense<0.5> : tensor<3x5xf64>
  %q = nap.mul %x, %x : tensor<3x5xf64>
  %p = nap.add %q, %half : tensor<3x5xf64>
  %e = nap.constant dense<-1.7> : tensor<3x5xf64>
  %z = nap.pow %p, %e : tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %z, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// maximum

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @y : tensor<3x5xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %y: tensor<3x5xf64> {nap.of = @y}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %z = nap.maximum %x, %y : tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %z, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// minimum

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @y : tensor<3x5xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %y: tensor<3x5xf64> {nap.of = @y}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %z = nap.minimum %x, %y : tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %z, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// neg

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.neg %x : tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// abs

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.abs %x : tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// cos

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.cos %x : tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// sin

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.sin %x : tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// erf

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.erf %x : tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// exp

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.exp %x : tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// expm1

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.expm1 %x : tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// log

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %half = nap.constant dense<0.5> : tensor<3x5xf64>
  %q = nap.mul %x, %x : tensor<3x5xf64>
  %p = nap.add %q, %half : tensor<3x5xf64>
  %y = nap.log %p : tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// log1p

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %half = nap.constant dense<0.5> : tensor<3x5xf64>
  %q = nap.mul %x, %x : tensor<3x5xf64>
  %p = nap.add %q, %half : tensor<3x5xf64>
  %y = nap.log1p %p : tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// rsqrt

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %half = nap.constant dense<0.5> : tensor<3x5xf64>
  %q = nap.mul %x, %x : tensor<3x5xf64>
  %p = nap.add %q, %half : tensor<3x5xf64>
  %y = nap.rsqrt %p : tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// sqrt

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %half = nap.constant dense<0.5> : tensor<3x5xf64>
  %q = nap.mul %x, %x : tensor<3x5xf64>
  %p = nap.add %q, %half : tensor<3x5xf64>
  %y = nap.sqrt %p : tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// sigmoid

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.sigmoid %x : tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// tanh

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.tanh %x : tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// floor, ceil, round, sign: flat between their jumps

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %f = nap.floor %x : tensor<3x5xf64>
  %e = nap.ceil %x : tensor<3x5xf64>
  %r = nap.round %x : tensor<3x5xf64>
  %s = nap.sign %x : tensor<3x5xf64>
  %a = nap.mul %f, %e : tensor<3x5xf64>
  %b = nap.mul %r, %s : tensor<3x5xf64>
  %d = nap.add %a, %b : tensor<3x5xf64>
  %y = nap.mul %d, %x : tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// select, compare

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @y : tensor<3x5xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %y: tensor<3x5xf64> {nap.of = @y}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %g = nap.compare gt %x, %y : tensor<3x5xf64> -> tensor<3x5xi1>
  %e = nap.exp %x : tensor<3x5xf64>
  %s = nap.sin %y : tensor<3x5xf64>
  %z = nap.select %g, %e, %s : tensor<3x5xi1>, tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %z, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// select does not let the side not taken spoil the gradient

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %zero = nap.constant dense<0.0> : tensor<3x5xf64>
  %one = nap.constant dense<1.0> : tensor<3x5xf64>
  %g = nap.compare gt %x, %zero : tensor<3x5xf64> -> tensor<3x5xi1>
  %safe = nap.select %g, %x, %one : tensor<3x5xi1>, tensor<3x5xf64>
  %l = nap.log %safe : tensor<3x5xf64>
  %z = nap.select %g, %l, %zero : tensor<3x5xi1>, tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %z, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// a value with many uses

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %e = nap.exp %x : tensor<3x5xf64>
  %a = nap.mul %e, %x : tensor<3x5xf64>
  %b = nap.mul %a, %e : tensor<3x5xf64>
  %d = nap.add %b, %x : tensor<3x5xf64>
  %z = nap.add %d, %d : tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %z, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}
