// What a step computes: clipped by the global norm, skipped when not finite, the mean over micro-batches.
// RUN: napkin-opt %s --nap-assemble-step --nap-simplify -o %t
// RUN: nap-interpret %t --function=train_step --print --set w=1.0 --set v=2.0 --set x=4.0 --set m=5.0 | FileCheck %s --check-prefix=CLIPPED
// RUN: nap-interpret %t --function=train_step --print --set w=1.0 --set v=2.0 --set x=0.5 --set m=5.0 | FileCheck %s --check-prefix=SMALL
// RUN: nap-interpret %t --function=train_step --print --set w=1.0 --set v=2.0 --set x=nan --set m=5.0 | FileCheck %s --check-prefix=SKIPPED
// RUN: nap-interpret %t --function=train_step --print --set w=1.0 --set v=2.0 --set x=1.0e200 --set m=5.0 | FileCheck %s --check-prefix=SKIPPED
// RUN: sed -e 's/nap.clip_norm/nap.accumulate = 4 : i64, nap.clip_norm/' %s | napkin-opt --nap-assemble-step --nap-simplify -o %t.4
// RUN: nap-interpret %t.4 --function=update --print --set w=1.0 --set v=2.0 --set 'w#gradient=16.0' --set 'v#gradient=16.0' --set 'm#sum=24.0' --set 'loss#sum=8.0' | FileCheck %s --check-prefix=MEAN
// RUN: nap-interpret %t.4 --function=update --print --set w=1.0 --set v=2.0 --set 'w#gradient=16.0' --set 'v#gradient=16.0' --set m=5.0 --set 'm#sum=24.0' --set 'loss#sum=inf' | FileCheck %s --check-prefix=LOSS
// RUN: nap-interpret %t.4 --function=micro_next --print --set w=1.0 --set v=2.0 --set x=0.5 --set m=5.0 --set 'w#gradient=16.0' --set 'v#gradient=16.0' --set 'm#sum=24.0' --set 'loss#sum=8.0' | FileCheck %s --check-prefix=NEXT

// Nine elements of gradient 4: the norm is 12, the scale 6 / 12.000001, so that each is 2 to 1e-6.
// CLIPPED: gradient_norm: 12{{$}}
// CLIPPED: finite: 1{{$}}
// CLIPPED: m: 6{{$}}
// CLIPPED: w: -0.99999{{[0-9]+}}, -0.99999
// CLIPPED: v: 1.66666{{[0-9]+}}e-07, 1.66666

// SMALL: gradient_norm: 1.5{{$}}
// SMALL: w: 0.5, 0.5
// SMALL: v: 1.5, 1.5

// SKIPPED: finite: 0{{$}}
// SKIPPED: m: 5{{$}}
// SKIPPED: w: 1, 1
// SKIPPED: v: 2, 2

// MEAN: gradient_norm: 12{{$}}
// MEAN: finite: 1{{$}}
// MEAN: m: 6{{$}}
// MEAN: w: -0.99999{{[0-9]+}}, -0.99999

// LOSS: finite: 0{{$}}
// LOSS: m: 5{{$}}
// LOSS: w: 1, 1

// NEXT: m#sum: 30{{$}}
// NEXT: w#gradient: 16.5, 16.5
module attributes {nap.clip_norm = 6.0 : f32} {
  nap.declare parameter @w : tensor<2x3xf64>
  nap.declare parameter @v : tensor<3xf64>
  nap.declare buffer @m : tensor<f64>
  nap.declare input @x : tensor<f64>
  func.func @micro_step(%m: tensor<f64> {nap.of = @m}, %x: tensor<f64> {nap.of = @x})
      -> (tensor<f64> {nap.result = "loss"}, tensor<f64> {nap.updates = @m},
          tensor<2x3xf64> {nap.gradient_of = @w}, tensor<3xf64> {nap.gradient_of = @v}) {
    %one = nap.constant dense<1.0> : tensor<f64>
    %more = nap.add %m, %one : tensor<f64>
    %gw = nap.broadcast %x [] : tensor<f64> -> tensor<2x3xf64>
    %gv = nap.broadcast %x [] : tensor<f64> -> tensor<3xf64>
    return %one, %more, %gw, %gv : tensor<f64>, tensor<f64>, tensor<2x3xf64>, tensor<3xf64>
  }
  func.func @update(%w: tensor<2x3xf64> {nap.of = @w}, %gw: tensor<2x3xf64> {nap.gradient_of = @w},
                    %v: tensor<3xf64> {nap.of = @v}, %gv: tensor<3xf64> {nap.gradient_of = @v})
      -> (tensor<2x3xf64> {nap.updates = @w}, tensor<3xf64> {nap.updates = @v}) {
    %w2 = nap.sub %w, %gw : tensor<2x3xf64>
    %v2 = nap.sub %v, %gv : tensor<3xf64>
    return %w2, %v2 : tensor<2x3xf64>, tensor<3xf64>
  }
}
