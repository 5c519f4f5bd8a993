// RUN: napkin-opt %s --nap-fuse --nap-plan-memory | FileCheck %s

// A micro-batch's gradient is added where the sum lies.
// CHECK: gradient @"w#gradient" of @w {nap.offset = [[$AT:[0-9]+]] : i64}
// CHECK-LABEL: func.func @accumulate
// CHECK: nap.kernel contraction "matmul_add"
// CHECK-SAME: nap.offsets = array<i64: [[$AT]]>
nap.declare parameter @w : tensor<64x48xf32>
nap.declare gradient @"w#gradient" of @w : tensor<64x48xf32>
nap.declare input @x : tensor<32x64xf32>
nap.declare input @dy : tensor<32x48xf32>
func.func @accumulate(%g: tensor<64x48xf32> {nap.gradient_of = @w}, %x: tensor<32x64xf32> {nap.of = @x},
                      %dy: tensor<32x48xf32> {nap.of = @dy}) -> (tensor<64x48xf32> {nap.gradient_of = @w}) {
  %0 = nap.einsum "ij,ik->jk" %x, %dy : (tensor<32x64xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  %1 = nap.add %g, %0 : tensor<64x48xf32>
  return %1 : tensor<64x48xf32>
}
