// Each constraint of declarations, averages, kernels and launches, broken.
// RUN: napkin-opt %s -split-input-file -verify-diagnostics

// nap.declare C1
// expected-error@+1 {{a state names the parameter that it belongs to: of @parameter}}
nap.declare state @m : tensor<3xf32>

// -----

// nap.declare C1
// expected-error@+1 {{a buffer belongs to no parameter, found of @w}}
nap.declare buffer @m of @w : tensor<3xf32>

// -----

// nap.declare C2
// expected-error@+1 {{a scalar has no axes, found 'tensor<3xf32>'}}
nap.declare scalar @lr : tensor<3xf32>

// -----

// nap.declare C2
// expected-error@+1 {{only a scalar has a value, this is a parameter}}
nap.declare parameter @w = 1.0 : tensor<3xf32>

// -----

// nap.declare C3
// expected-error@+1 {{random is tensor<4xi32>, found 'tensor<3xi32>'}}
nap.declare random @rng : tensor<3xi32>

// -----

// nap.declare C4
// expected-error@+1 {{has 1 names for 2 axes}}
nap.declare parameter @w {axes = ["out"]} : tensor<3x5xf32>

// -----

// nap.average C1
func.func @average(%t: tensor<3xf32>, %n: tensor<3xf32>) {
  // expected-error@+1 {{averages numbers without axes, found 'tensor<3xf32>'}}
  %mean = nap.average %t, %n index 0 : tensor<3xf32>
  return
}

// -----

// nap.kernel C1
func.func @arguments(%x: tensor<3xf32>) {
  // expected-error@+1 {{the region's arguments differ from the inputs' types}}
  %y = nap.kernel pointwise "k"(%x) : (tensor<3xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    nap.yield %a : tensor<4xf32>
  }
  return
}

// -----

// nap.kernel C2
func.func @noYield(%x: tensor<3xf32>) {
  // expected-error@+1 {{the region does not end in nap.yield}}
  %y = nap.kernel pointwise "k"(%x) : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<3xf32>):
    %b = nap.neg %a : tensor<3xf32>
  }
  return
}

// -----

// nap.kernel C2
func.func @yielded(%x: tensor<3xf32>) {
  // expected-error@+1 {{the yielded types differ from the outputs' types}}
  %y = nap.kernel pointwise "k"(%x) : (tensor<3xf32>) -> tensor<3x1xf32> {
  ^bb0(%a: tensor<3xf32>):
    nap.yield %a : tensor<3xf32>
  }
  return
}

// -----

// nap.kernel C3
func.func @pointwise(%x: tensor<3xf32>) {
  // expected-error@+1 {{a pointwise kernel cannot hold nap.reduce}}
  %y = nap.kernel pointwise "k"(%x) : (tensor<3xf32>) -> tensor<f32> {
  ^bb0(%a: tensor<3xf32>):
    %b = nap.reduce sum %a [0] : tensor<3xf32> -> tensor<f32>
    nap.yield %b : tensor<f32>
  }
  return
}

// -----

// nap.kernel C3
func.func @shapes(%x: tensor<3xf32>, %z: tensor<4xf32>) {
  // expected-error@+1 {{results of a pointwise kernel have one shape, or one element for each of its rows; found 4 beside 3}}
  %y:2 = nap.kernel pointwise "k"(%x, %z) : (tensor<3xf32>, tensor<4xf32>) -> (tensor<3xf32>, tensor<4xf32>) {
  ^bb0(%a: tensor<3xf32>, %b: tensor<4xf32>):
    nap.yield %a, %b : tensor<3xf32>, tensor<4xf32>
  }
  return
}

// -----

// nap.kernel C3
func.func @twoCumulativeSums(%x: tensor<3x5xf32>) {
  // expected-error@+1 {{a row kernel has 2 ops of its class, wanted 1}}
  %y = nap.kernel row "k"(%x) : (tensor<3x5xf32>) -> tensor<3x5xf32> {
  ^bb0(%a: tensor<3x5xf32>):
    %b = nap.cumsum %a axis 0 : tensor<3x5xf32>
    %c = nap.cumsum %b axis 1 : tensor<3x5xf32>
    nap.yield %c : tensor<3x5xf32>
  }
  return
}

// -----

// nap.kernel C3, of a definition
// expected-error@+1 {{a contraction kernel has 0 ops of its class, wanted 1}}
nap.kernel_def contraction @k {
^bb0(%a: tensor<3x5xf32>):
  nap.yield %a : tensor<3x5xf32>
}

// -----

// nap.launch C1
func.func @unknown(%x: tensor<3xf32>) {
  // expected-error@+1 {{there is no kernel_def @k}}
  %y = nap.launch @k(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

// nap.launch C2
nap.kernel_def pointwise @k {
^bb0(%a: tensor<3xf32>):
  nap.yield %a : tensor<3xf32>
}
func.func @otherTypes(%x: tensor<4xf32>) {
  // expected-error@+1 {{the types differ from those of @k}}
  %y = nap.launch @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// nap.launch C3
nap.kernel_def pointwise @draw attributes {nap.sites = 1 : i64} {
^bb0(%k: tensor<4xi32>):
  %r = nap.random_uniform %k site 0 : tensor<4xi32> -> tensor<3xf32>
  nap.yield %r : tensor<3xf32>
}
func.func @noSites(%k: tensor<4xi32>) {
  // expected-error@+1 {{has 0 sites, and @draw draws at 1; write them in nap.sites}}
  %y = nap.launch @draw(%k) : (tensor<4xi32>) -> tensor<3xf32>
  return
}

// -----

// nap.kernel_def C1
nap.kernel_def pointwise @draw attributes {nap.sites = 1 : i64} {
^bb0(%k: tensor<4xi32>):
  // expected-error@+1 {{draws at site 7041 of a kernel with 1; number its sites from 0}}
  %r = nap.random_uniform %k site 7041 : tensor<4xi32> -> tensor<3xf32>
  nap.yield %r : tensor<3xf32>
}
