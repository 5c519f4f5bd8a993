// RUN: napkin-opt %s --nap-checkpoint=strategy=none | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: napkin-opt %s --nap-checkpoint=strategy=manual | FileCheck %s --check-prefixes=CHECK,AGAIN
// RUN: napkin-opt %s --nap-checkpoint=strategy=manual --nap-plan-memory | FileCheck %s --check-prefix=PLANNED

// A weight whose update stands right behind its gradient is written over after the last kernel that reads it, one that
// computes something again included: the update waits, and no copy of the weight is made.

nap.declare parameter @v : tensor<33xf32>
nap.declare parameter @w : tensor<33xf32>
nap.declare input @x : tensor<33xf32>

// CHECK-LABEL: func.func @train_step
func.func @train_step(%v: tensor<33xf32> {nap.of = @v}, %w: tensor<33xf32> {nap.of = @w}, %x: tensor<33xf32> {nap.of = @x})
    -> (tensor<f32> {nap.result = "loss"}, tensor<33xf32> {nap.updates = @v}, tensor<33xf32> {nap.updates = @w}) {
  %gate = nap.kernel pointwise "gate" (%x, %w) : (tensor<33xf32>, tensor<33xf32>) -> tensor<33xf32> {
  ^bb0(%p: tensor<33xf32>, %q: tensor<33xf32>):
    %t = nap.mul %p, %q : tensor<33xf32> loc(fused<{nap.checkpoint = 0 : i64}>["m.nap":2:1])
    nap.yield %t : tensor<33xf32>
  }
  %y = nap.kernel pointwise "gated" (%gate, %v) : (tensor<33xf32>, tensor<33xf32>) -> tensor<33xf32> {
  ^bb0(%p: tensor<33xf32>, %q: tensor<33xf32>):
    %t = nap.mul %p, %q : tensor<33xf32> loc(fused<{nap.checkpoint = 0 : i64}>["m.nap":3:1])
    nap.yield %t : tensor<33xf32>
  }
  %loss = nap.kernel reduction "loss" (%y) : (tensor<33xf32>) -> tensor<f32> {
  ^bb0(%p: tensor<33xf32>):
    %t = nap.reduce sum %p [0] : tensor<33xf32> -> tensor<f32> loc("m.nap":5:1)
    nap.yield %t : tensor<f32>
  }
  %gw = nap.kernel pointwise "gradient_w" (%y, %loss) : (tensor<33xf32>, tensor<f32>) -> tensor<33xf32> {
  ^bb0(%p: tensor<33xf32>, %q: tensor<f32>):
    %t = nap.exp %p : tensor<33xf32>
    nap.yield %t : tensor<33xf32>
  }
  // CHECK: "gradient_w"
  // NONE: "update_w"
  // NONE-NEXT: ^bb0
  // NONE: "gradient_v"
  // AGAIN: nap.kernel  pointwise "gate"(%arg2, %arg1) attributes {nap.recomputed}
  // AGAIN: "update_w"
  // AGAIN: "gradient_v"
  // PLANNED-NOT: "copy
  // PLANNED: "update_w"
  // PLANNED-NOT: "copy
  %nw = nap.kernel pointwise "update_w" (%w, %gw) : (tensor<33xf32>, tensor<33xf32>) -> tensor<33xf32> {
  ^bb0(%p: tensor<33xf32>, %q: tensor<33xf32>):
    %t = nap.sub %p, %q : tensor<33xf32>
    nap.yield %t : tensor<33xf32>
  }
  %nv = nap.kernel pointwise "gradient_v" (%v, %gate) : (tensor<33xf32>, tensor<33xf32>) -> tensor<33xf32> {
  ^bb0(%p: tensor<33xf32>, %q: tensor<33xf32>):
    %t = nap.sub %p, %q : tensor<33xf32>
    nap.yield %t : tensor<33xf32>
  }
  return %loss, %nv, %nw : tensor<f32>, tensor<33xf32>, tensor<33xf32>
}
