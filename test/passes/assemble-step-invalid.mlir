// RUN: napkin-opt %s --nap-assemble-step -split-input-file -verify-diagnostics

// expected-error @+1 {{argument 0 of @evaluate is tied to no declaration; give it nap.of}}
func.func @evaluate(%x: tensor<3xf32>) -> (tensor<3xf32> {nap.result = "output y"}) {
  return %x : tensor<3xf32>
}

// -----

nap.declare parameter @w : tensor<f32>
// expected-error @+1 {{@micro_step returns no loss}}
func.func @micro_step(%w: tensor<f32> {nap.of = @w}) -> (tensor<f32> {nap.gradient_of = @w}) {
  return %w : tensor<f32>
}

// -----

nap.declare parameter @w : tensor<f32>
func.func @micro_step(%w: tensor<f32> {nap.of = @w}) -> (tensor<f32> {nap.result = "loss"}) {
  return %w : tensor<f32>
}
// expected-error @+1 {{argument 1 is the gradient of @w, which @micro_step does not return}}
func.func @update(%w: tensor<f32> {nap.of = @w}, %g: tensor<f32> {nap.gradient_of = @w})
    -> (tensor<f32> {nap.updates = @w}) {
  %new = nap.sub %w, %g : tensor<f32>
  return %new : tensor<f32>
}
