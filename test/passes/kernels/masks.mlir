// What several kernels need of a draw, or of elementwise ops, is made again in each, unless the options say to store it.
// RUN: napkin-opt %s -split-input-file --nap-fuse | FileCheck %s
// RUN: napkin-opt %s -split-input-file --nap-fuse=store-masks=true | FileCheck %s --check-prefixes=MASK
// RUN: napkin-opt %s -split-input-file --nap-fuse=recompute=false | FileCheck %s --check-prefixes=OFF

// Dropout forward and backward: two draws, or a mask of a byte an element beside what the first kernel stores.
// CHECK-LABEL: func.func @dropout
// CHECK-COUNT-2: nap.random_uniform
// MASK-LABEL: func.func @dropout
// MASK: nap.kernel {{.*}} -> (tensor<64x96x{{(f32|i1)}}>, tensor<64x96x{{(f32|i1)}}>)
// MASK-COUNT-1: nap.random_uniform
// MASK: nap.einsum
// MASK: nap.kernel {{.*}}tensor<64x96xi1>{{.*}} -> tensor<64x96xf32>
// MASK-NOT: nap.random_uniform
// MASK: return
// OFF-LABEL: func.func @dropout
// OFF-COUNT-2: nap.random_uniform
func.func @dropout(%rng: tensor<4xi32>, %x: tensor<64x96xf32>, %w: tensor<96x96xf32>) -> (tensor<64x96xf32>, tensor<64x96xf32>) {
  %u = nap.random_uniform %rng site 7 : tensor<4xi32> -> tensor<64x96xf32>
  %p = nap.constant dense<0.1> : tensor<64x96xf32>
  %zero = nap.constant dense<0.0> : tensor<64x96xf32>
  %kept = nap.compare ge %u, %p : tensor<64x96xf32> -> tensor<64x96xi1>
  %y = nap.select %kept, %x, %zero : tensor<64x96xi1>, tensor<64x96xf32>
  %z = nap.einsum "bi,io->bo" %y, %w : (tensor<64x96xf32>, tensor<96x96xf32>) -> tensor<64x96xf32>
  %e = nap.exp %z : tensor<64x96xf32>
  %v = nap.einsum "bi,io->bo" %e, %w : (tensor<64x96xf32>, tensor<96x96xf32>) -> tensor<64x96xf32>
  %g = nap.select %kept, %v, %zero : tensor<64x96xi1>, tensor<64x96xf32>
  return %y, %g : tensor<64x96xf32>, tensor<64x96xf32>
}

// -----

// exp of an f32 has as many bytes as what it is made of; that of a bf16 in f32 has more and is made again.
// CHECK-LABEL: func.func @functions
// CHECK-COUNT-4: nap.exp
// OFF-LABEL: func.func @functions
// OFF-COUNT-3: nap.exp
// OFF-NOT: nap.exp
// OFF: return
func.func @functions(%x: tensor<64x96xf32>, %h: tensor<64x96xbf16>, %w: tensor<96x96xf32>) -> (tensor<64x96xf32>, tensor<64x96xf32>) {
  %wide = nap.cast %h : tensor<64x96xbf16> -> tensor<64x96xf32>
  %a = nap.exp %x : tensor<64x96xf32>
  %b = nap.exp %wide : tensor<64x96xf32>
  %square = nap.mul %a, %a : tensor<64x96xf32>
  %y = nap.add %square, %b : tensor<64x96xf32>
  %z = nap.einsum "bi,io->bo" %y, %w : (tensor<64x96xf32>, tensor<96x96xf32>) -> tensor<64x96xf32>
  %v = nap.einsum "bi,io->bo" %z, %w : (tensor<64x96xf32>, tensor<96x96xf32>) -> tensor<64x96xf32>
  %d = nap.mul %v, %a : tensor<64x96xf32>
  %g = nap.mul %d, %b : tensor<64x96xf32>
  return %y, %g : tensor<64x96xf32>, tensor<64x96xf32>
}
