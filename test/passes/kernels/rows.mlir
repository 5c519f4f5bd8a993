// RUN: napkin-opt %s -split-input-file --nap-fuse | FileCheck %s

// A residual sum, its layer_norm and what the gradient needs of both: one kernel.
// CHECK-LABEL: func.func @residual_layer_norm
// CHECK: %[[K:.+]]:4 = nap.kernel reduction
// CHECK-SAME: -> (tensor<4x64x96xf32>, tensor<4x64x1xf32>, tensor<4x64xf32>, tensor<4x64x96xf32>)
// CHECK: %[[M:.+]] = nap.kernel contraction "matmul"(%[[K]]#0,
// CHECK-NOT: nap.kernel
// CHECK: return %[[M]], %[[K]]#3, %[[K]]#2, %[[K]]#1
func.func @residual_layer_norm(%a: tensor<4x64x96xf32>, %b: tensor<4x64x96xf32>, %gain: tensor<96xf32>,
                               %bias: tensor<96xf32>, %w: tensor<96x96xf32>)
    -> (tensor<4x64x96xf32>, tensor<4x64x96xf32>, tensor<4x64xf32>, tensor<4x64x1xf32>) {
  %n = nap.constant dense<96.0> : tensor<4x64xf32>
  %eps = nap.constant dense<1.0e-5> : tensor<4x64x1xf32>
  %x = nap.add %a, %b : tensor<4x64x96xf32>
  %sum = nap.reduce sum %x [2] : tensor<4x64x96xf32> -> tensor<4x64xf32>
  %mean = nap.div %sum, %n : tensor<4x64xf32>
  %mean_ = nap.broadcast %mean [0, 1] : tensor<4x64xf32> -> tensor<4x64x96xf32>
  %centred = nap.sub %x, %mean_ : tensor<4x64x96xf32>
  %square = nap.mul %centred, %centred : tensor<4x64x96xf32>
  %squares = nap.reduce sum %square [2] : tensor<4x64x96xf32> -> tensor<4x64xf32>
  %variance = nap.div %squares, %n : tensor<4x64xf32>
  %kept = nap.reshape %variance : tensor<4x64xf32> -> tensor<4x64x1xf32>
  %more = nap.add %kept, %eps : tensor<4x64x1xf32>
  %scale = nap.rsqrt %more : tensor<4x64x1xf32>
  %row = nap.reshape %scale : tensor<4x64x1xf32> -> tensor<4x64xf32>
  %scale_ = nap.broadcast %row [0, 1] : tensor<4x64xf32> -> tensor<4x64x96xf32>
  %normal = nap.mul %centred, %scale_ : tensor<4x64x96xf32>
  %gain_ = nap.broadcast %gain [2] : tensor<96xf32> -> tensor<4x64x96xf32>
  %bias_ = nap.broadcast %bias [2] : tensor<96xf32> -> tensor<4x64x96xf32>
  %scaled = nap.mul %normal, %gain_ : tensor<4x64x96xf32>
  %y = nap.add %scaled, %bias_ : tensor<4x64x96xf32>
  %z = nap.einsum "abi,io->abo" %y, %w : (tensor<4x64x96xf32>, tensor<96x96xf32>) -> tensor<4x64x96xf32>
  return %z, %x, %mean, %scale : tensor<4x64x96xf32>, tensor<4x64x96xf32>, tensor<4x64xf32>, tensor<4x64x1xf32>
}

// -----

// A dropped-out branch, the residual sum and the rows' squares: random bits are drawn once for all, since the
// sum is a result.
// CHECK-LABEL: func.func @dropout_residual_norm
// CHECK: nap.kernel reduction {{.*}} -> (tensor<64x96xf32>, tensor<64x96xf32>)
// CHECK-COUNT-1: nap.random_uniform
// CHECK-NOT: nap.kernel
// CHECK: return
func.func @dropout_residual_norm(%rng: tensor<4xi32>, %a: tensor<64x96xf32>, %b: tensor<64x96xf32>)
    -> (tensor<64x96xf32>, tensor<64x96xf32>) {
  %u = nap.random_uniform %rng site 7 : tensor<4xi32> -> tensor<64x96xf32>
  %p = nap.constant dense<0.1> : tensor<64x96xf32>
  %zero = nap.constant dense<0.0> : tensor<64x96xf32>
  %kept = nap.compare ge %u, %p : tensor<64x96xf32> -> tensor<64x96xi1>
  %branch = nap.select %kept, %b, %zero : tensor<64x96xi1>, tensor<64x96xf32>
  %x = nap.add %a, %branch : tensor<64x96xf32>
  %square = nap.mul %x, %x : tensor<64x96xf32>
  %squares = nap.reduce sum %square [1] : tensor<64x96xf32> -> tensor<64xf32>
  %scale = nap.rsqrt %squares : tensor<64xf32>
  %scale_ = nap.broadcast %scale [0] : tensor<64xf32> -> tensor<64x96xf32>
  %y = nap.mul %x, %scale_ : tensor<64x96xf32>
  return %y, %x : tensor<64x96xf32>, tensor<64x96xf32>
}

// -----

// The gradient of a layer_norm: one kernel for both sums over the rows, one for the rows and the residual gradient.
// CHECK-LABEL: func.func @layer_norm_gradient
// CHECK-DAG: nap.kernel reduction {{.*}} -> (tensor<96xf32>, tensor<96xf32>)
// CHECK-DAG: nap.kernel reduction {{.*}} -> tensor<256x96xf32>
// CHECK-NOT: nap.kernel
// CHECK: return
func.func @layer_norm_gradient(%w: tensor<96x96xf32>, %dz: tensor<256x96xf32>, %x: tensor<256x96xf32>,
                               %mean: tensor<256xf32>, %scale: tensor<256xf32>, %gain: tensor<96xf32>,
                               %residual: tensor<256x96xf32>)
    -> (tensor<256x96xf32>, tensor<96xf32>, tensor<96xf32>) {
  %n = nap.constant dense<96.0> : tensor<256xf32>
  %dy = nap.einsum "bo,io->bi" %dz, %w : (tensor<256x96xf32>, tensor<96x96xf32>) -> tensor<256x96xf32>
  %mean_ = nap.broadcast %mean [0] : tensor<256xf32> -> tensor<256x96xf32>
  %scale_ = nap.broadcast %scale [0] : tensor<256xf32> -> tensor<256x96xf32>
  %gain_ = nap.broadcast %gain [1] : tensor<96xf32> -> tensor<256x96xf32>
  %centred = nap.sub %x, %mean_ : tensor<256x96xf32>
  %normal = nap.mul %centred, %scale_ : tensor<256x96xf32>
  %dbias = nap.reduce sum %dy [0] : tensor<256x96xf32> -> tensor<96xf32>
  %product = nap.mul %dy, %normal : tensor<256x96xf32>
  %dgain = nap.reduce sum %product [0] : tensor<256x96xf32> -> tensor<96xf32>
  %dnormal = nap.mul %dy, %gain_ : tensor<256x96xf32>
  %along = nap.mul %dnormal, %normal : tensor<256x96xf32>
  %alongs = nap.reduce sum %along [1] : tensor<256x96xf32> -> tensor<256xf32>
  %alongMean = nap.div %alongs, %n : tensor<256xf32>
  %alongMean_ = nap.broadcast %alongMean [0] : tensor<256xf32> -> tensor<256x96xf32>
  %back = nap.mul %normal, %alongMean_ : tensor<256x96xf32>
  %0 = nap.sub %dnormal, %back : tensor<256x96xf32>
  %sums = nap.reduce sum %0 [1] : tensor<256x96xf32> -> tensor<256xf32>
  %sumMean = nap.div %sums, %n : tensor<256xf32>
  %sumMean_ = nap.broadcast %sumMean [0] : tensor<256xf32> -> tensor<256x96xf32>
  %1 = nap.sub %0, %sumMean_ : tensor<256x96xf32>
  %dx = nap.mul %1, %scale_ : tensor<256x96xf32>
  %sum = nap.add %residual, %dx : tensor<256x96xf32>
  return %sum, %dgain, %dbias : tensor<256x96xf32>, tensor<96xf32>, tensor<96xf32>
}

// -----

// rms_norm with a batch of one: axes of size 1 do not hide the rows.
// CHECK-LABEL: func.func @rms_norm
// CHECK: nap.kernel reduction {{.*}} -> (tensor<1x64x96xf32>, tensor<1x64x1xf32>)
// CHECK-NOT: nap.kernel
// CHECK: return
func.func @rms_norm(%x: tensor<1x64x96xf32>, %gain: tensor<96xf32>) -> (tensor<1x64x96xf32>, tensor<1x64x1xf32>) {
  %eps = nap.constant dense<1.0e-6> : tensor<1x64x1xf32>
  %square = nap.mul %x, %x : tensor<1x64x96xf32>
  %squares = nap.reduce sum %square [2] : tensor<1x64x96xf32> -> tensor<1x64xf32>
  %kept = nap.reshape %squares : tensor<1x64xf32> -> tensor<1x64x1xf32>
  %more = nap.add %kept, %eps : tensor<1x64x1xf32>
  %scale = nap.rsqrt %more : tensor<1x64x1xf32>
  %row = nap.reshape %scale : tensor<1x64x1xf32> -> tensor<64xf32>
  %scale_ = nap.broadcast %row [1] : tensor<64xf32> -> tensor<1x64x96xf32>
  %normal = nap.mul %x, %scale_ : tensor<1x64x96xf32>
  %gain_ = nap.broadcast %gain [2] : tensor<96xf32> -> tensor<1x64x96xf32>
  %y = nap.mul %normal, %gain_ : tensor<1x64x96xf32>
  return %y, %scale : tensor<1x64x96xf32>, tensor<1x64x1xf32>
}

// -----

// Maximum, sum, the target's logit and the gradient are of the same rows: one kernel. The mean has fewer
// results than there are workers, so it is another, and reads what belongs to the rows.
// CHECK-LABEL: func.func @cross_entropy
// CHECK: nap.kernel contraction
// CHECK: %[[R:.+]]:4 = nap.kernel reduction
// CHECK-SAME: -> (tensor<64x5000xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>)
// CHECK: nap.kernel reduction "{{.*}}"(%[[R]]{{.*}} -> tensor<f32>
// CHECK-NOT: nap.kernel
// CHECK: return
func.func @cross_entropy(%x: tensor<64x96xf32>, %w: tensor<5000x96xf32>, %targets: tensor<64xi32>)
    -> (tensor<f32>, tensor<64x5000xf32>) {
  %logits = nap.einsum "bi,vi->bv" %x, %w : (tensor<64x96xf32>, tensor<5000x96xf32>) -> tensor<64x5000xf32>
  %top = nap.reduce max %logits [1] : tensor<64x5000xf32> -> tensor<64xf32>
  %top_ = nap.broadcast %top [0] : tensor<64xf32> -> tensor<64x5000xf32>
  %below = nap.sub %logits, %top_ : tensor<64x5000xf32>
  %e = nap.exp %below : tensor<64x5000xf32>
  %sum = nap.reduce sum %e [1] : tensor<64x5000xf32> -> tensor<64xf32>
  %log = nap.log %sum : tensor<64xf32>
  %total = nap.add %log, %top : tensor<64xf32>
  %picked = nap.take_along %logits, %targets : tensor<64x5000xf32>, tensor<64xi32> -> tensor<64xf32>
  %nll = nap.sub %total, %picked : tensor<64xf32>
  %loss = nap.reduce sum %nll [0] : tensor<64xf32> -> tensor<f32>
  %sum_ = nap.broadcast %sum [0] : tensor<64xf32> -> tensor<64x5000xf32>
  %p = nap.div %e, %sum_ : tensor<64x5000xf32>
  %places = nap.iota : tensor<5000xi32>
  %places_ = nap.broadcast %places [1] : tensor<5000xi32> -> tensor<64x5000xi32>
  %targets_ = nap.broadcast %targets [0] : tensor<64xi32> -> tensor<64x5000xi32>
  %isTarget = nap.compare eq %places_, %targets_ : tensor<64x5000xi32> -> tensor<64x5000xi1>
  %one = nap.constant dense<1.0> : tensor<64x5000xf32>
  %zero = nap.constant dense<0.0> : tensor<64x5000xf32>
  %hot = nap.select %isTarget, %one, %zero : tensor<64x5000xi1>, tensor<64x5000xf32>
  %dlogits = nap.sub %p, %hot : tensor<64x5000xf32>
  return %loss, %dlogits : tensor<f32>, tensor<64x5000xf32>
}

// -----

// Kernels whose ops stand in another order are of one structure: their ops come in the order of their results.
// CHECK-LABEL: func.func @order
// CHECK: nap.kernel pointwise
// CHECK: nap.mul
// CHECK-NEXT: nap.exp
// CHECK-NEXT: nap.add
// CHECK: nap.kernel pointwise
// CHECK: nap.mul
// CHECK-NEXT: nap.exp
// CHECK-NEXT: nap.add
func.func @order(%x: tensor<96xf32>, %y: tensor<8x96xf32>) -> (tensor<96xf32>, tensor<8x96xf32>) {
  %0 = nap.mul %x, %x : tensor<96xf32>
  %1 = nap.exp %x : tensor<96xf32>
  %2 = nap.add %0, %1 : tensor<96xf32>
  %3 = nap.exp %y : tensor<8x96xf32>
  %4 = nap.mul %y, %y : tensor<8x96xf32>
  %5 = nap.add %4, %3 : tensor<8x96xf32>
  return %2, %5 : tensor<96xf32>, tensor<8x96xf32>
}
