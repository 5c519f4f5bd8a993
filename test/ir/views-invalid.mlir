// Each constraint of the views, broken.
// RUN: napkin-opt %s -split-input-file -verify-diagnostics

// nap.reshape C1
func.func @elements(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{'nap.reshape' op the result has 16 elements, wanted 15}}
  %y = nap.reshape %x : tensor<3x5xf32> -> tensor<16xf32>
  return
}

// -----

// nap.reshape C2
func.func @elementType(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{the result has element type 'f64', wanted 'f32'}}
  %y = nap.reshape %x : tensor<3x5xf32> -> tensor<15xf64>
  return
}

// -----

// nap.permute C1
func.func @orderLength(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{order has 1 entries, wanted 2, one an axis}}
  %y = nap.permute %x [1] : tensor<3x5xf32> -> tensor<5x3xf32>
  return
}

// -----

// nap.permute C1
func.func @orderTwice(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{order [1, 1] is no permutation of the 2 axes}}
  %y = nap.permute %x [1, 1] : tensor<3x5xf32> -> tensor<5x5xf32>
  return
}

// -----

// nap.permute C2
func.func @permutedSizes(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{the result has sizes 3x5, wanted 5x3}}
  %y = nap.permute %x [1, 0] : tensor<3x5xf32> -> tensor<3x5xf32>
  return
}

// -----

// nap.permute C3
func.func @permutedType(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{the result has element type 'i32', wanted 'f32'}}
  %y = nap.permute %x [1, 0] : tensor<3x5xf32> -> tensor<5x3xi32>
  return
}

// -----

// nap.broadcast C1
func.func @axesFall(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{axes must rise strictly, found 1 after 2}}
  %y = nap.broadcast %x [2, 1] : tensor<3x5xf32> -> tensor<2x5x3xf32>
  return
}

// -----

// nap.broadcast C1
func.func @axisOutside(%x: tensor<3xf32>) {
  // expected-error@+1 {{axis 2 does not lie in the 2 axes there are}}
  %y = nap.broadcast %x [2] : tensor<3xf32> -> tensor<2x3xf32>
  return
}

// -----

// nap.broadcast C2: size 1 is not stretched.
func.func @stretched(%x: tensor<1xf32>) {
  // expected-error@+1 {{axis 1 of the result has size 3, wanted 1, the size of its axis of x}}
  %y = nap.broadcast %x [1] : tensor<1xf32> -> tensor<2x3xf32>
  return
}

// -----

// nap.broadcast C3
func.func @broadcastType(%x: tensor<3xf32>) {
  // expected-error@+1 {{the result has element type 'f64', wanted 'f32'}}
  %y = nap.broadcast %x [1] : tensor<3xf32> -> tensor<2x3xf64>
  return
}

// -----

// nap.slice C1
func.func @startsLength(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{starts has 1 entries, wanted 2, one an axis}}
  %y = nap.slice %x [0] step [1, 1] : tensor<3x5xf32> -> tensor<3x5xf32>
  return
}

// -----

// nap.slice C1
func.func @strideZero(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{a stride is 0, wanted another number}}
  %y = nap.slice %x [0, 0] step [1, 0] : tensor<3x5xf32> -> tensor<3x5xf32>
  return
}

// -----

// nap.slice C2
func.func @readsBeyond(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{axis 1 reads element 6 of 5}}
  %y = nap.slice %x [0, 2] step [1, 2] : tensor<3x5xf32> -> tensor<3x3xf32>
  return
}

// -----

// nap.slice C2
func.func @readsBefore(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{axis 0 reads element -1 of 3}}
  %y = nap.slice %x [1, 0] step [-1, 1] : tensor<3x5xf32> -> tensor<3x5xf32>
  return
}

// -----

// nap.slice C3
func.func @sliceRank(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{the result has 1 axes, wanted 2}}
  %y = nap.slice %x [0, 0] step [1, 1] : tensor<3x5xf32> -> tensor<15xf32>
  return
}

// -----

// nap.slice C3
func.func @sliceType(%x: tensor<3xf32>) {
  // expected-error@+1 {{the result has element type 'f64', wanted 'f32'}}
  %y = nap.slice %x [0] step [1] : tensor<3xf32> -> tensor<2xf64>
  return
}

// -----

// nap.diagonal C1
func.func @firstSecond(%x: tensor<5x5xf32>) {
  // expected-error@+1 {{axes must rise strictly, found 0 after 1}}
  %y = nap.diagonal %x axes 1, 0 : tensor<5x5xf32> -> tensor<5xf32>
  return
}

// -----

// nap.diagonal C1
func.func @notSquare(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{axis 1 has size 5, wanted 3, that of axis 0}}
  %y = nap.diagonal %x axes 0, 1 : tensor<3x5xf32> -> tensor<3xf32>
  return
}

// -----

// nap.diagonal C2
func.func @diagonalSizes(%x: tensor<5x5x2xf32>) {
  // expected-error@+1 {{the result has sizes 5, wanted 5x2}}
  %y = nap.diagonal %x axes 0, 1 : tensor<5x5x2xf32> -> tensor<5xf32>
  return
}

// -----

// nap.diagonal C3
func.func @diagonalType(%x: tensor<5x5xf32>) {
  // expected-error@+1 {{the result has element type 'f64', wanted 'f32'}}
  %y = nap.diagonal %x axes 0, 1 : tensor<5x5xf32> -> tensor<5xf64>
  return
}

// -----

// nap.window C1
func.func @windowLengths(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{sizes, strides and dilations have 1, 2 and 1 entries, wanted one number, at most 2}}
  %y = nap.window %x sizes [2] strides [1, 1] dilations [1] : tensor<3x5xf32> -> tensor<3x4x2xf32>
  return
}

// -----

// nap.window C1
func.func @windowZero(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{sizes, strides and dilations are at least 1, found 0}}
  %y = nap.window %x sizes [2] strides [0] dilations [1] : tensor<3x5xf32> -> tensor<3x4x2xf32>
  return
}

// -----

// nap.window C2
func.func @windowReach(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{axis 1 has size 5, wanted at least 7, the reach of one window}}
  %y = nap.window %x sizes [3] strides [1] dilations [3] : tensor<3x5xf32> -> tensor<3x1x3xf32>
  return
}

// -----

// nap.window C2, C3
func.func @windowSizes(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{the result has sizes 3x5x2, wanted 3x4x2}}
  %y = nap.window %x sizes [2] strides [1] dilations [1] : tensor<3x5xf32> -> tensor<3x5x2xf32>
  return
}

// -----

// nap.window C3
func.func @windowType(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{the result has element type 'f64', wanted 'f32'}}
  %y = nap.window %x sizes [2] strides [1] dilations [1] : tensor<3x5xf32> -> tensor<3x4x2xf64>
  return
}

// -----

// Sizes are static everywhere.
func.func @dynamic(%x: tensor<?xf32>) {
  // expected-error@+1 {{operand #0 must be statically shaped tensor}}
  %y = nap.reshape %x : tensor<?xf32> -> tensor<3xf32>
  return
}
