// RUN: napkin-opt %s -split-input-file --nap-annotate-cost | FileCheck %s
// RUN: napkin-opt %s -split-input-file --nap-annotate-cost=module-only | FileCheck %s --check-prefix=MODULE

// Counters of each op, and the least bytes it moves; the module's FLOPs are those of contractions.
// MODULE: module attributes {nap.model_counts = {dense = 210 : i64, exact = 210 : i64, half = 210 : i64, masked = 0 : i64, padded = 0 : i64}, nap.model_flops = 2.100000e+02 : f64}
// MODULE-NOT: nap.cost
// CHECK: module attributes {{.*}}nap.model_flops = 2.100000e+02 : f64, nap.product_flops = {f32 = 2.100000e+02 : f64}}
// CHECK: nap.einsum {{.+}}nap.bytes_min = 2.840000e+02 : f64, nap.cost = {mm = 210 : i64}
// A broadcast counts its stored elements: 15 + 5 read, 15 written.
// CHECK: nap.add {{.+}}nap.bytes_min = 1.400000e+02 : f64, nap.cost = {vec = 15 : i64}
// CHECK: nap.reduce max {{.+}}nap.bytes_min = 6.400000e+01 : f64, nap.cost = {cmp = 14 : i64}
func.func @forward(%x: tensor<3x7xf32>, %w: tensor<7x5xf32>, %b: tensor<5xf32>) -> tensor<f32> {
  %0 = nap.einsum "ij,jk->ik" %x, %w : (tensor<3x7xf32>, tensor<7x5xf32>) -> tensor<3x5xf32>
  %1 = nap.broadcast %b [1] : tensor<5xf32> -> tensor<3x5xf32>
  %2 = nap.add %0, %1 : tensor<3x5xf32>
  %3 = nap.reduce max %2 [0, 1] : tensor<3x5xf32> -> tensor<f32>
  return %3 : tensor<f32>
}

// -----

// One operand twice is read once; a slice reads what is in it; overlapping windows read each place once;
// a gather reads the rows named; a splat is free.
// CHECK-LABEL: func.func @bytes
// CHECK: nap.mul {{.+}}nap.bytes_min = 8.000000e+01 : f64
// CHECK: nap.neg {{.+}}nap.bytes_min = 2.400000e+01 : f64
// CHECK: nap.exp {{.+}}nap.bytes_min = 1.360000e+02 : f64
// CHECK: nap.embed {{.+}}nap.bytes_min = 5.600000e+01 : f64
// CHECK: nap.sub {{.+}}nap.bytes_min = 8.000000e+01 : f64
func.func @bytes(%x: tensor<10xf32>, %t: tensor<9x3xf32>, %ids: tensor<2xi32>) -> tensor<10xf32> {
  %0 = nap.mul %x, %x : tensor<10xf32>
  %1 = nap.slice %x [1] step [3] : tensor<10xf32> -> tensor<3xf32>
  %2 = nap.neg %1 : tensor<3xf32>
  %3 = nap.window %x sizes [3] strides [1] dilations [1] : tensor<10xf32> -> tensor<8x3xf32>
  %4 = nap.exp %3 : tensor<8x3xf32>
  %5 = nap.embed %t, %ids : tensor<9x3xf32>, tensor<2xi32> -> tensor<2x3xf32>
  %c = nap.constant dense<1.0> : tensor<10xf32>
  %6 = nap.sub %x, %c : tensor<10xf32>
  return %6 : tensor<10xf32>
}

// -----

// A kernel costs what its region does; what only lives inside moves no bytes.
// CHECK-LABEL: func.func @kernel
// CHECK: nap.kernel pointwise
// CHECK-SAME: nap.bytes_min = 8.000000e+01 : f64, nap.cost = {trn = 10 : i64, vec = 10 : i64}
func.func @kernel(%x: tensor<10xf32>) -> tensor<10xf32> {
  %0 = nap.kernel pointwise "exp_mul" (%x) : (tensor<10xf32>) -> tensor<10xf32> {
  ^bb0(%a: tensor<10xf32>):
    %e = nap.exp %a : tensor<10xf32>
    %m = nap.mul %e, %a : tensor<10xf32>
    nap.yield %m : tensor<10xf32>
  }
  return %0 : tensor<10xf32>
}

// -----

// What a slice leaves out is not computed, nor read for it: of 300000 products, 992.
// CHECK-LABEL: func.func @rest
// CHECK: nap.kernel reduction
// CHECK-SAME: nap.bytes_min = 3.972000e+03 : f64, nap.cost = {vec = 1983 : i64}
func.func @rest(%x: tensor<300x1000xf32>) -> tensor<1xf32> {
  %0 = nap.kernel reduction "mul_sum" (%x) : (tensor<300x1000xf32>) -> tensor<1xf32> {
  ^bb0(%a: tensor<300x1000xf32>):
    %square = nap.mul %a, %a : tensor<300x1000xf32>
    %flat = nap.reshape %square : tensor<300x1000xf32> -> tensor<1x300000xf32>
    %part = nap.slice %flat [0, 299008] step [1, 1] : tensor<1x300000xf32> -> tensor<1x992xf32>
    %sum = nap.reduce sum %part [1] : tensor<1x992xf32> -> tensor<1xf32>
    nap.yield %sum : tensor<1xf32>
  }
  return %0 : tensor<1xf32>
}

// -----

// Two slices of one value, and the value read by two ops: each element once.
// CHECK-LABEL: func.func @shared
// CHECK: nap.kernel pointwise
// CHECK-SAME: nap.bytes_min = 4.800000e+01 : f64, nap.cost = {trn = 6 : i64, vec = 9 : i64}
func.func @shared(%x: tensor<10xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0:2 = nap.kernel pointwise "exp_add" (%x) : (tensor<10xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  ^bb0(%a: tensor<10xf32>):
    %e = nap.exp %a : tensor<10xf32>
    %first = nap.slice %e [0] step [1] : tensor<10xf32> -> tensor<3xf32>
    %last = nap.slice %e [5] step [1] : tensor<10xf32> -> tensor<5xf32>
    %sum = nap.add %first, %first : tensor<3xf32>
    %square = nap.mul %last, %last : tensor<5xf32>
    %part = nap.slice %square [1] step [1] : tensor<5xf32> -> tensor<3xf32>
    %both = nap.sub %part, %first : tensor<3xf32>
    nap.yield %sum, %both : tensor<3xf32>, tensor<3xf32>
  }
  return %0#0, %0#1 : tensor<3xf32>, tensor<3xf32>
}

// -----

// A step of several micro-batches counts them all.
// CHECK: nap.model_flops = 6.300000e+02 : f64
module attributes {nap.accumulate = 3 : i64} {
  func.func @micro_step(%x: tensor<3x7xf32>, %w: tensor<7x5xf32>) -> tensor<3x5xf32> {
    %0 = nap.einsum "ij,jk->ik" %x, %w : (tensor<3x7xf32>, tensor<7x5xf32>) -> tensor<3x5xf32>
    return %0 : tensor<3x5xf32>
  }
}

// -----

// The model asks for the pairs that are seen: 7 * 8 / 2 of 7 * 7 for each of 2 x 3 heads, two products of 5 and of 4;
// four backward. The program goes through the whole block and multiplies scores again.
// CHECK: module attributes {{.*}}nap.model_counts = {dense = 15876 : i64, exact = 9072 : i64, half = 7938 : i64, masked = 15876 : i64, padded = 0 : i64}
// CHECK: nap.attention {{.*}}mm = 5292
// CHECK: nap.attention_backward {{.*}}mm = 13860
func.func @forward(%q: tensor<2x3x7x5xf32>, %k: tensor<2x3x7x5xf32>, %v: tensor<2x3x7x4xf32>, %g: tensor<2x3x7x4xf32>)
    -> (tensor<2x3x7x5xf32>, tensor<2x3x7x5xf32>, tensor<2x3x7x4xf32>) {
  %out, %lse = nap.attention %q, %k, %v {scale = 0.5, to = 0 : i64}
    : (tensor<2x3x7x5xf32>, tensor<2x3x7x5xf32>, tensor<2x3x7x4xf32>) -> (tensor<2x3x7x4xf32>, tensor<2x3x7xf32>)
  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %out, %lse, %g {scale = 0.5, to = 0 : i64}
    : (tensor<2x3x7x5xf32>, tensor<2x3x7x5xf32>, tensor<2x3x7x4xf32>, tensor<2x3x7x4xf32>, tensor<2x3x7xf32>, tensor<2x3x7x4xf32>)
    -> (tensor<2x3x7x5xf32>, tensor<2x3x7x5xf32>, tensor<2x3x7x4xf32>)
  return %dq, %dk, %dv : tensor<2x3x7x5xf32>, tensor<2x3x7x5xf32>, tensor<2x3x7x4xf32>
}

// -----

// 2^24 x 2^24 x 2^20 multiply-adds need 70 bits.
// CHECK: module attributes {{.*}}exact = 590295810358705651712 : i128
// CHECK: nap.einsum {{.*}}mm = 590295810358705651712 : i128
func.func @forward(%x: tensor<16777216x1048576xf32>, %y: tensor<1048576x16777216xf32>) -> tensor<16777216x16777216xf32> {
  %0 = nap.einsum "ij,jk->ik" %x, %y : (tensor<16777216x1048576xf32>, tensor<1048576x16777216xf32>) -> tensor<16777216x16777216xf32>
  return %0 : tensor<16777216x16777216xf32>
}
