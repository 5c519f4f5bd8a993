// RUN: run-kernel %s --bf16-unit=fma | FileCheck %s --check-prefix=EXACT
// RUN: run-kernel %s --bf16-unit=fma --cuda-host --cuda-near=1e-6
// RUN: sed -e s/bf16/f16/g %s > %t.f16.mlir
// RUN: run-kernel %t.f16.mlir --bf16-unit=fma | FileCheck %s --check-prefix=EXACT
// RUN: run-kernel %t.f16.mlir --bf16-unit=fma --cuda-host --cuda-near=4e-6
// Products of bf16 by fused multiply-adds have the bits of the interpreter's chain, at sizes that no
// tile divides; bf16-dot-run.test and bf16-amx-run.test take the same products to the other units.
// Tensor cores, in the emulator, add in another order. The same of f16, which no other unit multiplies.

// A layer forward.
// EXACT: rows_times_columns: {{.*}}equal
// NEAR: rows_times_columns: near
nap.kernel_def contraction @rows_times_columns {
^bb0(%a: tensor<37x300xbf16>, %b: tensor<300x101xbf16>):
  %y = nap.einsum "mk,kn->mn" %a, %b : (tensor<37x300xbf16>, tensor<300x101xbf16>) -> tensor<37x101xf32>
  nap.yield %y : tensor<37x101xf32>
}

// A layer's gradient for its input.
// EXACT: columns_transposed: {{.*}}equal
// NEAR: columns_transposed: near
nap.kernel_def contraction @columns_transposed {
^bb0(%a: tensor<37x267xbf16>, %b: tensor<101x267xbf16>):
  %y = nap.einsum "mk,nk->mn" %a, %b : (tensor<37x267xbf16>, tensor<101x267xbf16>) -> tensor<37x101xbf16>
  nap.yield %y : tensor<37x101xbf16>
}

// A weight's gradient: the contracted index is the outermost of both.
// EXACT: rows_transposed: {{.*}}equal
// NEAR: rows_transposed: near
nap.kernel_def contraction @rows_transposed {
^bb0(%a: tensor<259x37xbf16>, %b: tensor<259x101xbf16>):
  %y = nap.einsum "km,kn->mn" %a, %b : (tensor<259x37xbf16>, tensor<259x101xbf16>) -> tensor<37x101xf32>
  nap.yield %y : tensor<37x101xf32>
}

// EXACT: both_transposed: {{.*}}equal
// NEAR: both_transposed: near
nap.kernel_def contraction @both_transposed {
^bb0(%a: tensor<61x50xbf16>, %b: tensor<97x61xbf16>):
  %y = nap.einsum "km,nk->mn" %a, %b : (tensor<61x50xbf16>, tensor<97x61xbf16>) -> tensor<50x97xbf16>
  nap.yield %y : tensor<50x97xbf16>
}

// The first operand has the result's innermost letter: the sides change places.
// EXACT: swapped: {{.*}}equal
// NEAR: swapped: near
nap.kernel_def contraction @swapped {
^bb0(%a: tensor<101x70xbf16>, %b: tensor<37x70xbf16>):
  %y = nap.einsum "nk,mk->mn" %a, %b : (tensor<101x70xbf16>, tensor<37x70xbf16>) -> tensor<37x101xf32>
  nap.yield %y : tensor<37x101xf32>
}

// No edge anywhere, and terms in several blocks.
// EXACT: whole_tiles: {{.*}}equal
// NEAR: whole_tiles: near
nap.kernel_def contraction @whole_tiles {
^bb0(%a: tensor<64x800xbf16>, %b: tensor<800x96xbf16>):
  %y = nap.einsum "mk,kn->mn" %a, %b : (tensor<64x800xbf16>, tensor<800x96xbf16>) -> tensor<64x96xbf16>
  nap.yield %y : tensor<64x96xbf16>
}

// EXACT: whole_tiles_transposed: {{.*}}equal
// NEAR: whole_tiles_transposed: near
nap.kernel_def contraction @whole_tiles_transposed {
^bb0(%a: tensor<800x64xbf16>, %b: tensor<96x800xbf16>):
  %y = nap.einsum "km,nk->mn" %a, %b : (tensor<800x64xbf16>, tensor<96x800xbf16>) -> tensor<64x96xf32>
  nap.yield %y : tensor<64x96xf32>
}

// A tile of one group of rows.
// EXACT: few_rows: {{.*}}equal
// NEAR: few_rows: near
nap.kernel_def contraction @few_rows {
^bb0(%a: tensor<3x129xbf16>, %b: tensor<129x200xbf16>):
  %y = nap.einsum "mk,kn->mn" %a, %b : (tensor<3x129xbf16>, tensor<129x200xbf16>) -> tensor<3x200xbf16>
  nap.yield %y : tensor<3x200xbf16>
}

// A tile of one group of columns.
// EXACT: few_columns: {{.*}}equal
// NEAR: few_columns: near
nap.kernel_def contraction @few_columns {
^bb0(%a: tensor<200x129xbf16>, %b: tensor<129x3xbf16>):
  %y = nap.einsum "mk,kn->mn" %a, %b : (tensor<200x129xbf16>, tensor<129x3xbf16>) -> tensor<200x3xf32>
  nap.yield %y : tensor<200x3xf32>
}

// Columns of two letters that do not follow each other in the result, two contracted letters.
// EXACT: scattered_columns: {{.*}}equal
// NEAR: scattered_columns: near
nap.kernel_def contraction @scattered_columns {
^bb0(%a: tensor<5x4x21xbf16>, %b: tensor<4x21x3x13xbf16>):
  %y = nap.einsum "mxk,xkpn->pmn" %a, %b : (tensor<5x4x21xbf16>, tensor<4x21x3x13xbf16>) -> tensor<3x5x13xbf16>
  nap.yield %y : tensor<3x5x13xbf16>
}

// EXACT: batched: {{.*}}equal
// NEAR: batched: near
nap.kernel_def contraction @batched {
^bb0(%a: tensor<3x17x33xbf16>, %b: tensor<3x33x19xbf16>):
  %y = nap.einsum "bmk,bkn->bmn" %a, %b : (tensor<3x17x33xbf16>, tensor<3x33x19xbf16>) -> tensor<3x17x19xf32>
  nap.yield %y : tensor<3x17x19xf32>
}

// One side has nothing of its own: a matrix times a vector.
// EXACT: matrix_vector: {{.*}}equal
// NEAR: matrix_vector: near
nap.kernel_def contraction @matrix_vector {
^bb0(%a: tensor<37x300xbf16>, %b: tensor<300xbf16>):
  %y = nap.einsum "mk,k->m" %a, %b : (tensor<37x300xbf16>, tensor<300xbf16>) -> tensor<37xbf16>
  nap.yield %y : tensor<37xbf16>
}

// EXACT: inner_product: {{.*}}equal
// NEAR: inner_product: near
nap.kernel_def contraction @inner_product {
^bb0(%a: tensor<300xbf16>, %b: tensor<300xbf16>):
  %y = nap.einsum "k,k->" %a, %b : (tensor<300xbf16>, tensor<300xbf16>) -> tensor<f32>
  nap.yield %y : tensor<f32>
}

// One term.
// EXACT: outer_product: {{.*}}equal
// NEAR: outer_product: near
nap.kernel_def contraction @outer_product {
^bb0(%a: tensor<17x1xbf16>, %b: tensor<1x33xbf16>):
  %y = nap.einsum "mk,kn->mn" %a, %b : (tensor<17x1xbf16>, tensor<1x33xbf16>) -> tensor<17x33xbf16>
  nap.yield %y : tensor<17x33xbf16>
}

// EXACT: one_element: {{.*}}equal
// NEAR: one_element: near
nap.kernel_def contraction @one_element {
^bb0(%a: tensor<1x1xbf16>, %b: tensor<1x1xbf16>):
  %y = nap.einsum "mk,kn->mn" %a, %b : (tensor<1x1xbf16>, tensor<1x1xbf16>) -> tensor<1x1xf32>
  nap.yield %y : tensor<1x1xf32>
}

// Heads of attention: views of one operand, the batch in two letters, strides between.
// EXACT: heads: {{.*}}equal
// NEAR: heads: near
nap.kernel_def contraction @heads {
^bb0(%qkv: tensor<2x19x3x3x16xbf16>):
  %q0 = nap.slice %qkv [0, 0, 0, 0, 0] step [1, 1, 1, 1, 1] : tensor<2x19x3x3x16xbf16> -> tensor<2x19x1x3x16xbf16>
  %k0 = nap.slice %qkv [0, 0, 1, 0, 0] step [1, 1, 1, 1, 1] : tensor<2x19x3x3x16xbf16> -> tensor<2x19x1x3x16xbf16>
  %q = nap.reshape %q0 : tensor<2x19x1x3x16xbf16> -> tensor<2x19x3x16xbf16>
  %k = nap.reshape %k0 : tensor<2x19x1x3x16xbf16> -> tensor<2x19x3x16xbf16>
  %y = nap.einsum "bshd,bthd->bhst" %q, %k : (tensor<2x19x3x16xbf16>, tensor<2x19x3x16xbf16>) -> tensor<2x3x19x19xf32>
  nap.yield %y : tensor<2x3x19x19xf32>
}

// What follows from the sums: a bias and a residual, in f32.
// EXACT: bias_residual: {{.*}}equal
// NEAR: bias_residual: near
nap.kernel_def contraction @bias_residual {
^bb0(%x: tensor<37x300xbf16>, %w: tensor<300x101xbf16>, %b: tensor<101xf32>, %r: tensor<37x101xf32>):
  %0 = nap.einsum "mk,kn->mn" %x, %w : (tensor<37x300xbf16>, tensor<300x101xbf16>) -> tensor<37x101xf32>
  %1 = nap.broadcast %b [1] : tensor<101xf32> -> tensor<37x101xf32>
  %2 = nap.add %0, %1 : tensor<37x101xf32>
  %3 = nap.add %2, %r : tensor<37x101xf32>
  nap.yield %3 : tensor<37x101xf32>
}

// Sums are rounded to bf16 before what follows from them, as in memory; more terms than one block.
// EXACT: many_terms_doubled: {{.*}}equal
// NEAR: many_terms_doubled: near
nap.kernel_def contraction @many_terms_doubled {
^bb0(%x: tensor<20x1601xbf16>, %w: tensor<70x1601xbf16>):
  %0 = nap.einsum "mk,nk->mn" %x, %w : (tensor<20x1601xbf16>, tensor<70x1601xbf16>) -> tensor<20x70xbf16>
  %1 = nap.add %0, %0 : tensor<20x70xbf16>
  nap.yield %1, %0 : tensor<20x70xbf16>, tensor<20x70xbf16>
}

// Sums that go on from a tensor, at sizes that no tile divides; over more terms than one block; in batches; and at
// sizes that every tile divides.
// EXACT: goes_on: {{.*}}equal
// NEAR: goes_on: near
nap.kernel_def contraction @goes_on {
^bb0(%a: tensor<259x37xbf16>, %b: tensor<259x101xbf16>, %s: tensor<37x101xf32>):
  %y = nap.einsum "km,kn->mn" %a, %b init %s : (tensor<259x37xbf16>, tensor<259x101xbf16>, tensor<37x101xf32>) -> tensor<37x101xf32>
  nap.yield %y : tensor<37x101xf32>
}

// EXACT: goes_on_over_blocks: {{.*}}equal
// NEAR: goes_on_over_blocks: near
nap.kernel_def contraction @goes_on_over_blocks {
^bb0(%a: tensor<1500x33xbf16>, %b: tensor<1500x70xbf16>, %s: tensor<33x70xf32>):
  %y = nap.einsum "km,kn->mn" %a, %b init %s : (tensor<1500x33xbf16>, tensor<1500x70xbf16>, tensor<33x70xf32>) -> tensor<33x70xf32>
  nap.yield %y : tensor<33x70xf32>
}

// EXACT: goes_on_in_batches: {{.*}}equal
// NEAR: goes_on_in_batches: near
nap.kernel_def contraction @goes_on_in_batches {
^bb0(%a: tensor<3x11x20xbf16>, %b: tensor<3x20x17xbf16>, %s: tensor<3x11x17xf32>):
  %y = nap.einsum "bmk,bkn->bmn" %a, %b init %s : (tensor<3x11x20xbf16>, tensor<3x20x17xbf16>, tensor<3x11x17xf32>) -> tensor<3x11x17xf32>
  nap.yield %y : tensor<3x11x17xf32>
}

// EXACT: goes_on_in_whole_tiles: {{.*}}equal
// NEAR: goes_on_in_whole_tiles: near
nap.kernel_def contraction @goes_on_in_whole_tiles {
^bb0(%a: tensor<64x96xbf16>, %b: tensor<64x192xbf16>, %s: tensor<96x192xf32>):
  %y = nap.einsum "km,kn->mn" %a, %b init %s : (tensor<64x96xbf16>, tensor<64x192xbf16>, tensor<96x192xf32>) -> tensor<96x192xf32>
  nap.yield %y : tensor<96x192xf32>
}
