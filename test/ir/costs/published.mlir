// Costs of single ops against values that others have published or derived.
// RUN: nap-print-cost %s | FileCheck %s
// RUN: napkin-opt %s --nap-annotate-cost | nap-print-cost --bytes - | FileCheck %s --check-prefix=BYTES

// openxla/xla, hlo_cost_analysis_test.cc: a fused multiply-add is 2; operands and result move once.
// CHECK: @xlaMatmul mm 3000 vec 0
// BYTES: @xlaMatmul bytes 2000
func.func @xlaMatmul(%a: tensor<10x5xf32>, %b: tensor<5x30xf32>) -> tensor<10x30xf32> {
  %c = nap.einsum "mk,kn->mn" %a, %b : (tensor<10x5xf32>, tensor<5x30xf32>) -> tensor<10x30xf32>
  return %c : tensor<10x30xf32>
}

// BYTES: @xlaDotGeneral bytes 10000
func.func @xlaDotGeneral(%a: tensor<10x5x5xf32>, %b: tensor<5x5x30xf32>) -> tensor<10x5x30xf32> {
  %c = nap.einsum "mbk,bkn->mbn" %a, %b : (tensor<10x5x5xf32>, tensor<5x5x30xf32>) -> tensor<10x5x30xf32>
  return %c : tensor<10x5x30xf32>
}

// CHECK: @xlaMapExp mm 0 vec 10 trn 10
func.func @xlaMapExp(%x: tensor<10xf32>) -> tensor<10xf32> {
  %half = nap.constant dense<0.5> : tensor<10xf32>
  %sum = nap.add %x, %half : tensor<10xf32>
  %y = nap.exp %sum : tensor<10xf32>
  return %y : tensor<10xf32>
}

// PyTorch, torch.utils.flop_counter, test_flop_counter.
// CHECK: @torchBmm mm 720
func.func @torchBmm(%a: tensor<3x4x5xf32>, %b: tensor<3x5x6xf32>) -> tensor<3x4x6xf32> {
  %c = nap.einsum "bmk,bkn->bmn" %a, %b : (tensor<3x4x5xf32>, tensor<3x5x6xf32>) -> tensor<3x4x6xf32>
  return %c : tensor<3x4x6xf32>
}

// The same: padded taps count.
// CHECK: @torchConv mm 28800
func.func @torchConv(%x: tensor<2x3x6x6xf32>, %w: tensor<6x3x4x4xf32>) -> tensor<2x6x5x5xf32> {
  %padded = nap.pad %x low [0, 0, 1, 1] high [0, 0, 1, 1] inner [0, 0, 0, 0] with 0.0 : tensor<2x3x6x6xf32> -> tensor<2x3x8x8xf32>
  %taps = nap.window %padded sizes [4, 4] strides [1, 1] dilations [1, 1] : tensor<2x3x8x8xf32> -> tensor<2x3x5x5x4x4xf32>
  %y = nap.einsum "ncxyhw,ochw->noxy" %taps, %w : (tensor<2x3x5x5x4x4xf32>, tensor<6x3x4x4xf32>) -> tensor<2x6x5x5xf32>
  return %y : tensor<2x6x5x5xf32>
}

// The same: attention with other lengths of queries and keys, 4 B H Sq Sk D.
// CHECK: @torchAttention mm 268435456
func.func @torchAttention(%q: tensor<4x8x128x64xf32>, %k: tensor<4x8x256x64xf32>, %v: tensor<4x8x256x64xf32>) -> tensor<4x8x128x64xf32> {
  %scores = nap.einsum "bhqd,bhkd->bhqk" %q, %k : (tensor<4x8x128x64xf32>, tensor<4x8x256x64xf32>) -> tensor<4x8x128x256xf32>
  %y = nap.einsum "bhqk,bhkd->bhqd" %scores, %v : (tensor<4x8x128x256xf32>, tensor<4x8x256x64xf32>) -> tensor<4x8x128x64xf32>
  return %y : tensor<4x8x128x64xf32>
}

// numpy.einsum_path: four pairwise contractions of 10^5.
// CHECK: @outerChain mm 800000 vec 0
func.func @outerChain(%a: tensor<10x10xf32>, %b: tensor<10x10xf32>, %c: tensor<10x10x10x10xf32>) -> tensor<10x10x10x10xf32> {
  %y = nap.einsum "ea,fb,abcd,gc,hd->efgh" %a, %b, %c, %a, %b : (tensor<10x10xf32>, tensor<10x10xf32>, tensor<10x10x10x10xf32>, tensor<10x10xf32>, tensor<10x10xf32>) -> tensor<10x10x10x10xf32>
  return %y : tensor<10x10x10x10xf32>
}

// Cormen, Leiserson, Rivest and Stein, matrix chains: 7500 multiplications.
// CHECK: @chain mm 15000 vec 0
func.func @chain(%a: tensor<10x100xf32>, %b: tensor<100x5xf32>, %c: tensor<5x50xf32>) -> tensor<10x50xf32> {
  %y = nap.einsum "ij,jk,kl->il" %a, %b, %c : (tensor<10x100xf32>, tensor<100x5xf32>, tensor<5x50xf32>) -> tensor<10x50xf32>
  return %y : tensor<10x50xf32>
}

// No letter is summed: a product an element.
// CHECK: @outer mm 0 vec 300
func.func @outer(%a: tensor<10xf32>, %b: tensor<30xf32>) -> tensor<10x30xf32> {
  %y = nap.einsum "i,j->ij" %a, %b : (tensor<10xf32>, tensor<30xf32>) -> tensor<10x30xf32>
  return %y : tensor<10x30xf32>
}

// A trace: n - 1 additions.
// CHECK: @trace mm 0 vec 9
func.func @trace(%x: tensor<10x10xf32>) -> tensor<f32> {
  %diagonal = nap.diagonal %x axes 0, 1 : tensor<10x10xf32> -> tensor<10xf32>
  %y = nap.einsum "i->" %diagonal : (tensor<10xf32>) -> tensor<f32>
  return %y : tensor<f32>
}

// Indices, the rows read and the result; not the whole table.
// CHECK: @gather mm 0 vec 0
// BYTES: @gather bytes 3149824
func.func @gather(%table: tensor<50257x768xbf16>, %ids: tensor<1024xi32>) -> tensor<1024x768xbf16> {
  %y = nap.embed %table, %ids : tensor<50257x768xbf16>, tensor<1024xi32> -> tensor<1024x768xbf16>
  return %y : tensor<1024x768xbf16>
}

// One addition an element of the rows.
// CHECK: @scatter mm 0 vec 786432
func.func @scatter(%rows: tensor<1024x768xf32>, %ids: tensor<1024xi32>) -> tensor<50257x768xf32> {
  %y = nap.scatter_add %rows, %ids : tensor<1024x768xf32>, tensor<1024xi32> -> tensor<50257x768xf32>
  return %y : tensor<50257x768xf32>
}

// BYTES: @large bytes 100663296
func.func @large(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %c = nap.einsum "mk,kn->mn" %a, %b : (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  return %c : tensor<4096x4096xbf16>
}

// 2^69: more than 64 bits hold.
// CHECK: @huge mm 590295810358705651712
func.func @huge(%a: tensor<16777216x1048576xf32>, %b: tensor<1048576x16777216xf32>) -> tensor<16777216x16777216xf32> {
  %c = nap.einsum "mk,kn->mn" %a, %b : (tensor<16777216x1048576xf32>, tensor<1048576x16777216xf32>) -> tensor<16777216x16777216xf32>
  return %c : tensor<16777216x16777216xf32>
}

// A row of softmax: 3n - 1, n exponentials, n - 1 comparisons.
// CHECK: @softmax mm 0 vec 3071 trn 1024 cmp 1023
func.func @softmax(%x: tensor<1x1024xf32>) -> tensor<1x1024xf32> {
  %max = nap.reduce max %x [1] : tensor<1x1024xf32> -> tensor<1xf32>
  %wide = nap.broadcast %max [0] : tensor<1xf32> -> tensor<1x1024xf32>
  %shifted = nap.sub %x, %wide : tensor<1x1024xf32>
  %power = nap.exp %shifted : tensor<1x1024xf32>
  %sum = nap.reduce sum %power [1] : tensor<1x1024xf32> -> tensor<1xf32>
  %sums = nap.broadcast %sum [0] : tensor<1xf32> -> tensor<1x1024xf32>
  %y = nap.div %power, %sums : tensor<1x1024xf32>
  return %y : tensor<1x1024xf32>
}
