// RUN: %unit/run-kernel %s | FileCheck %s
// RUN: %unit/run-kernel %s --cuda-host | FileCheck %s
// RUN: sed -e s/bf16/f16/g %s > %t.f16.mlir
// RUN: %unit/run-kernel %t.f16.mlir | FileCheck %s
// RUN: %unit/run-kernel %t.f16.mlir --cuda-host | FileCheck %s

// bf16, and f16, in kernels has the interpreter's bits: each op's result is rounded once, inside a kernel too.

// CHECK: chain: {{.*}} equal
nap.kernel_def pointwise @chain {
^bb0(%x: tensor<37x29xbf16>, %b: tensor<29xbf16>):
  %0 = nap.broadcast %b [1] : tensor<29xbf16> -> tensor<37x29xbf16>
  %1 = nap.add %x, %0 : tensor<37x29xbf16>
  %2 = nap.mul %1, %x : tensor<37x29xbf16>
  %3 = nap.div %2, %0 : tensor<37x29xbf16>
  %4 = nap.sqrt %3 : tensor<37x29xbf16>
  %5 = nap.maximum %4, %x : tensor<37x29xbf16>
  %6 = nap.neg %5 : tensor<37x29xbf16>
  nap.yield %1, %6 : tensor<37x29xbf16>, tensor<37x29xbf16>
}

// CHECK: scalar: {{.*}} equal
nap.kernel_def pointwise @scalar {
^bb0(%x: tensor<bf16>):
  %y = nap.mul %x, %x : tensor<bf16>
  nap.yield %y : tensor<bf16>
}

// CHECK: casts: {{.*}} equal
nap.kernel_def pointwise @casts {
^bb0(%x: tensor<5x20xf32>, %h: tensor<5x20xbf16>, %i: tensor<5x20xi32>, %c: tensor<5x20xi1>, %d: tensor<5x20xf64>):
  %0 = nap.cast %x : tensor<5x20xf32> -> tensor<5x20xbf16>
  %1 = nap.cast %h : tensor<5x20xbf16> -> tensor<5x20xf32>
  %2 = nap.cast %i : tensor<5x20xi32> -> tensor<5x20xbf16>
  %3 = nap.cast %c : tensor<5x20xi1> -> tensor<5x20xbf16>
  %4 = nap.cast %d : tensor<5x20xf64> -> tensor<5x20xbf16>
  %5 = nap.cast %h : tensor<5x20xbf16> -> tensor<5x20xi32>
  %6 = nap.select %c, %0, %h : tensor<5x20xi1>, tensor<5x20xbf16>
  %7 = nap.compare lt %0, %h : tensor<5x20xbf16> -> tensor<5x20xi1>
  nap.yield %0, %1, %2, %3, %4, %5, %6, %7 : tensor<5x20xbf16>, tensor<5x20xf32>, tensor<5x20xbf16>, tensor<5x20xbf16>, tensor<5x20xbf16>, tensor<5x20xi32>, tensor<5x20xbf16>, tensor<5x20xi1>
}

// From below the least number that f16 has, through those with fewer bits, to beyond its largest.
// CHECK: edges: {{.*}} equal
nap.kernel_def pointwise @edges {
^bb0(%x: tensor<31x8xf32>):
  %scales = nap.constant dense<[1.0e-8, 6.0e-8, 1.0e-6, 6.0e-5, 1.0, 2.0e4, 6.5e4, 1.0e6]> : tensor<8xf32>
  %0 = nap.broadcast %scales [1] : tensor<8xf32> -> tensor<31x8xf32>
  %1 = nap.mul %x, %0 : tensor<31x8xf32>
  %2 = nap.cast %1 : tensor<31x8xf32> -> tensor<31x8xbf16>
  %3 = nap.cast %2 : tensor<31x8xbf16> -> tensor<31x8xf32>
  nap.yield %2, %3 : tensor<31x8xbf16>, tensor<31x8xf32>
}

// Neighbours in memory that are not neighbours in the result, places beyond the edge, rows by id.
// CHECK: places: {{.*}} equal
nap.kernel_def pointwise @places {
^bb0(%x: tensor<19x7xbf16>, %table: tensor<4x19xbf16>, %ids: tensor<7xi32>):
  %0 = nap.permute %x [1, 0] : tensor<19x7xbf16> -> tensor<7x19xbf16>
  %1 = nap.embed %table, %ids : tensor<4x19xbf16>, tensor<7xi32> -> tensor<7x19xbf16>
  %2 = nap.add %0, %1 : tensor<7x19xbf16>
  %3 = nap.slice %2 [0, 1] step [1, 2] : tensor<7x19xbf16> -> tensor<7x9xbf16>
  %4 = nap.concat %3, %2 axis 1 : (tensor<7x9xbf16>, tensor<7x19xbf16>) -> tensor<7x28xbf16>
  nap.yield %4 : tensor<7x28xbf16>
}

// Sums are kept in f32 and rounded at their end.
// CHECK: rows: {{.*}} equal
nap.kernel_def reduction @rows {
^bb0(%x: tensor<11x203xbf16>):
  %0 = nap.reduce sum %x [1] : tensor<11x203xbf16> -> tensor<11xbf16>
  %1 = nap.reduce max %x [1] : tensor<11x203xbf16> -> tensor<11xbf16>
  nap.yield %0, %1 : tensor<11xbf16>, tensor<11xbf16>
}

// CHECK: columns: {{.*}} equal
nap.kernel_def reduction @columns {
^bb0(%x: tensor<203x37xbf16>):
  %0 = nap.mul %x, %x : tensor<203x37xbf16>
  %1 = nap.reduce sum %0 [0] : tensor<203x37xbf16> -> tensor<37xbf16>
  nap.yield %1 : tensor<37xbf16>
}
