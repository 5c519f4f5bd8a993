// RUN: %unit/run-kernel %s --cuda-host --near=1e-3 --cuda-near=1e-2 --cuda-text=%t.cu | FileCheck %s
// RUN: FileCheck %s --check-prefix=TEXT < %t.cu

module attributes {nap.policy = "tf32"} {

// Blocks of a product whose sums go through an exponential keep registers for it; those of a product in ranges do not: the
// second grid has it.
// CHECK: exponential: {{.*}}within
// TEXT: __launch_bounds__(128, 3)
// TEXT-NEXT: void exponential__kernel(
nap.kernel_def contraction @exponential {
^bb0(%a: tensor<37x60xf32>, %b: tensor<60x41xf32>):
  %0 = nap.einsum "mk,kn->mn" %a, %b : (tensor<37x60xf32>, tensor<60x41xf32>) -> tensor<37x41xf32>
  %1 = nap.sigmoid %0 : tensor<37x41xf32>
  nap.yield %1 : tensor<37x41xf32>
}

// CHECK: exponential_in_ranges: {{.*}}within
// TEXT: __launch_bounds__(128)
// TEXT-NEXT: void exponential_in_ranges__kernel(
nap.kernel_def contraction @exponential_in_ranges {
^bb0(%a: tensor<3000x20xf32>, %b: tensor<3000x70xf32>):
  %0 = nap.einsum "km,kn->mn" %a, %b : (tensor<3000x20xf32>, tensor<3000x70xf32>) -> tensor<20x70xf32>
  %1 = nap.sigmoid %0 : tensor<20x70xf32>
  nap.yield %1 : tensor<20x70xf32>
}

}
