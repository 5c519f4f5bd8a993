// RUN: %unit/run-kernel %s | FileCheck %s
// RUN: %unit/run-kernel %s --cuda-host | FileCheck %s

// Rows of one phase and more, with results of one element a row: bit for bit, however tasks are called.

// A residual sum and its layer_norm.
// CHECK: layer_norm_37: {{.*}} equal
nap.kernel_def reduction @layer_norm_37 {
^bb0(%a: tensor<5x37xf32>, %b: tensor<5x37xf32>, %gain: tensor<37xf32>, %bias: tensor<37xf32>):
  %n = nap.constant dense<37.0> : tensor<5xf32>
  %eps = nap.constant dense<1.0e-5> : tensor<5xf32>
  %x = nap.add %a, %b : tensor<5x37xf32>
  %sum = nap.reduce sum %x [1] : tensor<5x37xf32> -> tensor<5xf32>
  %mean = nap.div %sum, %n : tensor<5xf32>
  %mean_ = nap.broadcast %mean [0] : tensor<5xf32> -> tensor<5x37xf32>
  %centred = nap.sub %x, %mean_ : tensor<5x37xf32>
  %square = nap.mul %centred, %centred : tensor<5x37xf32>
  %squares = nap.reduce sum %square [1] : tensor<5x37xf32> -> tensor<5xf32>
  %variance = nap.div %squares, %n : tensor<5xf32>
  %more = nap.add %variance, %eps : tensor<5xf32>
  %root = nap.sqrt %more : tensor<5xf32>
  %one = nap.constant dense<1.0> : tensor<5xf32>
  %scale = nap.div %one, %root : tensor<5xf32>
  %scale_ = nap.broadcast %scale [0] : tensor<5xf32> -> tensor<5x37xf32>
  %normal = nap.mul %centred, %scale_ : tensor<5x37xf32>
  %gain_ = nap.broadcast %gain [1] : tensor<37xf32> -> tensor<5x37xf32>
  %bias_ = nap.broadcast %bias [1] : tensor<37xf32> -> tensor<5x37xf32>
  %scaled = nap.mul %normal, %gain_ : tensor<5x37xf32>
  %y = nap.add %scaled, %bias_ : tensor<5x37xf32>
  nap.yield %mean, %y, %scale, %x : tensor<5xf32>, tensor<5x37xf32>, tensor<5xf32>, tensor<5x37xf32>
}

// A residual sum and its layer_norm.
// CHECK: layer_norm_4097: {{.*}} equal
nap.kernel_def reduction @layer_norm_4097 {
^bb0(%a: tensor<5x4097xf32>, %b: tensor<5x4097xf32>, %gain: tensor<4097xf32>, %bias: tensor<4097xf32>):
  %n = nap.constant dense<4097.0> : tensor<5xf32>
  %eps = nap.constant dense<1.0e-5> : tensor<5xf32>
  %x = nap.add %a, %b : tensor<5x4097xf32>
  %sum = nap.reduce sum %x [1] : tensor<5x4097xf32> -> tensor<5xf32>
  %mean = nap.div %sum, %n : tensor<5xf32>
  %mean_ = nap.broadcast %mean [0] : tensor<5xf32> -> tensor<5x4097xf32>
  %centred = nap.sub %x, %mean_ : tensor<5x4097xf32>
  %square = nap.mul %centred, %centred : tensor<5x4097xf32>
  %squares = nap.reduce sum %square [1] : tensor<5x4097xf32> -> tensor<5xf32>
  %variance = nap.div %squares, %n : tensor<5xf32>
  %more = nap.add %variance, %eps : tensor<5xf32>
  %root = nap.sqrt %more : tensor<5xf32>
  %one = nap.constant dense<1.0> : tensor<5xf32>
  %scale = nap.div %one, %root : tensor<5xf32>
  %scale_ = nap.broadcast %scale [0] : tensor<5xf32> -> tensor<5x4097xf32>
  %normal = nap.mul %centred, %scale_ : tensor<5x4097xf32>
  %gain_ = nap.broadcast %gain [1] : tensor<4097xf32> -> tensor<5x4097xf32>
  %bias_ = nap.broadcast %bias [1] : tensor<4097xf32> -> tensor<5x4097xf32>
  %scaled = nap.mul %normal, %gain_ : tensor<5x4097xf32>
  %y = nap.add %scaled, %bias_ : tensor<5x4097xf32>
  nap.yield %mean, %y, %scale, %x : tensor<5xf32>, tensor<5x4097xf32>, tensor<5xf32>, tensor<5x4097xf32>
}

// A residual sum and its layer_norm.
// CHECK: layer_norm_5000: {{.*}} equal
nap.kernel_def reduction @layer_norm_5000 {
^bb0(%a: tensor<5x5000xf32>, %b: tensor<5x5000xf32>, %gain: tensor<5000xf32>, %bias: tensor<5000xf32>):
  %n = nap.constant dense<5000.0> : tensor<5xf32>
  %eps = nap.constant dense<1.0e-5> : tensor<5xf32>
  %x = nap.add %a, %b : tensor<5x5000xf32>
  %sum = nap.reduce sum %x [1] : tensor<5x5000xf32> -> tensor<5xf32>
  %mean = nap.div %sum, %n : tensor<5xf32>
  %mean_ = nap.broadcast %mean [0] : tensor<5xf32> -> tensor<5x5000xf32>
  %centred = nap.sub %x, %mean_ : tensor<5x5000xf32>
  %square = nap.mul %centred, %centred : tensor<5x5000xf32>
  %squares = nap.reduce sum %square [1] : tensor<5x5000xf32> -> tensor<5xf32>
  %variance = nap.div %squares, %n : tensor<5xf32>
  %more = nap.add %variance, %eps : tensor<5xf32>
  %root = nap.sqrt %more : tensor<5xf32>
  %one = nap.constant dense<1.0> : tensor<5xf32>
  %scale = nap.div %one, %root : tensor<5xf32>
  %scale_ = nap.broadcast %scale [0] : tensor<5xf32> -> tensor<5x5000xf32>
  %normal = nap.mul %centred, %scale_ : tensor<5x5000xf32>
  %gain_ = nap.broadcast %gain [1] : tensor<5000xf32> -> tensor<5x5000xf32>
  %bias_ = nap.broadcast %bias [1] : tensor<5000xf32> -> tensor<5x5000xf32>
  %scaled = nap.mul %normal, %gain_ : tensor<5x5000xf32>
  %y = nap.add %scaled, %bias_ : tensor<5x5000xf32>
  nap.yield %mean, %y, %scale, %x : tensor<5xf32>, tensor<5x5000xf32>, tensor<5xf32>, tensor<5x5000xf32>
}

// A residual sum and its layer_norm.
// CHECK: layer_norm_wide: {{.*}} equal
nap.kernel_def reduction @layer_norm_wide {
^bb0(%a: tensor<3x768xf32>, %b: tensor<3x768xf32>, %gain: tensor<768xf32>, %bias: tensor<768xf32>):
  %n = nap.constant dense<768.0> : tensor<3xf32>
  %eps = nap.constant dense<1.0e-5> : tensor<3xf32>
  %x = nap.add %a, %b : tensor<3x768xf32>
  %sum = nap.reduce sum %x [1] : tensor<3x768xf32> -> tensor<3xf32>
  %mean = nap.div %sum, %n : tensor<3xf32>
  %mean_ = nap.broadcast %mean [0] : tensor<3xf32> -> tensor<3x768xf32>
  %centred = nap.sub %x, %mean_ : tensor<3x768xf32>
  %square = nap.mul %centred, %centred : tensor<3x768xf32>
  %squares = nap.reduce sum %square [1] : tensor<3x768xf32> -> tensor<3xf32>
  %variance = nap.div %squares, %n : tensor<3xf32>
  %more = nap.add %variance, %eps : tensor<3xf32>
  %root = nap.sqrt %more : tensor<3xf32>
  %one = nap.constant dense<1.0> : tensor<3xf32>
  %scale = nap.div %one, %root : tensor<3xf32>
  %scale_ = nap.broadcast %scale [0] : tensor<3xf32> -> tensor<3x768xf32>
  %normal = nap.mul %centred, %scale_ : tensor<3x768xf32>
  %gain_ = nap.broadcast %gain [1] : tensor<768xf32> -> tensor<3x768xf32>
  %bias_ = nap.broadcast %bias [1] : tensor<768xf32> -> tensor<3x768xf32>
  %scaled = nap.mul %normal, %gain_ : tensor<3x768xf32>
  %y = nap.add %scaled, %bias_ : tensor<3x768xf32>
  nap.yield %mean, %y, %scale, %x : tensor<3xf32>, tensor<3x768xf32>, tensor<3xf32>, tensor<3x768xf32>
}

// Three phases, as of a softmax; a square stands for the exponential, which the interpreter rounds otherwise.
// CHECK: softmax_2: {{.*}} equal
nap.kernel_def reduction @softmax_2 {
^bb0(%x: tensor<3x5x2xf32>):
  %top = nap.reduce max %x [2] : tensor<3x5x2xf32> -> tensor<3x5xf32>
  %top_ = nap.broadcast %top [0, 1] : tensor<3x5xf32> -> tensor<3x5x2xf32>
  %below = nap.sub %x, %top_ : tensor<3x5x2xf32>
  %e = nap.mul %below, %below : tensor<3x5x2xf32>
  %sum = nap.reduce sum %e [2] : tensor<3x5x2xf32> -> tensor<3x5xf32>
  %sum_ = nap.broadcast %sum [0, 1] : tensor<3x5xf32> -> tensor<3x5x2xf32>
  %y = nap.div %e, %sum_ : tensor<3x5x2xf32>
  nap.yield %y, %sum, %top : tensor<3x5x2xf32>, tensor<3x5xf32>, tensor<3x5xf32>
}

// CHECK: softmax_37: {{.*}} equal
nap.kernel_def reduction @softmax_37 {
^bb0(%x: tensor<2x3x37xf32>):
  %top = nap.reduce max %x [2] : tensor<2x3x37xf32> -> tensor<2x3xf32>
  %top_ = nap.broadcast %top [0, 1] : tensor<2x3xf32> -> tensor<2x3x37xf32>
  %below = nap.sub %x, %top_ : tensor<2x3x37xf32>
  %e = nap.mul %below, %below : tensor<2x3x37xf32>
  %sum = nap.reduce sum %e [2] : tensor<2x3x37xf32> -> tensor<2x3xf32>
  %sum_ = nap.broadcast %sum [0, 1] : tensor<2x3xf32> -> tensor<2x3x37xf32>
  %y = nap.div %e, %sum_ : tensor<2x3x37xf32>
  nap.yield %y, %sum, %top : tensor<2x3x37xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK: softmax_4097: {{.*}} equal
nap.kernel_def reduction @softmax_4097 {
^bb0(%x: tensor<3x4097xf32>):
  %top = nap.reduce max %x [1] : tensor<3x4097xf32> -> tensor<3xf32>
  %top_ = nap.broadcast %top [0] : tensor<3xf32> -> tensor<3x4097xf32>
  %below = nap.sub %x, %top_ : tensor<3x4097xf32>
  %e = nap.mul %below, %below : tensor<3x4097xf32>
  %sum = nap.reduce sum %e [1] : tensor<3x4097xf32> -> tensor<3xf32>
  %sum_ = nap.broadcast %sum [0] : tensor<3xf32> -> tensor<3x4097xf32>
  %y = nap.div %e, %sum_ : tensor<3x4097xf32>
  nap.yield %y, %sum, %top : tensor<3x4097xf32>, tensor<3xf32>, tensor<3xf32>
}

// CHECK: softmax_5000: {{.*}} equal
nap.kernel_def reduction @softmax_5000 {
^bb0(%x: tensor<2x5000xf32>):
  %top = nap.reduce max %x [1] : tensor<2x5000xf32> -> tensor<2xf32>
  %top_ = nap.broadcast %top [0] : tensor<2xf32> -> tensor<2x5000xf32>
  %below = nap.sub %x, %top_ : tensor<2x5000xf32>
  %e = nap.mul %below, %below : tensor<2x5000xf32>
  %sum = nap.reduce sum %e [1] : tensor<2x5000xf32> -> tensor<2xf32>
  %sum_ = nap.broadcast %sum [0] : tensor<2xf32> -> tensor<2x5000xf32>
  %y = nap.div %e, %sum_ : tensor<2x5000xf32>
  nap.yield %y, %sum, %top : tensor<2x5000xf32>, tensor<2xf32>, tensor<2xf32>
}

// CHECK: softmax_32: {{.*}} equal
nap.kernel_def reduction @softmax_32 {
^bb0(%x: tensor<4x16x32xf32>):
  %top = nap.reduce max %x [2] : tensor<4x16x32xf32> -> tensor<4x16xf32>
  %top_ = nap.broadcast %top [0, 1] : tensor<4x16xf32> -> tensor<4x16x32xf32>
  %below = nap.sub %x, %top_ : tensor<4x16x32xf32>
  %e = nap.mul %below, %below : tensor<4x16x32xf32>
  %sum = nap.reduce sum %e [2] : tensor<4x16x32xf32> -> tensor<4x16xf32>
  %sum_ = nap.broadcast %sum [0, 1] : tensor<4x16xf32> -> tensor<4x16x32xf32>
  %y = nap.div %e, %sum_ : tensor<4x16x32xf32>
  nap.yield %y, %sum, %top : tensor<4x16x32xf32>, tensor<4x16xf32>, tensor<4x16xf32>
}

// A row of the last axis alone, in a space of rows that a reshape cuts elsewhere.
// CHECK: reshaped: {{.*}} equal
nap.kernel_def reduction @reshaped {
^bb0(%x: tensor<2x3x37xf32>):
  %sum = nap.reduce sum %x [2] : tensor<2x3x37xf32> -> tensor<2x3xf32>
  %flat = nap.reshape %sum : tensor<2x3xf32> -> tensor<6x1xf32>
  %sum_ = nap.broadcast %sum [0, 1] : tensor<2x3xf32> -> tensor<2x3x37xf32>
  %y = nap.div %x, %sum_ : tensor<2x3x37xf32>
  nap.yield %flat, %y : tensor<6x1xf32>, tensor<2x3x37xf32>
}

// Sums over rows that read the same columns.
// CHECK: columns: {{.*}} equal
nap.kernel_def reduction @columns {
^bb0(%dy: tensor<3x70x37xf32>, %x: tensor<3x70x37xf32>, %scale: tensor<3x70xf32>):
  %scale_ = nap.broadcast %scale [0, 1] : tensor<3x70xf32> -> tensor<3x70x37xf32>
  %normal = nap.mul %x, %scale_ : tensor<3x70x37xf32>
  %product = nap.mul %dy, %normal : tensor<3x70x37xf32>
  %gain = nap.reduce sum %product [0, 1] : tensor<3x70x37xf32> -> tensor<37xf32>
  %bias = nap.reduce sum %dy [0, 1] : tensor<3x70x37xf32> -> tensor<37xf32>
  nap.yield %gain, %bias : tensor<37xf32>, tensor<37xf32>
}

// CHECK: wide_columns: {{.*}} equal
nap.kernel_def reduction @wide_columns {
^bb0(%dy: tensor<130x192xf32>, %x: tensor<130x192xf32>, %scale: tensor<130xf32>):
  %scale_ = nap.broadcast %scale [0] : tensor<130xf32> -> tensor<130x192xf32>
  %normal = nap.mul %x, %scale_ : tensor<130x192xf32>
  %product = nap.mul %dy, %normal : tensor<130x192xf32>
  %gain = nap.reduce sum %product [0] : tensor<130x192xf32> -> tensor<192xf32>
  %bias = nap.reduce sum %dy [0] : tensor<130x192xf32> -> tensor<192xf32>
  nap.yield %gain, %bias : tensor<192xf32>, tensor<192xf32>
}

// Results that reductions of the same row read, one of them made of a reduction itself.
// CHECK: kept_twice: {{.*}} equal
nap.kernel_def reduction @kept_twice {
^bb0(%a: tensor<3x2x149xf32>, %b: tensor<3x2x149xf32>):
  %x = nap.add %a, %b : tensor<3x2x149xf32>
  %sum = nap.reduce sum %x [2] : tensor<3x2x149xf32> -> tensor<3x2xf32>
  %sum_ = nap.broadcast %sum [0, 1] : tensor<3x2xf32> -> tensor<3x2x149xf32>
  %y = nap.sub %x, %sum_ : tensor<3x2x149xf32>
  %square = nap.mul %y, %y : tensor<3x2x149xf32>
  %squares = nap.reduce sum %square [2] : tensor<3x2x149xf32> -> tensor<3x2xf32>
  %top = nap.reduce max %y [2] : tensor<3x2x149xf32> -> tensor<3x2xf32>
  %squares_ = nap.broadcast %squares [0, 1] : tensor<3x2xf32> -> tensor<3x2x149xf32>
  %z = nap.div %y, %squares_ : tensor<3x2x149xf32>
  nap.yield %z, %y, %top, %x : tensor<3x2x149xf32>, tensor<3x2x149xf32>, tensor<3x2xf32>, tensor<3x2x149xf32>
}

// A result that a sum over the rows reads is no row's own: it is computed again for that sum.
// CHECK: read_across: {{.*}} equal
nap.kernel_def reduction @read_across {
^bb0(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>):
  %x = nap.add %a, %b : tensor<16x16xf32>
  %sum = nap.reduce sum %x [0] : tensor<16x16xf32> -> tensor<16xf32>
  %sum_ = nap.broadcast %sum [0] : tensor<16xf32> -> tensor<16x16xf32>
  %y = nap.sub %x, %sum_ : tensor<16x16xf32>
  nap.yield %x, %y : tensor<16x16xf32>, tensor<16x16xf32>
}
