// RUN: napkin-opt %s --nap-schedule --split-input-file | FileCheck %s
// RUN: napkin-opt %s --nap-schedule --nap-schedule --split-input-file -o %t.twice
// RUN: napkin-opt %s --nap-schedule --split-input-file -o %t.once
// RUN: diff %t.once %t.twice
// RUN: napkin-opt %s --nap-plan-memory --split-input-file | FileCheck %s --check-prefix=WRITTEN
// RUN: napkin-opt %s --nap-schedule --nap-plan-memory --split-input-file | FileCheck %s --check-prefix=ORDERED
// RUN: napkin-opt %s --nap-schedule --nap-plan-memory --split-input-file | FileCheck %s
// RUN: not napkin-opt %S/../docs/equal_ops_become_one.mlir --nap-schedule 2>&1 | FileCheck %s --check-prefix=GRAPH

// Three gradients wait for their updates at the end. Each comes when the one before is used up, behind the loss; the update of @a
// comes behind the last reader of the old @a. Three parameters and the input take 12544 bytes; three gradients and two numbers, or one
// and two, the rest.
// WRITTEN: nap.arena_bytes = 25344
// ORDERED: nap.arena_bytes = 17152
// GRAPH: error: found 'nap.{{[a-z_]+}}', wanted kernels alone; run nap-fuse

nap.declare parameter @a : tensor<1024xf32>
nap.declare parameter @b : tensor<1024xf32>
nap.declare parameter @c : tensor<1024xf32>
nap.declare input @x : tensor<33xf32>

// CHECK-LABEL: func.func @train_step
// CHECK: "loss"
// CHECK: "grad_a"
// CHECK-NOT: "grad_{{[a-c]}}"
// CHECK: "reads_a"
// CHECK: "update_a"
// CHECK: "grad_b"
// CHECK-NOT: "grad_{{[a-c]}}"
// CHECK: "update_b"
// CHECK: "grad_c"
// CHECK-NOT: "grad_{{[a-c]}}"
// CHECK: "update_c"
func.func @train_step(%a: tensor<1024xf32> {nap.of = @a}, %b: tensor<1024xf32> {nap.of = @b}, %c: tensor<1024xf32> {nap.of = @c},
                      %x: tensor<33xf32> {nap.of = @x})
    -> (tensor<f32> {nap.result = "loss"}, tensor<1024xf32> {nap.updates = @a}, tensor<1024xf32> {nap.updates = @b},
        tensor<1024xf32> {nap.updates = @c}) {
  %loss = nap.kernel reduction "loss" (%x) : (tensor<33xf32>) -> tensor<f32> {
  ^bb0(%p: tensor<33xf32>):
    %t = nap.reduce sum %p [0] : tensor<33xf32> -> tensor<f32>
    nap.yield %t : tensor<f32>
  }
  %ga = nap.kernel pointwise "grad_a" (%loss) : (tensor<f32>) -> tensor<1024xf32> {
  ^bb0(%p: tensor<f32>):
    %t = nap.broadcast %p [] : tensor<f32> -> tensor<1024xf32>
    nap.yield %t : tensor<1024xf32>
  }
  %r = nap.kernel reduction "reads_a" (%a) : (tensor<1024xf32>) -> tensor<f32> {
  ^bb0(%p: tensor<1024xf32>):
    %t = nap.reduce sum %p [0] : tensor<1024xf32> -> tensor<f32>
    nap.yield %t : tensor<f32>
  }
  %gb = nap.kernel pointwise "grad_b" (%r) : (tensor<f32>) -> tensor<1024xf32> {
  ^bb0(%p: tensor<f32>):
    %t = nap.broadcast %p [] : tensor<f32> -> tensor<1024xf32>
    nap.yield %t : tensor<1024xf32>
  }
  %gc = nap.kernel pointwise "grad_c" (%r) : (tensor<f32>) -> tensor<1024xf32> {
  ^bb0(%p: tensor<f32>):
    %t = nap.broadcast %p [] : tensor<f32> -> tensor<1024xf32>
    nap.yield %t : tensor<1024xf32>
  }
  %ua = nap.kernel pointwise "update_a" (%a, %ga) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32> {
  ^bb0(%p: tensor<1024xf32>, %q: tensor<1024xf32>):
    %t = nap.sub %p, %q : tensor<1024xf32>
    nap.yield %t : tensor<1024xf32>
  }
  %ub = nap.kernel pointwise "update_b" (%b, %gb) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32> {
  ^bb0(%p: tensor<1024xf32>, %q: tensor<1024xf32>):
    %t = nap.sub %p, %q : tensor<1024xf32>
    nap.yield %t : tensor<1024xf32>
  }
  %uc = nap.kernel pointwise "update_c" (%c, %gc) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32> {
  ^bb0(%p: tensor<1024xf32>, %q: tensor<1024xf32>):
    %t = nap.sub %p, %q : tensor<1024xf32>
    nap.yield %t : tensor<1024xf32>
  }
  return %loss, %ua, %ub, %uc : tensor<f32>, tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>
}

// -----

nap.declare parameter @a : tensor<1024xf32>
nap.declare parameter @b : tensor<1024xf32>

// The old @a has a reader behind its update, so the new one is copied at the end. Everything else is ordered as ever: what waits for
// that copy begins once the gradient of @b is used up. Whatever passes follow, there is one copy.
// CHECK-LABEL: func.func @late
// CHECK: "grad_b"
// CHECK: "update_b"
// CHECK: [[NEW:%.+]] = nap.kernel pointwise "update_a"
// CHECK: "reads_a"
// CHECK: [[COPY:%.+]] = nap.kernel pointwise "copy"([[NEW]])
// CHECK-NOT: "copy
// CHECK: return [[COPY]]
func.func @late(%a: tensor<1024xf32> {nap.of = @a}, %b: tensor<1024xf32> {nap.of = @b})
    -> (tensor<1024xf32> {nap.updates = @a}, tensor<1024xf32> {nap.updates = @b}, tensor<f32> {nap.result = "sum"}) {
  %ua = nap.kernel pointwise "update_a" (%a) : (tensor<1024xf32>) -> tensor<1024xf32> {
  ^bb0(%p: tensor<1024xf32>):
    %t = nap.exp %p : tensor<1024xf32>
    nap.yield %t : tensor<1024xf32>
  }
  %gb = nap.kernel pointwise "grad_b" (%b) : (tensor<1024xf32>) -> tensor<1024xf32> {
  ^bb0(%p: tensor<1024xf32>):
    %t = nap.exp %p : tensor<1024xf32>
    nap.yield %t : tensor<1024xf32>
  }
  %ub = nap.kernel pointwise "update_b" (%b, %gb) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32> {
  ^bb0(%p: tensor<1024xf32>, %q: tensor<1024xf32>):
    %t = nap.sub %p, %q : tensor<1024xf32>
    nap.yield %t : tensor<1024xf32>
  }
  %r = nap.kernel reduction "reads_a" (%a) : (tensor<1024xf32>) -> tensor<f32> {
  ^bb0(%p: tensor<1024xf32>):
    %t = nap.reduce sum %p [0] : tensor<1024xf32> -> tensor<f32>
    nap.yield %t : tensor<f32>
  }
  return %ua, %ub, %r : tensor<1024xf32>, tensor<1024xf32>, tensor<f32>
}

// -----

// A gradient that does not read the loss stays behind it, though before it nothing would have to be kept: what is behind the
// loss is the backward pass, for which strategies and reports ask by that place.
nap.declare input @x : tensor<4096xf32>
// CHECK-LABEL: func.func @micro_step
// CHECK: "act"
// CHECK: "scores"
// CHECK: "loss"
// CHECK: "grad"
func.func @micro_step(%x: tensor<4096xf32> {nap.of = @x}) -> (tensor<f32> {nap.result = "loss"}, tensor<f32> {nap.result = "output grad"}) {
  %h = nap.kernel pointwise "act" (%x) : (tensor<4096xf32>) -> tensor<4096xf32> {
  ^bb0(%p: tensor<4096xf32>):
    %t = nap.mul %p, %p : tensor<4096xf32>
    nap.yield %t : tensor<4096xf32>
  }
  %l = nap.kernel pointwise "scores" (%h) : (tensor<4096xf32>) -> tensor<4096xf32> {
  ^bb0(%p: tensor<4096xf32>):
    %t = nap.exp %p : tensor<4096xf32>
    nap.yield %t : tensor<4096xf32>
  }
  %loss = nap.kernel reduction "loss" (%l) : (tensor<4096xf32>) -> tensor<f32> {
  ^bb0(%p: tensor<4096xf32>):
    %t = nap.reduce sum %p [0] : tensor<4096xf32> -> tensor<f32>
    nap.yield %t : tensor<f32>
  }
  %g = nap.kernel reduction "grad" (%h) : (tensor<4096xf32>) -> tensor<f32> {
  ^bb0(%p: tensor<4096xf32>):
    %t = nap.reduce max %p [0] : tensor<4096xf32> -> tensor<f32>
    nap.yield %t : tensor<f32>
  }
  return %loss, %g : tensor<f32>, tensor<f32>
}
