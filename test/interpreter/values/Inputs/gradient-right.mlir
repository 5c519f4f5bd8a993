// The gradient of sum(v * sin(w)), the second right.
nap.declare parameter @v : tensor<5xf64>
nap.declare parameter @w : tensor<5xf64>
func.func @forward(%v: tensor<5xf64> {nap.of = @v}, %w: tensor<5xf64> {nap.of = @w})
    -> (tensor<f64> {nap.result = "loss"}) {
  %sine = nap.sin %w : tensor<5xf64>
  %loss = nap.einsum "a,a->" %v, %sine : (tensor<5xf64>, tensor<5xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}
func.func @micro_step(%v: tensor<5xf64> {nap.of = @v}, %w: tensor<5xf64> {nap.of = @w})
    -> (tensor<5xf64> {nap.gradient_of = @v}, tensor<5xf64> {nap.gradient_of = @w}) {
  %sine = nap.sin %w : tensor<5xf64>
  %cosine = nap.cos %w : tensor<5xf64>
  %product = nap.mul %v, %cosine : tensor<5xf64>
  return %sine, %product : tensor<5xf64>, tensor<5xf64>
}
