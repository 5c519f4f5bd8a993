// RUN: run-kernel %s | FileCheck %s
// RUN: run-kernel %s --vector-bytes=32 | FileCheck %s
// RUN: run-kernel %s --vector-bytes=16 | FileCheck %s
// RUN: run-kernel --cuda-host %s | FileCheck %s
// What a kernel computes of its product has the bits of the interpreter at sizes that no tile or
// vector divides.

// CHECK: bias_activation: {{.*}}equal
nap.kernel_def contraction @bias_activation {
^bb0(%x: tensor<37x300xf32>, %w: tensor<300x101xf32>, %b: tensor<101xf32>):
  %0 = nap.einsum "mk,kn->mn" %x, %w : (tensor<37x300xf32>, tensor<300x101xf32>) -> tensor<37x101xf32>
  %1 = nap.broadcast %b [1] : tensor<101xf32> -> tensor<37x101xf32>
  %2 = nap.add %0, %1 : tensor<37x101xf32>
  %3 = nap.mul %2, %2 : tensor<37x101xf32>
  nap.yield %2, %3 : tensor<37x101xf32>, tensor<37x101xf32>
}

// More terms than one block: sums wait in memory, and leave it once.
// CHECK: many_terms: {{.*}}equal
nap.kernel_def contraction @many_terms {
^bb0(%x: tensor<20x1601xf32>, %w: tensor<70x1601xf32>, %r: tensor<20x70xf32>):
  %0 = nap.einsum "mk,nk->mn" %x, %w : (tensor<20x1601xf32>, tensor<70x1601xf32>) -> tensor<20x70xf32>
  %1 = nap.add %0, %r : tensor<20x70xf32>
  nap.yield %1, %0 : tensor<20x70xf32>, tensor<20x70xf32>
}

// Results in another shape of the same elements; rows of whole vectors.
// CHECK: heads: {{.*}}equal
nap.kernel_def contraction @heads {
^bb0(%x: tensor<6x40xf32>, %w: tensor<40x96xf32>, %b: tensor<3x32xf32>):
  %0 = nap.einsum "mk,kn->mn" %x, %w : (tensor<6x40xf32>, tensor<40x96xf32>) -> tensor<6x96xf32>
  %1 = nap.reshape %0 : tensor<6x96xf32> -> tensor<2x3x3x32xf32>
  %2 = nap.broadcast %b [2, 3] : tensor<3x32xf32> -> tensor<2x3x3x32xf32>
  %3 = nap.add %1, %2 : tensor<2x3x3x32xf32>
  nap.yield %3 : tensor<2x3x3x32xf32>
}

// A batch, a scale, a choice by place, and a column of neighbours that are not side by side.
// CHECK: masked_scores: {{.*}}equal
nap.kernel_def contraction @masked_scores {
^bb0(%q: tensor<2x19x3x16xf32>, %k: tensor<2x19x3x16xf32>, %s: tensor<f32>):
  %0 = nap.einsum "bshd,bthd->bhst" %q, %k : (tensor<2x19x3x16xf32>, tensor<2x19x3x16xf32>) -> tensor<2x3x19x19xf32>
  %1 = nap.broadcast %s [] : tensor<f32> -> tensor<2x3x19x19xf32>
  %2 = nap.mul %0, %1 : tensor<2x3x19x19xf32>
  %3 = nap.iota : tensor<19xi32>
  %4 = nap.broadcast %3 [2] : tensor<19xi32> -> tensor<2x3x19x19xi32>
  %5 = nap.broadcast %3 [3] : tensor<19xi32> -> tensor<2x3x19x19xi32>
  %6 = nap.compare ge %4, %5 : tensor<2x3x19x19xi32> -> tensor<2x3x19x19xi1>
  %7 = nap.select %6, %2, %0 : tensor<2x3x19x19xi1>, tensor<2x3x19x19xf32>
  nap.yield %7 : tensor<2x3x19x19xf32>
}

// CHECK: scattered_columns: {{.*}}equal
nap.kernel_def contraction @scattered_columns {
^bb0(%a: tensor<5x21xf32>, %b: tensor<21x3x13xf32>, %c: tensor<3x5x13xf32>):
  %0 = nap.einsum "mk,kpn->pmn" %a, %b : (tensor<5x21xf32>, tensor<21x3x13xf32>) -> tensor<3x5x13xf32>
  %1 = nap.sub %c, %0 : tensor<3x5x13xf32>
  nap.yield %1 : tensor<3x5x13xf32>
}

// Random numbers of the places that the result has; a mask of bools beside it.
// CHECK: dropout: {{.*}}equal
nap.kernel_def contraction @dropout {
^bb0(%x: tensor<13x20xf32>, %w: tensor<20x50xf32>, %key: tensor<4xi32>, %p: tensor<f32>):
  %0 = nap.einsum "mk,kn->mn" %x, %w : (tensor<13x20xf32>, tensor<20x50xf32>) -> tensor<13x50xf32>
  %1 = nap.random_uniform %key site 9 : tensor<4xi32> -> tensor<13x50xf32>
  %2 = nap.broadcast %p [] : tensor<f32> -> tensor<13x50xf32>
  %3 = nap.compare lt %1, %2 : tensor<13x50xf32> -> tensor<13x50xi1>
  %4 = nap.sub %0, %0 : tensor<13x50xf32>
  %5 = nap.select %3, %0, %4 : tensor<13x50xi1>, tensor<13x50xf32>
  nap.yield %5, %3 : tensor<13x50xf32>, tensor<13x50xi1>
}

// CHECK: doubles: {{.*}}equal
nap.kernel_def contraction @doubles {
^bb0(%x: tensor<23x30xf64>, %w: tensor<30x41xf64>, %b: tensor<41xf64>):
  %0 = nap.einsum "mk,kn->mn" %x, %w : (tensor<23x30xf64>, tensor<30x41xf64>) -> tensor<23x41xf64>
  %1 = nap.broadcast %b [1] : tensor<41xf64> -> tensor<23x41xf64>
  %2 = nap.add %0, %1 : tensor<23x41xf64>
  nap.yield %2 : tensor<23x41xf64>
}

// A matrix times a vector: each row is one element.
// CHECK: matrix_vector: {{.*}}equal
nap.kernel_def contraction @matrix_vector {
^bb0(%a: tensor<37x30xf32>, %b: tensor<30xf32>, %c: tensor<37xf32>):
  %0 = nap.einsum "mk,k->m" %a, %b : (tensor<37x30xf32>, tensor<30xf32>) -> tensor<37xf32>
  %1 = nap.add %0, %c : tensor<37xf32>
  nap.yield %1 : tensor<37xf32>
}

// Not at one place: such a kernel is computed element by element, by the body alone.
// CHECK: read_twice: {{.*}}equal
nap.kernel_def contraction @read_twice {
^bb0(%a: tensor<7x30xf32>, %b: tensor<30x9xf32>):
  %0 = nap.einsum "mk,kn->mn" %a, %b : (tensor<7x30xf32>, tensor<30x9xf32>) -> tensor<7x9xf32>
  %1 = nap.slice %0 [6, 0] step [-1, 1] : tensor<7x9xf32> -> tensor<7x9xf32>
  %2 = nap.add %0, %1 : tensor<7x9xf32>
  nap.yield %2 : tensor<7x9xf32>
}

// Draws at a site that the launch gives.
// CHECK: drop_of_product: {{.*}}equal
nap.kernel_def contraction @drop_of_product attributes {nap.sites = 1 : i64} {
^bb0(%k: tensor<4xi32>, %a: tensor<9x7xf32>, %b: tensor<7x50xf32>):
  %p = nap.einsum "ik,kj->ij" %a, %b : (tensor<9x7xf32>, tensor<7x50xf32>) -> tensor<9x50xf32>
  %r = nap.random_uniform %k site 0 : tensor<4xi32> -> tensor<9x50xf32>
  %y = nap.mul %p, %r : tensor<9x50xf32>
  nap.yield %y : tensor<9x50xf32>
}
