// Each constraint of gathers, scatters, joins and rows, broken.
// RUN: napkin-opt %s -split-input-file -verify-diagnostics

// nap.concat C1
func.func @concatAxis(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{axis 2 does not lie in the 2 axes there are}}
  %y = nap.concat %x, %x axis 2 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

// nap.concat C2
func.func @concatRank(%x: tensor<2x3xf32>, %z: tensor<3xf32>) {
  // expected-error@+1 {{an operand has 1 axes, wanted 2}}
  %y = nap.concat %x, %z axis 0 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  return
}

// -----

// nap.concat C2
func.func @concatOther(%x: tensor<2x3xf32>, %z: tensor<2x4xf32>) {
  // expected-error@+1 {{an operand has sizes 2x4, wanted 2x3}}
  %y = nap.concat %x, %z axis 0 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

// nap.concat C2
func.func @concatSum(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{axis 1 of the result has size 7, wanted 6, the operands' sum}}
  %y = nap.concat %x, %x axis 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x7xf32>
  return
}

// -----

// nap.concat C3
func.func @concatType(%x: tensor<2x3xf32>, %z: tensor<2x3xf64>) {
  // expected-error@+1 {{an operand has element type 'f64', wanted 'f32'}}
  %y = nap.concat %x, %z axis 1 : (tensor<2x3xf32>, tensor<2x3xf64>) -> tensor<2x6xf32>
  return
}

// -----

// nap.pad C1
func.func @padLength(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{high has 1 entries, wanted 2, one an axis}}
  %y = nap.pad %x low [0, 0] high [0] inner [0, 0] with 0.0 : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

// nap.pad C1
func.func @padNegative(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{low has the entry -1, wanted at least 0}}
  %y = nap.pad %x low [0, -1] high [0, 0] inner [0, 0] with 0.0 : tensor<2x3xf32> -> tensor<2x2xf32>
  return
}

// -----

// nap.pad C2
func.func @padSizes(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{the result has sizes 2x6, wanted 2x8}}
  %y = nap.pad %x low [0, 1] high [0, 2] inner [0, 1] with 0.0 : tensor<2x3xf32> -> tensor<2x6xf32>
  return
}

// -----

// nap.pad C3
func.func @padType(%x: tensor<2xf32>) {
  // expected-error@+1 {{the result has element type 'f64', wanted 'f32'}}
  %y = nap.pad %x low [1] high [0] inner [0] with 0.0 : tensor<2xf32> -> tensor<3xf64>
  return
}

// -----

// nap.embed C1
func.func @embedSizes(%table: tensor<7x5xf32>, %ids: tensor<2x3xi32>) {
  // expected-error@+1 {{the result has sizes 2x5, wanted 2x3x5}}
  %y = nap.embed %table, %ids : tensor<7x5xf32>, tensor<2x3xi32> -> tensor<2x5xf32>
  return
}

// -----

// nap.embed C1
func.func @embedNumber(%table: tensor<f32>, %ids: tensor<2xi32>) {
  // expected-error@+1 {{the table has no axes, wanted at least 1}}
  %y = nap.embed %table, %ids : tensor<f32>, tensor<2xi32> -> tensor<2xf32>
  return
}

// -----

// nap.embed C2
func.func @embedType(%table: tensor<7x5xf32>, %ids: tensor<2xi32>) {
  // expected-error@+1 {{the result has element type 'f64', wanted 'f32'}}
  %y = nap.embed %table, %ids : tensor<7x5xf32>, tensor<2xi32> -> tensor<2x5xf64>
  return
}

// -----

// nap.scatter_add C1
func.func @scatterSizes(%rows: tensor<2x5xf32>, %ids: tensor<3xi32>) {
  // expected-error@+1 {{the operand has sizes 2x5, wanted 3x5}}
  %y = nap.scatter_add %rows, %ids : tensor<2x5xf32>, tensor<3xi32> -> tensor<7x5xf32>
  return
}

// -----

// nap.scatter_add C2
func.func @scatterType(%rows: tensor<3x5xf32>, %ids: tensor<3xi32>) {
  // expected-error@+1 {{the operand has element type 'f32', wanted 'f64'}}
  %y = nap.scatter_add %rows, %ids : tensor<3x5xf32>, tensor<3xi32> -> tensor<7x5xf64>
  return
}

// -----

// nap.scatter_add C3
func.func @scatterInto(%rows: tensor<3x5xf32>, %ids: tensor<3xi32>, %x: tensor<6x5xf32>) {
  // expected-error@+1 {{into has type 'tensor<6x5xf32>', wanted 'tensor<7x5xf32>', the result's}}
  %y = nap.scatter_add %rows, %ids into %x : tensor<3x5xf32>, tensor<3xi32>, tensor<6x5xf32> -> tensor<7x5xf32>
  return
}

// -----

// nap.take_along C1
func.func @takeIds(%x: tensor<3x5xf32>, %ids: tensor<5x2xi32>) {
  // expected-error@+1 {{ids have sizes 5x2, wanted 3, perhaps with one axis more}}
  %y = nap.take_along %x, %ids : tensor<3x5xf32>, tensor<5x2xi32> -> tensor<5x2xf32>
  return
}

// -----

// nap.take_along C2
func.func @takeSizes(%x: tensor<3x5xf32>, %ids: tensor<3xi32>) {
  // expected-error@+1 {{the result has sizes 3x1, wanted 3}}
  %y = nap.take_along %x, %ids : tensor<3x5xf32>, tensor<3xi32> -> tensor<3x1xf32>
  return
}

// -----

// nap.put_along C1
func.func @putIds(%values: tensor<3x2xf32>, %ids: tensor<4x2xi32>) {
  // expected-error@+1 {{ids have sizes 4x2, wanted 3, perhaps with one axis more}}
  %y = nap.put_along %values, %ids : tensor<3x2xf32>, tensor<4x2xi32> -> tensor<3x5xf32>
  return
}

// -----

// nap.put_along C2
func.func @putSizes(%values: tensor<3x1xf32>, %ids: tensor<3x2xi32>) {
  // expected-error@+1 {{the operand has sizes 3x1, wanted 3x2}}
  %y = nap.put_along %values, %ids : tensor<3x1xf32>, tensor<3x2xi32> -> tensor<3x5xf32>
  return
}

// -----

// nap.fold C1
func.func @foldSizes(%windows: tensor<3x5x2xf32>) {
  // expected-error@+1 {{the operand has sizes 3x5x2, wanted 3x4x2}}
  %y = nap.fold %windows sizes [2] strides [1] dilations [1] : tensor<3x5x2xf32> -> tensor<3x5xf32>
  return
}

// -----

// nap.argmax C1
func.func @argmaxSizes(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{the result has sizes 5, wanted 3}}
  %y = nap.argmax %x : tensor<3x5xf32> -> tensor<5xi32>
  return
}

// -----

// nap.argmax C1
func.func @argmaxNumber(%x: tensor<f32>) {
  // expected-error@+1 {{x has sizes no axes, wanted a last axis with elements}}
  %y = nap.argmax %x : tensor<f32> -> tensor<i32>
  return
}

// -----

// nap.top_k C1
func.func @topTooMany(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{takes 6 of 5 elements, wanted 1 to 5}}
  %v, %i = nap.top_k %x : tensor<3x5xf32> -> tensor<3x6xf32>, tensor<3x6xi32>
  return
}

// -----

// nap.top_k C1
func.func @topIds(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{the list of ids has sizes 3x3, wanted 3x2}}
  %v, %i = nap.top_k %x : tensor<3x5xf32> -> tensor<3x2xf32>, tensor<3x3xi32>
  return
}

// -----

// nap.top_k C2
func.func @topType(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{the list of values has element type 'f64', wanted 'f32'}}
  %v, %i = nap.top_k %x : tensor<3x5xf32> -> tensor<3x2xf64>, tensor<3x2xi32>
  return
}

// -----

// nap.cumsum C1
func.func @cumsumAxis(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{axis -1 does not lie in the 2 axes there are}}
  %y = nap.cumsum %x axis -1 : tensor<3x5xf32>
  return
}
