// What gathers, scatters, joins and rows compute.
// RUN: nap-interpret %s --print | FileCheck %s

func.func @moved() -> (tensor<2x5xi32> {nap.result = "concat"}, tensor<8xi32> {nap.result = "pad"}, tensor<3x2xi32> {nap.result = "embed"}, tensor<4x2xi32> {nap.result = "scatter"}, tensor<4x2xi32> {nap.result = "into"}, tensor<2xi32> {nap.result = "take"}, tensor<2x2xi32> {nap.result = "takeTwo"}, tensor<2x3xi32> {nap.result = "put"}) {
  %x = nap.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %y = nap.constant dense<[[7, 8], [9, 10]]> : tensor<2x2xi32>
  // CHECK: concat: 1, 2, 3, 7, 8, 4, 5, 6, 9, 10{{$}}
  %concat = nap.concat %x, %y axis 1 : (tensor<2x3xi32>, tensor<2x2xi32>) -> tensor<2x5xi32>
  // CHECK: pad: -1, -1, 1, -1, 2, -1, 3, -1{{$}}
  %row = nap.constant dense<[1, 2, 3]> : tensor<3xi32>
  %pad = nap.pad %row low [2] high [1] inner [1] with -1.0 : tensor<3xi32> -> tensor<8xi32>
  // CHECK: embed: 5, 6, 1, 2, 5, 6{{$}}
  %table = nap.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi32>
  %ids = nap.constant dense<[2, 0, 2]> : tensor<3xi32>
  %embed = nap.embed %table, %ids : tensor<4x2xi32>, tensor<3xi32> -> tensor<3x2xi32>
  // CHECK: scatter: 1, 2, 0, 0, 10, 12, 0, 0{{$}}
  %scatter = nap.scatter_add %embed, %ids : tensor<3x2xi32>, tensor<3xi32> -> tensor<4x2xi32>
  // CHECK: into: 2, 4, 3, 4, 15, 18, 7, 8{{$}}
  %into = nap.scatter_add %embed, %ids into %table : tensor<3x2xi32>, tensor<3xi32>, tensor<4x2xi32> -> tensor<4x2xi32>
  // CHECK: take: 3, 4{{$}}
  %one = nap.constant dense<[2, 0]> : tensor<2xi32>
  %take = nap.take_along %x, %one : tensor<2x3xi32>, tensor<2xi32> -> tensor<2xi32>
  // CHECK: takeTwo: 3, 2, 4, 4{{$}}
  %two = nap.constant dense<[[2, 1], [0, 0]]> : tensor<2x2xi32>
  %takeTwo = nap.take_along %x, %two : tensor<2x3xi32>, tensor<2x2xi32> -> tensor<2x2xi32>
  // CHECK: put: 0, 8, 7, 19, 0, 0{{$}}
  %put = nap.put_along %y, %two : tensor<2x2xi32>, tensor<2x2xi32> -> tensor<2x3xi32>
  return %concat, %pad, %embed, %scatter, %into, %take, %takeTwo, %put : tensor<2x5xi32>, tensor<8xi32>, tensor<3x2xi32>, tensor<4x2xi32>, tensor<4x2xi32>, tensor<2xi32>, tensor<2x2xi32>, tensor<2x3xi32>
}

func.func @rows() -> (tensor<2xi32> {nap.result = "argmax"}, tensor<2x3xi32> {nap.result = "largest"}, tensor<2x3xi32> {nap.result = "places"}, tensor<2x4xi32> {nap.result = "along"}, tensor<2x4xi32> {nap.result = "back"}, tensor<2x4xi32> {nap.result = "down"}, tensor<2x2x3xi32> {nap.result = "windows"}, tensor<2x4xi32> {nap.result = "folded"}) {
  %x = nap.constant dense<[[3, 9, 1, 9], [2, 2, 5, 0]]> : tensor<2x4xi32>
  // The lowest place wins a tie.
  // CHECK: argmax: 1, 2{{$}}
  %argmax = nap.argmax %x : tensor<2x4xi32> -> tensor<2xi32>
  // CHECK: largest: 9, 9, 3, 5, 2, 2{{$}}
  // CHECK: places: 1, 3, 0, 2, 0, 1{{$}}
  %largest, %places = nap.top_k %x : tensor<2x4xi32> -> tensor<2x3xi32>, tensor<2x3xi32>
  // CHECK: along: 3, 12, 13, 22, 2, 4, 9, 9{{$}}
  %along = nap.cumsum %x axis 1 : tensor<2x4xi32>
  // CHECK: back: 22, 19, 10, 9, 9, 7, 5, 0{{$}}
  %back = nap.cumsum %x axis 1 reverse : tensor<2x4xi32>
  // CHECK: down: 3, 9, 1, 9, 5, 11, 6, 9{{$}}
  %down = nap.cumsum %x axis 0 : tensor<2x4xi32>
  // CHECK: windows: 3, 9, 1, 9, 1, 9, 2, 2, 5, 2, 5, 0{{$}}
  %windows = nap.window %x sizes [3] strides [1] dilations [1] : tensor<2x4xi32> -> tensor<2x2x3xi32>
  // CHECK: folded: 3, 18, 2, 9, 2, 4, 10, 0{{$}}
  %folded = nap.fold %windows sizes [3] strides [1] dilations [1] : tensor<2x2x3xi32> -> tensor<2x4xi32>
  return %argmax, %largest, %places, %along, %back, %down, %windows, %folded : tensor<2xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x2x3xi32>, tensor<2x4xi32>
}
