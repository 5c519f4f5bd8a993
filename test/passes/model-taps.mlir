// RUN: napkin-opt %s -split-input-file --nap-annotate-cost=module-only | FileCheck %s

// A 4 x 4 image by a 2 x 2 kernel, padded below and to the right: 7 of 8 pairs of place and offset are inside on each axis. Both
// gradients ask for the same taps: the weight's reads them, the image's adds to them.
// CHECK: module attributes {nap.model_counts = {dense = 768 : i64, exact = 588 : i64, half = 588 : i64, masked = 0 : i64, padded = 180 : i64}
func.func @micro_step(%x: tensor<1x1x4x4xf32>, %f: tensor<2x1x2x2xf32>, %g: tensor<1x2x4x4xf32>)
    -> (tensor<1x2x4x4xf32>, tensor<2x1x2x2xf32>, tensor<1x1x4x4xf32>) {
  %p = nap.pad %x low [0, 0, 0, 0] high [0, 0, 1, 1] inner [0, 0, 0, 0] with 0.0 : tensor<1x1x4x4xf32> -> tensor<1x1x5x5xf32>
  %w = nap.window %p sizes [2, 2] strides [1, 1] dilations [1, 1] : tensor<1x1x5x5xf32> -> tensor<1x1x4x4x2x2xf32>
  %y = nap.einsum "bcijuv,ocuv->boij" %w, %f : (tensor<1x1x4x4x2x2xf32>, tensor<2x1x2x2xf32>) -> tensor<1x2x4x4xf32>
  // Other orders of axes, and a reshape that leaves windows alone.
  %s = nap.permute %w [0, 2, 3, 4, 5, 1] : tensor<1x1x4x4x2x2xf32> -> tensor<1x4x4x2x2x1xf32>
  %r = nap.reshape %s : tensor<1x4x4x2x2x1xf32> -> tensor<4x4x2x2xf32>
  %df = nap.einsum "ijuv,boij->ouv" %r, %g : (tensor<4x4x2x2xf32>, tensor<1x2x4x4xf32>) -> tensor<2x2x2xf32>
  %dff = nap.reshape %df : tensor<2x2x2xf32> -> tensor<2x1x2x2xf32>
  %dw = nap.einsum "boij,ocuv->bcijuv" %g, %f : (tensor<1x2x4x4xf32>, tensor<2x1x2x2xf32>) -> tensor<1x1x4x4x2x2xf32>
  %dp = nap.fold %dw sizes [2, 2] strides [1, 1] dilations [1, 1] : tensor<1x1x4x4x2x2xf32> -> tensor<1x1x5x5xf32>
  %dx = nap.slice %dp [0, 0, 0, 0] step [1, 1, 1, 1] : tensor<1x1x5x5xf32> -> tensor<1x1x4x4xf32>
  return %y, %dff, %dx : tensor<1x2x4x4xf32>, tensor<2x1x2x2xf32>, tensor<1x1x4x4xf32>
}

// -----

// A reshape that joins places and offsets hides them, and a window of what is not padded has no outside: all taps count.
// CHECK: module attributes {nap.model_counts = {dense = 100 : i64, exact = 100 : i64, half = 100 : i64, masked = 0 : i64, padded = 0 : i64}
func.func @forward(%x: tensor<4xf32>, %f: tensor<8x5xf32>, %h: tensor<2x5xf32>) -> (tensor<5xf32>, tensor<2x5xf32>) {
  %p = nap.pad %x low [1] high [0] inner [0] with 0.0 : tensor<4xf32> -> tensor<5xf32>
  %w = nap.window %p sizes [2] strides [1] dilations [1] : tensor<5xf32> -> tensor<4x2xf32>
  %j = nap.reshape %w : tensor<4x2xf32> -> tensor<8xf32>
  %y = nap.einsum "i,ij->j" %j, %f : (tensor<8xf32>, tensor<8x5xf32>) -> tensor<5xf32>
  %v = nap.window %x sizes [3] strides [1] dilations [1] : tensor<4xf32> -> tensor<2x3xf32>
  %s = nap.reduce sum %v [1] : tensor<2x3xf32> -> tensor<2xf32>
  %z = nap.einsum "i,ij->j" %s, %h : (tensor<2xf32>, tensor<2x5xf32>) -> tensor<5xf32>
  %o = nap.broadcast %z [1] : tensor<5xf32> -> tensor<2x5xf32>
  return %y, %o : tensor<5xf32>, tensor<2x5xf32>
}
