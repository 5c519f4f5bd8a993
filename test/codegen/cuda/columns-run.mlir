// RUN: %unit/run-kernel %s --cuda-host --cuda-text=%t.cu | FileCheck %s
// RUN: FileCheck %s --check-prefix=TEXT < %t.cu
// Long sums along first axes go to two grids: blocks of 64 terms, then the blocks in order, as on every target.

// CHECK: bias_gradient: {{.*}}equal
// TEXT-LABEL: void bias_gradient__kernel(
// TEXT-SAME: const float *__restrict__ out, float *__restrict__ parts)
// TEXT: for (int part = first; part < 450;
// TEXT-LABEL: void bias_gradient__kernel__sum(
// TEXT-SAME: float *__restrict__ out, const float *__restrict__ parts)
nap.kernel_def reduction @bias_gradient {
^bb0(%x: tensor<600x45xf32>):
  %0 = nap.reduce sum %x [0] : tensor<600x45xf32> -> tensor<45xf32>
  nap.yield %0 : tensor<45xf32>
}

// Two sums over the same terms, of two axes, a whole number of blocks; what follows from them.
// CHECK: both: {{.*}}equal
nap.kernel_def reduction @both {
^bb0(%x: tensor<8x48x6x5xf32>, %y: tensor<6x5xf32>):
  %s = nap.mul %x, %x : tensor<8x48x6x5xf32>
  %0 = nap.reduce sum %x [0, 1] : tensor<8x48x6x5xf32> -> tensor<6x5xf32>
  %1 = nap.reduce sum %s [0, 1] : tensor<8x48x6x5xf32> -> tensor<6x5xf32>
  %2 = nap.add %0, %y : tensor<6x5xf32>
  nap.yield %2, %1 : tensor<6x5xf32>, tensor<6x5xf32>
}

// Of bf16: parts are f32, and the sum is rounded once.
// CHECK: narrow: {{.*}}equal
nap.kernel_def reduction @narrow {
^bb0(%x: tensor<1000x33xbf16>):
  %0 = nap.reduce sum %x [0] : tensor<1000x33xbf16> -> tensor<33xbf16>
  nap.yield %0 : tensor<33xbf16>
}

// A sum of sums stays one grid.
// CHECK: nested: {{.*}}equal
// TEXT-LABEL: void nested__kernel(
// TEXT-NOT: nested__kernel__sum
nap.kernel_def reduction @nested {
^bb0(%x: tensor<300x12xf32>):
  %0 = nap.reduce sum %x [0] : tensor<300x12xf32> -> tensor<12xf32>
  %1 = nap.broadcast %0 [1] : tensor<12xf32> -> tensor<300x12xf32>
  %2 = nap.sub %x, %1 : tensor<300x12xf32>
  %3 = nap.reduce sum %2 [0] : tensor<300x12xf32> -> tensor<12xf32>
  nap.yield %3 : tensor<12xf32>
}
