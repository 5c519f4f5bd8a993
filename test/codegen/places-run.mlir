// RUN: %unit/run-kernel %s | FileCheck %s
// RUN: %unit/run-kernel %s --cuda-host | FileCheck %s

// Views, ids, joins, sums into places and rows in order, against the interpreter, bit for bit.

// CHECK: sliced: {{.*}} equal
nap.kernel_def pointwise @sliced {
^bb0(%x: tensor<9x40xf32>):
  %0 = nap.slice %x [8, 3] step [-2, 1] : tensor<9x40xf32> -> tensor<4x33xf32>
  nap.yield %0 : tensor<4x33xf32>
}

// CHECK: reversed: {{.*}} equal
nap.kernel_def pointwise @reversed {
^bb0(%x: tensor<9x40xf32>):
  %0 = nap.slice %x [0, 39] step [1, -1] : tensor<9x40xf32> -> tensor<9x40xf32>
  nap.yield %0 : tensor<9x40xf32>
}

// CHECK: windows: {{.*}} equal
nap.kernel_def pointwise @windows {
^bb0(%x: tensor<3x20xf32>):
  %0 = nap.window %x sizes [3] strides [2] dilations [2] : tensor<3x20xf32> -> tensor<3x8x3xf32>
  nap.yield %0 : tensor<3x8x3xf32>
}

// CHECK: on_diagonal: {{.*}} equal
nap.kernel_def pointwise @on_diagonal {
^bb0(%x: tensor<7x3x7xf32>):
  %0 = nap.diagonal %x axes 0, 2 : tensor<7x3x7xf32> -> tensor<7x3xf32>
  nap.yield %0 : tensor<7x3xf32>
}

// CHECK: padded: {{.*}} equal
nap.kernel_def pointwise @padded {
^bb0(%x: tensor<6x32xf32>):
  %0 = nap.pad %x low [1, 3] high [0, 2] inner [0, 1] with 2.0 : tensor<6x32xf32> -> tensor<7x68xf32>
  nap.yield %0 : tensor<7x68xf32>
}

// CHECK: joined: {{.*}} equal
nap.kernel_def pointwise @joined {
^bb0(%x: tensor<6x32xf32>, %y: tensor<6x16xf32>, %z: tensor<6x5xf32>):
  %0 = nap.concat %x, %y, %z axis 1 : (tensor<6x32xf32>, tensor<6x16xf32>, tensor<6x5xf32>) -> tensor<6x53xf32>
  nap.yield %0 : tensor<6x53xf32>
}

// CHECK: joined_rows: {{.*}} equal
nap.kernel_def pointwise @joined_rows {
^bb0(%x: tensor<3x32xf32>, %y: tensor<4x32xf32>):
  %0 = nap.concat %x, %y axis 0 : (tensor<3x32xf32>, tensor<4x32xf32>) -> tensor<7x32xf32>
  nap.yield %0 : tensor<7x32xf32>
}

// CHECK: rotated: {{.*}} equal
nap.kernel_def pointwise @rotated {
^bb0(%x: tensor<5x64xf32>):
  %a = nap.slice %x [0, 0] step [1, 1] : tensor<5x64xf32> -> tensor<5x32xf32>
  %b = nap.slice %x [0, 32] step [1, 1] : tensor<5x64xf32> -> tensor<5x32xf32>
  %n = nap.neg %b : tensor<5x32xf32>
  %0 = nap.concat %n, %a axis 1 : (tensor<5x32xf32>, tensor<5x32xf32>) -> tensor<5x64xf32>
  nap.yield %0 : tensor<5x64xf32>
}

// CHECK: embedded: {{.*}} equal
nap.kernel_def pointwise @embedded {
^bb0(%t: tensor<9x33xf32>, %i: tensor<4x5xi32>):
  %0 = nap.embed %t, %i : tensor<9x33xf32>, tensor<4x5xi32> -> tensor<4x5x33xf32>
  nap.yield %0 : tensor<4x5x33xf32>
}

// CHECK: taken: {{.*}} equal
nap.kernel_def pointwise @taken {
^bb0(%x: tensor<4x50xf32>, %i: tensor<4xi32>, %j: tensor<4x21xi64>):
  %0 = nap.take_along %x, %i : tensor<4x50xf32>, tensor<4xi32> -> tensor<4xf32>
  nap.yield %0 : tensor<4xf32>
}

// CHECK: taken_many: {{.*}} equal
nap.kernel_def pointwise @taken_many {
^bb0(%x: tensor<4x50xf32>, %j: tensor<4x21xi64>):
  %0 = nap.take_along %x, %j : tensor<4x50xf32>, tensor<4x21xi64> -> tensor<4x21xf32>
  nap.yield %0 : tensor<4x21xf32>
}

// CHECK: scattered: {{.*}} equal
nap.kernel_def scatter @scattered {
^bb0(%r: tensor<6x5x40xf32>, %i: tensor<6x5xi32>):
  %0 = nap.scatter_add %r, %i : tensor<6x5x40xf32>, tensor<6x5xi32> -> tensor<11x40xf32>
  nap.yield %0 : tensor<11x40xf32>
}

// CHECK: scattered_numbers: {{.*}} equal
nap.kernel_def scatter @scattered_numbers {
^bb0(%r: tensor<30xf32>, %i: tensor<30xi32>):
  %0 = nap.scatter_add %r, %i : tensor<30xf32>, tensor<30xi32> -> tensor<7xf32>
  nap.yield %0 : tensor<7xf32>
}

// CHECK: scattered_into: {{.*}} equal
nap.kernel_def scatter @scattered_into {
^bb0(%r: tensor<6x5x40xf32>, %i: tensor<6x5xi32>, %x: tensor<11x40xf32>):
  %0 = nap.scatter_add %r, %i into %x : tensor<6x5x40xf32>, tensor<6x5xi32>, tensor<11x40xf32> -> tensor<11x40xf32>
  nap.yield %0 : tensor<11x40xf32>
}

// CHECK: put: {{.*}} equal
nap.kernel_def scatter @put {
^bb0(%v: tensor<4xf32>, %i: tensor<4xi32>):
  %0 = nap.put_along %v, %i : tensor<4xf32>, tensor<4xi32> -> tensor<4x50xf32>
  nap.yield %0 : tensor<4x50xf32>
}

// CHECK: put_many: {{.*}} equal
nap.kernel_def scatter @put_many {
^bb0(%v: tensor<4x9xf32>, %i: tensor<4x9xi32>):
  %0 = nap.put_along %v, %i : tensor<4x9xf32>, tensor<4x9xi32> -> tensor<4x6xf32>
  nap.yield %0 : tensor<4x6xf32>
}

// CHECK: folded: {{.*}} equal
nap.kernel_def scatter @folded {
^bb0(%w: tensor<2x8x3xf32>):
  %0 = nap.fold %w sizes [3] strides [2] dilations [1] : tensor<2x8x3xf32> -> tensor<2x18xf32>
  nap.yield %0 : tensor<2x18xf32>
}

// CHECK: place_of_largest: {{.*}} equal
nap.kernel_def row @place_of_largest {
^bb0(%x: tensor<6x50xf32>):
  %0 = nap.argmax %x : tensor<6x50xf32> -> tensor<6xi32>
  nap.yield %0 : tensor<6xi32>
}

// CHECK: largest_three: {{.*}} equal
nap.kernel_def row @largest_three {
^bb0(%x: tensor<6x50xf32>):
  %v, %i = nap.top_k %x : tensor<6x50xf32> -> tensor<6x3xf32>, tensor<6x3xi32>
  nap.yield %i, %v : tensor<6x3xi32>, tensor<6x3xf32>
}

// CHECK: running: {{.*}} equal
nap.kernel_def row @running {
^bb0(%x: tensor<6x5x9xf32>):
  %0 = nap.cumsum %x axis 1 : tensor<6x5x9xf32>
  nap.yield %0 : tensor<6x5x9xf32>
}

// CHECK: running_back: {{.*}} equal
nap.kernel_def row @running_back {
^bb0(%x: tensor<6x50xf32>):
  %0 = nap.cumsum %x axis 1 reverse : tensor<6x50xf32>
  nap.yield %0 : tensor<6x50xf32>
}

// CHECK: product_of_three: {{.*}} equal
nap.kernel_def contraction @product_of_three {
^bb0(%x: tensor<6x5xf32>, %y: tensor<5x7xf32>):
  %0 = nap.einsum "ik,kj->ij" %x, %y : (tensor<6x5xf32>, tensor<5x7xf32>) -> tensor<6x7xf32>
  %1 = nap.neg %0 : tensor<6x7xf32>
  nap.yield %1 : tensor<6x7xf32>
}
