// Contractions and reductions: what is executed is what the cost rules say.
// RUN: nap-interpret %s --count > %t.executed
// RUN: nap-print-cost %s > %t.counted
// RUN: diff %t.executed %t.counted
// RUN: FileCheck %s < %t.counted

// CHECK: @matmul mm 210 vec 0
func.func @matmul(%x: tensor<3x5xf32>, %w: tensor<7x5xf32>) -> tensor<3x7xf32> {
  %y = nap.einsum "ab,cb->ac" %x, %w : (tensor<3x5xf32>, tensor<7x5xf32>) -> tensor<3x7xf32>
  return %y : tensor<3x7xf32>
}

// A contraction over one term still multiplies and adds.
// CHECK: @oneTerm mm 42 vec 0
func.func @oneTerm(%x: tensor<3x1xf32>, %w: tensor<7x1xf32>) -> tensor<3x7xf32> {
  %y = nap.einsum "ab,cb->ac" %x, %w : (tensor<3x1xf32>, tensor<7x1xf32>) -> tensor<3x7xf32>
  return %y : tensor<3x7xf32>
}

// Going on from a tensor adds as often as starting from 0.
// CHECK: @goesOn mm 210 vec 0
func.func @goesOn(%x: tensor<3x5xf32>, %w: tensor<7x5xf32>, %s: tensor<3x7xf32>) -> tensor<3x7xf32> {
  %y = nap.einsum "ab,cb->ac" %x, %w init %s : (tensor<3x5xf32>, tensor<7x5xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
  return %y : tensor<3x7xf32>
}

// Batch axes that stand in one operand only: (2,1,4,8) by (3,8,5) without the 1.
// CHECK: @batches mm 1920 vec 0
func.func @batches(%x: tensor<2x4x8xf64>, %w: tensor<3x8x5xf64>) -> tensor<2x3x4x5xf64> {
  %y = nap.einsum "bmk,ckn->bcmn" %x, %w : (tensor<2x4x8xf64>, tensor<3x8x5xf64>) -> tensor<2x3x4x5xf64>
  return %y : tensor<2x3x4x5xf64>
}

// CHECK: @outer mm 0 vec 21
func.func @outer(%x: tensor<3xf32>, %w: tensor<7xf32>) -> tensor<3x7xf32> {
  %y = nap.einsum "a,c->ac" %x, %w : (tensor<3xf32>, tensor<7xf32>) -> tensor<3x7xf32>
  return %y : tensor<3x7xf32>
}

// Letter d stands in one operand alone: 15 sums of 4 terms, then the product.
// CHECK: @sumFirst mm 210 vec 45
func.func @sumFirst(%x: tensor<3x4x5xf32>, %w: tensor<7x5xf32>) -> tensor<3x7xf32> {
  %y = nap.einsum "adb,cb->ac" %x, %w : (tensor<3x4x5xf32>, tensor<7x5xf32>) -> tensor<3x7xf32>
  return %y : tensor<3x7xf32>
}

// CHECK: @single mm 0 vec 12
func.func @single(%x: tensor<3x5xf32>) -> tensor<3xf32> {
  %y = nap.einsum "ab->a" %x : (tensor<3x5xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// CHECK: @turned mm 0 vec 0
func.func @turned(%x: tensor<3x5xf32>) -> tensor<5x3xf32> {
  %y = nap.einsum "ab->ba" %x : (tensor<3x5xf32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// From the right: 2*5*7*2 for (B C), then 2*3*5*2; from the left it were 2*3*5*7 and 2*3*7*2.
// CHECK: @chain mm 200 vec 0
func.func @chain(%a: tensor<3x5xf32>, %b: tensor<5x7xf32>, %c: tensor<7x2xf32>) -> tensor<3x2xf32> {
  %y = nap.einsum "ab,bc,cd->ad" %a, %b, %c : (tensor<3x5xf32>, tensor<5x7xf32>, tensor<7x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

func.func @four(%a: tensor<3x5xf32>, %b: tensor<5x7xf32>, %c: tensor<7x2x4xf32>, %d: tensor<3x6xf32>) -> tensor<2x3xf32> {
  %y = nap.einsum "ab,bc,cde,af->da" %a, %b, %c, %d : (tensor<3x5xf32>, tensor<5x7xf32>, tensor<7x2x4xf32>, tensor<3x6xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// More than twelve operands are contracted from the left.
// CHECK: @thirteen mm 192 vec 0
func.func @thirteen(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %y = nap.einsum "ab,bc,cd,de,ef,fg,gh,hi,ij,jk,kl,lm,mn->an" %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x
    : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// CHECK: @whole mm 30 vec 4
func.func @whole(%x: tensor<3x5xi32>, %w: tensor<5xi32>) -> (tensor<3xi32>, tensor<i32>) {
  %y = nap.einsum "ab,b->a" %x, %w : (tensor<3x5xi32>, tensor<5xi32>) -> tensor<3xi32>
  %s = nap.reduce sum %w [0] : tensor<5xi32> -> tensor<i32>
  return %y, %s : tensor<3xi32>, tensor<i32>
}

// CHECK: @reductions mm 0 vec 26 trn 0 cmp 22
func.func @reductions(%x: tensor<3x5xf32>) -> (tensor<3xf32>, tensor<f32>, tensor<5xf32>, tensor<3xf32>) {
  %sum = nap.reduce sum %x [1] : tensor<3x5xf32> -> tensor<3xf32>
  %product = nap.reduce prod %x [0, 1] : tensor<3x5xf32> -> tensor<f32>
  %largest = nap.reduce max %x [0] : tensor<3x5xf32> -> tensor<5xf32>
  %least = nap.reduce min %x [1] : tensor<3x5xf32> -> tensor<3xf32>
  return %sum, %product, %largest, %least : tensor<3xf32>, tensor<f32>, tensor<5xf32>, tensor<3xf32>
}

// Sums longer than 128 running sums and than a block: still n - 1 additions.
// CHECK: @long mm 0 vec 13499
func.func @long(%x: tensor<5000xf32>, %y: tensor<500x17xf32>) -> (tensor<f32>, tensor<1xf32>) {
  %a = nap.reduce sum %x [0] : tensor<5000xf32> -> tensor<f32>
  %s = nap.slice %y [0, 3] step [1, 1] : tensor<500x17xf32> -> tensor<500x1xf32>
  %wide = nap.broadcast %s [0, 1] : tensor<500x1xf32> -> tensor<500x1x17xf32>
  %b = nap.reduce sum %wide [0, 2] : tensor<500x1x17xf32> -> tensor<1xf32>
  %c = nap.add %b, %b : tensor<1xf32>
  return %a, %c : tensor<f32>, tensor<1xf32>
}

// What is computed of a product element by element, which in-kernels.test finds in the product's kernel.
// CHECK: @epilogue mm 210 vec 42
func.func @epilogue(%x: tensor<3x5xf32>, %w: tensor<7x5xf32>, %b: tensor<7xf32>) -> (tensor<3x7xf32>, tensor<3x7xf32>) {
  %product = nap.einsum "ab,cb->ac" %x, %w : (tensor<3x5xf32>, tensor<7x5xf32>) -> tensor<3x7xf32>
  %bias = nap.broadcast %b [1] : tensor<7xf32> -> tensor<3x7xf32>
  %sum = nap.add %product, %bias : tensor<3x7xf32>
  %square = nap.mul %sum, %sum : tensor<3x7xf32>
  return %sum, %square : tensor<3x7xf32>, tensor<3x7xf32>
}
