// RUN: run-kernel --ulp=0 %s | FileCheck %s
// RUN: run-kernel --ulp=0 --vector-bytes=16 %s | FileCheck %s
// RUN: run-kernel --ulp=0 --cuda-host %s | FileCheck %s

// Sums of sums along the last axis keep their order (docs/architecture.md) where the inner one is asked for by the
// lanes of the outer one: its running sums are then vectors. Of 40 terms, of 300, and of more than one block.
// CHECK: within: {{.*}}equal
// CHECK: spread: {{.*}}equal
// CHECK: spread_long: {{.*}}equal
// CHECK: spread_longest: {{.*}}equal
nap.kernel_def reduction @within {
^bb0(%x: tensor<70x40xf32>):
  %m = nap.reduce sum %x [1] : tensor<70x40xf32> -> tensor<70xf32>
  %b = nap.broadcast %m [0] : tensor<70xf32> -> tensor<70x40xf32>
  %y = nap.sub %x, %b : tensor<70x40xf32>
  %s = nap.reduce sum %y [0] : tensor<70x40xf32> -> tensor<40xf32>
  nap.yield %s : tensor<40xf32>
}

nap.kernel_def reduction @spread {
^bb0(%x: tensor<7x70x40xf32>):
  %m = nap.reduce sum %x [2] : tensor<7x70x40xf32> -> tensor<7x70xf32>
  %e = nap.mul %m, %m : tensor<7x70xf32>
  %s = nap.reduce sum %e [1] : tensor<7x70xf32> -> tensor<7xf32>
  %b = nap.broadcast %s [0] : tensor<7xf32> -> tensor<7x70x40xf32>
  %y = nap.mul %b, %x : tensor<7x70x40xf32>
  nap.yield %y : tensor<7x70x40xf32>
}

nap.kernel_def reduction @spread_long {
^bb0(%x: tensor<3x70x300xf32>):
  %m = nap.reduce sum %x [2] : tensor<3x70x300xf32> -> tensor<3x70xf32>
  %e = nap.mul %m, %m : tensor<3x70xf32>
  %s = nap.reduce sum %e [1] : tensor<3x70xf32> -> tensor<3xf32>
  %b = nap.broadcast %s [0] : tensor<3xf32> -> tensor<3x70x300xf32>
  %y = nap.mul %b, %x : tensor<3x70x300xf32>
  nap.yield %y : tensor<3x70x300xf32>
}

nap.kernel_def reduction @spread_longest {
^bb0(%x: tensor<2x19x9000xf32>):
  %m = nap.reduce sum %x [2] : tensor<2x19x9000xf32> -> tensor<2x19xf32>
  %e = nap.mul %m, %m : tensor<2x19xf32>
  %s = nap.reduce sum %e [1] : tensor<2x19xf32> -> tensor<2xf32>
  %b = nap.broadcast %s [0] : tensor<2xf32> -> tensor<2x19x9000xf32>
  %y = nap.mul %b, %x : tensor<2x19x9000xf32>
  nap.yield %y : tensor<2x19x9000xf32>
}
