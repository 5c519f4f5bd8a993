// Of bf16, and of f16, scores and sums are f32: what is stored is at most one rounding from what the interpreter does.
// On tensor cores probabilities are rounded too, where they are factors.
// RUN: %unit/run-kernel %s --near=8e-3 --range=-1.5:1.5 | FileCheck %s
// RUN: %unit/run-kernel %s --cuda-host --near=8e-3 --cuda-near=4e-3 --range=-1.5:1.5 | FileCheck %s
// RUN: sed -e s/bf16/f16/g %s > %t.f16.mlir
// RUN: %unit/run-kernel %t.f16.mlir --near=1e-3 --range=-1.5:1.5 | FileCheck %s
// RUN: %unit/run-kernel %t.f16.mlir --cuda-host --near=1e-3 --cuda-near=1e-3 --range=-1.5:1.5 | FileCheck %s

// CHECK: forward_narrow: {{.*}} within
nap.kernel_def attention @forward_narrow {
^bb0(%q: tensor<4x13x5xbf16>, %k: tensor<2x19x5xbf16>, %v: tensor<2x19x18xbf16>):
  %out, %lse = nap.attention %q, %k, %v {scale = 0.5, to = 6} : (tensor<4x13x5xbf16>, tensor<2x19x5xbf16>, tensor<2x19x18xbf16>) -> (tensor<4x13x18xbf16>, tensor<4x13xf32>)
  nap.yield %out, %lse : tensor<4x13x18xbf16>, tensor<4x13xf32>
}

// CHECK: backward_narrow: {{.*}} within
nap.kernel_def attention @backward_narrow {
^bb0(%q: tensor<4x13x5xbf16>, %k: tensor<2x19x5xbf16>, %v: tensor<2x19x18xbf16>, %out: tensor<4x13x18xbf16>, %lse: tensor<4x13xf32>, %dout: tensor<4x13x18xbf16>):
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %dout {scale = 0.5, to = 6}
    : (tensor<4x13x5xbf16>, tensor<2x19x5xbf16>, tensor<2x19x18xbf16>, tensor<4x13x18xbf16>, tensor<4x13xf32>, tensor<4x13x18xbf16>) -> (tensor<4x13x5xbf16>, tensor<2x19x5xbf16>, tensor<2x19x18xbf16>)
  nap.yield %dq, %dk, %dv : tensor<4x13x5xbf16>, tensor<2x19x5xbf16>, tensor<2x19x18xbf16>
}
