// RUN: napkin-opt %s -split-input-file -verify-diagnostics --nap-plan-memory

func.func @no_kernels(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @below {{found 'nap.exp', wanted kernels alone; run nap-fuse}}
  %0 = nap.exp %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// expected-error @below {{argument 0 of @undeclared names no declared tensor}}
func.func @undeclared(%x: tensor<3xf32> {nap.of = @x}) {
  return
}

// -----

nap.declare input @x : tensor<4xf32>
// expected-error @below {{argument 0 of @wrong_type has type 'tensor<3xf32>', "x" is declared as 'tensor<4xf32>'}}
func.func @wrong_type(%x: tensor<3xf32> {nap.of = @x}) {
  return
}
