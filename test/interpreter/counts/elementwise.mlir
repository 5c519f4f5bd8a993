// Elementwise ops: what is executed is what the cost rules say.
// RUN: nap-interpret %s --count --range 0.1:0.9 > %t.executed
// RUN: nap-print-cost %s > %t.counted
// RUN: diff %t.executed %t.counted
// RUN: FileCheck %s < %t.counted

// Broadcast operands do not multiply the count.
// CHECK: @floats mm 0 vec 75 trn 0 cmp 0 cvt 0 integer 0
func.func @floats(%x: tensor<3x5xf32>, %y: tensor<3x5xf32>, %b: tensor<5xf32>) -> tensor<3x5xf32> {
  %wide = nap.broadcast %b [1] : tensor<5xf32> -> tensor<3x5xf32>
  %0 = nap.add %x, %wide : tensor<3x5xf32>
  %1 = nap.sub %0, %y : tensor<3x5xf32>
  %2 = nap.mul %1, %x : tensor<3x5xf32>
  %3 = nap.div %2, %y : tensor<3x5xf32>
  %4 = nap.neg %3 : tensor<3x5xf32>
  %5 = nap.abs %4 : tensor<3x5xf32>
  %6 = nap.stop_gradient %5 : tensor<3x5xf32>
  %7 = nap.add %6, %6 : tensor<3x5xf32>
  return %7 : tensor<3x5xf32>
}

func.func @whole(%x: tensor<7xi32>, %y: tensor<7xi32>, %z: tensor<7xi64>) -> (tensor<7xi32>, tensor<7xi32>, tensor<7xi64>) {
  %0 = nap.add %x, %y : tensor<7xi32>
  %1 = nap.mul %0, %x : tensor<7xi32>
  %2 = nap.neg %1 : tensor<7xi32>
  %3 = nap.abs %2 : tensor<7xi32>
  %4 = nap.rem %3, %y : tensor<7xi32>
  %5 = nap.floor_div %3, %y : tensor<7xi32>
  %6 = nap.maximum %4, %5 : tensor<7xi32>
  %7 = nap.minimum %6, %x : tensor<7xi32>
  %8 = nap.sign %7 : tensor<7xi32>
  %9 = nap.sub %z, %z : tensor<7xi64>
  return %7, %8, %9 : tensor<7xi32>, tensor<7xi32>, tensor<7xi64>
}

// CHECK: @functions mm 0 vec 14 trn 91 cmp 0 cvt 0 integer 0
func.func @functions(%x: tensor<7xf32>) -> tensor<7xf32> {
  %0 = nap.exp %x : tensor<7xf32>
  %1 = nap.expm1 %x : tensor<7xf32>
  %2 = nap.log %x : tensor<7xf32>
  %3 = nap.log1p %x : tensor<7xf32>
  %4 = nap.tanh %x : tensor<7xf32>
  %5 = nap.erf %x : tensor<7xf32>
  %6 = nap.sin %x : tensor<7xf32>
  %7 = nap.cos %x : tensor<7xf32>
  %8 = nap.sqrt %x : tensor<7xf32>
  %9 = nap.rsqrt %x : tensor<7xf32>
  %10 = nap.pow %x, %8 : tensor<7xf32>
  %11 = nap.sigmoid %10 : tensor<7xf32>
  %12 = nap.tanh %11 : tensor<7xf32>
  return %12 : tensor<7xf32>
}

// A comparison is one with the choices that it makes, and counts where its mask is anything else.
// CHECK: @chosen mm 0 vec 0 trn 0 cmp 35 cvt 7 integer 0
func.func @chosen(%x: tensor<7xf32>, %y: tensor<7xf32>) -> (tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>) {
  %0 = nap.compare gt %x, %y : tensor<7xf32> -> tensor<7xi1>
  %1 = nap.select %0, %x, %y : tensor<7xi1>, tensor<7xf32>
  %2 = nap.select %0, %y, %x : tensor<7xi1>, tensor<7xf32>
  %3 = nap.compare lt %x, %y : tensor<7xf32> -> tensor<7xi1>
  %4 = nap.select %3, %1, %y : tensor<7xi1>, tensor<7xf32>
  %5 = nap.cast %3 : tensor<7xi1> -> tensor<7xf32>
  %6 = nap.cast %x : tensor<7xf32> -> tensor<7xi1>
  %7 = nap.select %6, %x, %y : tensor<7xi1>, tensor<7xf32>
  return %2, %4, %5, %7 : tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>
}

func.func @choices(%x: tensor<7xf64>, %y: tensor<7xf64>) -> tensor<7xf64> {
  %0 = nap.maximum %x, %y : tensor<7xf64>
  %1 = nap.minimum %x, %y : tensor<7xf64>
  %2 = nap.compare lt %0, %1 : tensor<7xf64> -> tensor<7xi1>
  %3 = nap.compare ge %x, %y : tensor<7xf64> -> tensor<7xi1>
  %4 = nap.and %2, %3 : tensor<7xi1>
  %5 = nap.or %4, %3 : tensor<7xi1>
  %6 = nap.not %5 : tensor<7xi1>
  %7 = nap.select %6, %x, %y : tensor<7xi1>, tensor<7xf64>
  %8 = nap.sign %7 : tensor<7xf64>
  %9 = nap.floor %8 : tensor<7xf64>
  %10 = nap.ceil %9 : tensor<7xf64>
  %11 = nap.round %10 : tensor<7xf64>
  %12 = nap.rem %11, %y : tensor<7xf64>
  %13 = nap.floor_div %12, %y : tensor<7xf64>
  return %13 : tensor<7xf64>
}

func.func @casts(%x: tensor<7xf32>, %i: tensor<7xi32>, %b: tensor<7xi1>, %h: tensor<7xbf16>) -> (tensor<7xf64>, tensor<7xi32>, tensor<7xi1>, tensor<7xf16>) {
  %0 = nap.cast %x : tensor<7xf32> -> tensor<7xf64>
  %1 = nap.cast %x : tensor<7xf32> -> tensor<7xi32>
  %2 = nap.cast %i : tensor<7xi32> -> tensor<7xi64>
  %3 = nap.cast %2 : tensor<7xi64> -> tensor<7xf32>
  %4 = nap.cast %b : tensor<7xi1> -> tensor<7xf32>
  %5 = nap.cast %b : tensor<7xi1> -> tensor<7xi32>
  %6 = nap.cast %3 : tensor<7xf32> -> tensor<7xi1>
  %7 = nap.cast %5 : tensor<7xi32> -> tensor<7xi1>
  %8 = nap.cast %h : tensor<7xbf16> -> tensor<7xf32>
  %9 = nap.cast %h : tensor<7xbf16> -> tensor<7xf16>
  %10 = nap.cast %0 : tensor<7xf64> -> tensor<7xf32>
  return %0, %1, %6, %9 : tensor<7xf64>, tensor<7xi32>, tensor<7xi1>, tensor<7xf16>
}
