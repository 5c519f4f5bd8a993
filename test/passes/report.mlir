// RUN: napkin-opt %s --nap-fuse=single-ops --nap-plan-memory --nap-report=device=h100 -o %t 2>&1 | FileCheck %s
// RUN: not napkin-opt %s --nap-report=device=pear -o %t 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// CHECK: PASS{{ +}}OPS{{ +}}MODEL{{ +}}HW{{ +}}VEC+CMP{{ +}}TRN{{ +}}B MIN{{ +}}B PLAN{{ +}}F/B{{ +}}ROOF{{ +}}SAVED{{ +}}PEAK
// CHECK: now{{ +}}4{{ +}}-{{ +}}33.55M{{ +}}131.1k{{ +}}65.54k{{ +}}2.359M{{ +}}2.359M{{ +}}14.31{{ +}}0.013{{ +}}-{{ +}}1.250
// Every class in MiB and in GB, with its share of all.
// CHECK: MEMORY after now{{ +}}MiB{{ +}}GB{{ +}}%
// CHECK: parameters{{ +}}0.250{{ +}}0.0003{{ +}}20.0{{$}}
// CHECK: optimizer state{{ +}}0.250{{ +}}0.0003{{ +}}20.0{{$}}
// CHECK: inputs and scalars{{ +}}0.250{{ +}}0.0003{{ +}}20.0{{$}}
// CHECK: = state{{ +}}0.750{{ +}}0.0008{{ +}}60.0{{$}}
// CHECK: saved activations at the peak
// CHECK: = arena{{ .*}}100.0{{$}}
// CHECK: peak at
// CHECK: TIME AT THE ROOF on H100 SXM
// CHECK: f32 summed in f32{{ +}}33.554 MFLOP at 67.000 TFLOP/s dense, ridge 20.0 FLOP/B
// 33554432 / 67e12 and (131071 + 16 * 65536) / 67e12 seconds; 2359300 / 3.35e12; 4 times 3 us.
// CHECK: contractions 0.001 ms, all arithmetic 0.001 ms, traffic 0.001 ms, 4 launches 0.012 ms
// CHECK: whole step 0.013 ms, at least 0.001 ms
// CHECK: TOP OPS by roof time
// CHECK: matmul{{ +}}1{{ +}}33.554 M{{ +}}786.432 k{{ +}}42.67{{ +}}compute
// CHECK: = all{{ +}}4{{ +}}33.751 M{{ .*}}100.0{{$}}
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
