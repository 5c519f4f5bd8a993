// Elementwise ops print what they parse.
// RUN: napkin-opt %s | napkin-opt | FileCheck %s

// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%x: tensor<3x5xf32>, %y: tensor<3x5xf32>, %p: tensor<3x5xi1>, %q: tensor<3x5xi1>, %i: tensor<3x5xi32>) -> tensor<3x5xf32> {
  // CHECK: nap.neg %{{.+}} : tensor<3x5xf32>
  %neg = nap.neg %x : tensor<3x5xf32>
  // CHECK: nap.abs %{{.+}} : tensor<3x5xf32>
  %abs = nap.abs %x : tensor<3x5xf32>
  // CHECK: nap.sign %{{.+}} : tensor<3x5xf32>
  %sign = nap.sign %x : tensor<3x5xf32>
  // CHECK: nap.ceil %{{.+}} : tensor<3x5xf32>
  %ceil = nap.ceil %x : tensor<3x5xf32>
  // CHECK: nap.floor %{{.+}} : tensor<3x5xf32>
  %floor = nap.floor %x : tensor<3x5xf32>
  // CHECK: nap.round %{{.+}} : tensor<3x5xf32>
  %round = nap.round %x : tensor<3x5xf32>
  // CHECK: nap.cos %{{.+}} : tensor<3x5xf32>
  %cos = nap.cos %x : tensor<3x5xf32>
  // CHECK: nap.sin %{{.+}} : tensor<3x5xf32>
  %sin = nap.sin %x : tensor<3x5xf32>
  // CHECK: nap.erf %{{.+}} : tensor<3x5xf32>
  %erf = nap.erf %x : tensor<3x5xf32>
  // CHECK: nap.exp %{{.+}} : tensor<3x5xf32>
  %exp = nap.exp %x : tensor<3x5xf32>
  // CHECK: nap.expm1 %{{.+}} : tensor<3x5xf32>
  %expm1 = nap.expm1 %x : tensor<3x5xf32>
  // CHECK: nap.log %{{.+}} : tensor<3x5xf32>
  %log = nap.log %x : tensor<3x5xf32>
  // CHECK: nap.log1p %{{.+}} : tensor<3x5xf32>
  %log1p = nap.log1p %x : tensor<3x5xf32>
  // CHECK: nap.rsqrt %{{.+}} : tensor<3x5xf32>
  %rsqrt = nap.rsqrt %x : tensor<3x5xf32>
  // CHECK: nap.sqrt %{{.+}} : tensor<3x5xf32>
  %sqrt = nap.sqrt %x : tensor<3x5xf32>
  // CHECK: nap.sigmoid %{{.+}} : tensor<3x5xf32>
  %sigmoid = nap.sigmoid %x : tensor<3x5xf32>
  // CHECK: nap.tanh %{{.+}} : tensor<3x5xf32>
  %tanh = nap.tanh %x : tensor<3x5xf32>
  // CHECK: nap.stop_gradient %{{.+}} : tensor<3x5xf32>
  %stop_gradient = nap.stop_gradient %x : tensor<3x5xf32>
  // CHECK: nap.add %{{.+}}, %{{.+}} : tensor<3x5xf32>
  %add = nap.add %x, %y : tensor<3x5xf32>
  // CHECK: nap.sub %{{.+}}, %{{.+}} : tensor<3x5xf32>
  %sub = nap.sub %x, %y : tensor<3x5xf32>
  // CHECK: nap.mul %{{.+}}, %{{.+}} : tensor<3x5xf32>
  %mul = nap.mul %x, %y : tensor<3x5xf32>
  // CHECK: nap.div %{{.+}}, %{{.+}} : tensor<3x5xf32>
  %div = nap.div %x, %y : tensor<3x5xf32>
  // CHECK: nap.rem %{{.+}}, %{{.+}} : tensor<3x5xf32>
  %rem = nap.rem %x, %y : tensor<3x5xf32>
  // CHECK: nap.floor_div %{{.+}}, %{{.+}} : tensor<3x5xf32>
  %floor_div = nap.floor_div %x, %y : tensor<3x5xf32>
  // CHECK: nap.pow %{{.+}}, %{{.+}} : tensor<3x5xf32>
  %pow = nap.pow %x, %y : tensor<3x5xf32>
  // CHECK: nap.maximum %{{.+}}, %{{.+}} : tensor<3x5xf32>
  %maximum = nap.maximum %x, %y : tensor<3x5xf32>
  // CHECK: nap.minimum %{{.+}}, %{{.+}} : tensor<3x5xf32>
  %minimum = nap.minimum %x, %y : tensor<3x5xf32>
  // CHECK: nap.and %{{.+}}, %{{.+}} : tensor<3x5xi1>
  %and = nap.and %p, %q : tensor<3x5xi1>
  // CHECK: nap.or %{{.+}}, %{{.+}} : tensor<3x5xi1>
  %or = nap.or %p, %q : tensor<3x5xi1>
  // CHECK: nap.not %{{.+}} : tensor<3x5xi1>
  %not = nap.not %p : tensor<3x5xi1>
  // CHECK: nap.compare eq %{{.+}}, %{{.+}} : tensor<3x5xf32> -> tensor<3x5xi1>
  %eq = nap.compare eq %x, %y : tensor<3x5xf32> -> tensor<3x5xi1>
  // CHECK: nap.compare ne %{{.+}}, %{{.+}} : tensor<3x5xf32> -> tensor<3x5xi1>
  %ne = nap.compare ne %x, %y : tensor<3x5xf32> -> tensor<3x5xi1>
  // CHECK: nap.compare lt %{{.+}}, %{{.+}} : tensor<3x5xf32> -> tensor<3x5xi1>
  %lt = nap.compare lt %x, %y : tensor<3x5xf32> -> tensor<3x5xi1>
  // CHECK: nap.compare le %{{.+}}, %{{.+}} : tensor<3x5xf32> -> tensor<3x5xi1>
  %le = nap.compare le %x, %y : tensor<3x5xf32> -> tensor<3x5xi1>
  // CHECK: nap.compare gt %{{.+}}, %{{.+}} : tensor<3x5xf32> -> tensor<3x5xi1>
  %gt = nap.compare gt %x, %y : tensor<3x5xf32> -> tensor<3x5xi1>
  // CHECK: nap.compare ge %{{.+}}, %{{.+}} : tensor<3x5xf32> -> tensor<3x5xi1>
  %ge = nap.compare ge %x, %y : tensor<3x5xf32> -> tensor<3x5xi1>
  // CHECK: nap.select %{{.+}}, %{{.+}}, %{{.+}} : tensor<3x5xi1>, tensor<3x5xf32>
  %select = nap.select %p, %x, %y : tensor<3x5xi1>, tensor<3x5xf32>
  // CHECK: nap.cast %{{.+}} : tensor<3x5xf32> -> tensor<3x5xbf16>
  %cast = nap.cast %x : tensor<3x5xf32> -> tensor<3x5xbf16>
  // CHECK: nap.add %{{.+}}, %{{.+}} : tensor<3x5xi32>
  %integers = nap.add %i, %i : tensor<3x5xi32>
  return %select : tensor<3x5xf32>
}
