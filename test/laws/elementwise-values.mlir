// What elementwise bodies compute where definitions differ between libraries.
// RUN: nap-interpret %s --print | FileCheck %s

func.func @values() -> (tensor<8xf64> {nap.result = "rem"}, tensor<8xf64> {nap.result = "quotient"}, tensor<8xi32> {nap.result = "irem"}, tensor<8xi32> {nap.result = "iquotient"}, tensor<4xf64> {nap.result = "larger"}, tensor<4xf64> {nap.result = "smaller"}, tensor<4xf64> {nap.result = "signs"}, tensor<8xf64> {nap.result = "rounded"}, tensor<8xi32> {nap.result = "isigns"}, tensor<8xi32> {nap.result = "whole"}, tensor<4xi1> {nap.result = "truth"}, tensor<4xi1> {nap.result = "less"}, tensor<4xi1> {nap.result = "differs"}) {
  %a = nap.constant dense<[5.5, -5.5, 5.5, -5.5, 6.0, -6.0, 1.0, 0.0]> : tensor<8xf64>
  %b = nap.constant dense<[2.0, 2.0, -2.0, -2.0, 2.0, -3.0, 0.1, 3.0]> : tensor<8xf64>
  %i = nap.constant dense<[7, -7, 7, -7, 6, 5, -2147483648, 0]> : tensor<8xi32>
  %j = nap.constant dense<[2, 2, -2, -2, 3, 0, -1, 4]> : tensor<8xi32>
  %nan = nap.constant dense<[0x7FF8000000000000, 1.0, -0.0, 0.0]> : tensor<4xf64>
  %one = nap.constant dense<[1.0, 0x7FF8000000000000, 1.0, -1.0]> : tensor<4xf64>
  %half = nap.constant dense<[0.5, 1.5, -0.5, -1.5, 2.5, -2.7, 2.7, 0.0]> : tensor<8xf64>
  // CHECK: rem: 1.5, 0.5, -0.5, -1.5, 0, -0, 0.09999999999999995, 0{{$}}
  %rem = nap.rem %a, %b : tensor<8xf64>
  // CHECK: quotient: 2, -3, -3, 2, 3, 2, 9, 0{{$}}
  %quotient = nap.floor_div %a, %b : tensor<8xf64>
  // CHECK: irem: 1, 1, -1, -1, 0, 5, 0, 0{{$}}
  %irem = nap.rem %i, %j : tensor<8xi32>
  // CHECK: iquotient: 3, -4, -4, 3, 2, 0, -2147483648, 0{{$}}
  %iquotient = nap.floor_div %i, %j : tensor<8xi32>
  // CHECK: larger: {{-?}}nan, {{-?}}nan, 1, 0{{$}}
  %larger = nap.maximum %nan, %one : tensor<4xf64>
  // CHECK: smaller: {{-?}}nan, {{-?}}nan, -0, -1{{$}}
  %smaller = nap.minimum %nan, %one : tensor<4xf64>
  // CHECK: signs: {{-?}}nan, 1, -0, 0{{$}}
  %signs = nap.sign %nan : tensor<4xf64>
  // CHECK: rounded: 0, 2, -0, -2, 2, -3, 3, 0{{$}}
  %rounded = nap.round %half : tensor<8xf64>
  // CHECK: isigns: 1, -1, 1, -1, 1, 1, -1, 0{{$}}
  %isigns = nap.sign %i : tensor<8xi32>
  // CHECK: whole: 0, 1, 0, -1, 2, -2, 2, 0{{$}}
  %whole = nap.cast %half : tensor<8xf64> -> tensor<8xi32>
  // CHECK: truth: 1, 1, 0, 0{{$}}
  %truth = nap.cast %nan : tensor<4xf64> -> tensor<4xi1>
  // CHECK: less: 0, 0, 1, 0{{$}}
  %less = nap.compare lt %nan, %one : tensor<4xf64> -> tensor<4xi1>
  // CHECK: differs: 1, 1, 1, 1{{$}}
  %differs = nap.compare ne %nan, %one : tensor<4xf64> -> tensor<4xi1>
  return %rem, %quotient, %irem, %iquotient, %larger, %smaller, %signs, %rounded, %isigns, %whole, %truth, %less, %differs : tensor<8xf64>, tensor<8xf64>, tensor<8xi32>, tensor<8xi32>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<8xf64>, tensor<8xi32>, tensor<8xi32>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}
