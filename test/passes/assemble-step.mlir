// RUN: napkin-opt %s --nap-assemble-step -split-input-file | FileCheck %s

// One micro-batch: one @train_step. What it stores is chosen by whether loss and gradients are finite.

module attributes {nap.clip_norm = 2.0 : f32} {
  nap.declare parameter @w : tensor<2x3xf32>
  nap.declare buffer @mean : tensor<f32>
  nap.declare scalar @lr = 1.0e-1 : tensor<f32>

  // CHECK-NOT: func.func @micro_step
  // CHECK-NOT: func.func @update
  // CHECK-LABEL: func.func @train_step(
  // CHECK-SAME: [[W:%[a-z0-9]+]]: tensor<2x3xf32> {nap.of = @w}, [[MEAN:%[a-z0-9]+]]: tensor<f32> {nap.of = @mean}, [[LR:%[a-z0-9]+]]: tensor<f32> {nap.of = @lr})
  // CHECK-SAME: -> (tensor<f32> {nap.result = "loss"}, tensor<f32> {nap.result = "gradient_norm"}, tensor<i1> {nap.result = "finite"}, tensor<f32> {nap.updates = @mean}, tensor<2x3xf32> {nap.updates = @w})
  func.func @micro_step(%w: tensor<2x3xf32> {nap.of = @w}, %mean: tensor<f32> {nap.of = @mean})
      -> (tensor<f32> {nap.result = "loss"}, tensor<f32> {nap.updates = @mean},
          tensor<2x3xf32> {nap.gradient_of = @w}) {
    %total = nap.reduce sum %w [0, 1] : tensor<2x3xf32> -> tensor<f32>
    %count = nap.constant dense<6.0> : tensor<f32>
    // CHECK: [[LOSS:%.+]] = nap.div
    %loss = nap.average %total, %count index 0 : tensor<f32>
    %new = nap.add %mean, %loss : tensor<f32>
    %g = nap.exp %w : tensor<2x3xf32>
    // CHECK: [[G:%.+]] = nap.exp
    // CHECK: [[SIZE:%.+]] = nap.abs [[LOSS]]
    // CHECK: [[FINITE1:%.+]] = nap.compare lt [[SIZE]], {{%.+}}
    // CHECK: [[G2:%.+]] = nap.mul [[G]], [[G]]
    // CHECK: [[SUM:%.+]] = nap.reduce sum [[G2]] [0, 1]
    // CHECK: [[FINITE:%.+]] = nap.and [[FINITE1]], {{%.+}}
    // CHECK: [[NORM:%.+]] = nap.sqrt [[SUM]]
    // CHECK: [[CLIP:%.+]] = nap.minimum
    // CHECK: [[CLIPS:%.+]] = nap.broadcast [[CLIP]] []
    // CHECK: [[CLIPPED:%.+]] = nap.mul [[G]], [[CLIPS]]
    return %loss, %new, %g : tensor<f32>, tensor<f32>, tensor<2x3xf32>
  }
  func.func @update(%w: tensor<2x3xf32> {nap.of = @w}, %g: tensor<2x3xf32> {nap.gradient_of = @w},
                    %lr: tensor<f32> {nap.of = @lr}) -> (tensor<2x3xf32> {nap.updates = @w}) {
    %rate = nap.broadcast %lr [] : tensor<f32> -> tensor<2x3xf32>
    %step = nap.mul %rate, %g : tensor<2x3xf32>
    // CHECK: [[NEW:%.+]] = nap.sub [[W]]
    %new = nap.sub %w, %step : tensor<2x3xf32>
    // CHECK: nap.select [[FINITE]], {{%.+}}, [[MEAN]]
    // CHECK: [[ALL:%.+]] = nap.broadcast [[FINITE]]
    // CHECK: nap.select [[ALL]], [[NEW]], [[W]]
    return %new : tensor<2x3xf32>
  }
}

// -----

// Four micro-batches: counts first, sums of loss, buffers and gradients, then one update. The last
// micro-batch's integers stay.

module attributes {nap.accumulate = 4 : i64} {
  nap.declare parameter @w : tensor<3xf32>
  nap.declare buffer @mean : tensor<f32>
  nap.declare buffer @seen : tensor<i32>
  nap.declare input @x : tensor<3xf32>

  // CHECK: nap.declare scalar @count.0 : tensor<f32>
  // CHECK: nap.declare gradient @"loss#sum" of @loss : tensor<f32>
  // CHECK: nap.declare gradient @"mean#sum" of @mean : tensor<f32>
  // CHECK: nap.declare gradient @"seen#sum" of @seen : tensor<i32>
  // CHECK: nap.declare gradient @"w#gradient" of @w : tensor<3xf32>

  // CHECK-LABEL: func.func @counts(
  // CHECK-SAME: [[X:%[a-z0-9]+]]: tensor<3xf32> {nap.of = @x}) -> (tensor<f32> {nap.result = "count.0"})
  // CHECK-NEXT: nap.reduce sum [[X]]
  // CHECK-NEXT: return

  // CHECK-LABEL: func.func @micro_first
  // CHECK-SAME: {nap.of = @count.0}
  // CHECK-SAME: -> (tensor<f32> {nap.result = "loss"}, tensor<f32> {nap.updates = @"loss#sum"}, tensor<f32> {nap.updates = @"mean#sum"}, tensor<i32> {nap.updates = @"seen#sum"}, tensor<3xf32> {nap.updates = @"w#gradient"})

  // CHECK-LABEL: func.func @micro_next
  // CHECK-SAME: [[SUM:%[a-z0-9]+]]: tensor<3xf32> {nap.of = @"w#gradient"})
  // CHECK: [[G:%.+]] = nap.exp
  // CHECK: [[NEXT:%.+]] = nap.add [[SUM]], [[G]]
  // CHECK: return {{.*}}, [[NEXT]] :

  // CHECK-LABEL: func.func @update
  // CHECK-SAME: {nap.of = @"w#gradient"}
  // CHECK-SAME: -> (tensor<f32> {nap.result = "gradient_norm"}, tensor<i1> {nap.result = "finite"}, tensor<f32> {nap.updates = @mean}, tensor<i32> {nap.updates = @seen}, tensor<3xf32> {nap.updates = @w})
  // CHECK: dense<2.500000e-01>
  func.func @micro_step(%w: tensor<3xf32> {nap.of = @w}, %mean: tensor<f32> {nap.of = @mean},
                        %seen: tensor<i32> {nap.of = @seen}, %x: tensor<3xf32> {nap.of = @x})
      -> (tensor<f32> {nap.result = "loss"}, tensor<f32> {nap.updates = @mean},
          tensor<i32> {nap.updates = @seen}, tensor<3xf32> {nap.gradient_of = @w}) {
    %total = nap.reduce sum %w [0] : tensor<3xf32> -> tensor<f32>
    %count = nap.reduce sum %x [0] : tensor<3xf32> -> tensor<f32>
    %loss = nap.average %total, %count index 0 : tensor<f32>
    %new = nap.add %mean, %loss : tensor<f32>
    %one = nap.constant dense<1> : tensor<i32>
    %more = nap.add %seen, %one : tensor<i32>
    %g = nap.exp %w : tensor<3xf32>
    return %loss, %new, %more, %g : tensor<f32>, tensor<f32>, tensor<i32>, tensor<3xf32>
  }
  func.func @update(%w: tensor<3xf32> {nap.of = @w}, %g: tensor<3xf32> {nap.gradient_of = @w})
      -> (tensor<3xf32> {nap.updates = @w}) {
    %new = nap.sub %w, %g : tensor<3xf32>
    return %new : tensor<3xf32>
  }
}

// -----

// An evaluation divides by the mean count of all its batches, a prediction by its own.

module {
  nap.declare input @x : tensor<3xf32>
  // CHECK-LABEL: func.func @evaluate_counts({{.*}}) -> (tensor<f32> {nap.result = "count.0"})
  // CHECK-LABEL: func.func @evaluate(
  // CHECK-SAME: [[COUNT:%[a-z0-9]+]]: tensor<f32> {nap.of = @count.0})
  // CHECK: nap.div {{%.+}}, [[COUNT]]
  func.func @evaluate(%x: tensor<3xf32> {nap.of = @x}) -> (tensor<f32> {nap.result = "loss"}) {
    %total = nap.reduce sum %x [0] : tensor<3xf32> -> tensor<f32>
    %count = nap.reduce max %x [0] : tensor<3xf32> -> tensor<f32>
    %loss = nap.average %total, %count index 0 : tensor<f32>
    return %loss : tensor<f32>
  }
  // CHECK-LABEL: func.func @predict
  // CHECK: [[OWN:%.+]] = nap.reduce max
  // CHECK: nap.div {{%.+}}, [[OWN]]
  func.func @predict(%x: tensor<3xf32> {nap.of = @x}) -> (tensor<f32> {nap.result = "output y"}) {
    %total = nap.reduce sum %x [0] : tensor<3xf32> -> tensor<f32>
    %count = nap.reduce max %x [0] : tensor<3xf32> -> tensor<f32>
    %loss = nap.average %total, %count index 0 : tensor<f32>
    return %loss : tensor<f32>
  }
}
