// RUN: %unit/run-kernel %s --cuda-host --cuda-text=%t.cu | FileCheck %s
// RUN: FileCheck %s --check-prefix=TEXT < %t.cu
// Pointwise kernels read and write neighbours together, 16 bytes at once, wherever their number of elements allows it.

// CHECK: scale: {{.*}}equal
// TEXT-LABEL: void scale__kernel(
// TEXT: for (int group = first; group < 1280; group += 1280)
// TEXT: const int [[AT:t[_0-9]*]] = group * 4;
// TEXT-NEXT: load_many<4>(read, in_0, [[AT]]);
// TEXT: for (int e = 0; e < 4; ++e)
// TEXT: store_many<4>(out, [[AT]], written);
nap.kernel_def pointwise @scale {
^bb0(%x: tensor<8x640xf32>, %c: tensor<640xf32>):
  %0 = nap.broadcast %c [1] : tensor<640xf32> -> tensor<8x640xf32>
  %1 = nap.mul %x, %0 : tensor<8x640xf32>
  nap.yield %1 : tensor<8x640xf32>
}

// Numbers of 16 bits go eight at once; what is computed of them in f32 in two accesses.
// CHECK: narrow: {{.*}}equal
// TEXT-LABEL: void narrow__kernel(
// TEXT-DAG: load_many<8>(read, in_0, t
// TEXT-DAG: store_many<8>(out_0, t
// TEXT-DAG: store_many<8>(out_1, t
nap.kernel_def pointwise @narrow {
^bb0(%x: tensor<8192xbf16>):
  %0 = nap.add %x, %x : tensor<8192xbf16>
  %1 = nap.cast %0 : tensor<8192xbf16> -> tensor<8192xf32>
  nap.yield %0, %1 : tensor<8192xbf16>, tensor<8192xf32>
}

// Bools are bytes; a transposed operand is read where it lies.
// CHECK: chosen: {{.*}}equal
// TEXT-LABEL: void chosen__kernel(
// TEXT: load_many<8>(read{{[_0-9]*}}, in_0,
nap.kernel_def pointwise @chosen {
^bb0(%p: tensor<64x128xi1>, %x: tensor<64x128xf32>, %y: tensor<128x64xf32>):
  %0 = nap.permute %y [1, 0] : tensor<128x64xf32> -> tensor<64x128xf32>
  %1 = nap.select %p, %x, %0 : tensor<64x128xi1>, tensor<64x128xf32>
  nap.yield %1 : tensor<64x128xf32>
}

// A number of elements that four do not divide.
// CHECK: odd: {{.*}}equal
// TEXT-LABEL: void odd__kernel(
// TEXT-NOT: load_many
nap.kernel_def pointwise @odd {
^bb0(%x: tensor<4097xf32>):
  %0 = nap.mul %x, %x : tensor<4097xf32>
  nap.yield %0 : tensor<4097xf32>
}
