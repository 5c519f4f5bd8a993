// What a slice of a large sum's terms leaves out is neither computed, counted nor read.
// RUN: napkin-opt %s --nap-split-reductions --nap-fuse --nap-outline --nap-annotate-cost > %t
// RUN: FileCheck %s < %t
// RUN: nap-interpret %s --compare-file=%t
// RUN: nap-interpret %t --count > %t.executed
// RUN: nap-print-cost %t | diff %t.executed -
// RUN: nap-interpret %t --bytes > %t.touched
// RUN: nap-print-cost --bytes %t | diff %t.touched -
// RUN: FileCheck %s --check-prefix=COUNT < %t.executed

// Splitting adds no work: 300000 products and 299999 sums. Of the last 992 terms there are as many
// products and 991 sums, from 992 elements read and one written.
// CHECK-LABEL: func.func @square
// CHECK: nap.launch {{.*}}nap.bytes_min = 3.972000e+03 : f64, nap.cost = {vec = 1983 : i64}
// COUNT: @square mm 0 vec 599999 trn 0
func.func @square(%x: tensor<300x1000xf32>) -> tensor<f32> {
  %m = nap.mul %x, %x : tensor<300x1000xf32>
  %s = nap.reduce sum %m [0, 1] : tensor<300x1000xf32> -> tensor<f32>
  return %s : tensor<f32>
}

// So through two ops, and a row that is read for every column: 992 terms are of the last row alone.
// CHECK-LABEL: func.func @chained
// CHECK: nap.launch {{.*}}nap.cost = {trn = 992 : i64, vec = 1983 : i64}
// COUNT: @chained mm 0 vec 599999 trn 300000
func.func @chained(%x: tensor<300x1000xf32>, %row: tensor<1000xf32>) -> tensor<f32> {
  %b = nap.broadcast %row [1] : tensor<1000xf32> -> tensor<300x1000xf32>
  %m = nap.mul %x, %b : tensor<300x1000xf32>
  %e = nap.exp %m : tensor<300x1000xf32>
  %s = nap.reduce sum %e [0, 1] : tensor<300x1000xf32> -> tensor<f32>
  return %s : tensor<f32>
}
