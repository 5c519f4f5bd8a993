// RUN: napkin-opt -nap-choose-schedules %s | FileCheck %s
// RUN: napkin-opt -nap-choose-schedules=min-tasks=9 %s | FileCheck %s --check-prefix=SMALL
// RUN: napkin-opt -nap-choose-schedules=vector-bytes=32 %s | FileCheck %s --check-prefix=NARROW
// RUN: sed '1imodule attributes {nap.vector_bytes = 32 : i64} {' %s | sed '$a}' \
// RUN:   | napkin-opt -nap-choose-schedules | FileCheck %s --check-prefix=NARROW
// RUN: sed '1imodule attributes {nap.vector_bytes = 32 : i64} {' %s | sed '$a}' \
// RUN:   | napkin-opt -nap-choose-schedules=vector-bytes=64 | FileCheck %s --check-prefix=WIDE

// Elements in chunks of whole vectors, at least 16384 a task.
// CHECK: @large attributes {nap.schedule = {chunk = 16384 : i64, scratch = 0 : i64, tasks = 16 : i64}}
nap.kernel_def pointwise @large {
^bb0(%x: tensor<256x1024xf32>):
  %y = nap.mul %x, %x : tensor<256x1024xf32>
  nap.yield %y : tensor<256x1024xf32>
}

// A small kernel is one task, unless more are asked for.
// CHECK: @small attributes {nap.schedule = {chunk = 128 : i64, scratch = 0 : i64, tasks = 1 : i64}}
// SMALL: @small attributes {nap.schedule = {chunk = 12 : i64, scratch = 0 : i64, tasks = 9 : i64}}
nap.kernel_def pointwise @small {
^bb0(%x: tensor<100xf32>):
  %y = nap.mul %x, %x : tensor<100xf32>
  nap.yield %y : tensor<100xf32>
}

// Sums along rows: single rows may be a task.
// CHECK: @rows attributes {nap.schedule = {chunk = 1 : i64, scratch = 0 : i64, tasks = 8 : i64}}
nap.kernel_def reduction @rows {
^bb0(%x: tensor<8x50000xf32>):
  %y = nap.reduce sum %x [1] : tensor<8x50000xf32> -> tensor<8xf32>
  nap.yield %y : tensor<8xf32>
}

// A reduction spread along its row is done once a row: rows stay whole.
// CHECK: @spread attributes {nap.schedule = {chunk = 17000 : i64, scratch = 0 : i64, tasks = 6 : i64}}
nap.kernel_def reduction @spread {
^bb0(%x: tensor<100x1000xf32>):
  %m = nap.reduce max %x [1] : tensor<100x1000xf32> -> tensor<100xf32>
  %b = nap.broadcast %m [0] : tensor<100xf32> -> tensor<100x1000xf32>
  %y = nap.sub %x, %b : tensor<100x1000xf32>
  nap.yield %y : tensor<100x1000xf32>
}

// Register tiles of a product fit the target's vectors: those that the option names, else those of
// the module's target, else the widest.
// CHECK: @product {{.*}}lanes = 16 : i64, pack_ahead = 0 : i64{{.*}}tasks = 8 : i64, tile_columns = 64 : i64, tile_rows = 6 : i64
// WIDE: @product {{.*}}lanes = 16 : i64{{.*}}tasks = 8 : i64, tile_columns = 64 : i64, tile_rows = 6 : i64
// NARROW: @product {{.*}}lanes = 8 : i64{{.*}}tasks = 8 : i64, tile_columns = 24 : i64, tile_rows = 4 : i64
nap.kernel_def contraction @product {
^bb0(%a: tensor<240x96xf32>, %b: tensor<96x480xf32>):
  %y = nap.einsum "mk,kn->mn" %a, %b : (tensor<240x96xf32>, tensor<96x480xf32>) -> tensor<240x480xf32>
  nap.yield %y : tensor<240x480xf32>
}

// Where a block has several whole panels, each is packed while the one before it is multiplied.
// CHECK: @panels {{.*}}column_block = 240 : i64{{.*}}pack_ahead = 1 : i64{{.*}}tile_columns = 48 : i64
nap.kernel_def contraction @panels {
^bb0(%a: tensor<290x71xf32>, %b: tensor<71x960xf32>):
  %y = nap.einsum "mk,kn->mn" %a, %b : (tensor<290x71xf32>, tensor<71x960xf32>) -> tensor<290x960xf32>
  nap.yield %y : tensor<290x960xf32>
}

// A product of few tiles has as many tasks as are asked for, or as it has tiles.
// SMALL: @small_product {{.*}}tasks = 10 : i64
nap.kernel_def contraction @small_product {
^bb0(%a: tensor<33x7xf32>, %b: tensor<7x49xf32>):
  %y = nap.einsum "mk,kn->mn" %a, %b : (tensor<33x7xf32>, tensor<7x49xf32>) -> tensor<33x49xf32>
  nap.yield %y : tensor<33x49xf32>
}

// Behind sums that others are computed from, tiles have whole vectors of the epilogue, and as many
// sums as keep two units busy: 2 x 32 would have 8 of 8 lanes. Panels are packed ahead with the
// widest vectors alone.
// CHECK: @bias {{.*}}pack_ahead = 1 : i64
// NARROW: @bias {{.*}}pack_ahead = 0 : i64{{.*}}tile_columns = 16 : i64, tile_rows = 6 : i64
nap.kernel_def contraction @bias {
^bb0(%x: tensor<256x768xf32>, %w: tensor<768x2304xf32>, %b: tensor<2304xf32>):
  %p = nap.einsum "mk,kn->mn" %x, %w : (tensor<256x768xf32>, tensor<768x2304xf32>) -> tensor<256x2304xf32>
  %s = nap.broadcast %b [1] : tensor<2304xf32> -> tensor<256x2304xf32>
  %y = nap.add %p, %s : tensor<256x2304xf32>
  nap.yield %y : tensor<256x2304xf32>
}
