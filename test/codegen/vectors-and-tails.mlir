// RUN: napkin-opt -nap-lower-kernels -cse %s | FileCheck %s

// Rows of 60 elements: vectors of 16, then a masked rest; the bias is read along the row.
// CHECK-LABEL: func.func @bias
// CHECK-SAME: memref<3840xf32>, %{{.+}}: memref<60xf32>, %{{.+}}: memref<3840xf32>, %{{.+}}: memref<0xi8>
// CHECK: scf.for
// CHECK: scf.for [[COLUMN:%.+]] = {{.*}} step
// CHECK: vector.load {{.*}} : memref<3840xf32>, vector<16xf32>
// CHECK: vector.load %{{.+}}[[[COLUMN]]] : memref<60xf32>, vector<16xf32>
// CHECK: arith.addf {{.*}} : vector<16xf32>
// CHECK: vector.store
// CHECK: scf.for
// CHECK: vector.create_mask
// CHECK: vector.maskedstore
nap.kernel_def pointwise @bias attributes {nap.schedule = {tasks = 4, scratch = 0, chunk = 1024}} {
^bb0(%x: tensor<64x60xf32>, %b: tensor<60xf32>):
  %bias = nap.broadcast %b [1] : tensor<60xf32> -> tensor<64x60xf32>
  %y = nap.add %x, %bias : tensor<64x60xf32>
  nap.yield %y : tensor<64x60xf32>
}

// What does not depend on the element stands outside the loop; one loop over all axes.
// CHECK-LABEL: func.func @scaled
// CHECK: memref.load
// CHECK: math.fma {{.*}} : f32
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: arith.mulf {{.*}} : vector<16xf32>
nap.kernel_def pointwise @scaled attributes {nap.schedule = {tasks = 1, scratch = 0, chunk = 1024}} {
^bb0(%x: tensor<8x128xf32>, %s: tensor<f32>):
  %e = nap.exp %s : tensor<f32>
  %b = nap.broadcast %e [] : tensor<f32> -> tensor<8x128xf32>
  %y = nap.mul %x, %b : tensor<8x128xf32>
  nap.yield %y : tensor<8x128xf32>
}

// A reduction spread along its row is done once a row.
// CHECK-LABEL: func.func @softmax_shift
// CHECK: scf.for
// CHECK: arith.maximumf
// CHECK: vector.extract
// CHECK: scf.for
// CHECK-NOT: arith.maximumf
// CHECK: arith.subf {{.*}} : vector<16xf32>
nap.kernel_def reduction @softmax_shift attributes {nap.schedule = {tasks = 1, scratch = 0, chunk = 2048}} {
^bb0(%x: tensor<8x256xf32>):
  %m = nap.reduce max %x [1] : tensor<8x256xf32> -> tensor<8xf32>
  %b = nap.broadcast %m [0] : tensor<8xf32> -> tensor<8x256xf32>
  %y = nap.sub %x, %b : tensor<8x256xf32>
  nap.yield %y : tensor<8x256xf32>
}

// The bias gradient: vectors along the columns, blocks of 64 rows.
// CHECK-LABEL: func.func @columns
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for {{.*}} iter_args
// CHECK: arith.addf {{.*}} : vector<64xf32>
nap.kernel_def reduction @columns attributes {nap.schedule = {tasks = 4, scratch = 0, chunk = 64}} {
^bb0(%x: tensor<100x256xf32>):
  %z = nap.reduce sum %x [0] : tensor<100x256xf32> -> tensor<256xf32>
  nap.yield %z : tensor<256xf32>
}
