// RUN: %unit/run-kernel --samples --ulp=2 %s | FileCheck %s
// RUN: %unit/run-kernel --cuda-host --samples --ulp=2 %s | FileCheck %s

// Evenly over all floats: denormals, infinities, NaNs and huge numbers too, at most 2 units in the last
// place from the rounded result of the mathematical library in f64.

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

// CHECK: log_f32: {{.*}} {{[012]}} ulp
nap.kernel_def pointwise @log_f32 {
^bb0(%x: tensor<262144xf32>):
  %y = nap.log %x : tensor<262144xf32>
  nap.yield %y : tensor<262144xf32>
}

// CHECK: log1p_f32: {{.*}} {{[012]}} ulp
nap.kernel_def pointwise @log1p_f32 {
^bb0(%x: tensor<262144xf32>):
  %y = nap.log1p %x : tensor<262144xf32>
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

// CHECK: rsqrt_f32: {{.*}} {{[012]}} ulp
nap.kernel_def pointwise @rsqrt_f32 {
^bb0(%x: tensor<262144xf32>):
  %y = nap.rsqrt %x : tensor<262144xf32>
  nap.yield %y : tensor<262144xf32>
}

// CHECK: pow_f32: {{.*}} {{[012]}} ulp
nap.kernel_def pointwise @pow_f32 {
^bb0(%x: tensor<262144xf32>, %y: tensor<262144xf32>):
  %z = nap.pow %x, %y : tensor<262144xf32>
  nap.yield %z : tensor<262144xf32>
}
