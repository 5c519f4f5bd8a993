// RUN: %python %S/check.py %s | FileCheck %s
// CHECK: {{^}}9 modules, 0 wrong{{$}}

// reshape

nap.declare parameter @x : tensor<6x5xf64>
nap.declare parameter @c : tensor<2x3x5xf64>
func.func @forward(%x: tensor<6x5xf64> {nap.of = @x}, %c: tensor<2x3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.reshape %x : tensor<6x5xf64> -> tensor<2x3x5xf64>
  %loss = nap.einsum "abc,abc->" %y, %c : (tensor<2x3x5xf64>, tensor<2x3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// permute

nap.declare parameter @x : tensor<2x3x5xf64>
nap.declare parameter @c : tensor<5x2x3xf64>
func.func @forward(%x: tensor<2x3x5xf64> {nap.of = @x}, %c: tensor<5x2x3xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.permute %x [2, 0, 1] : tensor<2x3x5xf64> -> tensor<5x2x3xf64>
  %loss = nap.einsum "abc,abc->" %y, %c : (tensor<5x2x3xf64>, tensor<5x2x3xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// broadcast in front, between, behind

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @c : tensor<2x3x7x5x4xf64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %c: tensor<2x3x7x5x4xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.broadcast %x [1, 3] : tensor<3x5xf64> -> tensor<2x3x7x5x4xf64>
  %loss = nap.einsum "abcde,abcde->" %y, %c : (tensor<2x3x7x5x4xf64>, tensor<2x3x7x5x4xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// broadcast of a number

nap.declare parameter @x : tensor<f64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<f64> {nap.of = @x}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.broadcast %x [] : tensor<f64> -> tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// slice with steps, forwards and backwards

nap.declare parameter @x : tensor<7x8xf64>
nap.declare parameter @c : tensor<3x2xf64>
func.func @forward(%x: tensor<7x8xf64> {nap.of = @x}, %c: tensor<3x2xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.slice %x [1, 6] step [2, -3] : tensor<7x8xf64> -> tensor<3x2xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// slice of one element of an axis

nap.declare parameter @x : tensor<5x3xf64>
nap.declare parameter @c : tensor<1x3xf64>
func.func @forward(%x: tensor<5x3xf64> {nap.of = @x}, %c: tensor<1x3xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.slice %x [2, 0] step [1, 1] : tensor<5x3xf64> -> tensor<1x3xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<1x3xf64>, tensor<1x3xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// diagonal

nap.declare parameter @x : tensor<3x5x3xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x: tensor<3x5x3xf64> {nap.of = @x}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.diagonal %x axes 0, 2 : tensor<3x5x3xf64> -> tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// window over one axis

nap.declare parameter @x : tensor<2x9xf64>
nap.declare parameter @c : tensor<2x4x3xf64>
func.func @forward(%x: tensor<2x9xf64> {nap.of = @x}, %c: tensor<2x4x3xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.window %x sizes [3] strides [2] dilations [1] : tensor<2x9xf64> -> tensor<2x4x3xf64>
  %loss = nap.einsum "abc,abc->" %y, %c : (tensor<2x4x3xf64>, tensor<2x4x3xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// window over two axes, dilated

nap.declare parameter @x : tensor<2x5x7xf64>
nap.declare parameter @c : tensor<2x2x3x2x3xf64>
func.func @forward(%x: tensor<2x5x7xf64> {nap.of = @x}, %c: tensor<2x2x3x2x3xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.window %x sizes [2, 3] strides [1, 2] dilations [3, 1] : tensor<2x5x7xf64> -> tensor<2x2x3x2x3xf64>
  %loss = nap.einsum "abcde,abcde->" %y, %c : (tensor<2x2x3x2x3xf64>, tensor<2x2x3x2x3xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}
