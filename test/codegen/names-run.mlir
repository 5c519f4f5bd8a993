// A kernel may be called like a function of the C library, which its own f64 mathematics calls.
//
// RUN: %unit/run-kernel %s | FileCheck %s
// RUN: %unit/run-kernel %s --cuda-host | FileCheck %s
// CHECK: exp: {{.*}}equal

nap.kernel_def pointwise @exp attributes {nap.schedule = {chunk = 64 : i64, scratch = 0 : i64, tasks = 1 : i64}} {
^bb0(%x: tensor<37xf64>):
  %y = nap.exp %x : tensor<37xf64>
  nap.yield %y : tensor<37xf64>
}
