module attributes {nap.products = "cublaslt"} {
// A gradient that a sum over micro-batches takes up.
nap.kernel_def contraction @gradient {
^bb0(%x: tensor<3x41x37xbf16>, %g: tensor<3x41x29xbf16>, %old: tensor<37x29xf32>):
  %y = nap.einsum "abi,abo->io" %x, %g : (tensor<3x41x37xbf16>, tensor<3x41x29xbf16>) -> tensor<37x29xf32>
  %z = nap.add %old, %y : tensor<37x29xf32>
  nap.yield %z : tensor<37x29xf32>
}
// Rows of a tensor, and batches of one.
nap.kernel_def contraction @views {
^bb0(%x: tensor<40x64xf32>, %w: tensor<5x16x24xf32>, %old: tensor<5x19x24xf32>):
  %rows = nap.slice %x [3, 16] step [2, 1] : tensor<40x64xf32> -> tensor<19x16xf32>
  %batches = nap.broadcast %rows [1, 2] : tensor<19x16xf32> -> tensor<5x19x16xf32>
  %y = nap.einsum "bmk,bkn->bmn" %batches, %w : (tensor<5x19x16xf32>, tensor<5x16x24xf32>) -> tensor<5x19x24xf32>
  %z = nap.add %y, %old : tensor<5x19x24xf32>
  nap.yield %z : tensor<5x19x24xf32>
}
// In bf16 the product is rounded before the sum, which the library does not do: our tiles.
nap.kernel_def contraction @rounded_before {
^bb0(%x: tensor<37x48xbf16>, %w: tensor<48x40xbf16>, %old: tensor<37x40xbf16>):
  %y = nap.einsum "mk,kn->mn" %x, %w : (tensor<37x48xbf16>, tensor<48x40xbf16>) -> tensor<37x40xbf16>
  %z = nap.add %y, %old : tensor<37x40xbf16>
  nap.yield %z : tensor<37x40xbf16>
}
// Rows that overlap are no matrix: our tiles.
nap.kernel_def contraction @windows {
^bb0(%x: tensor<50xf32>, %w: tensor<8x24xf32>):
  %rows = nap.window %x sizes [8] strides [1] dilations [1] : tensor<50xf32> -> tensor<43x8xf32>
  %y = nap.einsum "mk,kn->mn" %rows, %w : (tensor<43x8xf32>, tensor<8x24xf32>) -> tensor<43x24xf32>
  nap.yield %y : tensor<43x24xf32>
}
}
