// Attention computes what the interpreter does, to rounding, in vectors of either width, whatever a task does first.
// RUN: %unit/run-kernel %s --near=5e-6 --range=-1.5:1.5 | FileCheck %s
// RUN: %unit/run-kernel %s --near=5e-6 --range=-1.5:1.5 --vector-bytes=32 | FileCheck %s
// RUN: %unit/run-kernel %s --cuda-host --near=5e-6 --range=-1.5:1.5 | FileCheck %s

// CHECK: forward_plain: {{.*}} within
nap.kernel_def attention @forward_plain {
^bb0(%q: tensor<2x2x64x16xf32>, %k: tensor<2x2x64x16xf32>, %v: tensor<2x2x64x16xf32>):
  %out, %lse = nap.attention %q, %k, %v {scale = 0.25} : (tensor<2x2x64x16xf32>, tensor<2x2x64x16xf32>, tensor<2x2x64x16xf32>) -> (tensor<2x2x64x16xf32>, tensor<2x2x64xf32>)
  nap.yield %out, %lse : tensor<2x2x64x16xf32>, tensor<2x2x64xf32>
}

// CHECK: forward_odd: {{.*}} within
nap.kernel_def attention @forward_odd {
^bb0(%q: tensor<3x13x5xf32>, %k: tensor<3x7x5xf32>, %v: tensor<3x7x3xf32>):
  %out, %lse = nap.attention %q, %k, %v {scale = 0.5} : (tensor<3x13x5xf32>, tensor<3x7x5xf32>, tensor<3x7x3xf32>) -> (tensor<3x13x3xf32>, tensor<3x13xf32>)
  nap.yield %out, %lse : tensor<3x13x3xf32>, tensor<3x13xf32>
}

// CHECK: forward_causal: {{.*}} within
nap.kernel_def attention @forward_causal {
^bb0(%q: tensor<1x130x8xf32>, %k: tensor<1x130x8xf32>, %v: tensor<1x130x8xf32>):
  %out, %lse = nap.attention %q, %k, %v {scale = 0.5, to = 0} : (tensor<1x130x8xf32>, tensor<1x130x8xf32>, tensor<1x130x8xf32>) -> (tensor<1x130x8xf32>, tensor<1x130xf32>)
  nap.yield %out, %lse : tensor<1x130x8xf32>, tensor<1x130xf32>
}

// CHECK: forward_shared_band: {{.*}} within
nap.kernel_def attention @forward_shared_band {
^bb0(%q: tensor<2x4x70x6xf32>, %k: tensor<2x2x75x6xf32>, %v: tensor<2x2x75x10xf32>):
  %out, %lse = nap.attention %q, %k, %v {scale = 0.5, from = -20, to = 5} : (tensor<2x4x70x6xf32>, tensor<2x2x75x6xf32>, tensor<2x2x75x10xf32>) -> (tensor<2x4x70x10xf32>, tensor<2x4x70xf32>)
  nap.yield %out, %lse : tensor<2x4x70x10xf32>, tensor<2x4x70xf32>
}

// CHECK: forward_drops: {{.*}} within
nap.kernel_def attention @forward_drops {
^bb0(%q: tensor<2x2x66x4xf32>, %k: tensor<2x1x68x4xf32>, %v: tensor<2x1x68x4xf32>, %key: tensor<4xi32>):
  %out, %lse = nap.attention %q, %k, %v key %key {scale = 0.5, to = 2, rate = 0.3, site = -5 : i32} : (tensor<2x2x66x4xf32>, tensor<2x1x68x4xf32>, tensor<2x1x68x4xf32>, tensor<4xi32>) -> (tensor<2x2x66x4xf32>, tensor<2x2x66xf32>)
  nap.yield %out, %lse : tensor<2x2x66x4xf32>, tensor<2x2x66xf32>
}

// CHECK: forward_drops_odd: {{.*}} within
nap.kernel_def attention @forward_drops_odd {
^bb0(%q: tensor<2x2x9x4xf32>, %k: tensor<2x1x67x4xf32>, %v: tensor<2x1x67x4xf32>, %key: tensor<4xi32>):
  %out, %lse = nap.attention %q, %k, %v key %key {scale = 0.5, rate = 0.3, site = 5 : i32} : (tensor<2x2x9x4xf32>, tensor<2x1x67x4xf32>, tensor<2x1x67x4xf32>, tensor<4xi32>) -> (tensor<2x2x9x4xf32>, tensor<2x2x9xf32>)
  nap.yield %out, %lse : tensor<2x2x9x4xf32>, tensor<2x2x9xf32>
}

// CHECK: backward_plain: {{.*}} within
nap.kernel_def attention @backward_plain {
^bb0(%q: tensor<2x2x64x16xf32>, %k: tensor<2x2x64x16xf32>, %v: tensor<2x2x64x16xf32>, %out: tensor<2x2x64x16xf32>, %lse: tensor<2x2x64xf32>, %dout: tensor<2x2x64x16xf32>):
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %dout {scale = 0.25}
    : (tensor<2x2x64x16xf32>, tensor<2x2x64x16xf32>, tensor<2x2x64x16xf32>, tensor<2x2x64x16xf32>, tensor<2x2x64xf32>, tensor<2x2x64x16xf32>) -> (tensor<2x2x64x16xf32>, tensor<2x2x64x16xf32>, tensor<2x2x64x16xf32>)
  nap.yield %dq, %dk, %dv : tensor<2x2x64x16xf32>, tensor<2x2x64x16xf32>, tensor<2x2x64x16xf32>
}

// CHECK: backward_odd: {{.*}} within
nap.kernel_def attention @backward_odd {
^bb0(%q: tensor<3x13x5xf32>, %k: tensor<3x7x5xf32>, %v: tensor<3x7x3xf32>, %out: tensor<3x13x3xf32>, %lse: tensor<3x13xf32>, %dout: tensor<3x13x3xf32>):
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %dout {scale = 0.5}
    : (tensor<3x13x5xf32>, tensor<3x7x5xf32>, tensor<3x7x3xf32>, tensor<3x13x3xf32>, tensor<3x13xf32>, tensor<3x13x3xf32>) -> (tensor<3x13x5xf32>, tensor<3x7x5xf32>, tensor<3x7x3xf32>)
  nap.yield %dq, %dk, %dv : tensor<3x13x5xf32>, tensor<3x7x5xf32>, tensor<3x7x3xf32>
}

// CHECK: backward_causal: {{.*}} within
nap.kernel_def attention @backward_causal {
^bb0(%q: tensor<1x130x8xf32>, %k: tensor<1x130x8xf32>, %v: tensor<1x130x8xf32>, %out: tensor<1x130x8xf32>, %lse: tensor<1x130xf32>, %dout: tensor<1x130x8xf32>):
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %dout {scale = 0.5, to = 0}
    : (tensor<1x130x8xf32>, tensor<1x130x8xf32>, tensor<1x130x8xf32>, tensor<1x130x8xf32>, tensor<1x130xf32>, tensor<1x130x8xf32>) -> (tensor<1x130x8xf32>, tensor<1x130x8xf32>, tensor<1x130x8xf32>)
  nap.yield %dq, %dk, %dv : tensor<1x130x8xf32>, tensor<1x130x8xf32>, tensor<1x130x8xf32>
}

// CHECK: backward_shared_band: {{.*}} within
nap.kernel_def attention @backward_shared_band {
^bb0(%q: tensor<2x4x70x6xf32>, %k: tensor<2x2x75x6xf32>, %v: tensor<2x2x75x10xf32>, %out: tensor<2x4x70x10xf32>, %lse: tensor<2x4x70xf32>, %dout: tensor<2x4x70x10xf32>):
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %dout {scale = 0.5, from = -20, to = 5}
    : (tensor<2x4x70x6xf32>, tensor<2x2x75x6xf32>, tensor<2x2x75x10xf32>, tensor<2x4x70x10xf32>, tensor<2x4x70xf32>, tensor<2x4x70x10xf32>) -> (tensor<2x4x70x6xf32>, tensor<2x2x75x6xf32>, tensor<2x2x75x10xf32>)
  nap.yield %dq, %dk, %dv : tensor<2x4x70x6xf32>, tensor<2x2x75x6xf32>, tensor<2x2x75x10xf32>
}

// CHECK: backward_drops: {{.*}} within
nap.kernel_def attention @backward_drops {
^bb0(%q: tensor<2x2x66x4xf32>, %k: tensor<2x1x68x4xf32>, %v: tensor<2x1x68x4xf32>, %out: tensor<2x2x66x4xf32>, %lse: tensor<2x2x66xf32>, %dout: tensor<2x2x66x4xf32>, %key: tensor<4xi32>):
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %dout key %key {scale = 0.5, to = 2, rate = 0.3, site = -5 : i32}
    : (tensor<2x2x66x4xf32>, tensor<2x1x68x4xf32>, tensor<2x1x68x4xf32>, tensor<2x2x66x4xf32>, tensor<2x2x66xf32>, tensor<2x2x66x4xf32>, tensor<4xi32>) -> (tensor<2x2x66x4xf32>, tensor<2x1x68x4xf32>, tensor<2x1x68x4xf32>)
  nap.yield %dq, %dk, %dv : tensor<2x2x66x4xf32>, tensor<2x1x68x4xf32>, tensor<2x1x68x4xf32>
}

// CHECK: backward_drops_odd: {{.*}} within
nap.kernel_def attention @backward_drops_odd {
^bb0(%q: tensor<2x2x9x4xf32>, %k: tensor<2x1x67x4xf32>, %v: tensor<2x1x67x4xf32>, %out: tensor<2x2x9x4xf32>, %lse: tensor<2x2x9xf32>, %dout: tensor<2x2x9x4xf32>, %key: tensor<4xi32>):
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %dout key %key {scale = 0.5, rate = 0.3, site = 5 : i32}
    : (tensor<2x2x9x4xf32>, tensor<2x1x67x4xf32>, tensor<2x1x67x4xf32>, tensor<2x2x9x4xf32>, tensor<2x2x9xf32>, tensor<2x2x9x4xf32>, tensor<4xi32>) -> (tensor<2x2x9x4xf32>, tensor<2x1x67x4xf32>, tensor<2x1x67x4xf32>)
  nap.yield %dq, %dk, %dv : tensor<2x2x9x4xf32>, tensor<2x1x67x4xf32>, tensor<2x1x67x4xf32>
}

// Read through a packed tensor, written through permutations.
// CHECK: forward_packed: {{.*}} within
nap.kernel_def attention @forward_packed {
^bb0(%x: tensor<2x5x24xf32>):
  %y = nap.reshape %x : tensor<2x5x24xf32> -> tensor<2x5x3x2x4xf32>
  %z = nap.permute %y [2, 0, 3, 1, 4] : tensor<2x5x3x2x4xf32> -> tensor<3x2x2x5x4xf32>
  %q1 = nap.slice %z [0, 0, 0, 0, 0] step [1, 1, 1, 1, 1] : tensor<3x2x2x5x4xf32> -> tensor<1x2x2x5x4xf32>
  %k1 = nap.slice %z [1, 0, 0, 0, 0] step [1, 1, 1, 1, 1] : tensor<3x2x2x5x4xf32> -> tensor<1x2x2x5x4xf32>
  %v1 = nap.slice %z [2, 0, 0, 0, 0] step [1, 1, 1, 1, 1] : tensor<3x2x2x5x4xf32> -> tensor<1x2x2x5x4xf32>
  %q = nap.reshape %q1 : tensor<1x2x2x5x4xf32> -> tensor<2x2x5x4xf32>
  %k = nap.reshape %k1 : tensor<1x2x2x5x4xf32> -> tensor<2x2x5x4xf32>
  %v = nap.reshape %v1 : tensor<1x2x2x5x4xf32> -> tensor<2x2x5x4xf32>
  %out, %lse = nap.attention %q, %k, %v {scale = 0.5, to = 0} : (tensor<2x2x5x4xf32>, tensor<2x2x5x4xf32>, tensor<2x2x5x4xf32>) -> (tensor<2x2x5x4xf32>, tensor<2x2x5xf32>)
  %o = nap.permute %out [0, 2, 1, 3] : tensor<2x2x5x4xf32> -> tensor<2x5x2x4xf32>
  nap.yield %o, %lse : tensor<2x5x2x4xf32>, tensor<2x2x5xf32>
}

// Elements of a head far apart, gradients joined in one tensor.
// CHECK: backward_packed: {{.*}} within
nap.kernel_def attention @backward_packed {
^bb0(%qt: tensor<2x4x5xf32>, %k: tensor<2x5x4xf32>, %v: tensor<2x5x4xf32>, %out: tensor<2x5x4xf32>, %lse: tensor<2x5xf32>, %dt: tensor<2x4x5xf32>):
  %q = nap.permute %qt [0, 2, 1] : tensor<2x4x5xf32> -> tensor<2x5x4xf32>
  %dout = nap.permute %dt [0, 2, 1] : tensor<2x4x5xf32> -> tensor<2x5x4xf32>
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %dout {scale = 0.5, to = 0}
    : (tensor<2x5x4xf32>, tensor<2x5x4xf32>, tensor<2x5x4xf32>, tensor<2x5x4xf32>, tensor<2x5xf32>, tensor<2x5x4xf32>) -> (tensor<2x5x4xf32>, tensor<2x5x4xf32>, tensor<2x5x4xf32>)
  %dk1 = nap.reshape %dk : tensor<2x5x4xf32> -> tensor<1x2x5x4xf32>
  %dq1 = nap.reshape %dq : tensor<2x5x4xf32> -> tensor<1x2x5x4xf32>
  %dv1 = nap.reshape %dv : tensor<2x5x4xf32> -> tensor<1x2x5x4xf32>
  %joined = nap.concat %dq1, %dk1, %dv1 axis 0 : (tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>) -> tensor<3x2x5x4xf32>
  %o = nap.permute %joined [2, 0, 3, 1] : tensor<3x2x5x4xf32> -> tensor<5x3x4x2xf32>
  nap.yield %o : tensor<5x3x4x2xf32>
}
