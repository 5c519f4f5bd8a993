// RUN: napkin-opt %s -split-input-file --nap-fuse | FileCheck %s

// Bias and activation are computed of the product's registers; what backward wants is one more result.
// CHECK-LABEL: func.func @bias_and_activation
// CHECK: nap.kernel contraction {{.*}} -> (tensor<32x48xf32>, tensor<32x48xf32>)
// CHECK: nap.einsum
// CHECK: nap.tanh
// CHECK-NOT: nap.kernel
// CHECK: return
func.func @bias_and_activation(%x: tensor<32x64xf32>, %w: tensor<64x48xf32>, %b: tensor<48xf32>)
    -> (tensor<32x48xf32>, tensor<32x48xf32>) {
  %0 = nap.einsum "ij,jk->ik" %x, %w : (tensor<32x64xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  %1 = nap.broadcast %b [1] : tensor<48xf32> -> tensor<32x48xf32>
  %2 = nap.add %0, %1 : tensor<32x48xf32>
  %3 = nap.tanh %2 : tensor<32x48xf32>
  return %2, %3 : tensor<32x48xf32>, tensor<32x48xf32>
}

// -----

// A product that another kernel reads too, along columns, is stored beside what is computed of it.
// CHECK-LABEL: func.func @two_readers
// CHECK: %[[K:.+]]:2 = nap.kernel contraction
// CHECK: nap.exp
// CHECK: nap.kernel reduction {{.*}}(%[[K]]#1)
// CHECK: return
func.func @two_readers(%x: tensor<32x64xf32>, %w: tensor<64x48xf32>) -> (tensor<32x48xf32>, tensor<48xf32>) {
  %0 = nap.einsum "ij,jk->ik" %x, %w : (tensor<32x64xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  %1 = nap.exp %0 : tensor<32x48xf32>
  %2 = nap.reduce sum %0 [0] : tensor<32x48xf32> -> tensor<48xf32>
  return %1, %2 : tensor<32x48xf32>, tensor<48xf32>
}

// -----

// An epilogue that would wait for another reader of the product is none of it; the second product
// takes it in.
// CHECK-LABEL: func.func @no_circle
// CHECK: %[[A:.+]] = nap.kernel contraction "matmul"(
// CHECK-NOT: nap.add
// CHECK: nap.kernel contraction "matmul_add"(%[[A]],
// CHECK: nap.add
// CHECK: return
func.func @no_circle(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = nap.einsum "ij,jk->ik" %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = nap.einsum "ij,jk->ik" %0, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = nap.add %0, %1 : tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}

// -----

// What reads the product at another place reads memory.
// CHECK-LABEL: func.func @reversed
// CHECK: nap.kernel contraction "matmul"(
// CHECK: nap.kernel pointwise
// CHECK: return
func.func @reversed(%x: tensor<32x64xf32>, %w: tensor<64x48xf32>) -> tensor<32x48xf32> {
  %0 = nap.einsum "ij,jk->ik" %x, %w : (tensor<32x64xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  %1 = nap.slice %0 [31, 0] step [-1, 1] : tensor<32x48xf32> -> tensor<32x48xf32>
  %2 = nap.add %0, %1 : tensor<32x48xf32>
  return %2 : tensor<32x48xf32>
}
