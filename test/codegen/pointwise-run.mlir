// RUN: %unit/run-kernel %s | FileCheck %s
// RUN: %unit/run-kernel %s --cuda-host | FileCheck %s

// Every element has the interpreter's bits, in vectors, in masked rests and in single tasks.

// CHECK: chain: {{.*}} equal
nap.kernel_def pointwise @chain {
^bb0(%x: tensor<37x29xf32>, %b: tensor<29xf32>):
  %0 = nap.broadcast %b [1] : tensor<29xf32> -> tensor<37x29xf32>
  %1 = nap.add %x, %0 : tensor<37x29xf32>
  %2 = nap.mul %1, %x : tensor<37x29xf32>
  %3 = nap.div %2, %0 : tensor<37x29xf32>
  nap.yield %1, %3 : tensor<37x29xf32>, tensor<37x29xf32>
}

// CHECK: scalar: {{.*}} equal
nap.kernel_def pointwise @scalar {
^bb0(%x: tensor<f32>):
  %y = nap.neg %x : tensor<f32>
  nap.yield %y : tensor<f32>
}

// CHECK: wide: {{.*}} equal
nap.kernel_def pointwise @wide {
^bb0(%x: tensor<100xf64>):
  %y = nap.mul %x, %x : tensor<100xf64>
  %z = nap.sqrt %y : tensor<100xf64>
  nap.yield %z : tensor<100xf64>
}

// CHECK: bools: {{.*}} equal
nap.kernel_def pointwise @bools {
^bb0(%x: tensor<5x20xf32>, %y: tensor<5x20xf32>, %c: tensor<5x20xi1>):
  %0 = nap.compare lt %x, %y : tensor<5x20xf32> -> tensor<5x20xi1>
  %1 = nap.and %0, %c : tensor<5x20xi1>
  %2 = nap.select %1, %x, %y : tensor<5x20xi1>, tensor<5x20xf32>
  %3 = nap.not %1 : tensor<5x20xi1>
  nap.yield %2, %3 : tensor<5x20xf32>, tensor<5x20xi1>
}

// CHECK: integers: {{.*}} equal
nap.kernel_def pointwise @integers {
^bb0(%x: tensor<5x20xi32>, %y: tensor<5x20xi32>):
  %0 = nap.floor_div %x, %y : tensor<5x20xi32>
  %1 = nap.rem %x, %y : tensor<5x20xi32>
  %2 = nap.maximum %0, %1 : tensor<5x20xi32>
  %3 = nap.cast %2 : tensor<5x20xi32> -> tensor<5x20xf32>
  nap.yield %1, %3 : tensor<5x20xi32>, tensor<5x20xf32>
}

// CHECK: roundings: {{.*}} equal
nap.kernel_def pointwise @roundings {
^bb0(%x: tensor<300xf32>, %y: tensor<300xf32>):
  %h = nap.constant dense<8.0> : tensor<300xf32>
  %s = nap.mul %x, %h : tensor<300xf32>
  %0 = nap.floor %s : tensor<300xf32>
  %1 = nap.ceil %s : tensor<300xf32>
  %2 = nap.round %s : tensor<300xf32>
  %3 = nap.maximum %0, %y : tensor<300xf32>
  %4 = nap.minimum %1, %y : tensor<300xf32>
  %5 = nap.abs %y : tensor<300xf32>
  %6 = nap.sign %y : tensor<300xf32>
  %7 = nap.rem %s, %y : tensor<300xf32>
  nap.yield %2, %3, %4, %5, %6, %7 : tensor<300xf32>, tensor<300xf32>, tensor<300xf32>, tensor<300xf32>, tensor<300xf32>, tensor<300xf32>
}

// CHECK: heads: {{.*}} equal
nap.kernel_def pointwise @heads {
^bb0(%x: tensor<4x6x32xf32>):
  %0 = nap.reshape %x : tensor<4x6x32xf32> -> tensor<4x6x2x16xf32>
  %1 = nap.permute %0 [0, 2, 1, 3] : tensor<4x6x2x16xf32> -> tensor<4x2x6x16xf32>
  nap.yield %1 : tensor<4x2x6x16xf32>
}

// CHECK: transposed: {{.*}} equal
nap.kernel_def pointwise @transposed {
^bb0(%x: tensor<21x34xf32>, %y: tensor<34x21xf32>):
  %0 = nap.permute %x [1, 0] : tensor<21x34xf32> -> tensor<34x21xf32>
  %1 = nap.sub %0, %y : tensor<34x21xf32>
  nap.yield %1 : tensor<34x21xf32>
}

// CHECK: causal: {{.*}} equal
nap.kernel_def pointwise @causal {
^bb0(%x: tensor<3x20x20xf32>):
  %i = nap.iota : tensor<20xi32>
  %q = nap.broadcast %i [1] : tensor<20xi32> -> tensor<3x20x20xi32>
  %k = nap.broadcast %i [2] : tensor<20xi32> -> tensor<3x20x20xi32>
  %m = nap.compare ge %q, %k : tensor<3x20x20xi32> -> tensor<3x20x20xi1>
  %low = nap.constant dense<0xFF800000> : tensor<3x20x20xf32>
  %y = nap.select %m, %x, %low : tensor<3x20x20xi1>, tensor<3x20x20xf32>
  nap.yield %y : tensor<3x20x20xf32>
}

// CHECK: list: {{.*}} equal
nap.kernel_def pointwise @list {
^bb0(%x: tensor<6x4xf32>):
  %c = nap.constant dense<[1.0, -2.0, 0.5, 3.0]> : tensor<4xf32>
  %b = nap.broadcast %c [1] : tensor<4xf32> -> tensor<6x4xf32>
  %y = nap.mul %x, %b : tensor<6x4xf32>
  nap.yield %y : tensor<6x4xf32>
}

// CHECK: uniform: {{.*}} equal
nap.kernel_def pointwise @uniform {
^bb0(%k: tensor<4xi32>):
  %r = nap.random_uniform %k site 77 : tensor<4xi32> -> tensor<5x13xf32>
  nap.yield %r : tensor<5x13xf32>
}

// Draws in fours, where lanes start at a multiple of 4; the odd shape draws lane by lane.
// CHECK: in_fours: {{.*}} equal
nap.kernel_def pointwise @in_fours {
^bb0(%k: tensor<4xi32>):
  %r = nap.random_uniform %k site -5 : tensor<4xi32> -> tensor<6x50xf32>
  nap.yield %r : tensor<6x50xf32>
}

// CHECK: by_lanes: {{.*}} equal
nap.kernel_def pointwise @by_lanes {
^bb0(%k: tensor<4xi32>, %b: tensor<50xf32>):
  %r = nap.random_uniform %k site 9 : tensor<4xi32> -> tensor<6x50xf32>
  %c = nap.broadcast %b [1] : tensor<50xf32> -> tensor<6x50xf32>
  %y = nap.add %r, %c : tensor<6x50xf32>
  nap.yield %y : tensor<6x50xf32>
}

// Draws at sites that a launch gives, in lanes, in fours and along a row: those of a kernel that has them written in.
// CHECK: two_sites: {{.*}} equal
nap.kernel_def pointwise @two_sites attributes {nap.sites = 2 : i64} {
^bb0(%k: tensor<4xi32>, %x: tensor<6x50xf32>):
  %r = nap.random_uniform %k site 1 : tensor<4xi32> -> tensor<6x50xf32>
  %s = nap.random_uniform %k site 0 : tensor<4xi32> -> tensor<6x50xf32>
  %t = nap.random_uniform %k site 1 : tensor<4xi32> -> tensor<6xf32>
  %c = nap.broadcast %t [0] : tensor<6xf32> -> tensor<6x50xf32>
  %d = nap.sub %r, %s : tensor<6x50xf32>
  %e = nap.mul %d, %x : tensor<6x50xf32>
  %y = nap.sub %e, %c : tensor<6x50xf32>
  nap.yield %y : tensor<6x50xf32>
}
