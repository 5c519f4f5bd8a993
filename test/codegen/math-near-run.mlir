// RUN: %unit/run-kernel --ulp=2 --range=-20:20 %s | FileCheck %s
// RUN: %unit/run-kernel --cuda-host --ulp=2 --range=-20:20 %s | FileCheck %s

// Where most numbers of a model lie.

// CHECK: exp_f32: {{.*}} {{[012]}} ulp
nap.kernel_def pointwise @exp_f32 {
^bb0(%x: tensor<262144xf32>):
  %y = nap.exp %x : tensor<262144xf32>
  nap.yield %y : tensor<262144xf32>
}

// CHECK: expm1_f32: {{.*}} {{[012]}} ulp
nap.kernel_def pointwise @expm1_f32 {
^bb0(%x: tensor<262144xf32>):
  %y = nap.expm1 %x : tensor<262144xf32>
  nap.yield %y : tensor<262144xf32>
}

// CHECK: tanh_f32: {{.*}} {{[012]}} ulp
nap.kernel_def pointwise @tanh_f32 {
^bb0(%x: tensor<262144xf32>):
  %y = nap.tanh %x : tensor<262144xf32>
  nap.yield %y : tensor<262144xf32>
}

// CHECK: erf_f32: {{.*}} {{[012]}} ulp
nap.kernel_def pointwise @erf_f32 {
^bb0(%x: tensor<262144xf32>):
  %y = nap.erf %x : tensor<262144xf32>
  nap.yield %y : tensor<262144xf32>
}

// CHECK: sin_f32: {{.*}} {{[012]}} ulp
nap.kernel_def pointwise @sin_f32 {
^bb0(%x: tensor<262144xf32>):
  %y = nap.sin %x : tensor<262144xf32>
  nap.yield %y : tensor<262144xf32>
}

// CHECK: cos_f32: {{.*}} {{[012]}} ulp
nap.kernel_def pointwise @cos_f32 {
^bb0(%x: tensor<262144xf32>):
  %y = nap.cos %x : tensor<262144xf32>
  nap.yield %y : tensor<262144xf32>
}

// In f64 by the mathematical library, lane by lane.
// CHECK: library: {{.*}} {{[012]}} ulp
nap.kernel_def pointwise @library {
^bb0(%x: tensor<1000xf64>):
  %y = nap.exp %x : tensor<1000xf64>
  %z = nap.tanh %x : tensor<1000xf64>
  nap.yield %y, %z : tensor<1000xf64>, tensor<1000xf64>
}
