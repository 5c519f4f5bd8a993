// RUN: %python %S/check.py %s | FileCheck %s
// CHECK: {{^}}21 modules, 0 wrong{{$}}

// einsum ik,kj->ij

nap.declare parameter @x0 : tensor<3x5xf64>
nap.declare parameter @x1 : tensor<5x4xf64>
nap.declare parameter @c : tensor<3x4xf64>
func.func @forward(%x0: tensor<3x5xf64> {nap.of = @x0}, %x1: tensor<5x4xf64> {nap.of = @x1}, %c: tensor<3x4xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.einsum "ik,kj->ij" %x0, %x1 : (tensor<3x5xf64>, tensor<5x4xf64>) -> tensor<3x4xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<3x4xf64>, tensor<3x4xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// einsum ik,kj->ij init

nap.declare parameter @x0 : tensor<3x5xf64>
nap.declare parameter @x1 : tensor<5x4xf64>
nap.declare parameter @s : tensor<3x4xf64>
nap.declare parameter @c : tensor<3x4xf64>
func.func @forward(%x0: tensor<3x5xf64> {nap.of = @x0}, %x1: tensor<5x4xf64> {nap.of = @x1}, %s: tensor<3x4xf64> {nap.of = @s}, %c: tensor<3x4xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %e = nap.exp %s : tensor<3x4xf64>
  %y = nap.einsum "ik,kj->ij" %x0, %x1 init %e : (tensor<3x5xf64>, tensor<5x4xf64>, tensor<3x4xf64>) -> tensor<3x4xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<3x4xf64>, tensor<3x4xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// einsum bik,bkj->ijb

nap.declare parameter @x0 : tensor<2x3x5xf64>
nap.declare parameter @x1 : tensor<2x5x4xf64>
nap.declare parameter @c : tensor<3x4x2xf64>
func.func @forward(%x0: tensor<2x3x5xf64> {nap.of = @x0}, %x1: tensor<2x5x4xf64> {nap.of = @x1}, %c: tensor<3x4x2xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.einsum "bik,bkj->ijb" %x0, %x1 : (tensor<2x3x5xf64>, tensor<2x5x4xf64>) -> tensor<3x4x2xf64>
  %loss = nap.einsum "abc,abc->" %y, %c : (tensor<3x4x2xf64>, tensor<3x4x2xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// einsum ab,b->a

nap.declare parameter @x0 : tensor<3x5xf64>
nap.declare parameter @x1 : tensor<5xf64>
nap.declare parameter @c : tensor<3xf64>
func.func @forward(%x0: tensor<3x5xf64> {nap.of = @x0}, %x1: tensor<5xf64> {nap.of = @x1}, %c: tensor<3xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.einsum "ab,b->a" %x0, %x1 : (tensor<3x5xf64>, tensor<5xf64>) -> tensor<3xf64>
  %loss = nap.einsum "a,a->" %y, %c : (tensor<3xf64>, tensor<3xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// einsum ab,cb->

nap.declare parameter @x0 : tensor<3x5xf64>
nap.declare parameter @x1 : tensor<2x5xf64>
nap.declare parameter @c : tensor<f64>
func.func @forward(%x0: tensor<3x5xf64> {nap.of = @x0}, %x1: tensor<2x5xf64> {nap.of = @x1}, %c: tensor<f64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.einsum "ab,cb->" %x0, %x1 : (tensor<3x5xf64>, tensor<2x5xf64>) -> tensor<f64>
  %loss = nap.einsum ",->" %y, %c : (tensor<f64>, tensor<f64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// einsum abc->ca

nap.declare parameter @x0 : tensor<2x3x5xf64>
nap.declare parameter @c : tensor<5x2xf64>
func.func @forward(%x0: tensor<2x3x5xf64> {nap.of = @x0}, %c: tensor<5x2xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.einsum "abc->ca" %x0 : (tensor<2x3x5xf64>) -> tensor<5x2xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<5x2xf64>, tensor<5x2xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// einsum abc->

nap.declare parameter @x0 : tensor<2x3x5xf64>
nap.declare parameter @c : tensor<f64>
func.func @forward(%x0: tensor<2x3x5xf64> {nap.of = @x0}, %c: tensor<f64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.einsum "abc->" %x0 : (tensor<2x3x5xf64>) -> tensor<f64>
  %loss = nap.einsum ",->" %y, %c : (tensor<f64>, tensor<f64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// einsum a,b->ba

nap.declare parameter @x0 : tensor<3xf64>
nap.declare parameter @x1 : tensor<5xf64>
nap.declare parameter @c : tensor<5x3xf64>
func.func @forward(%x0: tensor<3xf64> {nap.of = @x0}, %x1: tensor<5xf64> {nap.of = @x1}, %c: tensor<5x3xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.einsum "a,b->ba" %x0, %x1 : (tensor<3xf64>, tensor<5xf64>) -> tensor<5x3xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<5x3xf64>, tensor<5x3xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// einsum abz,bcy->ac

nap.declare parameter @x0 : tensor<2x3x4xf64>
nap.declare parameter @x1 : tensor<3x5x2xf64>
nap.declare parameter @c : tensor<2x5xf64>
func.func @forward(%x0: tensor<2x3x4xf64> {nap.of = @x0}, %x1: tensor<3x5x2xf64> {nap.of = @x1}, %c: tensor<2x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.einsum "abz,bcy->ac" %x0, %x1 : (tensor<2x3x4xf64>, tensor<3x5x2xf64>) -> tensor<2x5xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<2x5xf64>, tensor<2x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// einsum ab,bc,cd->ad

nap.declare parameter @x0 : tensor<2x7xf64>
nap.declare parameter @x1 : tensor<7x3xf64>
nap.declare parameter @x2 : tensor<3x5xf64>
nap.declare parameter @c : tensor<2x5xf64>
func.func @forward(%x0: tensor<2x7xf64> {nap.of = @x0}, %x1: tensor<7x3xf64> {nap.of = @x1}, %x2: tensor<3x5xf64> {nap.of = @x2}, %c: tensor<2x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.einsum "ab,bc,cd->ad" %x0, %x1, %x2 : (tensor<2x7xf64>, tensor<7x3xf64>, tensor<3x5xf64>) -> tensor<2x5xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<2x5xf64>, tensor<2x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// einsum ab,ac,ad->bcd

nap.declare parameter @x0 : tensor<7x2xf64>
nap.declare parameter @x1 : tensor<7x3xf64>
nap.declare parameter @x2 : tensor<7x5xf64>
nap.declare parameter @c : tensor<2x3x5xf64>
func.func @forward(%x0: tensor<7x2xf64> {nap.of = @x0}, %x1: tensor<7x3xf64> {nap.of = @x1}, %x2: tensor<7x5xf64> {nap.of = @x2}, %c: tensor<2x3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.einsum "ab,ac,ad->bcd" %x0, %x1, %x2 : (tensor<7x2xf64>, tensor<7x3xf64>, tensor<7x5xf64>) -> tensor<2x3x5xf64>
  %loss = nap.einsum "abc,abc->" %y, %c : (tensor<2x3x5xf64>, tensor<2x3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// einsum ab,ab->ab

nap.declare parameter @x0 : tensor<3x5xf64>
nap.declare parameter @x1 : tensor<3x5xf64>
nap.declare parameter @c : tensor<3x5xf64>
func.func @forward(%x0: tensor<3x5xf64> {nap.of = @x0}, %x1: tensor<3x5xf64> {nap.of = @x1}, %c: tensor<3x5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.einsum "ab,ab->ab" %x0, %x1 : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<3x5xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// einsum abcd,cde->abe

nap.declare parameter @x0 : tensor<2x3x4x5xf64>
nap.declare parameter @x1 : tensor<4x5x2xf64>
nap.declare parameter @c : tensor<2x3x2xf64>
func.func @forward(%x0: tensor<2x3x4x5xf64> {nap.of = @x0}, %x1: tensor<4x5x2xf64> {nap.of = @x1}, %c: tensor<2x3x2xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.einsum "abcd,cde->abe" %x0, %x1 : (tensor<2x3x4x5xf64>, tensor<4x5x2xf64>) -> tensor<2x3x2xf64>
  %loss = nap.einsum "abc,abc->" %y, %c : (tensor<2x3x2xf64>, tensor<2x3x2xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// reduce sum [1]

nap.declare parameter @x : tensor<3x5x2xf64>
nap.declare parameter @c : tensor<3x2xf64>
func.func @forward(%x: tensor<3x5x2xf64> {nap.of = @x}, %c: tensor<3x2xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.reduce sum %x [1] : tensor<3x5x2xf64> -> tensor<3x2xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// reduce sum [0, 2]

nap.declare parameter @x : tensor<3x5x2xf64>
nap.declare parameter @c : tensor<5xf64>
func.func @forward(%x: tensor<3x5x2xf64> {nap.of = @x}, %c: tensor<5xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.reduce sum %x [0, 2] : tensor<3x5x2xf64> -> tensor<5xf64>
  %loss = nap.einsum "a,a->" %y, %c : (tensor<5xf64>, tensor<5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// reduce max [2]

nap.declare parameter @x : tensor<3x2x5xf64>
nap.declare parameter @c : tensor<3x2xf64>
func.func @forward(%x: tensor<3x2x5xf64> {nap.of = @x}, %c: tensor<3x2xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.reduce max %x [2] : tensor<3x2x5xf64> -> tensor<3x2xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// reduce max [0, 1]

nap.declare parameter @x : tensor<3x5xf64>
nap.declare parameter @c : tensor<f64>
func.func @forward(%x: tensor<3x5xf64> {nap.of = @x}, %c: tensor<f64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.reduce max %x [0, 1] : tensor<3x5xf64> -> tensor<f64>
  %loss = nap.einsum ",->" %y, %c : (tensor<f64>, tensor<f64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// reduce min [0]

nap.declare parameter @x : tensor<5x3xf64>
nap.declare parameter @c : tensor<3xf64>
func.func @forward(%x: tensor<5x3xf64> {nap.of = @x}, %c: tensor<3xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.reduce min %x [0] : tensor<5x3xf64> -> tensor<3xf64>
  %loss = nap.einsum "a,a->" %y, %c : (tensor<3xf64>, tensor<3xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// reduce prod [1]

nap.declare parameter @x : tensor<3x4x2xf64>
nap.declare parameter @c : tensor<3x2xf64>
func.func @forward(%x: tensor<3x4x2xf64> {nap.of = @x}, %c: tensor<3x2xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.reduce prod %x [1] : tensor<3x4x2xf64> -> tensor<3x2xf64>
  %loss = nap.einsum "ab,ab->" %y, %c : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// reduce prod [0, 1]

nap.declare parameter @x : tensor<3x2xf64>
nap.declare parameter @c : tensor<f64>
func.func @forward(%x: tensor<3x2xf64> {nap.of = @x}, %c: tensor<f64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %y = nap.reduce prod %x [0, 1] : tensor<3x2xf64> -> tensor<f64>
  %loss = nap.einsum ",->" %y, %c : (tensor<f64>, tensor<f64>) -> tensor<f64>
  return %loss : tensor<f64>
}

// -----

// reduce prod with zeros: one zero, two zeros

nap.declare parameter @x : tensor<3x4xf64>
nap.declare parameter @c : tensor<3xf64>
func.func @forward(%x: tensor<3x4xf64> {nap.of = @x}, %c: tensor<3xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %m = nap.constant dense<[[1.0, 1.0, 1.0, 1.0], [1.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0]]> : tensor<3x4xf64>
  %z = nap.mul %x, %m : tensor<3x4xf64>
  %y = nap.reduce prod %z [1] : tensor<3x4xf64> -> tensor<3xf64>
  %loss = nap.einsum "a,a->" %y, %c : (tensor<3xf64>, tensor<3xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}
