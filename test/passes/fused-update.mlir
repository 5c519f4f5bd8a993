// RUN: napkin-opt %s --nap-assemble-step=fused-update=true | FileCheck %s
// RUN: napkin-opt %s --nap-assemble-step=fused-update=true --nap-simplify -o %t
// RUN: nap-interpret %t --function=train_step --print --set w=1.0 --set v=2.0 --set 'v#m=0.0' --set x=0.5 --set y=0.25 | FileCheck %s --check-prefix=FINITE
// RUN: nap-interpret %t --function=train_step --print --set w=1.0 --set v=2.0 --set 'v#m=0.0' --set x=0.5 --set y=inf | FileCheck %s --check-prefix=HALFWAY
// RUN: nap-interpret %t --function=train_step --print --set w=1.0 --set v=2.0 --set 'v#m=0.0' --set x=nan --set y=0.25 | FileCheck %s --check-prefix=SKIPPED
// RUN: sed -e 's/^module {/module attributes {nap.accumulate = 4 : i64} {/' %s | not napkin-opt --nap-assemble-step=fused-update=true 2>&1 | FileCheck %s --check-prefix=BATCHES
// RUN: sed -e 's/^module {/module attributes {nap.clip_norm = 1.0 : f32} {/' %s | not napkin-opt --nap-assemble-step=fused-update=true 2>&1 | FileCheck %s --check-prefix=CLIP

// A parameter is updated behind its gradient and the last read of its old version, before gradients that are final later.
// Whether it is stored depends on the loss and on the gradients so far.

// BATCHES: error: a fused update needs one micro-batch a step and there are 4: no gradient is final before the last of them; set accumulate to 1 or leave the fused update out
// CLIP: error: a fused update cannot clip: the norm of all gradients is known when the last one is; set clip_norm to none or leave the fused update out

// FINITE: finite_gradients: 1{{$}}
// FINITE: finite: 1{{$}}
// FINITE: w: 0.75, 0.75
// FINITE: v: 1.5, 1.5
// FINITE: v#m: 0.5, 0.5

// HALFWAY: finite_gradients: 0{{$}}
// HALFWAY: finite: 1{{$}}
// HALFWAY: w: 1, 1
// HALFWAY: v: 1.5, 1.5
// HALFWAY: v#m: 0.5, 0.5

// SKIPPED: finite: 0{{$}}
// SKIPPED: w: 1, 1
// SKIPPED: v: 2, 2
// SKIPPED: v#m: 0, 0
module {
  nap.declare parameter @w : tensor<3xf64>
  nap.declare parameter @v : tensor<3xf64>
  nap.declare state @"v#m" of @v : tensor<3xf64>
  nap.declare input @x : tensor<f64>
  nap.declare input @y : tensor<f64>
  // CHECK-LABEL: func.func @train_step(
  // CHECK-SAME: [[X:%[a-z0-9]+]]: tensor<f64> {nap.of = @x}, [[Y:%[a-z0-9]+]]: tensor<f64> {nap.of = @y}, [[V:%[a-z0-9]+]]: tensor<3xf64> {nap.of = @v}
  // CHECK: [[GV:%.+]] = nap.broadcast [[X]]
  // CHECK: [[VSUM:%.+]] = nap.reduce sum
  // CHECK: [[SOFAR:%.+]] = nap.add {{.*}}, [[VSUM]]
  // CHECK: nap.abs [[SOFAR]]
  // The last reader of the old version, then the new ones.
  // CHECK: nap.add [[GV]], [[V]]
  // CHECK-DAG: nap.select {{.*}}, [[V]]
  // CHECK: [[GW:%.+]] = nap.broadcast [[Y]]
  // CHECK: nap.select
  // CHECK-NOT: nap.select
  func.func @micro_step(%x: tensor<f64> {nap.of = @x}, %y: tensor<f64> {nap.of = @y}, %v: tensor<3xf64> {nap.of = @v})
      -> (tensor<f64> {nap.result = "loss"}, tensor<f64> {nap.result = "metric m"},
          tensor<3xf64> {nap.gradient_of = @w}, tensor<3xf64> {nap.gradient_of = @v}) {
    %loss = nap.exp %x : tensor<f64>
    %gv = nap.broadcast %x [] : tensor<f64> -> tensor<3xf64>
    %late = nap.add %gv, %v : tensor<3xf64>
    %gw = nap.broadcast %y [] : tensor<f64> -> tensor<3xf64>
    %metric = nap.reduce sum %late [0] : tensor<3xf64> -> tensor<f64>
    return %loss, %metric, %gw, %gv : tensor<f64>, tensor<f64>, tensor<3xf64>, tensor<3xf64>
  }
  func.func @update(%w: tensor<3xf64> {nap.of = @w}, %gw: tensor<3xf64> {nap.gradient_of = @w},
                    %v: tensor<3xf64> {nap.of = @v}, %gv: tensor<3xf64> {nap.gradient_of = @v}, %m: tensor<3xf64> {nap.of = @"v#m"})
      -> (tensor<3xf64> {nap.updates = @w}, tensor<3xf64> {nap.updates = @v}, tensor<3xf64> {nap.updates = @"v#m"}) {
    %w2 = nap.sub %w, %gw : tensor<3xf64>
    %m2 = nap.add %m, %gv : tensor<3xf64>
    %v2 = nap.sub %v, %m2 : tensor<3xf64>
    return %w2, %v2, %m2 : tensor<3xf64>, tensor<3xf64>, tensor<3xf64>
  }
}
