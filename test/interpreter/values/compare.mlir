// Two functions that differ in a bit are told apart; within a tolerance they are not.
// RUN: nap-interpret %s --function=plain --compare=same
// RUN: not nap-interpret %s --function=plain --compare=other 2>&1 | FileCheck %s
// RUN: nap-interpret %s --function=plain --compare=other --tolerance=1e-6
// RUN: not nap-interpret %s --function=outside --set arg1=7 2>&1 | FileCheck %s --check-prefix=OUTSIDE

func.func @plain(%x: tensor<7xf32>, %y: tensor<7xf32>) -> tensor<7xf32> {
  %third = nap.constant dense<3.0> : tensor<7xf32>
  %a = nap.div %x, %third : tensor<7xf32>
  %b = nap.add %a, %y : tensor<7xf32>
  return %b : tensor<7xf32>
}

func.func @same(%x: tensor<7xf32>, %y: tensor<7xf32>) -> tensor<7xf32> {
  %b = nap.kernel pointwise "k"(%x, %y) : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32> {
  ^bb0(%k: tensor<7xf32>, %l: tensor<7xf32>):
    %third = nap.constant dense<3.0> : tensor<7xf32>
    %a = nap.div %k, %third : tensor<7xf32>
    %c = nap.add %l, %a : tensor<7xf32>
    nap.yield %c : tensor<7xf32>
  }
  return %b : tensor<7xf32>
}

// CHECK: result0: element {{[0-9]}} is {{.+}} by @plain and {{.+}} by @other
func.func @other(%x: tensor<7xf32>, %y: tensor<7xf32>) -> tensor<7xf32> {
  %third = nap.constant dense<0.333333343> : tensor<7xf32>
  %a = nap.mul %x, %third : tensor<7xf32>
  %b = nap.add %a, %y : tensor<7xf32>
  return %b : tensor<7xf32>
}

// An id that lies outside stops the run.
// OUTSIDE: error: id 7 lies outside the 7 places there are
func.func @outside(%table: tensor<7x5xf32>, %ids: tensor<3xi32>) -> tensor<3x5xf32> {
  %rows = nap.embed %table, %ids : tensor<7x5xf32>, tensor<3xi32> -> tensor<3x5xf32>
  return %rows : tensor<3x5xf32>
}
