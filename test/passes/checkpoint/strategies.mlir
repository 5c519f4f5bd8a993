// RUN: napkin-opt %s --nap-checkpoint=strategy=none | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: napkin-opt %s --nap-checkpoint=strategy=blocks | FileCheck %s --check-prefixes=CHECK,BLOCKS
// RUN: napkin-opt %s --nap-checkpoint=strategy=minimal | FileCheck %s --check-prefixes=CHECK,MINIMAL
// RUN: napkin-opt %s --nap-checkpoint=budget=100000 | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: not napkin-opt %s --nap-checkpoint=budget=300 2>&1 | FileCheck %s --check-prefix=LEAST
// RUN: not napkin-opt %s --nap-checkpoint='budget=300 strategy=none' 2>&1 | FileCheck %s --check-prefix=STRATEGY
// RUN: not napkin-opt %s --nap-checkpoint=strategy=most 2>&1 | FileCheck %s --check-prefix=NAME

// What the backward pass reads of a block is computed again from what entered the block, right before it is
// read; a result that nobody reads any more is not stored.

// LEAST: error: a budget of 300 bytes is too small: the least that can be planned is {{[0-9]+}} bytes
// LEAST-SAME: no plan is below {{[0-9]+}}; give that much or make the micro-batch smaller
// LEAST: note: parameters, states and inputs take
// STRATEGY: error: a budget of 300 bytes is too small: checkpoint strategy 'none' takes {{[0-9]+}} bytes
// NAME: error: found strategy 'most', wanted auto, none, selective, blocks, sqrt, minimal or manual

nap.declare parameter @w : tensor<33xf32>
nap.declare input @x : tensor<33xf32>

// CHECK-LABEL: func.func @train_step
func.func @train_step(%w: tensor<33xf32> {nap.of = @w}, %x: tensor<33xf32> {nap.of = @x})
    -> (tensor<f32> {nap.result = "loss"}, tensor<33xf32> {nap.updates = @w}) {
  // A kernel of two blocks: what the first hands on, and what the second makes of it.
  // CHECK: %[[A:.*]]:2 = nap.kernel  pointwise "first"
  %a:2 = nap.kernel pointwise "first" (%x, %w) : (tensor<33xf32>, tensor<33xf32>) -> (tensor<33xf32>, tensor<33xf32>) {
  ^bb0(%p: tensor<33xf32>, %q: tensor<33xf32>):
    %s = nap.mul %p, %q : tensor<33xf32> loc("h.0"("m.nap":1:1))
    %t = nap.tanh %s : tensor<33xf32> loc("h.1"("m.nap":2:1))
    nap.yield %s, %t : tensor<33xf32>, tensor<33xf32>
  }
  %b = nap.kernel pointwise "second" (%a#1) : (tensor<33xf32>) -> tensor<33xf32> {
  ^bb0(%p: tensor<33xf32>):
    %t = nap.exp %p : tensor<33xf32> loc("h.1"("m.nap":3:1))
    nap.yield %t : tensor<33xf32>
  }
  %c = nap.kernel pointwise "third" (%b, %a#0) : (tensor<33xf32>, tensor<33xf32>) -> tensor<33xf32> {
  ^bb0(%p: tensor<33xf32>, %q: tensor<33xf32>):
    %t = nap.add %p, %q : tensor<33xf32> loc("h.1"("m.nap":4:1))
    nap.yield %t : tensor<33xf32>
  }
  // What the last block makes is kept: its backward pass comes right behind it.
  // CHECK: %[[L:.*]] = nap.kernel  pointwise "last"
  %e = nap.kernel pointwise "last" (%c) : (tensor<33xf32>) -> tensor<33xf32> {
  ^bb0(%p: tensor<33xf32>):
    %t = nap.exp %p : tensor<33xf32> loc("h.2"("m.nap":5:1))
    nap.yield %t : tensor<33xf32>
  }
  %loss = nap.kernel reduction "loss" (%e) : (tensor<33xf32>) -> tensor<f32> {
  ^bb0(%p: tensor<33xf32>):
    %t = nap.reduce sum %p [0] : tensor<33xf32> -> tensor<f32> loc("m.nap":5:1)
    nap.yield %t : tensor<f32>
  }
  // CHECK: "loss"
  // CHECK-NEXT: ^bb0
  // CHECK-NOT: nap.recomputed
  // CHECK: nap.kernel  pointwise "of_last"(%[[L]])
  %f = nap.kernel pointwise "of_last" (%e) : (tensor<33xf32>) -> tensor<33xf32> {
  ^bb0(%p: tensor<33xf32>):
    %t = nap.mul %p, %p : tensor<33xf32> loc("h.2"("m.nap":5:1))
    nap.yield %t : tensor<33xf32>
  }
  // NONE-NOT: nap.recomputed
  // NONE: "backward"
  // The tanh comes from what was kept, not from the block before.
  // BLOCKS: %[[T:.*]] = nap.kernel  pointwise "tanh.h_N"(%[[A]]#0) attributes {nap.recomputed}
  // BLOCKS: %[[E:.*]] = nap.kernel  pointwise "second"(%[[T]]) attributes {nap.recomputed}
  // BLOCKS: nap.kernel  pointwise "backward"(%[[T]], %[[E]], %{{.*}})
  // From the model's inputs on.
  // MINIMAL: nap.kernel  pointwise "mul_tanh.h_N"(%arg1, %arg0) attributes {nap.recomputed}
  // MINIMAL: "backward"
  %d = nap.kernel pointwise "backward" (%a#1, %b, %f) : (tensor<33xf32>, tensor<33xf32>, tensor<33xf32>) -> tensor<33xf32> {
  ^bb0(%p: tensor<33xf32>, %q: tensor<33xf32>, %r: tensor<33xf32>):
    %t = nap.mul %p, %q : tensor<33xf32> loc("h.1"("m.nap":4:1))
    %u = nap.sub %r, %t : tensor<33xf32> loc("h.1"("m.nap":4:1))
    nap.yield %u : tensor<33xf32>
  }
  return %loss, %d : tensor<f32>, tensor<33xf32>
}
