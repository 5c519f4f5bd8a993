// Random bits are those of Philox4x32-10 and the documented counter.
// RUN: nap-interpret %s --function=zeros --set arg0=0 --print | FileCheck %s --check-prefix=ZEROS
// RUN: nap-interpret %s --function=counter --input arg0=%S/Inputs/key.txt --print | FileCheck %s --check-prefix=COUNTER
// RUN: nap-interpret %s --function=normal --input arg0=%S/Inputs/key.txt --print | FileCheck %s --check-prefix=NORMAL

// Key and counter 0, a known answer of the authors' own tests (Random123): 6627e8d5 e169c58d bc57ac4c
// 9b00dbd8, of which the upper 24 bits.
// ZEROS: result0: 6694888, 14772677, 12343212, 10158299{{$}}
func.func @zeros(%key: tensor<4xi32>) -> tensor<4xi32> {
  %u = nap.random_uniform %key site 0 : tensor<4xi32> -> tensor<4xf32>
  %scale = nap.constant dense<16777216.0> : tensor<4xf32>
  %whole = nap.mul %u, %scale : tensor<4xf32>
  %i = nap.cast %whole : tensor<4xf32> -> tensor<4xi32>
  return %i : tensor<4xi32>
}

// Seed (3, 11), step 7, micro-batch 5; the fifth element starts the second block. Elements are numbered
// over the whole result.
// COUNTER: result0: 14377169, 9974707, 7307687, 6154941, 13830127, 12886709{{$}}
func.func @counter(%key: tensor<4xi32>) -> tensor<2x3xi32> {
  %u = nap.random_uniform %key site 9 : tensor<4xi32> -> tensor<2x3xf32>
  %scale = nap.constant dense<16777216.0> : tensor<2x3xf32>
  %whole = nap.mul %u, %scale : tensor<2x3xf32>
  %i = nap.cast %whole : tensor<2x3xf32> -> tensor<2x3xi32>
  return %i : tensor<2x3xi32>
}

// The same words, as normal numbers in pairs.
// NORMAL: result0: -1.63426{{[0-9]*}}, -1.10373{{[0-9]*}}, -0.71663{{[0-9]*}}, 0.79392{{[0-9]*}}, 0.21173{{[0-9]*}}{{$}}
func.func @normal(%key: tensor<4xi32>) -> tensor<5xf32> {
  %n = nap.random_normal %key site 9 : tensor<4xi32> -> tensor<5xf32>
  return %n : tensor<5xf32>
}
