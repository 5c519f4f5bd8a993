// RUN: napkin-opt %s --nap-checkpoint=strategy=minimal | FileCheck %s
// RUN: napkin-opt %s --nap-checkpoint=strategy=minimal --nap-choose-schedules --nap-plan-memory -o /dev/null
// RUN: napkin-opt %s --nap-checkpoint=strategy=none | FileCheck %s --check-prefix=NONE

// Rows of what is computed again are cut from the new version; a join whose parts are written where it lies is
// computed once, and read when it is whole. A gradient that stands before the loss is kept, and the last block.

nap.declare parameter @w : tensor<128x2xf32>
nap.declare input @x : tensor<128x2xf32>

// CHECK-LABEL: func.func @train_step
// CHECK: %[[H:.*]] = nap.kernel  pointwise "tanh.h_N"(%arg1)
// CHECK: %[[R0:.*]] = nap.slice %[[H]] [0, 0]
// CHECK: %[[P0:.*]] = nap.kernel  pointwise "exp.h_N"(%[[R0]])
// CHECK: %[[R1:.*]] = nap.slice %[[H]] [64, 0]
// CHECK: %[[P1:.*]] = nap.kernel  pointwise "exp.h_N"(%[[R1]])
// CHECK: %[[E:.*]] = nap.kernel  pointwise "early"(%[[P1]])
// CHECK: %[[Y:.*]] = nap.concat %[[P0]], %[[P1]] axis 0 {nap.placed}
// CHECK: %[[Z:.*]] = nap.kernel  pointwise "sin.h_N"(%[[Y]])
// CHECK: nap.kernel  reduction "loss"(%[[Z]])
// CHECK: %[[AGAIN:.*]] = nap.kernel  pointwise "tanh.h_N"(%arg1) attributes {nap.recomputed}
// CHECK-NOT: nap.kernel
// CHECK: %[[R2:.*]] = nap.slice %[[AGAIN]] [64, 0]
// CHECK-NEXT: %[[B:.*]] = nap.kernel  pointwise "backward"(%[[R2]], %[[E]])
// CHECK: nap.kernel  pointwise "update"(%arg0, %[[Y]], %[[B]])

// NONE-NOT: nap.recomputed
// NONE: nap.slice
// NONE: nap.slice
// NONE-NOT: nap.slice
// NONE: return
func.func @train_step(%w: tensor<128x2xf32> {nap.of = @w}, %x: tensor<128x2xf32> {nap.of = @x})
    -> (tensor<f32> {nap.result = "loss"}, tensor<128x2xf32> {nap.updates = @w}) {
  %h = nap.kernel pointwise "tanh.h_N" (%x) : (tensor<128x2xf32>) -> tensor<128x2xf32> {
  ^bb0(%p: tensor<128x2xf32>):
    %t = nap.tanh %p : tensor<128x2xf32> loc("h.0"("m.nap":1:1))
    nap.yield %t : tensor<128x2xf32>
  }
  %r0 = nap.slice %h [0, 0] step [1, 1] : tensor<128x2xf32> -> tensor<64x2xf32>
  %r1 = nap.slice %h [64, 0] step [1, 1] : tensor<128x2xf32> -> tensor<64x2xf32>
  %p0 = nap.kernel pointwise "exp.h_N" (%r0) : (tensor<64x2xf32>) -> tensor<64x2xf32> {
  ^bb0(%p: tensor<64x2xf32>):
    %t = nap.exp %p : tensor<64x2xf32> loc("h.1"("m.nap":2:1))
    nap.yield %t : tensor<64x2xf32>
  }
  %p1 = nap.kernel pointwise "exp.h_N" (%r1) : (tensor<64x2xf32>) -> tensor<64x2xf32> {
  ^bb0(%p: tensor<64x2xf32>):
    %t = nap.exp %p : tensor<64x2xf32> loc("h.1"("m.nap":2:1))
    nap.yield %t : tensor<64x2xf32>
  }
  %early = nap.kernel pointwise "early" (%p1) : (tensor<64x2xf32>) -> tensor<64x2xf32> {
  ^bb0(%p: tensor<64x2xf32>):
    %t = nap.neg %p : tensor<64x2xf32> loc("h.1"("m.nap":2:1))
    nap.yield %t : tensor<64x2xf32>
  }
  %y = nap.concat %p0, %p1 axis 0 {nap.placed} : (tensor<64x2xf32>, tensor<64x2xf32>) -> tensor<128x2xf32>
  %z = nap.kernel pointwise "sin.h_N" (%y) : (tensor<128x2xf32>) -> tensor<128x2xf32> {
  ^bb0(%p: tensor<128x2xf32>):
    %t = nap.sin %p : tensor<128x2xf32> loc("h.2"("m.nap":3:1))
    nap.yield %t : tensor<128x2xf32>
  }
  %loss = nap.kernel reduction "loss" (%z) : (tensor<128x2xf32>) -> tensor<f32> {
  ^bb0(%p: tensor<128x2xf32>):
    %t = nap.reduce sum %p [0, 1] : tensor<128x2xf32> -> tensor<f32> loc("m.nap":4:1)
    nap.yield %t : tensor<f32>
  }
  %b = nap.kernel pointwise "backward" (%r1, %early) : (tensor<64x2xf32>, tensor<64x2xf32>) -> tensor<64x2xf32> {
  ^bb0(%p: tensor<64x2xf32>, %q: tensor<64x2xf32>):
    %t = nap.mul %p, %q : tensor<64x2xf32> loc("h.1"("m.nap":2:1))
    nap.yield %t : tensor<64x2xf32>
  }
  %d = nap.kernel pointwise "update" (%w, %y, %b) : (tensor<128x2xf32>, tensor<128x2xf32>, tensor<64x2xf32>) -> tensor<128x2xf32> {
  ^bb0(%p: tensor<128x2xf32>, %q: tensor<128x2xf32>, %r: tensor<64x2xf32>):
    %t = nap.mul %p, %q : tensor<128x2xf32> loc("h.0"("m.nap":1:1))
    %u = nap.pad %r low [0, 0] high [64, 0] inner [0, 0] with 0.0 : tensor<64x2xf32> -> tensor<128x2xf32>
    %v = nap.sub %t, %u : tensor<128x2xf32>
    nap.yield %v : tensor<128x2xf32>
  }
  return %loss, %d : tensor<f32>, tensor<128x2xf32>
}
