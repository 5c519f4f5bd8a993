// Operands of one shape and type, each op on the types it takes.
// RUN: napkin-opt %s -split-input-file -verify-diagnostics

func.func @shapes(%x: tensor<3xf32>, %y: tensor<5xf32>) {
  // expected-error @+1 {{expects different type than prior uses}}
  %z = nap.add %x, %y : tensor<3xf32>
  // expected-note @-3 {{prior use here}}
  return
}

// -----

func.func @quotient_of_integers(%x: tensor<3xi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of}}
  %z = nap.div %x, %x : tensor<3xi32>
  return
}

// -----

func.func @and_of_numbers(%x: tensor<3xf32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of 1-bit signless integer values}}
  %z = nap.and %x, %x : tensor<3xf32>
  return
}

// -----

func.func @compare_shape(%x: tensor<3xf32>) {
  // expected-error @+1 {{requires the same shape for all operands and results}}
  %z = nap.compare lt %x, %x : tensor<3xf32> -> tensor<5xi1>
  return
}

// -----

func.func @choice_by_a_number(%x: tensor<3xf32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of 1-bit signless integer values}}
  %z = nap.select %x, %x, %x : tensor<3xf32>, tensor<3xf32>
  return
}

// -----

func.func @cast_shape(%x: tensor<3xf32>) {
  // expected-error @+1 {{requires the same shape for all operands and results}}
  %z = nap.cast %x : tensor<3xf32> -> tensor<5xf64>
  return
}
