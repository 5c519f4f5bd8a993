// RUN: %unit/run-kernel %s | FileCheck %s
// RUN: %unit/run-kernel %s --cuda-host | FileCheck %s

// Sums are those of the documented order, bit for bit, however tasks are called.

// CHECK: row_short: {{.*}} equal
nap.kernel_def reduction @row_short {
^bb0(%x: tensor<6x50xf32>):
  %z = nap.reduce sum %x [1] : tensor<6x50xf32> -> tensor<6xf32>
  nap.yield %z : tensor<6xf32>
}

// CHECK: row_two_blocks: {{.*}} equal
nap.kernel_def reduction @row_two_blocks {
^bb0(%x: tensor<3x300xf32>):
  %z = nap.reduce sum %x [1] : tensor<3x300xf32> -> tensor<3xf32>
  nap.yield %z : tensor<3xf32>
}

// CHECK: row_exact: {{.*}} equal
nap.kernel_def reduction @row_exact {
^bb0(%x: tensor<5x128xf32>):
  %z = nap.reduce sum %x [1] : tensor<5x128xf32> -> tensor<5xf32>
  nap.yield %z : tensor<5xf32>
}

// CHECK: row_4096: {{.*}} equal
nap.kernel_def reduction @row_4096 {
^bb0(%x: tensor<2x4096xf32>):
  %z = nap.reduce sum %x [1] : tensor<2x4096xf32> -> tensor<2xf32>
  nap.yield %z : tensor<2xf32>
}

// CHECK: row_long: {{.*}} equal
nap.kernel_def reduction @row_long {
^bb0(%x: tensor<2x10000xf32>):
  %z = nap.reduce sum %x [1] : tensor<2x10000xf32> -> tensor<2xf32>
  nap.yield %z : tensor<2xf32>
}

// CHECK: all: {{.*}} equal
nap.kernel_def reduction @all {
^bb0(%x: tensor<70x900xf32>):
  %z = nap.reduce sum %x [0, 1] : tensor<70x900xf32> -> tensor<f32>
  nap.yield %z : tensor<f32>
}

// CHECK: very_long: {{.*}} equal
nap.kernel_def reduction @very_long {
^bb0(%x: tensor<600000xf32>):
  %z = nap.reduce sum %x [0] : tensor<600000xf32> -> tensor<f32>
  nap.yield %z : tensor<f32>
}

// CHECK: apart: {{.*}} equal
nap.kernel_def reduction @apart {
^bb0(%x: tensor<7x5x30xf32>):
  %z = nap.reduce sum %x [0, 2] : tensor<7x5x30xf32> -> tensor<5xf32>
  nap.yield %z : tensor<5xf32>
}

// CHECK: apart_long: {{.*}} equal
nap.kernel_def reduction @apart_long {
^bb0(%x: tensor<70x5x100xf32>):
  %z = nap.reduce sum %x [0, 2] : tensor<70x5x100xf32> -> tensor<5xf32>
  nap.yield %z : tensor<5xf32>
}

// CHECK: few_terms: {{.*}} equal
nap.kernel_def reduction @few_terms {
^bb0(%x: tensor<40x7xf32>):
  %z = nap.reduce sum %x [1] : tensor<40x7xf32> -> tensor<40xf32>
  nap.yield %z : tensor<40xf32>
}

// CHECK: columns: {{.*}} equal
nap.kernel_def reduction @columns {
^bb0(%x: tensor<200x40xf32>):
  %z = nap.reduce sum %x [0] : tensor<200x40xf32> -> tensor<40xf32>
  nap.yield %z : tensor<40xf32>
}

// CHECK: columns_one_block: {{.*}} equal
nap.kernel_def reduction @columns_one_block {
^bb0(%x: tensor<64x16xf32>):
  %z = nap.reduce sum %x [0] : tensor<64x16xf32> -> tensor<16xf32>
  nap.yield %z : tensor<16xf32>
}

// CHECK: middle: {{.*}} equal
nap.kernel_def reduction @middle {
^bb0(%x: tensor<3x150x20xf32>):
  %z = nap.reduce sum %x [1] : tensor<3x150x20xf32> -> tensor<3x20xf32>
  nap.yield %z : tensor<3x20xf32>
}

// CHECK: two_columns: {{.*}} equal
nap.kernel_def reduction @two_columns {
^bb0(%x: tensor<9x11x19xf32>):
  %z = nap.reduce sum %x [0, 1] : tensor<9x11x19xf32> -> tensor<19xf32>
  nap.yield %z : tensor<19xf32>
}

// CHECK: largest: {{.*}} equal
nap.kernel_def reduction @largest {
^bb0(%x: tensor<30x200xf32>):
  %z = nap.reduce max %x [1] : tensor<30x200xf32> -> tensor<30xf32>
  nap.yield %z : tensor<30xf32>
}

// CHECK: smallest_of_column: {{.*}} equal
nap.kernel_def reduction @smallest_of_column {
^bb0(%x: tensor<30x20xf32>):
  %z = nap.reduce min %x [0] : tensor<30x20xf32> -> tensor<20xf32>
  nap.yield %z : tensor<20xf32>
}

// CHECK: product: {{.*}} equal
nap.kernel_def reduction @product {
^bb0(%x: tensor<6x20xf32>):
  %z = nap.reduce prod %x [1] : tensor<6x20xf32> -> tensor<6xf32>
  nap.yield %z : tensor<6xf32>
}

// CHECK: wide: {{.*}} equal
nap.kernel_def reduction @wide {
^bb0(%x: tensor<9x500xf64>):
  %z = nap.reduce sum %x [1] : tensor<9x500xf64> -> tensor<9xf64>
  nap.yield %z : tensor<9xf64>
}

// CHECK: whole: {{.*}} equal
nap.kernel_def reduction @whole {
^bb0(%x: tensor<9x500xi32>):
  %z = nap.reduce sum %x [1] : tensor<9x500xi32> -> tensor<9xi32>
  nap.yield %z : tensor<9xi32>
}

// CHECK: whole_columns: {{.*}} equal
nap.kernel_def reduction @whole_columns {
^bb0(%x: tensor<90x50xi64>):
  %z = nap.reduce max %x [0] : tensor<90x50xi64> -> tensor<50xi64>
  nap.yield %z : tensor<50xi64>
}
