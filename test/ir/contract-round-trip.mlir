// Contractions and reductions print what they parse.
// RUN: napkin-opt %s | napkin-opt | FileCheck %s

// CHECK-LABEL: func.func @contract
func.func @contract(%x: tensor<2x3x5xf32>, %w: tensor<7x5xf32>) -> tensor<f32> {
  // CHECK: nap.einsum "bsd,vd->bsv" %{{.+}}, %{{.+}} : (tensor<2x3x5xf32>, tensor<7x5xf32>) -> tensor<2x3x7xf32>
  %y = nap.einsum "bsd,vd->bsv" %x, %w : (tensor<2x3x5xf32>, tensor<7x5xf32>) -> tensor<2x3x7xf32>
  // CHECK: nap.reduce max %{{.+}} [0, 2] : tensor<2x3x7xf32> -> tensor<3xf32>
  %m = nap.reduce max %y [0, 2] : tensor<2x3x7xf32> -> tensor<3xf32>
  // CHECK: nap.reduce sum %{{.+}} [0] : tensor<3xf32> -> tensor<f32>
  %s = nap.reduce sum %m [0] : tensor<3xf32> -> tensor<f32>
  return %s : tensor<f32>
}

// CHECK-LABEL: func.func @kept_as_summed
func.func @kept_as_summed(%x: tensor<3x5xbf16>, %w: tensor<7x5xbf16>) -> tensor<3x7xf32> {
  // CHECK: nap.einsum "sd,vd->sv" %{{.+}}, %{{.+}} : (tensor<3x5xbf16>, tensor<7x5xbf16>) -> tensor<3x7xf32>
  %y = nap.einsum "sd,vd->sv" %x, %w : (tensor<3x5xbf16>, tensor<7x5xbf16>) -> tensor<3x7xf32>
  return %y : tensor<3x7xf32>
}

// CHECK-LABEL: func.func @goes_on
func.func @goes_on(%x: tensor<3x5xf32>, %w: tensor<7x5xf32>, %s: tensor<3x7xf32>) -> tensor<3x7xf32> {
  // CHECK: nap.einsum "ad,vd->av" %{{.+}}, %{{.+}} init %{{.+}} : (tensor<3x5xf32>, tensor<7x5xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
  %y = nap.einsum "ad,vd->av" %x, %w init %s : (tensor<3x5xf32>, tensor<7x5xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
  return %y : tensor<3x7xf32>
}
