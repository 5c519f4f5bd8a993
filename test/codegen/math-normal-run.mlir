// RUN: %unit/run-kernel --ulp=8 %s | FileCheck %s
// RUN: %unit/run-kernel --cuda-host --ulp=8 %s | FileCheck %s

// Normal draws, from a logarithm, a root and a cosine or sine, lane by lane and in fours.
// CHECK: normal: {{.*}} {{[0-8]}} ulp
nap.kernel_def pointwise @normal {
^bb0(%k: tensor<4xi32>, %b: tensor<50xf32>):
  %r = nap.random_normal %k site 9 : tensor<4xi32> -> tensor<60x50xf32>
  %c = nap.broadcast %b [1] : tensor<50xf32> -> tensor<60x50xf32>
  %y = nap.maximum %r, %c : tensor<60x50xf32>
  nap.yield %y : tensor<60x50xf32>
}

// CHECK: normal_in_fours: {{.*}} {{[0-8]}} ulp
nap.kernel_def pointwise @normal_in_fours {
^bb0(%k: tensor<4xi32>):
  %r = nap.random_normal %k site 9 : tensor<4xi32> -> tensor<60x50xf32>
  nap.yield %r : tensor<60x50xf32>
}
