// Products that look like a head and are left whole, and why; and others, of which nothing is said.
// RUN: napkin-opt %s -split-input-file --nap-chunk-rows=chunks=2 -verify-diagnostics | FileCheck %s
// CHECK-NOT: nap.concat

// Whoever asked for the logits gets them.
func.func @returned(%x: tensor<8x4xf32>, %w: tensor<11x4xf32>) -> (tensor<8x11xf32>, tensor<8xf32>) {
  // expected-remark@+1 {{the product is not computed in parts: it is returned whole}}
  %l = nap.einsum "rd,vd->rv" %x, %w : (tensor<8x4xf32>, tensor<11x4xf32>) -> tensor<8x11xf32>
  %best = nap.reduce max %l [1] : tensor<8x11xf32> -> tensor<8xf32>
  return %l, %best : tensor<8x11xf32>, tensor<8xf32>
}

// -----

// A mean over the rows of what each holds.
func.func @across_rows(%x: tensor<8x4xf32>, %w: tensor<11x4xf32>) -> (tensor<11xf32>, tensor<8xf32>) {
  // expected-remark@+1 {{the product is not computed in parts: its values are read by nap.reduce, which needs all rows}}
  %l = nap.einsum "rd,vd->rv" %x, %w : (tensor<8x4xf32>, tensor<11x4xf32>) -> tensor<8x11xf32>
  %best = nap.reduce max %l [1] : tensor<8x11xf32> -> tensor<8xf32>
  %mean = nap.reduce sum %l [0] : tensor<8x11xf32> -> tensor<11xf32>
  return %mean, %best : tensor<11xf32>, tensor<8xf32>
}

// -----

// What the weights' gradient multiplies depends on all rows.
func.func @circle(%x: tensor<8x4xf32>, %w: tensor<11x4xf32>) -> tensor<11x4xf32> {
  // expected-remark@+1 {{the product is not computed in parts: a contraction over the rows needs what follows from all of them}}
  %l = nap.einsum "rd,vd->rv" %x, %w : (tensor<8x4xf32>, tensor<11x4xf32>) -> tensor<8x11xf32>
  %best = nap.reduce max %l [1] : tensor<8x11xf32> -> tensor<8xf32>
  %all = nap.reduce sum %best [0] : tensor<8xf32> -> tensor<f32>
  %alls = nap.broadcast %all [] : tensor<f32> -> tensor<8x4xf32>
  %y = nap.mul %x, %alls : tensor<8x4xf32>
  %dw = nap.einsum "rv,rd->vd" %l, %y : (tensor<8x11xf32>, tensor<8x4xf32>) -> tensor<11x4xf32>
  return %dw : tensor<11x4xf32>
}

// -----

// A hidden layer: nothing is reduced along what the rows hold.
func.func @hidden(%x: tensor<8x4xf32>, %w: tensor<11x4xf32>) -> tensor<8x4xf32> {
  %l = nap.einsum "rd,vd->rv" %x, %w : (tensor<8x4xf32>, tensor<11x4xf32>) -> tensor<8x11xf32>
  %t = nap.tanh %l : tensor<8x11xf32>
  %y = nap.einsum "rv,vd->rd" %t, %w : (tensor<8x11xf32>, tensor<11x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// Attention: each row has its own other factor.
func.func @attention(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>) -> tensor<2x8xf32> {
  %s = nap.einsum "btd,bsd->bts" %q, %k : (tensor<2x8x4xf32>, tensor<2x8x4xf32>) -> tensor<2x8x8xf32>
  %best = nap.reduce max %s [2] : tensor<2x8x8xf32> -> tensor<2x8xf32>
  return %best : tensor<2x8xf32>
}

// -----

// Rows that lie apart in the states.
func.func @rows_behind(%x: tensor<4x8xf32>, %w: tensor<11x4xf32>) -> tensor<8xf32> {
  // expected-remark@+1 {{the product is not computed in parts: its rows are not the leading axes of their factor; transpose that}}
  %l = nap.einsum "dr,vd->rv" %x, %w : (tensor<4x8xf32>, tensor<11x4xf32>) -> tensor<8x11xf32>
  %best = nap.reduce max %l [1] : tensor<8x11xf32> -> tensor<8xf32>
  return %best : tensor<8xf32>
}

// -----

// A softmax along the first axis.
func.func @classes_first(%x: tensor<8x4xf32>, %w: tensor<11x4xf32>) -> tensor<8xf32> {
  // expected-remark@+1 {{the product is not computed in parts: a maximum runs along its leading axes; write the axis of the classes last}}
  %l = nap.einsum "vd,rd->vr" %w, %x : (tensor<11x4xf32>, tensor<8x4xf32>) -> tensor<11x8xf32>
  %best = nap.reduce max %l [0] : tensor<11x8xf32> -> tensor<8xf32>
  return %best : tensor<8xf32>
}

// -----

// Each row beside every other.
func.func @all_pairs(%x: tensor<8x4xf32>, %w: tensor<11x4xf32>) -> tensor<8x8xf32> {
  // expected-remark@+1 {{the product is not computed in parts: its values are read by nap.einsum, which needs all rows}}
  %l = nap.einsum "rd,vd->rv" %x, %w : (tensor<8x4xf32>, tensor<11x4xf32>) -> tensor<8x11xf32>
  %best = nap.reduce max %l [1] : tensor<8x11xf32> -> tensor<8xf32>
  %bests = nap.broadcast %best [0] : tensor<8xf32> -> tensor<8x11xf32>
  %n = nap.div %l, %bests : tensor<8x11xf32>
  %s = nap.einsum "rv,sv->rs" %n, %n : (tensor<8x11xf32>, tensor<8x11xf32>) -> tensor<8x8xf32>
  return %s : tensor<8x8xf32>
}
