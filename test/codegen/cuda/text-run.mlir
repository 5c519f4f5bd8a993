// RUN: %unit/run-kernel %s --cuda-host --cuda-text=%t.cu --ulp=4 | FileCheck %s
// RUN: FileCheck %s --check-prefix=TEXT < %t.cu

// The same bodies as on the CPU, printed as CUDA C++ and run in the emulator without a fault: the bits
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

// Both sides of an `and` or an `or` are computed, and so are read.
// CHECK: choices: {{.*}} ulp
// TEXT-LABEL: void choices__kernel(
// TEXT: out_0[element] = {{.+}} & {{.+}};
// TEXT: out_1[element] = {{.+}} | {{.+}};
nap.kernel_def pointwise @choices {
^bb0(%x: tensor<41xf32>, %y: tensor<41xf32>):
  %zero = nap.constant dense<0.0> : tensor<41xf32>
  %a = nap.compare lt %x, %zero : tensor<41xf32> -> tensor<41xi1>
  %b = nap.compare lt %y, %zero : tensor<41xf32> -> tensor<41xi1>
  %both = nap.and %a, %b : tensor<41xi1>
  %either = nap.or %a, %b : tensor<41xi1>
  nap.yield %both, %either : tensor<41xi1>, tensor<41xi1>
}

// A constant of 64 bits is written as one.
// CHECK: wide_numbers: {{.*}} ulp
// TEXT-LABEL: void wide_numbers__kernel(
// TEXT: 3ull
nap.kernel_def pointwise @wide_numbers {
^bb0(%x: tensor<41xi64>):
  %three = nap.constant dense<3> : tensor<41xi64>
  %large = nap.constant dense<3000000000> : tensor<41xi64>
  %p = nap.mul %x, %large : tensor<41xi64>
  %s = nap.add %p, %three : tensor<41xi64>
  nap.yield %s : tensor<41xi64>
}

// An op on bf16 computes in f32 and rounds once.
// CHECK: narrow: {{.*}} ulp
// TEXT-LABEL: void narrow__kernel(
// TEXT: out_1[element] = bf16_of(
nap.kernel_def pointwise @narrow {
^bb0(%x: tensor<41xbf16>, %y: tensor<41xbf16>):
  %half = nap.constant dense<0.5> : tensor<41xbf16>
  %p = nap.mul %x, %half : tensor<41xbf16>
  %m = nap.maximum %p, %y : tensor<41xbf16>
  %e = nap.exp %m : tensor<41xbf16>
  nap.yield %m, %e : tensor<41xbf16>, tensor<41xbf16>
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
// TEXT: = block_sum(
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

// A tile of a product, whose rows and columns end within it.
// CHECK: product{{[.].*}}: {{.*}} ulp
nap.kernel_def contraction @product.x {
^bb0(%x: tensor<5x33xf32>, %y: tensor<33x7xf32>):
  %z = nap.einsum "mk,kn->mn" %x, %y : (tensor<5x33xf32>, tensor<33x7xf32>) -> tensor<5x7xf32>
  nap.yield %z : tensor<5x7xf32>
}

// A row for each block: its sums by all threads, its elements 128 at a time, and by the first thread what the
// row has one of.
// CHECK: layer_norm: {{.*}} ulp
// TEXT-LABEL: void layer_norm__kernel(
// TEXT: for (int row =
// TEXT: block_sum(
// TEXT: for (int column =
// TEXT: __syncthreads();
nap.kernel_def reduction @layer_norm {
^bb0(%a: tensor<5x37xf32>, %b: tensor<5x37xf32>, %gain: tensor<37xf32>, %bias: tensor<37xf32>):
  %n = nap.constant dense<37.0> : tensor<5xf32>
  %eps = nap.constant dense<1.0e-5> : tensor<5xf32>
  %x = nap.add %a, %b : tensor<5x37xf32>
  %sum = nap.reduce sum %x [1] : tensor<5x37xf32> -> tensor<5xf32>
  %mean = nap.div %sum, %n : tensor<5xf32>
  %mean_ = nap.broadcast %mean [0] : tensor<5xf32> -> tensor<5x37xf32>
  %centred = nap.sub %x, %mean_ : tensor<5x37xf32>
  %square = nap.mul %centred, %centred : tensor<5x37xf32>
  %squares = nap.reduce sum %square [1] : tensor<5x37xf32> -> tensor<5xf32>
  %variance = nap.div %squares, %n : tensor<5xf32>
  %more = nap.add %variance, %eps : tensor<5xf32>
  %root = nap.sqrt %more : tensor<5xf32>
  %one = nap.constant dense<1.0> : tensor<5xf32>
  %scale = nap.div %one, %root : tensor<5xf32>
  %scale_ = nap.broadcast %scale [0] : tensor<5xf32> -> tensor<5x37xf32>
  %normal = nap.mul %centred, %scale_ : tensor<5x37xf32>
  %gain_ = nap.broadcast %gain [1] : tensor<37xf32> -> tensor<5x37xf32>
  %bias_ = nap.broadcast %bias [1] : tensor<37xf32> -> tensor<5x37xf32>
  %scaled = nap.mul %normal, %gain_ : tensor<5x37xf32>
  %y = nap.add %scaled, %bias_ : tensor<5x37xf32>
  nap.yield %mean, %y, %scale, %x : tensor<5xf32>, tensor<5x37xf32>, tensor<5xf32>, tensor<5x37xf32>
}

// A sum in a sum: what depends on the thread each thread sums by itself, in the same order.
// CHECK: nested{{[.].*}}: {{.*}} ulp
nap.kernel_def reduction @nested.x {
^bb0(%x: tensor<3x150xf32>, %y: tensor<150x20xf32>):
  %inner = nap.reduce sum %y [1] : tensor<150x20xf32> -> tensor<150xf32>
  %wide = nap.broadcast %inner [1] : tensor<150xf32> -> tensor<3x150xf32>
  %p = nap.mul %x, %wide : tensor<3x150xf32>
  %s = nap.reduce sum %p [1] : tensor<3x150xf32> -> tensor<3xf32>
  nap.yield %s : tensor<3xf32>
}

// A softmax: the row's sums once a row, whatever the results' shapes say.
// CHECK: softmax{{[.].*}}: {{.*}} ulp
// TEXT-LABEL: void softmax__x(
// TEXT: for (int row = block; row < 6; row += 6) {
nap.kernel_def reduction @softmax.x {
^bb0(%x: tensor<2x3x70xf32>):
  %m = nap.reduce max %x [2] : tensor<2x3x70xf32> -> tensor<2x3xf32>
  %m_ = nap.broadcast %m [0, 1] : tensor<2x3xf32> -> tensor<2x3x70xf32>
  %d = nap.sub %x, %m_ : tensor<2x3x70xf32>
  %e = nap.exp %d : tensor<2x3x70xf32>
  %s = nap.reduce sum %e [2] : tensor<2x3x70xf32> -> tensor<2x3xf32>
  %s_ = nap.broadcast %s [0, 1] : tensor<2x3xf32> -> tensor<2x3x70xf32>
  %y = nap.div %e, %s_ : tensor<2x3x70xf32>
  nap.yield %y : tensor<2x3x70xf32>
}
