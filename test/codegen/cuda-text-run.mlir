// RUN: %unit/run-kernel %s --cuda-host=%S/Inputs/cuda_host.h --cuda-prelude=%root/codegen/prelude --cuda-build=%t --ulp=4 | FileCheck %s
// RUN: FileCheck %s --check-prefix=TEXT < %t.cu

// The same bodies as on the CPU, printed as CUDA C++ and run with one host thread a CUDA thread: the bits
// of the CPU's code, and the interpreter's values.

// CHECK: pointwise{{[.].*}}: {{.*}} ulp
// TEXT-LABEL: void pointwise__with_dots(
// TEXT: out[element] =
nap.kernel_def pointwise @pointwise.with_dots {
^bb0(%x: tensor<7x37xf32>, %b: tensor<37xf32>):
  %wide = nap.broadcast %b [1] : tensor<37xf32> -> tensor<7x37xf32>
  %sum = nap.add %x, %wide : tensor<7x37xf32>
  %t = nap.tanh %sum : tensor<7x37xf32>
  %y = nap.mul %t, %sum : tensor<7x37xf32>
  %z = nap.maximum %y, %x : tensor<7x37xf32>
  nap.yield %z : tensor<7x37xf32>
}

// Integers keep their signs, and what wraps, wraps.
// CHECK: whole_numbers: {{.*}} ulp
nap.kernel_def pointwise @whole_numbers {
^bb0(%x: tensor<41xi32>, %y: tensor<41xi32>):
  %p = nap.mul %x, %y : tensor<41xi32>
  %q = nap.floor_div %x, %y : tensor<41xi32>
  %r = nap.rem %x, %y : tensor<41xi32>
  %m = nap.maximum %q, %r : tensor<41xi32>
  %s = nap.add %m, %p : tensor<41xi32>
  %c = nap.compare lt %x, %y : tensor<41xi32> -> tensor<41xi1>
  %f = nap.cast %s : tensor<41xi32> -> tensor<41xf32>
  nap.yield %f, %c : tensor<41xf32>, tensor<41xi1>
}

// CHECK: draws{{[.].*}}: {{.*}} ulp
nap.kernel_def pointwise @draws.of_normals {
^bb0(%key: tensor<4xi32>):
  %n = nap.random_normal %key site 7 : tensor<4xi32> -> tensor<3x37xf32>
  nap.yield %n : tensor<3x37xf32>
}

// A row a block: 128 running sums from 128 threads, then halves.
// CHECK: rows{{[.].*}}: {{.*}} ulp
// TEXT-LABEL: __launch_bounds__(128)
// TEXT: void rows__of_exps(
// TEXT: __shared__ float running[128];
// TEXT: __syncthreads();
// TEXT: if (thread == 0) {
nap.kernel_def reduction @rows.of_exps {
^bb0(%x: tensor<5x300xf32>):
  %m = nap.reduce max %x [1] : tensor<5x300xf32> -> tensor<5xf32>
  %wide = nap.broadcast %m [0] : tensor<5xf32> -> tensor<5x300xf32>
  %d = nap.sub %x, %wide : tensor<5x300xf32>
  %e = nap.exp %d : tensor<5x300xf32>
  %s = nap.reduce sum %e [1] : tensor<5x300xf32> -> tensor<5xf32>
  nap.yield %s : tensor<5xf32>
}

// CHECK: long_rows{{[.].*}}: {{.*}} ulp
nap.kernel_def reduction @long_rows.x {
^bb0(%x: tensor<2x9001xf32>):
  %s = nap.reduce sum %x [1] : tensor<2x9001xf32> -> tensor<2xf32>
  nap.yield %s : tensor<2xf32>
}

// CHECK: short_rows{{[.].*}}: {{.*}} ulp
nap.kernel_def reduction @short_rows.x {
^bb0(%x: tensor<3x5xf32>):
  %s = nap.reduce sum %x [1] : tensor<3x5xf32> -> tensor<3xf32>
  nap.yield %s : tensor<3xf32>
}

// CHECK: columns{{[.].*}}: {{.*}} ulp
nap.kernel_def reduction @columns.x {
^bb0(%x: tensor<150x37xf32>):
  %s = nap.reduce sum %x [0] : tensor<150x37xf32> -> tensor<37xf32>
  nap.yield %s : tensor<37xf32>
}

// Element by element until tensor cores have their own skeleton.
// CHECK: product{{[.].*}}: {{.*}} ulp
nap.kernel_def contraction @product.x {
^bb0(%x: tensor<5x33xf32>, %y: tensor<33x7xf32>):
  %z = nap.einsum "mk,kn->mn" %x, %y : (tensor<5x33xf32>, tensor<33x7xf32>) -> tensor<5x7xf32>
  nap.yield %z : tensor<5x7xf32>
}
