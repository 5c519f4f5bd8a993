// RUN: %unit/run-kernel %s --cuda-host --cuda-near=1e-3 --cuda-text=%t.cu | FileCheck %s
// RUN: FileCheck %s --check-prefix=TEXT < %t.cu
// Products of f32 under the policy tf32: tensor cores round each factor to 11 bits, so that a result of the CUDA text is within
// 1e-3 of the largest of the CPU's, whose products are those of f32. In every layout of the sides, at sizes that no
// tile divides; in ranges of the depth, which a second grid adds up; with an epilogue and sums that go on.

module attributes {nap.policy = "tf32"} {

// CHECK: rows_times_columns: {{.*}}equal
// TEXT-LABEL: void rows_times_columns__kernel(
// TEXT: alignas(16) __shared__ float left_tile[
// TEXT: multiply_tensor<product, tiling>(sums, left_tile, right_tile, in_0, in_1, block);
nap.kernel_def contraction @rows_times_columns {
^bb0(%a: tensor<37x300xf32>, %b: tensor<300x101xf32>):
  %y = nap.einsum "mk,kn->mn" %a, %b : (tensor<37x300xf32>, tensor<300x101xf32>) -> tensor<37x101xf32>
  nap.yield %y : tensor<37x101xf32>
}

// CHECK: columns_transposed: {{.*}}equal
nap.kernel_def contraction @columns_transposed {
^bb0(%a: tensor<37x264xf32>, %b: tensor<100x264xf32>):
  %y = nap.einsum "mk,nk->mn" %a, %b : (tensor<37x264xf32>, tensor<100x264xf32>) -> tensor<37x100xf32>
  nap.yield %y : tensor<37x100xf32>
}

// CHECK: rows_transposed: {{.*}}equal
nap.kernel_def contraction @rows_transposed {
^bb0(%a: tensor<259x36xf32>, %b: tensor<259x100xf32>):
  %y = nap.einsum "km,kn->mn" %a, %b : (tensor<259x36xf32>, tensor<259x100xf32>) -> tensor<36x100xf32>
  nap.yield %y : tensor<36x100xf32>
}

// CHECK: both_transposed: {{.*}}equal
nap.kernel_def contraction @both_transposed {
^bb0(%a: tensor<61x50xf32>, %b: tensor<97x61xf32>):
  %y = nap.einsum "km,nk->mn" %a, %b : (tensor<61x50xf32>, tensor<97x61xf32>) -> tensor<50x97xf32>
  nap.yield %y : tensor<50x97xf32>
}

// CHECK: batched: {{.*}}equal
nap.kernel_def contraction @batched {
^bb0(%a: tensor<3x17x32xf32>, %b: tensor<3x32x20xf32>):
  %y = nap.einsum "bmk,bkn->bmn" %a, %b : (tensor<3x17x32xf32>, tensor<3x32x20xf32>) -> tensor<3x17x20xf32>
  nap.yield %y : tensor<3x17x20xf32>
}

// CHECK: goes_on: {{.*}}equal
nap.kernel_def contraction @goes_on {
^bb0(%a: tensor<128x64xf32>, %b: tensor<128x96xf32>, %s: tensor<64x96xf32>):
  %y = nap.einsum "km,kn->mn" %a, %b init %s : (tensor<128x64xf32>, tensor<128x96xf32>, tensor<64x96xf32>) -> tensor<64x96xf32>
  nap.yield %y : tensor<64x96xf32>
}

// CHECK: in_ranges: {{.*}}equal
// TEXT-LABEL: void in_ranges__kernel(
// TEXT-SAME: const float *__restrict__ in_0, {{.*}}, const float *__restrict__ out_0, const float *__restrict__ out_1, float *__restrict__ parts)
// TEXT: .splits = [[SPLITS:[248]+]]}
// TEXT-LABEL: void in_ranges__kernel__sum(
// TEXT-SAME: float *__restrict__ out_0, float *__restrict__ out_1, const float *__restrict__ parts)
nap.kernel_def contraction @in_ranges {
^bb0(%x: tensor<3000x20xf32>, %w: tensor<3000x70xf32>, %b: tensor<70xf32>):
  %0 = nap.einsum "km,kn->mn" %x, %w : (tensor<3000x20xf32>, tensor<3000x70xf32>) -> tensor<20x70xf32>
  %1 = nap.broadcast %b [1] : tensor<70xf32> -> tensor<20x70xf32>
  %2 = nap.add %0, %1 : tensor<20x70xf32>
  nap.yield %2, %0 : tensor<20x70xf32>, tensor<20x70xf32>
}

// CHECK: in_ranges_goes_on: {{.*}}equal
nap.kernel_def contraction @in_ranges_goes_on {
^bb0(%a: tensor<2x11x4001xf32>, %b: tensor<2x4001x17xf32>, %s: tensor<2x11x17xf32>):
  %y = nap.einsum "bmk,bkn->bmn" %a, %b init %s : (tensor<2x11x4001xf32>, tensor<2x4001x17xf32>, tensor<2x11x17xf32>) -> tensor<2x11x17xf32>
  nap.yield %y : tensor<2x11x17xf32>
}

}
