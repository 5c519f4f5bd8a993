// Ops through which no gradient flows, or through one operand only.
nap.declare parameter @w : tensor<3x5xf64>
func.func @forward(%w: tensor<3x5xf64> {nap.of = @w}) -> (tensor<f64> {nap.result = "loss"}) {
  %still = nap.stop_gradient %w : tensor<3x5xf64>
  %two = nap.constant dense<2.0> : tensor<3x5xf64>
  %whole = nap.floor_div %w, %two : tensor<3x5xf64>
  %a = nap.compare lt %w, %whole : tensor<3x5xf64> -> tensor<3x5xi1>
  %b = nap.not %a : tensor<3x5xi1>
  %c = nap.and %a, %b : tensor<3x5xi1>
  %d = nap.or %c, %b : tensor<3x5xi1>
  %best = nap.argmax %w : tensor<3x5xf64> -> tensor<3xi32>
  %taken = nap.take_along %w, %best : tensor<3x5xf64>, tensor<3xi32> -> tensor<3xf64>
  %narrow = nap.cast %w : tensor<3x5xf64> -> tensor<3x5xf32>
  %wide = nap.cast %narrow : tensor<3x5xf32> -> tensor<3x5xf64>
  %chosen = nap.select %d, %wide, %still : tensor<3x5xi1>, tensor<3x5xf64>
  %sums = nap.reduce sum %chosen [1] : tensor<3x5xf64> -> tensor<3xf64>
  %both = nap.mul %sums, %taken : tensor<3xf64>
  %loss = nap.reduce sum %both [0] : tensor<3xf64> -> tensor<f64>
  return %loss : tensor<f64>
}
