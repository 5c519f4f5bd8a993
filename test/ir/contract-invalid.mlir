// Each constraint of contractions, reductions and ramps, broken.
// RUN: napkin-opt %s -split-input-file -verify-diagnostics

// nap.einsum C1
func.func @noArrow(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{the pattern "ab" is not groups of letters, "->" and a group of letters}}
  %y = nap.einsum "ab" %x : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return
}

// -----

// nap.einsum C1
func.func @digit(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{the pattern "a1->a" is not groups of letters}}
  %y = nap.einsum "a1->a" %x : (tensor<3x5xf32>) -> tensor<3xf32>
  return
}

// -----

// nap.einsum C1
func.func @groups(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{the pattern has 2 groups for 1 operands}}
  %y = nap.einsum "ab,bc->ac" %x : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return
}

// -----

// nap.einsum C1
func.func @letters(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{the group "abc" has 3 letters for 2 axes}}
  %y = nap.einsum "abc->a" %x : (tensor<3x5xf32>) -> tensor<3xf32>
  return
}

// -----

// nap.einsum C2
func.func @sizes(%x: tensor<3x5xf32>, %z: tensor<4x7xf32>) {
  // expected-error@+1 {{letter b has size 4, wanted 5 as before}}
  %y = nap.einsum "ab,bc->ac" %x, %z : (tensor<3x5xf32>, tensor<4x7xf32>) -> tensor<3x7xf32>
  return
}

// -----

// nap.einsum C2
func.func @resultSizes(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{letter b has size 3, wanted 5 as before}}
  %y = nap.einsum "ab->ba" %x : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return
}

// -----

// nap.einsum C3
func.func @twice(%x: tensor<5x5xf32>) {
  // expected-error@+1 {{letter a stands twice in "aa"; take nap.diagonal first}}
  %y = nap.einsum "aa->a" %x : (tensor<5x5xf32>) -> tensor<5xf32>
  return
}

// -----

// nap.einsum C4
func.func @nowhere(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{letter c of the result stands in no operand}}
  %y = nap.einsum "ab->ac" %x : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return
}

// -----

// nap.einsum C5
func.func @factors(%x: tensor<3x5xbf16>, %z: tensor<5x7xf32>) {
  // expected-error@+1 {{an operand has element type 'f32', wanted 'bf16'}}
  %y = nap.einsum "ab,bc->ac" %x, %z : (tensor<3x5xbf16>, tensor<5x7xf32>) -> tensor<3x7xf32>
  return
}

// -----

// nap.einsum C5
func.func @narrower(%x: tensor<3x5xf32>, %z: tensor<5x7xf32>) {
  // expected-error@+1 {{an operand has element type 'f32', wanted 'bf16'}}
  %y = nap.einsum "ab,bc->ac" %x, %z : (tensor<3x5xf32>, tensor<5x7xf32>) -> tensor<3x7xbf16>
  return
}

// -----

// nap.einsum C5
func.func @types(%x: tensor<3x5xf32>, %z: tensor<5x7xf64>) {
  // expected-error@+1 {{an operand has element type 'f64', wanted 'f32'}}
  %y = nap.einsum "ab,bc->ac" %x, %z : (tensor<3x5xf32>, tensor<5x7xf64>) -> tensor<3x7xf32>
  return
}

// -----

// nap.einsum C6
func.func @initType(%x: tensor<3x5xf32>, %z: tensor<5x7xf32>, %s: tensor<7x3xf32>) {
  // expected-error@+1 {{init has type 'tensor<7x3xf32>', wanted 'tensor<3x7xf32>', the result's}}
  %y = nap.einsum "ab,bc->ac" %x, %z init %s : (tensor<3x5xf32>, tensor<5x7xf32>, tensor<7x3xf32>) -> tensor<3x7xf32>
  return
}

// -----

// nap.einsum C6
func.func @initRounds(%x: tensor<3x5xbf16>, %z: tensor<5x7xbf16>, %s: tensor<3x7xbf16>) {
  // expected-error@+1 {{init has element type 'bf16', which rounds the sums; wanted f32, f64 or an integer}}
  %y = nap.einsum "ab,bc->ac" %x, %z init %s : (tensor<3x5xbf16>, tensor<5x7xbf16>, tensor<3x7xbf16>) -> tensor<3x7xbf16>
  return
}

// -----

// nap.einsum C6
func.func @initOfThree(%x: tensor<5x5xf32>) {
  // expected-error@+1 {{there are 3 operands beside init, wanted 2}}
  %y = nap.einsum "ab,bc,cd->ad" %x, %x, %x init %x : (tensor<5x5xf32>, tensor<5x5xf32>, tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32>
  return
}

// -----

// nap.einsum C6
func.func @initOfLoneLetter(%x: tensor<3x5x2xf32>, %z: tensor<5x7xf32>, %s: tensor<3x7xf32>) {
  // expected-error@+1 {{letter d is summed in one operand alone; sum it before going on from init}}
  %y = nap.einsum "abd,bc->ac" %x, %z init %s : (tensor<3x5x2xf32>, tensor<5x7xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
  return
}

// -----

// nap.einsum C6
func.func @initOfProduct(%x: tensor<3xf32>, %z: tensor<7xf32>, %s: tensor<3x7xf32>) {
  // expected-error@+1 {{no letter of "a,c->ac" is summed; add init to the product}}
  %y = nap.einsum "a,c->ac" %x, %z init %s : (tensor<3xf32>, tensor<7xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
  return
}

// -----

// nap.reduce C1
func.func @axes(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{axes must rise strictly, found 1 after 1}}
  %y = nap.reduce sum %x [1, 1] : tensor<3x5xf32> -> tensor<3xf32>
  return
}

// -----

// nap.reduce C2
func.func @reducedSizes(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{the result has sizes 5, wanted 3}}
  %y = nap.reduce sum %x [1] : tensor<3x5xf32> -> tensor<5xf32>
  return
}

// -----

// nap.reduce C3
func.func @reducedType(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{the result has element type 'f64', wanted 'f32'}}
  %y = nap.reduce sum %x [1] : tensor<3x5xf32> -> tensor<3xf64>
  return
}

// -----

// nap.iota C1
func.func @ramp() {
  // expected-error@+1 {{the result has 2 axes, wanted 1}}
  %y = nap.iota : tensor<3x5xi32>
  return
}
