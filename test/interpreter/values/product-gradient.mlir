// The gradient of a product holds with a zero among the factors, with two, and for a single factor.
// RUN: napkin-opt %s --nap-autodiff=keep-forward > %t.mlir
// RUN: nap-interpret %t.mlir --check-gradient | FileCheck %s --check-prefix=NONE
// RUN: nap-interpret %t.mlir --function=micro_step --input x=%S/Inputs/zeros.txt --set y=1 --set c=1 --print | FileCheck %s
// NONE: x: gradient
// NONE-NOT: WRONG

nap.declare parameter @x : tensor<3x4xf64>
nap.declare parameter @y : tensor<3x1xf64>
nap.declare input @c : tensor<3xf64>

// Rows 1 2 3 4, 5 0 6 7 and 0 8 0 9.
// CHECK: gradient.x: 24, 12, 8, 6, 0, 210, 0, 0, 0, 0, 0, 0{{$}}
func.func @forward(%x: tensor<3x4xf64> {nap.of = @x}, %y: tensor<3x1xf64> {nap.of = @y}, %c: tensor<3xf64> {nap.of = @c})
    -> (tensor<f64> {nap.result = "loss"}) {
  %products = nap.reduce prod %x [1] : tensor<3x4xf64> -> tensor<3xf64>
  %single = nap.reduce prod %y [1] : tensor<3x1xf64> -> tensor<3xf64>
  %both = nap.mul %products, %single : tensor<3xf64>
  %loss = nap.einsum "a,a->" %both, %c : (tensor<3xf64>, tensor<3xf64>) -> tensor<f64>
  return %loss : tensor<f64>
}
