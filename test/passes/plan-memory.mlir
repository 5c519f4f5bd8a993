// RUN: napkin-opt %s -split-input-file --nap-fuse=single-ops --nap-plan-memory | FileCheck %s

// Declared tensors come first, by role; the arena is a multiple of 256 bytes.
// CHECK: module attributes {nap.arena_bytes = 1280 : i64}
// CHECK-DAG: input @x {nap.offset = 768 : i64}
// CHECK-DAG: state @"w#m" of @w {nap.offset = 512 : i64}
// CHECK-DAG: parameter @w {nap.offset = 0 : i64}
// CHECK-LABEL: func.func @train_step
// The update reads the old version element by element, so it is written over it.
// CHECK: "add"
// CHECK-SAME: nap.offsets = array<i64: 0>
nap.declare input @x : tensor<100xf32>
nap.declare state @"w#m" of @w : tensor<3xf32>
nap.declare parameter @w : tensor<100xf32>
func.func @train_step(%w: tensor<100xf32> {nap.of = @w}, %x: tensor<100xf32> {nap.of = @x})
    -> (tensor<100xf32> {nap.updates = @w}) {
  %0 = nap.add %w, %x : tensor<100xf32>
  return %0 : tensor<100xf32>
}

// -----

// Readers of the old version come first, wherever they stand.
// CHECK-LABEL: func.func @early_reader
// CHECK: nap.kernel pointwise "exp"
// CHECK: nap.kernel pointwise "neg"
// CHECK-SAME: nap.offsets = array<i64: 0>
// CHECK-NOT: "copy"
nap.declare parameter @w : tensor<3xf32>
func.func @early_reader(%w: tensor<3xf32> {nap.of = @w})
    -> (tensor<3xf32> {nap.updates = @w}, tensor<3xf32> {nap.result = "output e"}) {
  %0 = nap.neg %w : tensor<3xf32>
  %1 = nap.exp %w : tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}

// -----

// One that needs the new version too comes after it: the new one is kept aside and copied at the end.
// CHECK-LABEL: func.func @late_reader
// CHECK: %[[NEW:.+]] = nap.kernel pointwise "neg"
// CHECK-SAME: nap.offsets = array<i64: 256>
// CHECK: %[[LATE:.+]] = nap.kernel pointwise "add"
// CHECK-SAME: nap.offsets = array<i64: 512>
// CHECK: %[[COPY:.+]] = nap.kernel pointwise "copy"(%[[NEW]])
// CHECK-SAME: nap.dies = array<i64: 0>, nap.offsets = array<i64: 0>
// CHECK: return %[[COPY]], %[[LATE]]
nap.declare parameter @w : tensor<3xf32>
func.func @late_reader(%w: tensor<3xf32> {nap.of = @w})
    -> (tensor<3xf32> {nap.updates = @w}, tensor<3xf32> {nap.result = "output e"}) {
  %0 = nap.neg %w : tensor<3xf32>
  %1 = nap.add %0, %w : tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}

// -----

// A reader at other places than it writes may not write over what it reads.
// CHECK-LABEL: func.func @transposed_update
// CHECK: %[[NEW:.+]] = nap.kernel pointwise "neg"
// CHECK-SAME: nap.offsets = array<i64: 256>
// CHECK: nap.kernel pointwise "copy"(%[[NEW]])
// CHECK-SAME: nap.offsets = array<i64: 0>
nap.declare parameter @w : tensor<3x3xf32>
func.func @transposed_update(%w: tensor<3x3xf32> {nap.of = @w})
    -> (tensor<3x3xf32> {nap.updates = @w}) {
  %0 = nap.permute %w [1, 0] : tensor<3x3xf32> -> tensor<3x3xf32>
  %1 = nap.neg %0 : tensor<3x3xf32>
  return %1 : tensor<3x3xf32>
}

// -----

// Two parameters that exchange their values: both copies come after both readers.
// CHECK-LABEL: func.func @exchange
// CHECK: "neg"
// CHECK-SAME: nap.offsets = array<i64: 512>
// CHECK: "exp"
// CHECK-SAME: nap.offsets = array<i64: 256>
// CHECK: "copy"
// CHECK-SAME: nap.offsets = array<i64: 0>
nap.declare parameter @a : tensor<3xf32>
nap.declare parameter @b : tensor<3xf32>
func.func @exchange(%a: tensor<3xf32> {nap.of = @a}, %b: tensor<3xf32> {nap.of = @b})
    -> (tensor<3xf32> {nap.updates = @a}, tensor<3xf32> {nap.updates = @b}) {
  %0 = nap.neg %b : tensor<3xf32>
  %1 = nap.exp %a : tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}

// -----

// A chain takes over the storage of its input; an input that another reads later keeps it.
// CHECK-LABEL: func.func @chain
// CHECK: "exp"
// CHECK-SAME: nap.dies = array<i64>, nap.offsets = array<i64: 256>
// CHECK: "neg"
// CHECK-SAME: nap.dies = array<i64>, nap.offsets = array<i64: 512>
// CHECK: "add"
// CHECK-SAME: nap.dies = array<i64: 1>, nap.offsets = array<i64: 256>
nap.declare input @x : tensor<3xf32>
func.func @chain(%x: tensor<3xf32> {nap.of = @x}) -> (tensor<3xf32> {nap.result = "output y"}) {
  %0 = nap.exp %x : tensor<3xf32>
  %1 = nap.neg %0 : tensor<3xf32>
  %2 = nap.add %0, %1 : tensor<3xf32>
  return %2 : tensor<3xf32>
}

// -----

// Functions overlay the transient part: the arena is that of the larger one.
// CHECK: module attributes {nap.arena_bytes = 1024 : i64}
// CHECK-LABEL: func.func @small
// CHECK: nap.offsets = array<i64: 256>
// CHECK-LABEL: func.func @large
// CHECK: nap.offsets = array<i64: 256>
// CHECK: nap.offsets = array<i64: 768>
nap.declare input @x : tensor<3xf32>
func.func @small(%x: tensor<3xf32> {nap.of = @x}) -> (tensor<f32> {nap.result = "loss"}) {
  %0 = nap.reduce sum %x [0] : tensor<3xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @large(%x: tensor<3xf32> {nap.of = @x})
    -> (tensor<100xf32> {nap.result = "output b"}, tensor<f32> {nap.result = "loss"}) {
  %0 = nap.slice %x [0] step [1] : tensor<3xf32> -> tensor<1xf32>
  %1 = nap.reshape %0 : tensor<1xf32> -> tensor<f32>
  %2 = nap.broadcast %1 [] : tensor<f32> -> tensor<100xf32>
  %3 = nap.exp %2 : tensor<100xf32>
  %4 = nap.reduce sum %3 [0] : tensor<100xf32> -> tensor<f32>
  return %3, %4 : tensor<100xf32>, tensor<f32>
}

// -----

// A bool is one byte; a result that nobody reads dies where it is written.
// CHECK-LABEL: func.func @bools
// CHECK: "compare"
// CHECK: "top_k"
// CHECK-SAME: nap.dies = array<i64: 2>
nap.declare input @x : tensor<300xf32>
func.func @bools(%x: tensor<300xf32> {nap.of = @x})
    -> (tensor<300xi1> {nap.result = "output p"}, tensor<2xf32> {nap.result = "output v"}) {
  %0 = nap.constant dense<0.0> : tensor<300xf32>
  %1 = nap.compare gt %x, %0 : tensor<300xf32> -> tensor<300xi1>
  %v, %i = nap.top_k %x : tensor<300xf32> -> tensor<2xf32>, tensor<2xi32>
  return %1, %v : tensor<300xi1>, tensor<2xf32>
}

// -----

// What is added to a sum is read where the sum is written: gradients accumulate in place.
// CHECK-LABEL: func.func @accumulate
// CHECK: nap.kernel reduction
// CHECK-SAME: nap.offsets = array<i64: 256>
// CHECK-NOT: nap.kernel
// CHECK: return
nap.declare parameter @w : tensor<3xf32>
nap.declare gradient @"w#g" of @w : tensor<3xf32>
nap.declare input @x : tensor<7x3xf32>
func.func @accumulate(%g: tensor<3xf32> {nap.of = @"w#g"}, %x: tensor<7x3xf32> {nap.of = @x})
    -> (tensor<3xf32> {nap.updates = @"w#g"}) {
  %0 = nap.kernel reduction "sum_add" (%g, %x) : (tensor<3xf32>, tensor<7x3xf32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<3xf32>, %b: tensor<7x3xf32>):
    %s = nap.reduce sum %b [0] : tensor<7x3xf32> -> tensor<3xf32>
    %y = nap.add %a, %s : tensor<3xf32>
    nap.yield %y : tensor<3xf32>
  }
  return %0 : tensor<3xf32>
}

// -----

// Sums that go on from a tensor that nobody reads afterwards are written over it: a product's, a scatter's; not
// where the tensor is a factor too.
// CHECK-LABEL: func.func @sums_in_place
// CHECK: %[[A:.+]] = nap.kernel pointwise "neg"
// CHECK-SAME: nap.offsets = array<i64: [[PLACE:[0-9]+]]>
// CHECK: %[[B:.+]] = nap.kernel contraction "matmul"{{.*}}%[[A]])
// CHECK-SAME: nap.offsets = array<i64: [[PLACE]]>
// CHECK: %[[C:.+]] = nap.kernel scatter "scatter_add"{{.*}}%[[B]])
// CHECK-SAME: nap.offsets = array<i64: [[PLACE]]>
// CHECK: nap.kernel contraction "matmul"(%[[C]])
// CHECK-NOT: nap.offsets = array<i64: [[PLACE]]>
// CHECK: return
nap.declare parameter @w : tensor<5x5xf32>
nap.declare input @rows : tensor<3x5xf32>
nap.declare input @ids : tensor<3xi32>
func.func @sums_in_place(%w: tensor<5x5xf32> {nap.of = @w}, %rows: tensor<3x5xf32> {nap.of = @rows}, %ids: tensor<3xi32> {nap.of = @ids})
    -> (tensor<5x5xf32> {nap.result = "output y"}) {
  %a = nap.neg %w : tensor<5x5xf32>
  %b = nap.einsum "ra,rb->ab" %rows, %rows init %a : (tensor<3x5xf32>, tensor<3x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32>
  %c = nap.scatter_add %rows, %ids into %b : tensor<3x5xf32>, tensor<3xi32>, tensor<5x5xf32> -> tensor<5x5xf32>
  %d = nap.einsum "ab,bc->ac" %c, %c init %c : (tensor<5x5xf32>, tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32>
  return %d : tensor<5x5xf32>
}
