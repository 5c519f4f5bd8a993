// RUN: napkin-opt %s --nap-checkpoint=strategy=manual | FileCheck %s --check-prefixes=CHECK,MANUAL
// RUN: napkin-opt %s -mlir-print-debuginfo | napkin-opt --nap-checkpoint=strategy=manual | FileCheck %s --check-prefixes=CHECK,MANUAL
// RUN: napkin-opt %s --nap-checkpoint=strategy=none | FileCheck %s --check-prefixes=CHECK,NONE

// What a block of the model computes for its own lines alone is computed again; what later lines read is kept, and so is
// what a kernel computes beside it outside of the block. The mark prints and parses.

nap.declare parameter @w : tensor<33xf32>
nap.declare input @x : tensor<33xf32>

// CHECK-LABEL: func.func @train_step
func.func @train_step(%w: tensor<33xf32> {nap.of = @w}, %x: tensor<33xf32> {nap.of = @x})
    -> (tensor<f32> {nap.result = "loss"}, tensor<33xf32> {nap.updates = @w}) {
  // Of the first kernel's results one stands before the block.
  // CHECK: %[[A:.*]]:2 = nap.kernel  pointwise "first"
  %a:2 = nap.kernel pointwise "first" (%x, %w) : (tensor<33xf32>, tensor<33xf32>) -> (tensor<33xf32>, tensor<33xf32>) {
  ^bb0(%p: tensor<33xf32>, %q: tensor<33xf32>):
    %s = nap.mul %p, %q : tensor<33xf32> loc("m.nap":1:1)
    %t = nap.tanh %s : tensor<33xf32> loc(fused<{nap.checkpoint = 0 : i64}>["h"("m.nap":2:1)])
    nap.yield %s, %t : tensor<33xf32>, tensor<33xf32>
  }
  // The block's last line: kept, since the next reads it.
  // CHECK: %[[B:.*]] = nap.kernel  pointwise "second"
  %b = nap.kernel pointwise "second" (%a#1) : (tensor<33xf32>) -> tensor<33xf32> {
  ^bb0(%p: tensor<33xf32>):
    %t = nap.exp %p : tensor<33xf32> loc(fused<{nap.checkpoint = 0 : i64}>["m.nap":3:1])
    nap.yield %t : tensor<33xf32>
  }
  %loss = nap.kernel reduction "loss" (%b) : (tensor<33xf32>) -> tensor<f32> {
  ^bb0(%p: tensor<33xf32>):
    %t = nap.reduce sum %p [0] : tensor<33xf32> -> tensor<f32> loc("m.nap":5:1)
    nap.yield %t : tensor<f32>
  }
  // CHECK: "loss"
  // NONE-NOT: nap.recomputed
  // MANUAL: %[[T:.*]] = nap.kernel  pointwise "tanh.h"(%[[A]]#0) attributes {nap.recomputed}
  // MANUAL-NOT: nap.recomputed
  // MANUAL: nap.kernel  pointwise "backward"(%[[A]]#0, %[[T]], %[[B]])
  // NONE: nap.kernel  pointwise "backward"(%[[A]]#0, %[[A]]#1, %[[B]])
  %d = nap.kernel pointwise "backward" (%a#0, %a#1, %b) : (tensor<33xf32>, tensor<33xf32>, tensor<33xf32>) -> tensor<33xf32> {
  ^bb0(%p: tensor<33xf32>, %q: tensor<33xf32>, %r: tensor<33xf32>):
    %t = nap.mul %p, %q : tensor<33xf32> loc(fused<{nap.checkpoint = 0 : i64}>["m.nap":3:1])
    %u = nap.sub %r, %t : tensor<33xf32> loc("m.nap":4:1)
    nap.yield %u : tensor<33xf32>
  }
  return %loss, %d : tensor<f32>, tensor<33xf32>
}
