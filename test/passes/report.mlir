// RUN: napkin-opt %s --nap-fuse=single-ops --nap-plan-memory --nap-report=device=h100 -o %t 2>&1 | FileCheck %s
// RUN: not napkin-opt %s --nap-report=device=pear -o %t 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// CHECK: PASS{{ +}}OPS{{ +}}MODEL FLOP{{ +}}HW FLOP{{ +}}VEC+CMP{{ +}}TRN{{ +}}BYTES MIN{{ +}}FLOP/B{{ +}}PEAK MiB
// CHECK: now{{ +}}4{{ +}}-{{ +}}33.554 M{{ +}}131.071 k{{ +}}65.536 k{{ +}}2.359 M{{ +}}14.31{{ +}}1.250
// CHECK: MEMORY after now, MiB
// CHECK: parameters{{ +}}0.250{{$}}
// CHECK: optimizer state{{ +}}0.250{{$}}
// CHECK: inputs and scalars{{ +}}0.250{{$}}
// CHECK: = state{{ +}}0.750{{$}}
// CHECK: saved activations at the peak
// CHECK: = arena
// CHECK: peak at
// CHECK: TIME AT THE ROOF on H100 SXM (67.000 TFLOP/s, 3.350 TB/s, 80 GB)
// CHECK: contractions 0.001 ms, whole step
// CHECK: TOP OPS by roof time
// CHECK: matmul{{ +}}1{{ +}}33.554 M{{ +}}786.432 k{{ +}}42.67{{ +}}compute
// UNKNOWN: error: unknown device 'pear'
module attributes {nap.model = "m"} {
  nap.declare parameter @w : tensor<256x256xf32>
  nap.declare state @"w#m" of @w : tensor<256x256xf32>
  nap.declare input @x : tensor<256x256xf32>
  func.func @train_step(%w: tensor<256x256xf32> {nap.of = @w}, %m: tensor<256x256xf32> {nap.of = @"w#m"},
                  %x: tensor<256x256xf32> {nap.of = @x})
      -> (tensor<f32> {nap.result = "loss"}, tensor<256x256xf32> {nap.updates = @"w#m"}) {
    %0 = nap.einsum "ij,jk->ik" %x, %w : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    %1 = nap.tanh %0 : tensor<256x256xf32>
    %2 = nap.reduce sum %1 [0, 1] : tensor<256x256xf32> -> tensor<f32>
    %3 = nap.mul %m, %0 : tensor<256x256xf32>
    return %2, %3 : tensor<f32>, tensor<256x256xf32>
  }
}
