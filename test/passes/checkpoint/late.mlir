// RUN: napkin-opt %s --nap-checkpoint=strategy=none | FileCheck %s
// RUN: napkin-opt %s --nap-checkpoint=budget=12800 --nap-plan-memory | FileCheck %s --check-prefixes=CHECK,ARENA
// RUN: not napkin-opt %s --nap-checkpoint=budget=12544 2>&1 | FileCheck %s --check-prefix=REFUSED

// The old weight has a reader behind its update, so the update is copied at the end, and a plan knows the bytes that this takes: the
// weight and the input take 8192, the new weight 4096 more, the loss and the other sum 256 each.
// ARENA: nap.arena_bytes = 12800
// REFUSED: error: a budget of 12544 bytes is too small: the least that can be planned is 12800 bytes

nap.declare parameter @w : tensor<1024xf32>
nap.declare input @x : tensor<1024xf32>

// CHECK-LABEL: func.func @train_step
// CHECK: [[NEW:%.+]] = nap.kernel pointwise "update"
// CHECK: "reads_w"
// CHECK: [[COPY:%.+]] = nap.kernel pointwise "copy"([[NEW]])
// CHECK-NOT: "copy
// CHECK: return {{%.+}}, [[COPY]]
func.func @train_step(%w: tensor<1024xf32> {nap.of = @w}, %x: tensor<1024xf32> {nap.of = @x})
    -> (tensor<f32> {nap.result = "loss"}, tensor<1024xf32> {nap.updates = @w}, tensor<f32> {nap.result="output e"}) {
  %y = nap.kernel pointwise "gated" (%x, %w) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32> {
  ^bb0(%p: tensor<1024xf32>, %q: tensor<1024xf32>):
    %t = nap.mul %p, %q : tensor<1024xf32>
    nap.yield %t : tensor<1024xf32>
  }
  %loss = nap.kernel reduction "loss" (%y) : (tensor<1024xf32>) -> tensor<f32> {
  ^bb0(%p: tensor<1024xf32>):
    %t = nap.reduce sum %p [0] : tensor<1024xf32> -> tensor<f32>
    nap.yield %t : tensor<f32>
  }
  %nw = nap.kernel pointwise "update" (%w, %y) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32> {
  ^bb0(%p: tensor<1024xf32>, %q: tensor<1024xf32>):
    %t = nap.exp %q : tensor<1024xf32>
    %s = nap.sub %p, %t : tensor<1024xf32>
    nap.yield %s : tensor<1024xf32>
  }
  %e = nap.kernel reduction "reads_w" (%w, %nw) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<f32> {
  ^bb0(%p: tensor<1024xf32>, %q: tensor<1024xf32>):
    %m = nap.mul %p, %q : tensor<1024xf32>
    %t = nap.reduce sum %m [0] : tensor<1024xf32> -> tensor<f32>
    nap.yield %t : tensor<f32>
  }
  return %loss, %nw, %e : tensor<f32>, tensor<1024xf32>, tensor<f32>
}
