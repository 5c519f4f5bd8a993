// Registers of attention on tensor cores: nothing spills, whatever the architecture and the size of heads.
// REQUIRES: nvrtc
// RUN: %unit/run-kernel %s --nvrtc=sm_80 | FileCheck %s
// RUN: %unit/run-kernel %s --nvrtc=sm_89 | FileCheck %s
// RUN: %unit/run-kernel %s --nvrtc=sm_90 | FileCheck %s
// RUN: %unit/run-kernel %s --nvrtc=sm_100 | FileCheck %s

// CHECK: a_64__kernel {{[0-9]+ 0 [0-9]+$}}
nap.kernel_def attention @a_64 {
^bb0(%q: tensor<8x12x1024x64xbf16>, %k: tensor<8x12x1024x64xbf16>, %v: tensor<8x12x1024x64xbf16>, %out: tensor<8x12x1024x64xbf16>, %lse: tensor<8x12x1024xf32>, %dout: tensor<8x12x1024x64xbf16>):
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %dout {scale = 0.125, to = 0}
    : (tensor<8x12x1024x64xbf16>, tensor<8x12x1024x64xbf16>, tensor<8x12x1024x64xbf16>, tensor<8x12x1024x64xbf16>, tensor<8x12x1024xf32>, tensor<8x12x1024x64xbf16>) -> (tensor<8x12x1024x64xbf16>, tensor<8x12x1024x64xbf16>, tensor<8x12x1024x64xbf16>)
  nap.yield %dq, %dk, %dv : tensor<8x12x1024x64xbf16>, tensor<8x12x1024x64xbf16>, tensor<8x12x1024x64xbf16>
}

// CHECK: b_128__kernel {{[0-9]+ 0 [0-9]+$}}
nap.kernel_def attention @b_128 {
^bb0(%q: tensor<2x8x512x128xbf16>, %k: tensor<2x2x512x128xbf16>, %v: tensor<2x2x512x128xbf16>, %out: tensor<2x8x512x128xbf16>, %lse: tensor<2x8x512xf32>, %dout: tensor<2x8x512x128xbf16>):
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %dout {scale = 0.088, to = 0}
    : (tensor<2x8x512x128xbf16>, tensor<2x2x512x128xbf16>, tensor<2x2x512x128xbf16>, tensor<2x8x512x128xbf16>, tensor<2x8x512xf32>, tensor<2x8x512x128xbf16>) -> (tensor<2x8x512x128xbf16>, tensor<2x2x512x128xbf16>, tensor<2x2x512x128xbf16>)
  nap.yield %dq, %dk, %dv : tensor<2x8x512x128xbf16>, tensor<2x2x512x128xbf16>, tensor<2x2x512x128xbf16>
}

// CHECK: c_256__kernel {{[0-9]+ 0 [0-9]+$}}
nap.kernel_def attention @c_256 {
^bb0(%q: tensor<1x4x512x256xbf16>, %k: tensor<1x1x512x256xbf16>, %v: tensor<1x1x512x256xbf16>, %out: tensor<1x4x512x256xbf16>, %lse: tensor<1x4x512xf32>, %dout: tensor<1x4x512x256xbf16>):
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %dout {scale = 0.0625, to = 0}
    : (tensor<1x4x512x256xbf16>, tensor<1x1x512x256xbf16>, tensor<1x1x512x256xbf16>, tensor<1x4x512x256xbf16>, tensor<1x4x512xf32>, tensor<1x4x512x256xbf16>) -> (tensor<1x4x512x256xbf16>, tensor<1x1x512x256xbf16>, tensor<1x1x512x256xbf16>)
  nap.yield %dq, %dk, %dv : tensor<1x4x512x256xbf16>, tensor<1x1x512x256xbf16>, tensor<1x1x512x256xbf16>
}

// CHECK: d_64__kernel {{[0-9]+ 0 [0-9]+$}}
nap.kernel_def attention @d_64 {
^bb0(%q: tensor<8x12x1024x64xbf16>, %k: tensor<8x12x1024x64xbf16>, %v: tensor<8x12x1024x64xbf16>, %key: tensor<4xi32>):
  %out, %lse = nap.attention %q, %k, %v key %key {scale = 0.125, to = 0, rate = 0.1, site = 3 : i32} : (tensor<8x12x1024x64xbf16>, tensor<8x12x1024x64xbf16>, tensor<8x12x1024x64xbf16>, tensor<4xi32>) -> (tensor<8x12x1024x64xbf16>, tensor<8x12x1024xf32>)
  nap.yield %out, %lse : tensor<8x12x1024x64xbf16>, tensor<8x12x1024xf32>
}

// CHECK: e_128__kernel {{[0-9]+ 0 [0-9]+$}}
nap.kernel_def attention @e_128 {
^bb0(%q: tensor<2x8x512x128xbf16>, %k: tensor<2x2x512x128xbf16>, %v: tensor<2x2x512x128xbf16>):
  %out, %lse = nap.attention %q, %k, %v {scale = 0.088, from = -128, to = 0} : (tensor<2x8x512x128xbf16>, tensor<2x2x512x128xbf16>, tensor<2x2x512x128xbf16>) -> (tensor<2x8x512x128xbf16>, tensor<2x8x512xf32>)
  nap.yield %out, %lse : tensor<2x8x512x128xbf16>, tensor<2x8x512xf32>
}

// CHECK: f_256__kernel {{[0-9]+ 0 [0-9]+$}}
nap.kernel_def attention @f_256 {
^bb0(%q: tensor<1x4x512x256xbf16>, %k: tensor<1x1x512x256xbf16>, %v: tensor<1x1x512x256xbf16>):
  %out, %lse = nap.attention %q, %k, %v {scale = 0.0625, to = 0} : (tensor<1x4x512x256xbf16>, tensor<1x1x512x256xbf16>, tensor<1x1x512x256xbf16>) -> (tensor<1x4x512x256xbf16>, tensor<1x4x512xf32>)
  nap.yield %out, %lse : tensor<1x4x512x256xbf16>, tensor<1x4x512xf32>
}

// Enough blocks for twice the rows a warp, which heads of 128 elements have no registers for.
// CHECK: g_128__kernel {{[0-9]+ 0 [0-9]+$}}
nap.kernel_def attention @g_128 {
^bb0(%q: tensor<1x32x2048x128xbf16>, %k: tensor<1x8x2048x128xbf16>, %v: tensor<1x8x2048x128xbf16>):
  %out, %lse = nap.attention %q, %k, %v {scale = 0.088, to = 0} : (tensor<1x32x2048x128xbf16>, tensor<1x8x2048x128xbf16>, tensor<1x8x2048x128xbf16>) -> (tensor<1x32x2048x128xbf16>, tensor<1x32x2048xf32>)
  nap.yield %out, %lse : tensor<1x32x2048x128xbf16>, tensor<1x32x2048xf32>
}
