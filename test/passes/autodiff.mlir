// RUN: napkin-opt %s --nap-autodiff -split-input-file -verify-diagnostics | FileCheck %s

// Gradients follow @forward's results, in the order in which @update reads them; what the frozen
// parameter would need is not built.

nap.declare parameter @w : tensor<2x3xf32>
nap.declare parameter @frozen : tensor<5x2xf32>
nap.declare parameter @b : tensor<3xf32>
nap.declare input @x : tensor<5x2xf32>

// CHECK-LABEL: func.func @micro_step
// CHECK-SAME: -> (tensor<f32> {nap.result = "loss"}, tensor<3xf32> {nap.gradient_of = @b}, tensor<2x3xf32> {nap.gradient_of = @w})
func.func @forward(%w: tensor<2x3xf32> {nap.of = @w}, %frozen: tensor<5x2xf32> {nap.of = @frozen},
                   %b: tensor<3xf32> {nap.of = @b}, %x: tensor<5x2xf32> {nap.of = @x})
    -> (tensor<f32> {nap.result = "loss"}) {
  %in = nap.mul %x, %frozen : tensor<5x2xf32>
  %y = nap.einsum "ni,io->no" %in, %w : (tensor<5x2xf32>, tensor<2x3xf32>) -> tensor<5x3xf32>
  %bias = nap.broadcast %b [1] : tensor<3xf32> -> tensor<5x3xf32>
  %z = nap.add %y, %bias : tensor<5x3xf32>
  %loss = nap.reduce sum %z [0, 1] : tensor<5x3xf32> -> tensor<f32>
  // CHECK: [[LOSS:%.+]] = nap.reduce sum
  // CHECK-NEXT: [[ONE:%.+]] = nap.constant dense<1.0
  // CHECK-NEXT: [[G:%.+]] = nap.broadcast [[ONE]] []
  // CHECK-NEXT: [[GB:%.+]] = nap.reduce sum [[G]] [0]
  // CHECK-NEXT: [[GW:%.+]] = nap.einsum "{{.*}}" [[G]], {{.*}} -> tensor<2x3xf32>
  // CHECK-NEXT: return [[LOSS]], [[GB]], [[GW]]
  return %loss : tensor<f32>
}
func.func @update(%b: tensor<3xf32> {nap.of = @b}, %gb: tensor<3xf32> {nap.gradient_of = @b},
                  %w: tensor<2x3xf32> {nap.of = @w}, %gw: tensor<2x3xf32> {nap.gradient_of = @w})
    -> (tensor<3xf32> {nap.updates = @b}, tensor<2x3xf32> {nap.updates = @w}) {
  %b2 = nap.sub %b, %gb : tensor<3xf32>
  %w2 = nap.sub %w, %gw : tensor<2x3xf32>
  return %b2, %w2 : tensor<3xf32>, tensor<2x3xf32>
}

// -----

// Two uses: their cotangents are added. Through stop_gradient nothing flows.

nap.declare parameter @w : tensor<3xf32>

// CHECK-LABEL: func.func @micro_step
func.func @forward(%w: tensor<3xf32> {nap.of = @w}) -> (tensor<f32> {nap.result = "loss"}) {
  // CHECK: [[E:%.+]] = nap.exp %arg0
  %e = nap.exp %w : tensor<3xf32>
  %still = nap.stop_gradient %e : tensor<3xf32>
  %product = nap.mul %w, %e : tensor<3xf32>
  %y = nap.mul %product, %still : tensor<3xf32>
  %loss = nap.reduce sum %y [0] : tensor<3xf32> -> tensor<f32>
  // CHECK: [[G:%.+]] = nap.broadcast
  // CHECK-NEXT: [[GP:%.+]] = nap.mul [[G]], {{%.+}}
  // CHECK-NEXT: [[DIRECT:%.+]] = nap.mul [[GP]], [[E]]
  // CHECK-NEXT: [[GE:%.+]] = nap.mul [[GP]], %arg0
  // CHECK-NEXT: [[BYEXP:%.+]] = nap.mul [[GE]], [[E]]
  // CHECK-NEXT: [[SUM:%.+]] = nap.add [[DIRECT]], [[BYEXP]]
  // CHECK-NEXT: return {{%.+}}, [[SUM]]
  return %loss : tensor<f32>
}

// -----

nap.declare parameter @w : tensor<f32>
// expected-error @+1 {{parameter @unused is trained but does not reach the loss; use it, or freeze it with the optimizer `none`}}
nap.declare parameter @unused : tensor<3xf32>
func.func @forward(%w: tensor<f32> {nap.of = @w}) -> (tensor<f32> {nap.result = "loss"}) {
  return %w : tensor<f32>
}

// -----

nap.declare parameter @w : tensor<f32>
// expected-error @+1 {{@forward returns no loss; bind `loss` in the model}}
func.func @forward(%w: tensor<f32> {nap.of = @w}) -> (tensor<f32> {nap.result = "output y"}) {
  return %w : tensor<f32>
}
