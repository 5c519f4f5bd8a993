// Constants, ramps, draws and averages: what is executed is what the cost rules say.
// RUN: nap-interpret %s --count > %t.executed
// RUN: nap-print-cost %s > %t.counted
// RUN: diff %t.executed %t.counted
// RUN: FileCheck %s < %t.counted

// CHECK: @none mm 0 vec 0 trn 0 cmp 0 cvt 0 integer 0
func.func @none() -> (tensor<3x5xf32>, tensor<3xi32>, tensor<7xf64>) {
  %splat = nap.constant dense<1.5> : tensor<3x5xf32>
  %list = nap.constant dense<[1, 2, 3]> : tensor<3xi32>
  %ramp = nap.iota : tensor<7xf64>
  return %splat, %list, %ramp : tensor<3x5xf32>, tensor<3xi32>, tensor<7xf64>
}

// Fifteen elements: four blocks of four words.
// CHECK: @uniform mm 0 vec 0 trn 0 cmp 0 cvt 0 integer 437
func.func @uniform(%key: tensor<4xi32>) -> tensor<3x5xf32> {
  %u = nap.random_uniform %key site 17 : tensor<4xi32> -> tensor<3x5xf32>
  return %u : tensor<3x5xf32>
}

// Eight pairs, the last of which gives one element.
// CHECK: @normal mm 0 vec 40 trn 32 cmp 0 cvt 0 integer 440
func.func @normal(%key: tensor<4xi32>) -> tensor<3x5xf32> {
  %n = nap.random_normal %key site 18 : tensor<4xi32> -> tensor<3x5xf32>
  return %n : tensor<3x5xf32>
}

// CHECK: @average mm 0 vec 1 trn 0
func.func @average(%total: tensor<f32>, %count: tensor<f32>) -> tensor<f32> {
  %mean = nap.average %total, %count index 0 : tensor<f32>
  return %mean : tensor<f32>
}
