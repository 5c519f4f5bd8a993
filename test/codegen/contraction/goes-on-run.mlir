// RUN: run-kernel %s | FileCheck %s
// RUN: run-kernel %s --vector-bytes=32 | FileCheck %s
// RUN: run-kernel %s --vector-bytes=16 | FileCheck %s
// RUN: run-kernel --cuda-host %s | FileCheck %s

// Sums that go on from a tensor, at sizes that no tile divides; over more terms than one block; and at sizes that
// every tile divides.
// CHECK: goes_on: {{.*}}equal
nap.kernel_def contraction @goes_on {
^bb0(%a: tensor<259x37xf32>, %b: tensor<259x101xf32>, %s: tensor<37x101xf32>):
  %y = nap.einsum "km,kn->mn" %a, %b init %s : (tensor<259x37xf32>, tensor<259x101xf32>, tensor<37x101xf32>) -> tensor<37x101xf32>
  nap.yield %y : tensor<37x101xf32>
}

// CHECK: goes_on_in_one_block: {{.*}}equal
nap.kernel_def contraction @goes_on_in_one_block {
^bb0(%a: tensor<40x48xf32>, %b: tensor<40x96xf32>, %s: tensor<48x96xf32>):
  %y = nap.einsum "km,kn->mn" %a, %b init %s : (tensor<40x48xf32>, tensor<40x96xf32>, tensor<48x96xf32>) -> tensor<48x96xf32>
  nap.yield %y : tensor<48x96xf32>
}

// CHECK: goes_on_in_batches: {{.*}}equal
nap.kernel_def contraction @goes_on_in_batches {
^bb0(%a: tensor<3x11x20xf32>, %b: tensor<3x20x17xf32>, %s: tensor<3x11x17xf32>):
  %y = nap.einsum "bmk,bkn->bmn" %a, %b init %s : (tensor<3x11x20xf32>, tensor<3x20x17xf32>, tensor<3x11x17xf32>) -> tensor<3x11x17xf32>
  nap.yield %y : tensor<3x11x17xf32>
}

// Columns that lie apart in the result, and a view to go on from: element by element.
// CHECK: goes_on_apart: {{.*}}equal
nap.kernel_def contraction @goes_on_apart {
^bb0(%a: tensor<6x5xf32>, %b: tensor<5x7x3xf32>, %s: tensor<7x6x3xf32>):
  %y = nap.einsum "mk,knp->nmp" %a, %b init %s : (tensor<6x5xf32>, tensor<5x7x3xf32>, tensor<7x6x3xf32>) -> tensor<7x6x3xf32>
  nap.yield %y : tensor<7x6x3xf32>
}

// CHECK: goes_on_from_view: {{.*}}equal
nap.kernel_def contraction @goes_on_from_view {
^bb0(%a: tensor<26x25xf32>, %b: tensor<25x57xf32>, %s: tensor<57x26xf32>):
  %t = nap.permute %s [1, 0] : tensor<57x26xf32> -> tensor<26x57xf32>
  %y = nap.einsum "ik,kj->ij" %a, %b init %t : (tensor<26x25xf32>, tensor<25x57xf32>, tensor<26x57xf32>) -> tensor<26x57xf32>
  nap.yield %y : tensor<26x57xf32>
}
