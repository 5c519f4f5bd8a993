// RUN: %unit/run-kernel %s --cuda-host --cuda-text=%t.cu --near=4e-3 --cuda-near=4e-3 --range=-1.5:1.5 | FileCheck %s
// RUN: FileCheck %s --check-prefix=TEXT < %t.cu
// Tiles that want more than the 48 KiB of shared memory that a text may have: the launch gives them.

// CHECK: asked: {{.*}} within
// TEXT-LABEL: void asked__kernel(
// TEXT: NAP_ASKED_SHARED(asked, 49152);
nap.kernel_def attention @asked {
^bb0(%q: tensor<1x20x128xbf16>, %k: tensor<1x20x128xbf16>, %v: tensor<1x20x128xbf16>, %out: tensor<1x20x128xbf16>, %lse: tensor<1x20xf32>, %dout: tensor<1x20x128xbf16>):
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %dout {scale = 0.088, to = 0}
    : (tensor<1x20x128xbf16>, tensor<1x20x128xbf16>, tensor<1x20x128xbf16>, tensor<1x20x128xbf16>, tensor<1x20xf32>, tensor<1x20x128xbf16>) -> (tensor<1x20x128xbf16>, tensor<1x20x128xbf16>, tensor<1x20x128xbf16>)
  nap.yield %dq, %dk, %dv : tensor<1x20x128xbf16>, tensor<1x20x128xbf16>, tensor<1x20x128xbf16>
}
