// Attention of bf16, and of f16, from its CUDA text, on tensor cores, beside the CPU's code: probabilities and the gradients of scores
// are rounded to bf16 where they are factors, so results are within 2^-8 of their largest, 2^-11 of f16. Head sizes from 16 to 256,
// masks, groups, dropout, sizes that fill no tile, and numbers that do not lie in eights.
// RUN: %unit/run-kernel %s --cuda-host --cuda-text=%t.cu --near=4e-3 --cuda-near=4e-3 --range=-1.5:1.5 | FileCheck %s
// RUN: FileCheck %s --check-prefix=TEXT < %t.cu
// RUN: sed -e s/bf16/f16/g %s > %t.f16.mlir
// RUN: %unit/run-kernel %t.f16.mlir --cuda-host --near=5e-4 --cuda-near=5e-4 --range=-1.5:1.5 | FileCheck %s

// TEXT-LABEL: void many_blocks__kernel(
// TEXT: attention_forward_tensor<attention, 2, 64,
// TEXT-LABEL: void backward_wide_256__kernel(
// TEXT: NAP_ASKED_SHARED(asked, 65536);
// TEXT: bf16 *const row_keys = reinterpret_cast<bf16 *>(asked + {{[0-9]+}});
// TEXT: attention_backward_tensor<attention, 2, 16, 2,

// CHECK: causal_64: {{.*}} within
nap.kernel_def attention @causal_64 {
^bb0(%q: tensor<2x100x64xbf16>, %k: tensor<2x100x64xbf16>, %v: tensor<2x100x64xbf16>):
  %out, %lse = nap.attention %q, %k, %v {scale = 0.125, to = 0} : (tensor<2x100x64xbf16>, tensor<2x100x64xbf16>, tensor<2x100x64xbf16>) -> (tensor<2x100x64xbf16>, tensor<2x100xf32>)
  nap.yield %out, %lse : tensor<2x100x64xbf16>, tensor<2x100xf32>
}

// CHECK: whole_32: {{.*}} within
nap.kernel_def attention @whole_32 {
^bb0(%q: tensor<2x2x70x32xbf16>, %k: tensor<2x1x64x32xbf16>, %v: tensor<2x1x64x32xbf16>):
  %out, %lse = nap.attention %q, %k, %v {scale = 0.18} : (tensor<2x2x70x32xbf16>, tensor<2x1x64x32xbf16>, tensor<2x1x64x32xbf16>) -> (tensor<2x2x70x32xbf16>, tensor<2x2x70xf32>)
  nap.yield %out, %lse : tensor<2x2x70x32xbf16>, tensor<2x2x70xf32>
}

// CHECK: band_128: {{.*}} within
nap.kernel_def attention @band_128 {
^bb0(%q: tensor<2x66x128xbf16>, %k: tensor<1x80x128xbf16>, %v: tensor<1x80x128xbf16>):
  %out, %lse = nap.attention %q, %k, %v {scale = 0.088, from = -20, to = 5} : (tensor<2x66x128xbf16>, tensor<1x80x128xbf16>, tensor<1x80x128xbf16>) -> (tensor<2x66x128xbf16>, tensor<2x66xf32>)
  nap.yield %out, %lse : tensor<2x66x128xbf16>, tensor<2x66xf32>
}

// CHECK: wide_256: {{.*}} within
nap.kernel_def attention @wide_256 {
^bb0(%q: tensor<1x20x256xbf16>, %k: tensor<1x37x256xbf16>, %v: tensor<1x37x256xbf16>):
  %out, %lse = nap.attention %q, %k, %v {scale = 0.0625, to = 17} : (tensor<1x20x256xbf16>, tensor<1x37x256xbf16>, tensor<1x37x256xbf16>) -> (tensor<1x20x256xbf16>, tensor<1x20xf32>)
  nap.yield %out, %lse : tensor<1x20x256xbf16>, tensor<1x20xf32>
}

// CHECK: mixed_sizes: {{.*}} within
nap.kernel_def attention @mixed_sizes {
^bb0(%q: tensor<2x33x96xbf16>, %k: tensor<1x50x96xbf16>, %v: tensor<1x50x40xbf16>):
  %out, %lse = nap.attention %q, %k, %v {scale = 0.1, to = 17} : (tensor<2x33x96xbf16>, tensor<1x50x96xbf16>, tensor<1x50x40xbf16>) -> (tensor<2x33x40xbf16>, tensor<2x33xf32>)
  nap.yield %out, %lse : tensor<2x33x40xbf16>, tensor<2x33xf32>
}

// CHECK: large_192: {{.*}} within
nap.kernel_def attention @large_192 {
^bb0(%q: tensor<1x65x192xbf16>, %k: tensor<1x33x192xbf16>, %v: tensor<1x33x192xbf16>):
  %out, %lse = nap.attention %q, %k, %v {scale = 0.07} : (tensor<1x65x192xbf16>, tensor<1x33x192xbf16>, tensor<1x33x192xbf16>) -> (tensor<1x65x192xbf16>, tensor<1x65xf32>)
  nap.yield %out, %lse : tensor<1x65x192xbf16>, tensor<1x65xf32>
}

// CHECK: odd: {{.*}} within
nap.kernel_def attention @odd {
^bb0(%q: tensor<3x1x13x5xbf16>, %k: tensor<3x1x19x5xbf16>, %v: tensor<3x1x19x18xbf16>):
  %out, %lse = nap.attention %q, %k, %v {scale = 0.5, to = 6} : (tensor<3x1x13x5xbf16>, tensor<3x1x19x5xbf16>, tensor<3x1x19x18xbf16>) -> (tensor<3x1x13x18xbf16>, tensor<3x1x13xf32>)
  nap.yield %out, %lse : tensor<3x1x13x18xbf16>, tensor<3x1x13xf32>
}

// CHECK: many_blocks: {{.*}} within
nap.kernel_def attention @many_blocks {
^bb0(%q: tensor<24x4x130x32xbf16>, %k: tensor<24x2x66x32xbf16>, %v: tensor<24x2x66x32xbf16>):
  %out, %lse = nap.attention %q, %k, %v {scale = 0.18, to = 0} : (tensor<24x4x130x32xbf16>, tensor<24x2x66x32xbf16>, tensor<24x2x66x32xbf16>) -> (tensor<24x4x130x32xbf16>, tensor<24x4x130xf32>)
  nap.yield %out, %lse : tensor<24x4x130x32xbf16>, tensor<24x4x130xf32>
}

// CHECK: drops: {{.*}} within
nap.kernel_def attention @drops {
^bb0(%q: tensor<2x2x66x16xbf16>, %k: tensor<2x1x68x16xbf16>, %v: tensor<2x1x68x16xbf16>, %key: tensor<4xi32>):
  %out, %lse = nap.attention %q, %k, %v key %key {scale = 0.25, to = 2, rate = 0.3, site = -5 : i32} : (tensor<2x2x66x16xbf16>, tensor<2x1x68x16xbf16>, tensor<2x1x68x16xbf16>, tensor<4xi32>) -> (tensor<2x2x66x16xbf16>, tensor<2x2x66xf32>)
  nap.yield %out, %lse : tensor<2x2x66x16xbf16>, tensor<2x2x66xf32>
}

// CHECK: drops_odd: {{.*}} within
nap.kernel_def attention @drops_odd {
^bb0(%q: tensor<2x2x9x16xbf16>, %k: tensor<2x1x67x16xbf16>, %v: tensor<2x1x67x16xbf16>, %key: tensor<4xi32>):
  %out, %lse = nap.attention %q, %k, %v key %key {scale = 0.25, rate = 0.3, site = 5 : i32} : (tensor<2x2x9x16xbf16>, tensor<2x1x67x16xbf16>, tensor<2x1x67x16xbf16>, tensor<4xi32>) -> (tensor<2x2x9x16xbf16>, tensor<2x2x9xf32>)
  nap.yield %out, %lse : tensor<2x2x9x16xbf16>, tensor<2x2x9xf32>
}

// CHECK: backward_causal_64: {{.*}} within
nap.kernel_def attention @backward_causal_64 {
^bb0(%q: tensor<2x100x64xbf16>, %k: tensor<2x100x64xbf16>, %v: tensor<2x100x64xbf16>, %out: tensor<2x100x64xbf16>, %lse: tensor<2x100xf32>, %dout: tensor<2x100x64xbf16>):
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %dout {scale = 0.125, to = 0}
    : (tensor<2x100x64xbf16>, tensor<2x100x64xbf16>, tensor<2x100x64xbf16>, tensor<2x100x64xbf16>, tensor<2x100xf32>, tensor<2x100x64xbf16>) -> (tensor<2x100x64xbf16>, tensor<2x100x64xbf16>, tensor<2x100x64xbf16>)
  nap.yield %dq, %dk, %dv : tensor<2x100x64xbf16>, tensor<2x100x64xbf16>, tensor<2x100x64xbf16>
}

// CHECK: backward_whole_32: {{.*}} within
nap.kernel_def attention @backward_whole_32 {
^bb0(%q: tensor<2x2x70x32xbf16>, %k: tensor<2x1x64x32xbf16>, %v: tensor<2x1x64x32xbf16>, %out: tensor<2x2x70x32xbf16>, %lse: tensor<2x2x70xf32>, %dout: tensor<2x2x70x32xbf16>):
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %dout {scale = 0.18}
    : (tensor<2x2x70x32xbf16>, tensor<2x1x64x32xbf16>, tensor<2x1x64x32xbf16>, tensor<2x2x70x32xbf16>, tensor<2x2x70xf32>, tensor<2x2x70x32xbf16>) -> (tensor<2x2x70x32xbf16>, tensor<2x1x64x32xbf16>, tensor<2x1x64x32xbf16>)
  nap.yield %dq, %dk, %dv : tensor<2x2x70x32xbf16>, tensor<2x1x64x32xbf16>, tensor<2x1x64x32xbf16>
}

// CHECK: backward_band_128: {{.*}} within
nap.kernel_def attention @backward_band_128 {
^bb0(%q: tensor<2x66x128xbf16>, %k: tensor<1x80x128xbf16>, %v: tensor<1x80x128xbf16>, %out: tensor<2x66x128xbf16>, %lse: tensor<2x66xf32>, %dout: tensor<2x66x128xbf16>):
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %dout {scale = 0.088, from = -20, to = 5}
    : (tensor<2x66x128xbf16>, tensor<1x80x128xbf16>, tensor<1x80x128xbf16>, tensor<2x66x128xbf16>, tensor<2x66xf32>, tensor<2x66x128xbf16>) -> (tensor<2x66x128xbf16>, tensor<1x80x128xbf16>, tensor<1x80x128xbf16>)
  nap.yield %dq, %dk, %dv : tensor<2x66x128xbf16>, tensor<1x80x128xbf16>, tensor<1x80x128xbf16>
}

// CHECK: backward_wide_256: {{.*}} within
nap.kernel_def attention @backward_wide_256 {
^bb0(%q: tensor<1x20x256xbf16>, %k: tensor<1x37x256xbf16>, %v: tensor<1x37x256xbf16>, %out: tensor<1x20x256xbf16>, %lse: tensor<1x20xf32>, %dout: tensor<1x20x256xbf16>):
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %dout {scale = 0.0625, to = 17}
    : (tensor<1x20x256xbf16>, tensor<1x37x256xbf16>, tensor<1x37x256xbf16>, tensor<1x20x256xbf16>, tensor<1x20xf32>, tensor<1x20x256xbf16>) -> (tensor<1x20x256xbf16>, tensor<1x37x256xbf16>, tensor<1x37x256xbf16>)
  nap.yield %dq, %dk, %dv : tensor<1x20x256xbf16>, tensor<1x37x256xbf16>, tensor<1x37x256xbf16>
}

// CHECK: backward_mixed_sizes: {{.*}} within
nap.kernel_def attention @backward_mixed_sizes {
^bb0(%q: tensor<2x33x96xbf16>, %k: tensor<1x50x96xbf16>, %v: tensor<1x50x40xbf16>, %out: tensor<2x33x40xbf16>, %lse: tensor<2x33xf32>, %dout: tensor<2x33x40xbf16>):
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %dout {scale = 0.1, to = 17}
    : (tensor<2x33x96xbf16>, tensor<1x50x96xbf16>, tensor<1x50x40xbf16>, tensor<2x33x40xbf16>, tensor<2x33xf32>, tensor<2x33x40xbf16>) -> (tensor<2x33x96xbf16>, tensor<1x50x96xbf16>, tensor<1x50x40xbf16>)
  nap.yield %dq, %dk, %dv : tensor<2x33x96xbf16>, tensor<1x50x96xbf16>, tensor<1x50x40xbf16>
}

// CHECK: backward_large_200: {{.*}} within
nap.kernel_def attention @backward_large_200 {
^bb0(%q: tensor<1x65x200xbf16>, %k: tensor<1x33x200xbf16>, %v: tensor<1x33x200xbf16>, %out: tensor<1x65x200xbf16>, %lse: tensor<1x65xf32>, %dout: tensor<1x65x200xbf16>):
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %dout {scale = 0.07}
    : (tensor<1x65x200xbf16>, tensor<1x33x200xbf16>, tensor<1x33x200xbf16>, tensor<1x65x200xbf16>, tensor<1x65xf32>, tensor<1x65x200xbf16>) -> (tensor<1x65x200xbf16>, tensor<1x33x200xbf16>, tensor<1x33x200xbf16>)
  nap.yield %dq, %dk, %dv : tensor<1x65x200xbf16>, tensor<1x33x200xbf16>, tensor<1x33x200xbf16>
}

// CHECK: backward_odd: {{.*}} within
nap.kernel_def attention @backward_odd {
^bb0(%q: tensor<3x1x13x5xbf16>, %k: tensor<3x1x19x5xbf16>, %v: tensor<3x1x19x18xbf16>, %out: tensor<3x1x13x18xbf16>, %lse: tensor<3x1x13xf32>, %dout: tensor<3x1x13x18xbf16>):
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %dout {scale = 0.5, to = 6}
    : (tensor<3x1x13x5xbf16>, tensor<3x1x19x5xbf16>, tensor<3x1x19x18xbf16>, tensor<3x1x13x18xbf16>, tensor<3x1x13xf32>, tensor<3x1x13x18xbf16>) -> (tensor<3x1x13x5xbf16>, tensor<3x1x19x5xbf16>, tensor<3x1x19x18xbf16>)
  nap.yield %dq, %dk, %dv : tensor<3x1x13x5xbf16>, tensor<3x1x19x5xbf16>, tensor<3x1x19x18xbf16>
}

// CHECK: backward_drops: {{.*}} within
nap.kernel_def attention @backward_drops {
^bb0(%q: tensor<2x2x66x16xbf16>, %k: tensor<2x1x68x16xbf16>, %v: tensor<2x1x68x16xbf16>, %out: tensor<2x2x66x16xbf16>, %lse: tensor<2x2x66xf32>, %dout: tensor<2x2x66x16xbf16>, %key: tensor<4xi32>):
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %dout key %key {scale = 0.25, to = 2, rate = 0.3, site = -5 : i32}
    : (tensor<2x2x66x16xbf16>, tensor<2x1x68x16xbf16>, tensor<2x1x68x16xbf16>, tensor<2x2x66x16xbf16>, tensor<2x2x66xf32>, tensor<2x2x66x16xbf16>, tensor<4xi32>) -> (tensor<2x2x66x16xbf16>, tensor<2x1x68x16xbf16>, tensor<2x1x68x16xbf16>)
  nap.yield %dq, %dk, %dv : tensor<2x2x66x16xbf16>, tensor<2x1x68x16xbf16>, tensor<2x1x68x16xbf16>
}

// CHECK: backward_drops_odd: {{.*}} within
nap.kernel_def attention @backward_drops_odd {
^bb0(%q: tensor<2x2x9x16xbf16>, %k: tensor<2x1x67x16xbf16>, %v: tensor<2x1x67x16xbf16>, %out: tensor<2x2x9x16xbf16>, %lse: tensor<2x2x9xf32>, %dout: tensor<2x2x9x16xbf16>, %key: tensor<4xi32>):
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %dout key %key {scale = 0.25, rate = 0.3, site = 5 : i32}
    : (tensor<2x2x9x16xbf16>, tensor<2x1x67x16xbf16>, tensor<2x1x67x16xbf16>, tensor<2x2x9x16xbf16>, tensor<2x2x9xf32>, tensor<2x2x9x16xbf16>, tensor<4xi32>) -> (tensor<2x2x9x16xbf16>, tensor<2x1x67x16xbf16>, tensor<2x1x67x16xbf16>)
  nap.yield %dq, %dk, %dv : tensor<2x2x9x16xbf16>, tensor<2x1x67x16xbf16>, tensor<2x1x67x16xbf16>
}
