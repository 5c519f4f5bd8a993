// RUN: run-kernel %s | FileCheck %s
// RUN: run-kernel %s --vector-bytes=32 | FileCheck %s
// RUN: run-kernel %s --vector-bytes=16 | FileCheck %s
// RUN: run-kernel --cuda-host %s | FileCheck %s
// Products in every layout of their operands, at sizes that no tile divides, have the bits of the
// interpreter: one chain of fused multiply-adds an element.

// CHECK: rows_times_columns: {{.*}}equal
nap.kernel_def contraction @rows_times_columns {
^bb0(%a: tensor<37x300xf32>, %b: tensor<300x101xf32>):
  %y = nap.einsum "mk,kn->mn" %a, %b : (tensor<37x300xf32>, tensor<300x101xf32>) -> tensor<37x101xf32>
  nap.yield %y : tensor<37x101xf32>
}

// CHECK: columns_transposed: {{.*}}equal
nap.kernel_def contraction @columns_transposed {
^bb0(%a: tensor<37x267xf32>, %b: tensor<101x267xf32>):
  %y = nap.einsum "mk,nk->mn" %a, %b : (tensor<37x267xf32>, tensor<101x267xf32>) -> tensor<37x101xf32>
  nap.yield %y : tensor<37x101xf32>
}

// A weight's gradient: the contracted index is the outermost of both.
// CHECK: rows_transposed: {{.*}}equal
nap.kernel_def contraction @rows_transposed {
^bb0(%a: tensor<259x37xf32>, %b: tensor<259x101xf32>):
  %y = nap.einsum "km,kn->mn" %a, %b : (tensor<259x37xf32>, tensor<259x101xf32>) -> tensor<37x101xf32>
  nap.yield %y : tensor<37x101xf32>
}

// CHECK: both_transposed: {{.*}}equal
nap.kernel_def contraction @both_transposed {
^bb0(%a: tensor<61x50xf32>, %b: tensor<97x61xf32>):
  %y = nap.einsum "km,nk->mn" %a, %b : (tensor<61x50xf32>, tensor<97x61xf32>) -> tensor<50x97xf32>
  nap.yield %y : tensor<50x97xf32>
}

// The first operand has the result's innermost letter: the sides change places.
// CHECK: swapped: {{.*}}equal
nap.kernel_def contraction @swapped {
^bb0(%a: tensor<101x70xf32>, %b: tensor<37x70xf32>):
  %y = nap.einsum "nk,mk->mn" %a, %b : (tensor<101x70xf32>, tensor<37x70xf32>) -> tensor<37x101xf32>
  nap.yield %y : tensor<37x101xf32>
}

// Heads of attention: a view of one operand, the batch in two letters, strides between.
// CHECK: heads: {{.*}}equal
nap.kernel_def contraction @heads {
^bb0(%qkv: tensor<2x19x3x3x16xf32>):
  %q0 = nap.slice %qkv [0, 0, 0, 0, 0] step [1, 1, 1, 1, 1] : tensor<2x19x3x3x16xf32> -> tensor<2x19x1x3x16xf32>
  %k0 = nap.slice %qkv [0, 0, 1, 0, 0] step [1, 1, 1, 1, 1] : tensor<2x19x3x3x16xf32> -> tensor<2x19x1x3x16xf32>
  %q = nap.reshape %q0 : tensor<2x19x1x3x16xf32> -> tensor<2x19x3x16xf32>
  %k = nap.reshape %k0 : tensor<2x19x1x3x16xf32> -> tensor<2x19x3x16xf32>
  %y = nap.einsum "bshd,bthd->bhst" %q, %k : (tensor<2x19x3x16xf32>, tensor<2x19x3x16xf32>) -> tensor<2x3x19x19xf32>
  nap.yield %y : tensor<2x3x19x19xf32>
}

// Columns of two letters that do not follow each other in the result, two contracted letters.
// CHECK: scattered_columns: {{.*}}equal
nap.kernel_def contraction @scattered_columns {
^bb0(%a: tensor<5x4x21xf32>, %b: tensor<4x21x3x13xf32>):
  %y = nap.einsum "mxk,xkpn->pmn" %a, %b : (tensor<5x4x21xf32>, tensor<4x21x3x13xf32>) -> tensor<3x5x13xf32>
  nap.yield %y : tensor<3x5x13xf32>
}

// One side has nothing of its own: a matrix times a vector, both ways.
// CHECK: matrix_vector: {{.*}}equal
nap.kernel_def contraction @matrix_vector {
^bb0(%a: tensor<37x300xf32>, %b: tensor<300xf32>):
  %y = nap.einsum "mk,k->m" %a, %b : (tensor<37x300xf32>, tensor<300xf32>) -> tensor<37xf32>
  nap.yield %y : tensor<37xf32>
}

// CHECK: inner_product: {{.*}}equal
nap.kernel_def contraction @inner_product {
^bb0(%a: tensor<300xf32>, %b: tensor<300xf32>):
  %y = nap.einsum "k,k->" %a, %b : (tensor<300xf32>, tensor<300xf32>) -> tensor<f32>
  nap.yield %y : tensor<f32>
}

// CHECK: doubles: {{.*}}equal
nap.kernel_def contraction @doubles {
^bb0(%a: tensor<37x300xf64>, %b: tensor<101x300xf64>):
  %y = nap.einsum "mk,nk->mn" %a, %b : (tensor<37x300xf64>, tensor<101x300xf64>) -> tensor<37x101xf64>
  nap.yield %y : tensor<37x101xf64>
}

// CHECK: integers: {{.*}}equal
nap.kernel_def contraction @integers {
^bb0(%a: tensor<9x30xi32>, %b: tensor<30x11xi32>):
  %y = nap.einsum "mk,kn->mn" %a, %b : (tensor<9x30xi32>, tensor<30x11xi32>) -> tensor<9x11xi32>
  nap.yield %y : tensor<9x11xi32>
}

// One term alone: nothing is contracted.
// CHECK: one_term: {{.*}}equal
nap.kernel_def contraction @one_term {
^bb0(%a: tensor<70x1xf32>, %b: tensor<1x50xf32>):
  %y = nap.einsum "mk,kn->mn" %a, %b : (tensor<70x1xf32>, tensor<1x50xf32>) -> tensor<70x50xf32>
  nap.yield %y : tensor<70x50xf32>
}

// Whole panels are packed by the tiles that use them first; more terms than one block.
// CHECK: whole_panels: {{.*}}equal
nap.kernel_def contraction @whole_panels {
^bb0(%a: tensor<37x800xf32>, %b: tensor<800x96xf32>):
  %y = nap.einsum "mk,kn->mn" %a, %b : (tensor<37x800xf32>, tensor<800x96xf32>) -> tensor<37x96xf32>
  nap.yield %y : tensor<37x96xf32>
}

// More rows than one block, side by side.
// CHECK: many_rows: {{.*}}equal
nap.kernel_def contraction @many_rows {
^bb0(%a: tensor<20x310xf32>, %b: tensor<2x20x48xf32>):
  %y = nap.einsum "km,bkn->bmn" %a, %b : (tensor<20x310xf32>, tensor<2x20x48xf32>) -> tensor<2x310x48xf32>
  nap.yield %y : tensor<2x310x48xf32>
}

// Rows a power of two apart.
// CHECK: distant_rows: {{.*}}equal
nap.kernel_def contraction @distant_rows {
^bb0(%a: tensor<17x1024xf32>, %b: tensor<48x1024xf32>):
  %y = nap.einsum "mk,nk->mn" %a, %b : (tensor<17x1024xf32>, tensor<48x1024xf32>) -> tensor<17x48xf32>
  nap.yield %y : tensor<17x48xf32>
}

// Panels after a block's first are packed while the one before is multiplied; the last rows' block has
// fewer tiles, which pack larger shares.
// CHECK: panels_ahead: {{.*}}equal
nap.kernel_def contraction @panels_ahead {
^bb0(%a: tensor<290x71xf32>, %b: tensor<71x960xf32>):
  %y = nap.einsum "mk,kn->mn" %a, %b : (tensor<290x71xf32>, tensor<71x960xf32>) -> tensor<290x960xf32>
  nap.yield %y : tensor<290x960xf32>
}

// The same in more blocks of terms than one, with packed rows.
// CHECK: blocks_ahead: {{.*}}equal
nap.kernel_def contraction @blocks_ahead {
^bb0(%a: tensor<801x100xf32>, %b: tensor<801x576xf32>):
  %y = nap.einsum "km,kn->mn" %a, %b : (tensor<801x100xf32>, tensor<801x576xf32>) -> tensor<100x576xf32>
  nap.yield %y : tensor<100x576xf32>
}
