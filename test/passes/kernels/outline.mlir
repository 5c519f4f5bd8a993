// RUN: napkin-opt %s -split-input-file --nap-outline | FileCheck %s

// Equal structure is one definition; offsets and lines stay with the launch, the schedule with the
// definition.
// CHECK: nap.kernel_def pointwise @tanh.h_N attributes {nap.schedule = {tasks = 2 : i64}}
// CHECK-NOT: nap.kernel_def
// CHECK-LABEL: func.func @equal
// CHECK: %[[A:.+]] = nap.launch @tanh.h_N(%{{.+}}) {nap.offsets = array<i64: 0>}
// CHECK: nap.launch @tanh.h_N(%[[A]]) {nap.offsets = array<i64: 256>}
func.func @equal(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = nap.kernel pointwise "tanh.h_N" (%x) attributes {nap.offsets = array<i64: 0>, nap.schedule = {tasks = 2 : i64}} : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<3xf32>):
    %y = nap.tanh %a : tensor<3xf32>
    nap.yield %y : tensor<3xf32>
  }
  %1 = nap.kernel pointwise "tanh.final" (%0) attributes {nap.offsets = array<i64: 256>, nap.schedule = {tasks = 2 : i64}} : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<3xf32>):
    %y = nap.tanh %a : tensor<3xf32>
    nap.yield %y : tensor<3xf32>
  }
  return %1 : tensor<3xf32>
}

// -----

// Another attribute, another schedule, another use of the operands: another definition each.
// CHECK-COUNT-4: nap.kernel_def pointwise
// CHECK-LABEL: func.func @different
// CHECK: nap.launch @sub(
// CHECK: nap.launch @sub_2(
// CHECK: nap.launch @slice(
// CHECK: nap.launch @slice_2(
func.func @different(%x: tensor<3xf32>, %z: tensor<3xf32>) -> tensor<1xf32> {
  %0 = nap.kernel pointwise "sub" (%x, %z) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>):
    %y = nap.sub %a, %b : tensor<3xf32>
    nap.yield %y : tensor<3xf32>
  }
  %1 = nap.kernel pointwise "sub" (%x, %0) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>):
    %y = nap.sub %b, %a : tensor<3xf32>
    nap.yield %y : tensor<3xf32>
  }
  %2 = nap.kernel pointwise "slice" (%1) : (tensor<3xf32>) -> tensor<1xf32> {
  ^bb0(%a: tensor<3xf32>):
    %y = nap.slice %a [0] step [1] : tensor<3xf32> -> tensor<1xf32>
    nap.yield %y : tensor<1xf32>
  }
  %3 = nap.kernel pointwise "slice" (%1) : (tensor<3xf32>) -> tensor<1xf32> {
  ^bb0(%a: tensor<3xf32>):
    %y = nap.slice %a [1] step [1] : tensor<3xf32> -> tensor<1xf32>
    nap.yield %y : tensor<1xf32>
  }
  return %3 : tensor<1xf32>
}

// -----

// The sites of draws go to the launches: kernels that differ in them alone are one. Draws at one site keep one number,
// and one more site makes another kernel.
// CHECK: nap.kernel_def pointwise @drop attributes {nap.sites = 1 : i64}
// CHECK-COUNT-2: nap.random_uniform %{{.+}} site 0
// CHECK: nap.kernel_def pointwise @drop_2 attributes {nap.sites = 2 : i64}
// CHECK: nap.random_uniform %{{.+}} site 0
// CHECK-NEXT: nap.random_uniform %{{.+}} site 1
// CHECK-LABEL: func.func @sites
// CHECK: nap.launch @drop({{.+}}) {nap.sites = array<i64: 7041>}
// CHECK: nap.launch @drop({{.+}}) {nap.sites = array<i64: 4294967295>}
// CHECK: nap.launch @drop_2({{.+}}) {nap.sites = array<i64: 5, 6>}
func.func @sites(%k: tensor<4xi32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %0 = nap.kernel pointwise "drop" (%k) : (tensor<4xi32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<4xi32>):
    %r = nap.random_uniform %a site 7041 : tensor<4xi32> -> tensor<3xf32>
    %s = nap.random_uniform %a site 7041 : tensor<4xi32> -> tensor<3xf32>
    %y = nap.mul %r, %s : tensor<3xf32>
    nap.yield %y : tensor<3xf32>
  }
  %1 = nap.kernel pointwise "drop" (%k) : (tensor<4xi32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<4xi32>):
    %r = nap.random_uniform %a site -1 : tensor<4xi32> -> tensor<3xf32>
    %s = nap.random_uniform %a site -1 : tensor<4xi32> -> tensor<3xf32>
    %y = nap.mul %r, %s : tensor<3xf32>
    nap.yield %y : tensor<3xf32>
  }
  %2 = nap.kernel pointwise "drop" (%k) : (tensor<4xi32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<4xi32>):
    %r = nap.random_uniform %a site 5 : tensor<4xi32> -> tensor<3xf32>
    %s = nap.random_uniform %a site 6 : tensor<4xi32> -> tensor<3xf32>
    %y = nap.mul %r, %s : tensor<3xf32>
    nap.yield %y : tensor<3xf32>
  }
  return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}
