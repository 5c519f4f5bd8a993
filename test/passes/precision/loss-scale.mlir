// RUN: napkin-opt %s --nap-autodiff | FileCheck %s
// RUN: napkin-opt %s --nap-autodiff --nap-assemble-step --nap-simplify -o %t
// RUN: FileCheck %s --check-prefix=STEP < %t
// RUN: sed -e 's/mixed(f16)/mixed(bf16)/' %s | napkin-opt --nap-autodiff --nap-assemble-step | FileCheck %s --check-prefix=UNSCALED
// RUN: not napkin-opt %s --nap-autodiff --nap-assemble-step=fused-update 2>&1 | FileCheck %s --check-prefix=FUSED

// UNSCALED-NOT: loss#scale
// FUSED: error: a fused update cannot scale the loss: whether a step is stored is known when the last gradient is; set precision to another policy than mixed(f16) or leave the fused update out

// The state of the scale, and its first value.
// CHECK: nap.declare state @"loss#scale" of @loss : tensor<f32>
// CHECK: nap.declare state @"loss#good_steps" of @loss : tensor<i32>
// CHECK-LABEL: func.func @init
// CHECK-SAME: tensor<f32> {nap.updates = @"loss#scale"}, tensor<i32> {nap.updates = @"loss#good_steps"}
// CHECK: dense<6.553600e+04> : tensor<f32>
// CHECK: dense<0> : tensor<i32>
// The way back begins with it.
// CHECK-LABEL: func.func @micro_step
// CHECK-SAME: [[SCALE:%[a-z0-9]+]]: tensor<f32> {nap.of = @"loss#scale"}
// CHECK: nap.broadcast [[SCALE]] [] : tensor<f32> -> tensor<3xf32>

// Gradients are divided by it before their squares are added.
// STEP-LABEL: func.func @train_step
// STEP-SAME: [[SCALE:%[a-z0-9]+]]: tensor<f32> {nap.of = @"loss#scale"}
// STEP: [[G:%[0-9]+]] = nap.mul [[SCALE]], {{%[0-9]+}}
// STEP: [[INVERSE:%[0-9]+]] = nap.div {{%[0-9]+}}, [[SCALE]]
// STEP: [[OWN:%[0-9]+]] = nap.mul [[G]], [[INVERSE]]
// STEP: nap.mul [[OWN]], [[OWN]]

// The gradient of w is x y; 2e34 times 65536 is more than f32 has.
// RUN: nap-interpret %t --function=train_step --print --set w=1.0 --set x=2.0 --set y=3.0 --set 'loss#scale=65536.0' --set 'loss#good_steps=7' | FileCheck %s --check-prefix=GOOD
// GOOD: gradient_norm: 10.39{{[0-9]+}}
// GOOD: finite: 1{{$}}
// GOOD: loss#scale: 65536{{$}}
// GOOD: loss_scale: 65536{{$}}
// GOOD: loss#good_steps: 8{{$}}
// GOOD: w: -5, -5, -5

// RUN: nap-interpret %t --function=train_step --print --set w=1.0 --set x=2.0 --set y=1.0e34 --set 'loss#scale=65536.0' --set 'loss#good_steps=7' | FileCheck %s --check-prefix=HALVED
// HALVED: finite: 0{{$}}
// HALVED: loss#scale: 32768{{$}}
// HALVED: loss_scale: 32768{{$}}
// HALVED: loss#good_steps: 0{{$}}
// HALVED: w: 1, 1, 1

// RUN: nap-interpret %t --function=train_step --print --set w=1.0 --set x=nan --set y=3.0 --set 'loss#scale=1.0' --set 'loss#good_steps=7' | FileCheck %s --check-prefix=LEAST
// LEAST: finite: 0{{$}}
// LEAST: loss#scale: 1{{$}}
// LEAST: w: 1, 1, 1

// RUN: nap-interpret %t --function=train_step --print --set w=1.0 --set x=2.0 --set y=3.0 --set 'loss#scale=65536.0' --set 'loss#good_steps=1999' | FileCheck %s --check-prefix=DOUBLED
// DOUBLED: loss#scale: 131072{{$}}
// DOUBLED: loss#good_steps: 0{{$}}
// DOUBLED: w: -5, -5, -5

// RUN: nap-interpret %t --function=train_step --print --set w=1.0 --set x=2.0 --set y=3.0 --set 'loss#scale=16777216.0' --set 'loss#good_steps=1999' | FileCheck %s --check-prefix=LARGEST
// LARGEST: loss#scale: 16777216{{$}}
// LARGEST: loss#good_steps: 0{{$}}

// Several micro-batches: their sums are scaled, and divided at the step's end.
// RUN: sed -e 's/nap.policy/nap.accumulate = 4 : i64, nap.policy/' %s | napkin-opt --nap-autodiff --nap-assemble-step --nap-simplify -o %t.4
// RUN: nap-interpret %t.4 --function=update --print --set w=1.0 --set 'w#gradient=512.0' --set 'loss#sum=8.0' --set 'loss#scale=64.0' --set 'loss#good_steps=7' | FileCheck %s --check-prefix=MEAN
// MEAN: finite: 1{{$}}
// MEAN: loss#scale: 64{{$}}
// MEAN: w: -1, -1, -1
module attributes {nap.policy = "mixed(f16)"} {
  nap.declare parameter @w : tensor<3xf32>
  nap.declare input @x : tensor<f32>
  nap.declare input @y : tensor<f32>
  func.func @init() -> (tensor<3xf32> {nap.updates = @w}) {
    %w = nap.constant dense<1.0> : tensor<3xf32>
    return %w : tensor<3xf32>
  }
  func.func @forward(%w: tensor<3xf32> {nap.of = @w}, %x: tensor<f32> {nap.of = @x}, %y: tensor<f32> {nap.of = @y})
      -> (tensor<f32> {nap.result = "loss"}) {
    %xy = nap.mul %x, %y : tensor<f32>
    %each = nap.broadcast %xy [] : tensor<f32> -> tensor<3xf32>
    %product = nap.mul %w, %each : tensor<3xf32>
    %loss = nap.reduce sum %product [0] : tensor<3xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }
  func.func @update(%w: tensor<3xf32> {nap.of = @w}, %g: tensor<3xf32> {nap.gradient_of = @w})
      -> (tensor<3xf32> {nap.updates = @w}) {
    %next = nap.sub %w, %g : tensor<3xf32>
    return %next : tensor<3xf32>
  }
}
