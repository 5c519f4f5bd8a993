// RUN: napkin-opt %s --nap-mixed-precision | FileCheck %s

// CHECK: nap.declare parameter @w : tensor<7x5xf32>
// CHECK-NEXT: nap.declare working @"w#bf16" of @w : tensor<7x5xbf16>
nap.declare parameter @w : tensor<7x5xf32>
// CHECK-NEXT: nap.declare parameter @gain
// CHECK-NEXT: nap.declare input
nap.declare parameter @gain : tensor<5xf32>
nap.declare input @x : tensor<3x5xf32>
nap.declare state @"w#ema" of @w : tensor<7x5xf32>

// One cast a parameter and step, however many functions and ops read it.
// CHECK-LABEL: func.func @prepare
// CHECK-SAME: %[[W:.*]]: tensor<7x5xf32> {nap.of = @w}
// CHECK-SAME: -> (tensor<7x5xbf16> {nap.updates = @"w#bf16"})
// CHECK-NEXT: %[[COPY:.*]] = nap.cast %[[W]]
// CHECK-NEXT: return %[[COPY]]

// What a step reads in bf16 alone is read from the copy; what stays f32, from the parameter itself; an
// input is cast where it is read.
// CHECK-LABEL: func.func @micro_step
// CHECK-SAME: (%[[GAIN:.*]]: tensor<5xf32> {nap.of = @gain}, %[[X:.*]]: tensor<3x5xf32> {nap.of = @x}, %[[COPY:.*]]: tensor<7x5xbf16> {nap.of = @"w#bf16"})
func.func @micro_step(%w: tensor<7x5xf32> {nap.of = @w}, %gain: tensor<5xf32> {nap.of = @gain},
                      %x: tensor<3x5xf32> {nap.of = @x})
    -> (tensor<3x7xbf16> {nap.result = "output y"}, tensor<5xf32> {nap.result = "output z"}) {
  // CHECK-NEXT: %[[XN:.*]] = nap.cast %[[X]]
  // CHECK-NEXT: nap.einsum {{.*}} %[[XN]], %[[COPY]]
  // CHECK-NEXT: nap.einsum {{.*}} %[[XN]], %[[COPY]]
  // CHECK: nap.exp %[[GAIN]]
  %xn = nap.cast %x : tensor<3x5xf32> -> tensor<3x5xbf16>
  %a = nap.cast %w : tensor<7x5xf32> -> tensor<7x5xbf16>
  %b = nap.cast %w : tensor<7x5xf32> -> tensor<7x5xbf16>
  %y = nap.einsum "nd,vd->nv" %xn, %a : (tensor<3x5xbf16>, tensor<7x5xbf16>) -> tensor<3x7xbf16>
  %y2 = nap.einsum "nd,vd->nv" %xn, %b : (tensor<3x5xbf16>, tensor<7x5xbf16>) -> tensor<3x7xbf16>
  %sum = nap.add %y, %y2 : tensor<3x7xbf16>
  %z = nap.exp %gain : tensor<5xf32>
  return %sum, %z : tensor<3x7xbf16>, tensor<5xf32>
}

// An average is no parameter: evaluation casts it itself.
// CHECK-LABEL: func.func @evaluate
// CHECK-SAME: tensor<7x5xf32> {nap.of = @"w#ema"}
func.func @evaluate(%w: tensor<7x5xf32> {nap.of = @"w#ema"}, %x: tensor<3x5xf32> {nap.of = @x})
    -> (tensor<7x5xbf16> {nap.result = "output y"}) {
  // CHECK-NEXT: nap.cast
  %a = nap.cast %w : tensor<7x5xf32> -> tensor<7x5xbf16>
  return %a : tensor<7x5xbf16>
}
