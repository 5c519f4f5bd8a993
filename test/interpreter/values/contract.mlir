// What contractions and reductions compute, and in which order sums are taken.
// RUN: nap-interpret %s --print | FileCheck %s

func.func @products() -> (tensor<2x2xi32> {nap.result = "matmul"}, tensor<2x2xi32> {nap.result = "turned"}, tensor<2xi32> {nap.result = "summed"}, tensor<i32> {nap.result = "dot"}, tensor<2x3xi32> {nap.result = "outer"}) {
  %x = nap.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %y = nap.constant dense<[[1, 0], [2, 1], [0, 3]]> : tensor<3x2xi32>
  %v = nap.constant dense<[1, 10, 100]> : tensor<3xi32>
  %w = nap.constant dense<[7, 8]> : tensor<2xi32>
  // CHECK: matmul: 5, 11, 14, 23{{$}}
  %matmul = nap.einsum "ab,bc->ac" %x, %y : (tensor<2x3xi32>, tensor<3x2xi32>) -> tensor<2x2xi32>
  // CHECK: turned: 5, 14, 11, 23{{$}}
  %turned = nap.einsum "ab,bc->ca" %x, %y : (tensor<2x3xi32>, tensor<3x2xi32>) -> tensor<2x2xi32>
  // CHECK: summed: 6, 15{{$}}
  %summed = nap.einsum "ab->a" %x : (tensor<2x3xi32>) -> tensor<2xi32>
  // (1 + 20 + 300) * 7 + (4 + 50 + 600) * 8
  // CHECK: dot: 7479{{$}}
  %dot = nap.einsum "ab,b,a->" %x, %v, %w : (tensor<2x3xi32>, tensor<3xi32>, tensor<2xi32>) -> tensor<i32>
  // CHECK: outer: 7, 70, 700, 8, 80, 800{{$}}
  %outer = nap.einsum "a,b->ab" %w, %v : (tensor<2xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  return %matmul, %turned, %summed, %dot, %outer : tensor<2x2xi32>, tensor<2x2xi32>, tensor<2xi32>, tensor<i32>, tensor<2x3xi32>
}

// One chain of multiply-adds, cut in two: the second part goes on where the first ends. In f32, 2^24 + 1 + 1 is
// 2^24 term by term, and a sum of the parts would have 2.
func.func @chains() -> (tensor<1xf32> {nap.result = "whole"}, tensor<1xf32> {nap.result = "goesOn"}, tensor<1xf32> {nap.result = "sumOfParts"}) {
  %x = nap.constant dense<[[16777216.0, 1.0, 1.0]]> : tensor<1x3xf32>
  %one = nap.constant dense<1.0> : tensor<3xf32>
  // CHECK: whole: 16777216{{$}}
  %whole = nap.einsum "ab,b->a" %x, %one : (tensor<1x3xf32>, tensor<3xf32>) -> tensor<1xf32>
  %x0 = nap.slice %x [0, 0] step [1, 1] : tensor<1x3xf32> -> tensor<1x1xf32>
  %x1 = nap.slice %x [0, 1] step [1, 1] : tensor<1x3xf32> -> tensor<1x2xf32>
  %one0 = nap.slice %one [0] step [1] : tensor<3xf32> -> tensor<1xf32>
  %one1 = nap.slice %one [1] step [1] : tensor<3xf32> -> tensor<2xf32>
  %first = nap.einsum "ab,b->a" %x0, %one0 : (tensor<1x1xf32>, tensor<1xf32>) -> tensor<1xf32>
  // CHECK: goesOn: 16777216{{$}}
  %goesOn = nap.einsum "ab,b->a" %x1, %one1 init %first : (tensor<1x2xf32>, tensor<2xf32>, tensor<1xf32>) -> tensor<1xf32>
  %second = nap.einsum "ab,b->a" %x1, %one1 : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1xf32>
  // CHECK: sumOfParts: 16777218{{$}}
  %sumOfParts = nap.add %first, %second : tensor<1xf32>
  return %whole, %goesOn, %sumOfParts : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>
}

func.func @reductions() -> (tensor<2xi32> {nap.result = "sum"}, tensor<3xi32> {nap.result = "largest"}, tensor<i32> {nap.result = "least"}, tensor<2xi32> {nap.result = "product"}) {
  %x = nap.constant dense<[[1, -2, 3], [4, 5, -6]]> : tensor<2x3xi32>
  // CHECK: sum: 2, 3{{$}}
  %sum = nap.reduce sum %x [1] : tensor<2x3xi32> -> tensor<2xi32>
  // CHECK: largest: 4, 5, 3{{$}}
  %largest = nap.reduce max %x [0] : tensor<2x3xi32> -> tensor<3xi32>
  // CHECK: least: -6{{$}}
  %least = nap.reduce min %x [0, 1] : tensor<2x3xi32> -> tensor<i32>
  // CHECK: product: -6, -120{{$}}
  %product = nap.reduce prod %x [1] : tensor<2x3xi32> -> tensor<2xi32>
  return %sum, %largest, %least, %product : tensor<2xi32>, tensor<3xi32>, tensor<i32>, tensor<2xi32>
}

// 2^24 and 255 ones, in f32, where 2^24 + 1 is 2^24. Along the last axis 128 running sums take two terms
// each: the first is 2^24 + 1 = 2^24, the other 127 are 2. Halves are added: 2^24 + 2, and so on: nothing is
// lost but the first 1. In order, along another axis, the block of 64 with 2^24 loses all its 63 ones.
func.func @orders() -> (tensor<f32> {nap.result = "last"}, tensor<1xf32> {nap.result = "other"}) {
  %big = nap.constant dense<16777216.0> : tensor<1xf32>
  %ones = nap.constant dense<1.0> : tensor<255xf32>
  %x = nap.concat %big, %ones axis 0 : (tensor<1xf32>, tensor<255xf32>) -> tensor<256xf32>
  // CHECK: last: 16777470{{$}}
  %last = nap.reduce sum %x [0] : tensor<256xf32> -> tensor<f32>
  %column = nap.reshape %x : tensor<256xf32> -> tensor<256x1xf32>
  // CHECK: other: 16777408{{$}}
  %other = nap.reduce sum %column [0] : tensor<256x1xf32> -> tensor<1xf32>
  return %last, %other : tensor<f32>, tensor<1xf32>
}
