// Rows that kernels read where they lie, and joins whose parts are written where they lie.
// RUN: napkin-opt %s -split-input-file --nap-fuse --nap-choose-schedules --nap-plan-memory --nap-annotate-cost --nap-outline -o %t
// RUN: FileCheck %s < %t

// Both halves are one kernel's, read out of x and written into y; nothing is copied, and moving nothing costs nothing.
// CHECK: nap.kernel_def contraction @matmul
// CHECK-NOT: nap.kernel_def
// CHECK-LABEL: func.func @halves
// CHECK: %[[A:.+]] = nap.slice %arg0 [0, 0] step [1, 1] {nap.bytes_min = 0.0{{.*}} nap.offset = 0 : i64}
// CHECK: %[[P:.+]] = nap.launch @matmul(%arg1, %[[A]]) {{.*}} nap.offsets = array<i64: 2304>}
// CHECK: %[[B:.+]] = nap.slice %arg0 [64, 0] step [1, 1] {{.*}} nap.offset = 1024 : i64}
// CHECK: %[[Q:.+]] = nap.launch @matmul(%arg1, %[[B]]) {{.*}} nap.offsets = array<i64: 3328>}
// CHECK: %[[Y:.+]] = nap.concat %[[P]], %[[Q]] axis 0 {nap.bytes_min = 0.0{{.*}} nap.offset = 2304 : i64, nap.placed}
// CHECK: return %[[Y]]
nap.declare parameter @x : tensor<128x4xf32>
nap.declare parameter @w : tensor<4x4xf32>
func.func @halves(%x: tensor<128x4xf32> {nap.of = @x}, %w: tensor<4x4xf32> {nap.of = @w}) -> (tensor<128x4xf32> {nap.result = "output y"}) {
  %a = nap.slice %x [0, 0] step [1, 1] : tensor<128x4xf32> -> tensor<64x4xf32>
  %b = nap.slice %x [64, 0] step [1, 1] : tensor<128x4xf32> -> tensor<64x4xf32>
  %p = nap.einsum "rd,de->re" %a, %w : (tensor<64x4xf32>, tensor<4x4xf32>) -> tensor<64x4xf32>
  %q = nap.einsum "rd,de->re" %b, %w : (tensor<64x4xf32>, tensor<4x4xf32>) -> tensor<64x4xf32>
  %y = nap.concat %p, %q axis 0 : (tensor<64x4xf32>, tensor<64x4xf32>) -> tensor<128x4xf32>
  return %y : tensor<128x4xf32>
}

// -----

// Rows at no multiple of 256 bytes, columns, and a join along the last axis stay in kernels.
// CHECK-LABEL: func.func @crooked
// CHECK-NOT: nap.slice
// CHECK: nap.launch @matmul(%arg0, %arg1)
// CHECK-NOT: nap.slice
// CHECK: nap.launch @matmul_2(%arg0, %arg1)
// CHECK: nap.launch @concat
// CHECK: return
nap.declare parameter @x : tensor<128x8xf32>
nap.declare parameter @w : tensor<4x4xf32>
func.func @crooked(%x: tensor<128x8xf32> {nap.of = @x}, %w: tensor<4x4xf32> {nap.of = @w}) -> (tensor<64x8xf32> {nap.result = "output y"}) {
  %a = nap.slice %x [3, 0] step [1, 1] : tensor<128x8xf32> -> tensor<64x4xf32>
  %b = nap.slice %x [3, 4] step [1, 1] : tensor<128x8xf32> -> tensor<64x4xf32>
  %p = nap.einsum "rd,de->re" %a, %w : (tensor<64x4xf32>, tensor<4x4xf32>) -> tensor<64x4xf32>
  %q = nap.einsum "rd,de->re" %b, %w : (tensor<64x4xf32>, tensor<4x4xf32>) -> tensor<64x4xf32>
  %y = nap.concat %p, %q axis 1 : (tensor<64x4xf32>, tensor<64x4xf32>) -> tensor<64x8xf32>
  return %y : tensor<64x8xf32>
}

// -----

// The new version of x is written over the old one only after the last reader of its rows.
// CHECK-LABEL: func.func @rows_of_a_parameter
// CHECK: %[[ROWS:.+]] = nap.slice %arg0 [64, 0]
// CHECK-NOT: nap.offsets = array<i64: 0>
// CHECK: nap.launch @matmul(%arg1, %[[ROWS]])
// CHECK: nap.launch @neg(%arg0) {{.*}} nap.offsets = array<i64: 0>
nap.declare parameter @x : tensor<128x4xf32>
nap.declare parameter @w : tensor<4x4xf32>
func.func @rows_of_a_parameter(%x: tensor<128x4xf32> {nap.of = @x}, %w: tensor<4x4xf32> {nap.of = @w}) -> (tensor<128x4xf32> {nap.updates = @x}, tensor<64x4xf32> {nap.result = "output y"}) {
  %n = nap.neg %x : tensor<128x4xf32>
  %b = nap.slice %x [64, 0] step [1, 1] : tensor<128x4xf32> -> tensor<64x4xf32>
  %q = nap.einsum "rd,de->re" %b, %w : (tensor<64x4xf32>, tensor<4x4xf32>) -> tensor<64x4xf32>
  return %n, %q : tensor<128x4xf32>, tensor<64x4xf32>
}

// -----

// Sums that go on from a tensor of which other rows are read lie beside it.
// CHECK-LABEL: func.func @rows_and_whole
// CHECK: %[[A:.+]] = nap.launch @neg
// CHECK-SAME: nap.offsets = array<i64: [[PLACE:[0-9]+]]>
// CHECK: nap.launch @{{.+}}(%[[A]], %{{.+}})
// CHECK-NOT: nap.offsets = array<i64: [[PLACE]]>
// CHECK: return
nap.declare parameter @x : tensor<128x4xf32>
func.func @rows_and_whole(%x: tensor<128x4xf32> {nap.of = @x}) -> (tensor<128x4xf32> {nap.result = "output y"}) {
  %a = nap.neg %x : tensor<128x4xf32>
  %b = nap.slice %a [64, 0] step [1, 1] : tensor<128x4xf32> -> tensor<64x4xf32>
  %c = nap.pad %b low [0, 0] high [64, 0] inner [0, 0] with 0.0 : tensor<64x4xf32> -> tensor<128x4xf32>
  %m = nap.reduce max %a [1] : tensor<128x4xf32> -> tensor<128xf32>
  %ms = nap.broadcast %m [0] : tensor<128xf32> -> tensor<128x4xf32>
  %d = nap.add %a, %c : tensor<128x4xf32>
  %e = nap.mul %d, %ms : tensor<128x4xf32>
  return %e : tensor<128x4xf32>
}
