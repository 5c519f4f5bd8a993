// RUN: %python %S/check.py %s | FileCheck %s
// CHECK: {{^}}15 modules, 0 wrong{{$}}

// concat

nap.declare parameter @x : tensor<2x3xf64>
nap.declare parameter @y : tensor<2x1xf64>
nap.declare parameter @z : tensor<2x4xf64>
nap.declare parameter @c : tensor<2x8xf64>
func.func @forward(%x: tensor<2x3xf64> {nap.of = @x}, %y: tensor<2x1xf64> {nap.of = @y}, %z: tensor<2x4xf64> {nap.of = @z}, %c: tensor<2x8xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %o = nap.concat %x, %y, %z axis 1 : (tensor<2x3xf64>, tensor<2x1xf64>, tensor<2x4xf64>) -> tensor<2x8xf64>
  %loss = nap.einsum "ab,ab->" %o, %c : (tensor<2x8xf64>, tensor<2x8xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// concat of a tensor with itself

nap.declare parameter @x : tensor<2x3xf64>
nap.declare parameter @c : tensor<4x3xf64>
func.func @forward(%x: tensor<2x3xf64> {nap.of = @x}, %c: tensor<4x3xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %o = nap.concat %x, %x axis 0 : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<4x3xf64>
  %loss = nap.einsum "ab,ab->" %o, %c : (tensor<4x3xf64>, tensor<4x3xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// pad, with elements between

nap.declare parameter @x : tensor<3x4xf64>
nap.declare parameter @c : tensor<6x13xf64>
func.func @forward(%x: tensor<3x4xf64> {nap.of = @x}, %c: tensor<6x13xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.pad %x low [1, 0] high [2, 3] inner [0, 2] with 1.5 : tensor<3x4xf64> -> tensor<6x13xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<6x13xf64>, tensor<6x13xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// embed, rows repeated

nap.declare parameter @x : tensor<5x3xf64>
nap.declare parameter @c : tensor<3x2x3xf64>
func.func @forward(%x: tensor<5x3xf64> {nap.of = @x}, %c: tensor<3x2x3xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %ids = nap.constant dense<[[4, 0], [2, 4], [4, 1]]> : tensor<3x2xi32>
  %y = nap.embed %x, %ids : tensor<5x3xf64>, tensor<3x2xi32> -> tensor<3x2x3xf64>
  %loss = nap.einsum "abc,abc->" %y, %c : (tensor<3x2x3xf64>, tensor<3x2x3xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// embed in a table of three axes

nap.declare parameter @x : tensor<4x2x3xf64>
nap.declare parameter @c : tensor<3x2x3xf64>
func.func @forward(%x: tensor<4x2x3xf64> {nap.of = @x}, %c: tensor<3x2x3xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %ids = nap.constant dense<[3, 3, 0]> : tensor<3xi32>
  %y = nap.embed %x, %ids : tensor<4x2x3xf64>, tensor<3xi32> -> tensor<3x2x3xf64>
  %loss = nap.einsum "abc,abc->" %y, %c : (tensor<3x2x3xf64>, tensor<3x2x3xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// scatter_add

nap.declare parameter @x : tensor<3x2x4xf64>
nap.declare parameter @c : tensor<5x4xf64>
func.func @forward(%x: tensor<3x2x4xf64> {nap.of = @x}, %c: tensor<5x4xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %ids = nap.constant dense<[[4, 0], [2, 4], [4, 1]]> : tensor<3x2xi32>
  %y = nap.scatter_add %x, %ids : tensor<3x2x4xf64>, tensor<3x2xi32> -> tensor<5x4xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<5x4xf64>, tensor<5x4xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// scatter_add into

nap.declare parameter @x : tensor<3x2x4xf64>
nap.declare parameter @s : tensor<5x4xf64>
nap.declare parameter @c : tensor<5x4xf64>
func.func @forward(%x: tensor<3x2x4xf64> {nap.of = @x}, %s: tensor<5x4xf64> {nap.of = @s}, %c: tensor<5x4xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %ids = nap.constant dense<[[4, 0], [2, 4], [4, 1]]> : tensor<3x2xi32>
  %e = nap.exp %s : tensor<5x4xf64>
  %y = nap.scatter_add %x, %ids into %e : tensor<3x2x4xf64>, tensor<3x2xi32>, tensor<5x4xf64> -> tensor<5x4xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<5x4xf64>, tensor<5x4xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// take_along, one a row

nap.declare parameter @x : tensor<2x3x5xf64>
nap.declare parameter @c : tensor<2x3xf64>
func.func @forward(%x: tensor<2x3x5xf64> {nap.of = @x}, %c: tensor<2x3xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %ids = nap.constant dense<[[4, 0, 2], [1, 1, 3]]> : tensor<2x3xi32>
  %y = nap.take_along %x, %ids : tensor<2x3x5xf64>, tensor<2x3xi32> -> tensor<2x3xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// take_along, several a row, one twice

nap.declare parameter @x : tensor<2x5xf64>
nap.declare parameter @c : tensor<2x3xf64>
func.func @forward(%x: tensor<2x5xf64> {nap.of = @x}, %c: tensor<2x3xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %ids = nap.constant dense<[[4, 0, 4], [1, 2, 3]]> : tensor<2x3xi32>
  %y = nap.take_along %x, %ids : tensor<2x5xf64>, tensor<2x3xi32> -> tensor<2x3xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// put_along

nap.declare parameter @x : tensor<2x3xf64>
nap.declare parameter @c : tensor<2x5xf64>
func.func @forward(%x: tensor<2x3xf64> {nap.of = @x}, %c: tensor<2x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %ids = nap.constant dense<[[4, 0, 4], [1, 2, 3]]> : tensor<2x3xi32>
  %y = nap.put_along %x, %ids : tensor<2x3xf64>, tensor<2x3xi32> -> tensor<2x5xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<2x5xf64>, tensor<2x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// fold

nap.declare parameter @x : tensor<2x4x3xf64>
nap.declare parameter @c : tensor<2x9xf64>
func.func @forward(%x: tensor<2x4x3xf64> {nap.of = @x}, %c: tensor<2x9xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.fold %x sizes [3] strides [2] dilations [1] : tensor<2x4x3xf64> -> tensor<2x9xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<2x9xf64>, tensor<2x9xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// top_k: values carry a gradient

nap.declare parameter @x : tensor<3x7xf64>
nap.declare parameter @c : tensor<3x2xf64>
func.func @forward(%x: tensor<3x7xf64> {nap.of = @x}, %c: tensor<3x2xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y, %ids = nap.top_k %x : tensor<3x7xf64> -> tensor<3x2xf64>, tensor<3x2xi32>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// cumsum

nap.declare parameter @x : tensor<2x5x3xf64>
nap.declare parameter @c : tensor<2x5x3xf64>
func.func @forward(%x: tensor<2x5x3xf64> {nap.of = @x}, %c: tensor<2x5x3xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.cumsum %x axis 1 : tensor<2x5x3xf64>
  %loss = nap.einsum "abc,abc->" %y, %c : (tensor<2x5x3xf64>, tensor<2x5x3xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// cumsum reversed

nap.declare parameter @x : tensor<5x3xf64>
nap.declare parameter @c : tensor<5x3xf64>
func.func @forward(%x: tensor<5x3xf64> {nap.of = @x}, %c: tensor<5x3xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.cumsum %x axis 0 reverse : tensor<5x3xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<5x3xf64>, tensor<5x3xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// average: the count is a constant

nap.declare parameter @x : tensor<f64>
nap.declare parameter @c : tensor<f64>
func.func @forward(%x: tensor<f64> {nap.of = @x}, %c: tensor<f64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %count = nap.constant dense<7.0> : tensor<f64>
  %e = nap.exp %x : tensor<f64>
  %y = nap.average %e, %count index 0 : tensor<f64>
  %loss = nap.einsum ",->" %y, %c : (tensor<f64>, tensor<f64>) -> tensor<f64>
  return %loss : tensor<f64>
}
