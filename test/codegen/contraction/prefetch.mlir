// RUN: napkin-opt -nap-choose-schedules="vector-bytes=64 bf16-unit=fma" -nap-lower-kernels -cse -canonicalize %s | FileCheck %s --check-prefixes=F32,FMA
// RUN: napkin-opt -nap-choose-schedules="vector-bytes=64 bf16-unit=dot" -nap-lower-kernels -cse -canonicalize %s | FileCheck %s --check-prefixes=F32,PAIRS,DOT
// RUN: napkin-opt -nap-choose-schedules="vector-bytes=64 bf16-unit=amx" -nap-lower-kernels -cse -canonicalize %s | FileCheck %s --check-prefixes=F32,PAIRS,AMX
// Where a product asks for what its epilogue reads and writes: fused multiply-adds in shares of the loop
// over terms, of the tile's own rows; pairs of bf16 row by row in the epilogue, of the next tile's.

// F32-LABEL: func.func @rows(
// F32-SAME: [[X:%[^:]+]]: memref<24576xf32>, [[W:%[^:]+]]: memref<24576xf32>, [[R:%[^:]+]]: memref<9216xf32>, [[Y:%[^:]+]]: memref<9216xf32>
// The shares, and in each the turns over terms.
// F32: {{:24 = scf.for}}
// F32: memref.prefetch [[R]]{{.*}}, read, locality<3>
// F32: memref.prefetch [[Y]]{{.*}}, write, locality<3>
// F32: {{:24 = scf.for}}
// F32-NOT: memref.prefetch [[R]]
// F32-NOT: memref.prefetch [[Y]]
// F32: memref.prefetch [[X]]{{.*}}, read, locality<3>
// The next panel is still far away.
// F32: memref.prefetch [[W]]{{.*}}, read, locality<2>
// F32: math.fma
// Sums wait, and nothing is asked for while they are stored.
// F32: vector.store {{.*}} : memref<{{.*}}xf32>, vector<16xf32>
// F32: scf.for
// F32-NOT: memref.prefetch
// F32: vector.load [[R]]
// F32-NOT: memref.prefetch
// F32: vector.store {{.*}}, [[Y]]
nap.kernel_def contraction @rows {
^bb0(%x: tensor<96x256xf32>, %w: tensor<256x96xf32>, %r: tensor<96x96xf32>):
  %0 = nap.einsum "mk,kn->mn" %x, %w : (tensor<96x256xf32>, tensor<256x96xf32>) -> tensor<96x96xf32>
  %1 = nap.add %0, %r : tensor<96x96xf32>
  nap.yield %1 : tensor<96x96xf32>
}

// FMA-LABEL: func.func @rows_of_bf16(
// FMA-SAME: {{%[^:]+}}: memref<24576xbf16>, {{%[^:]+}}: memref<24576xbf16>, [[R:%[^:]+]]: memref<9216xbf16>, [[Y:%[^:]+]]: memref<9216xbf16>
// FMA: {{:24 = scf.for}}
// FMA: memref.prefetch [[R]]{{.*}}, read, locality<3>
// FMA: memref.prefetch [[Y]]{{.*}}, write, locality<3>
// FMA: {{:24 = scf.for}}
// FMA: math.fma
// FMA: vector.store {{.*}} : memref<{{.*}}xf32>, vector<16xf32>
// FMA: scf.for
// FMA-NOT: memref.prefetch
// FMA: vector.store {{.*}}, [[Y]]

// PAIRS-LABEL: func.func @rows_of_bf16(
// PAIRS-SAME: [[X:%[^:]+]]: memref<24576xbf16>, [[W:%[^:]+]]: memref<24576xbf16>, [[R:%[^:]+]]: memref<9216xbf16>, [[Y:%[^:]+]]: memref<9216xbf16>
// Both sides are packed.
// PAIRS: memref.prefetch [[W]]
// PAIRS: memref.prefetch [[X]]
// The terms have none between them.
// PAIRS-NOT: memref.prefetch
// DOT: llvm.x86.avx512bf16.dpbf16ps.512
// AMX: llvm.x86.tdpbf16ps
// PAIRS-NOT: memref.prefetch
// The tile that comes next: where this one is the last of its panel, the first of the next.
// PAIRS: arith.cmpi {{ule|uge}}
// PAIRS: arith.select
// PAIRS: memref.prefetch [[R]]{{.*}}, read, locality<3>
// PAIRS: memref.prefetch [[Y]]{{.*}}, write, locality<3>
// PAIRS: scf.for
// PAIRS-NOT: memref.prefetch
// PAIRS: vector.store {{.*}}, [[Y]]
nap.kernel_def contraction @rows_of_bf16 {
^bb0(%x: tensor<96x256xbf16>, %w: tensor<256x96xbf16>, %r: tensor<96x96xbf16>):
  %0 = nap.einsum "mk,kn->mn" %x, %w : (tensor<96x256xbf16>, tensor<256x96xbf16>) -> tensor<96x96xbf16>
  %1 = nap.add %0, %r : tensor<96x96xbf16>
  nap.yield %1 : tensor<96x96xbf16>
}
