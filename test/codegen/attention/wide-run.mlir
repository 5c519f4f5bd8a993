// Attention of f64 sums in f64, in vectors of either width.
// RUN: %unit/run-kernel %s --near=5e-6 --range=-1.5:1.5 | FileCheck %s
// RUN: %unit/run-kernel %s --near=5e-6 --range=-1.5:1.5 --vector-bytes=32 | FileCheck %s

// CHECK: forward_double: {{.*}} within
nap.kernel_def attention @forward_double {
^bb0(%q: tensor<2x17x5xf64>, %k: tensor<1x70x5xf64>, %v: tensor<1x70x6xf64>):
  %out, %lse = nap.attention %q, %k, %v {scale = 0.5, to = 60} : (tensor<2x17x5xf64>, tensor<1x70x5xf64>, tensor<1x70x6xf64>) -> (tensor<2x17x6xf64>, tensor<2x17xf64>)
  nap.yield %out, %lse : tensor<2x17x6xf64>, tensor<2x17xf64>
}

// CHECK: backward_double: {{.*}} within
nap.kernel_def attention @backward_double {
^bb0(%q: tensor<2x17x5xf64>, %k: tensor<1x70x5xf64>, %v: tensor<1x70x6xf64>, %out: tensor<2x17x6xf64>, %lse: tensor<2x17xf64>, %dout: tensor<2x17x6xf64>):
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %dout {scale = 0.5, to = 60}
    : (tensor<2x17x5xf64>, tensor<1x70x5xf64>, tensor<1x70x6xf64>, tensor<2x17x6xf64>, tensor<2x17xf64>, tensor<2x17x6xf64>) -> (tensor<2x17x5xf64>, tensor<1x70x5xf64>, tensor<1x70x6xf64>)
  nap.yield %dq, %dk, %dv : tensor<2x17x5xf64>, tensor<1x70x5xf64>, tensor<1x70x6xf64>
}
