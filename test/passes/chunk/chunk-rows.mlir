// A head with its loss and gradients in parts: the structure, and (below) the same bits for any number of parts.
// RUN: napkin-opt %s --nap-chunk-rows=chunks=2 | FileCheck %s
// RUN: napkin-opt %s --nap-chunk-rows | FileCheck %s --check-prefix=SMALL

// RUN: napkin-opt %s --nap-chunk-rows=chunks=2 -o %t.2
// RUN: napkin-opt %s --nap-chunk-rows=chunks=3 -o %t.3
// RUN: napkin-opt %s --nap-chunk-rows=chunks=7 -o %t.7
// RUN: napkin-opt %s --nap-chunk-rows=chunks=100 -o %t.100
// RUN: nap-interpret %s --function=head --compare-file=%t.2
// RUN: nap-interpret %s --function=head --compare-file=%t.3
// RUN: nap-interpret %s --function=head --compare-file=%t.7
// RUN: nap-interpret %s --function=head --compare-file=%t.100

// Kernels of it, with rows read and parts written where they lie, have the bits too.
// RUN: napkin-opt %t.3 --nap-fuse --nap-choose-schedules --nap-plan-memory --nap-outline -o %t.kernels
// RUN: nap-interpret %s --function=head --compare-file=%t.kernels

// Left whole where it is small.
// SMALL-NOT: nap.concat
// SMALL: return

// Rows of the states, and of the targets where they come from, for the first part of 7 rows.
// CHECK-LABEL: func.func @head
// CHECK-SAME: (%[[X:.+]]: tensor<2x7x4xf32> {{.*}}, %[[W:.+]]: tensor<11x4xf32> {{.*}}, %[[T:.+]]: tensor<2x7xi32>
// CHECK: %[[X0:.+]] = nap.slice %{{.+}} [0, 0] step [1, 1] : tensor<14x4xf32> -> tensor<7x4xf32>
// CHECK: %[[L0:.+]] = nap.einsum "bd,vd->bv" %[[X0]], %[[W]]
// CHECK: %[[T0:.+]] = nap.slice %{{.+}} [0] step [1] : tensor<14xi32> -> tensor<7xi32>
// CHECK: %[[DX0:.+]] = nap.einsum "bv,vd->bd" %[[D0:.+]], %[[W]] :
// CHECK: %[[DW0:.+]] = nap.einsum "bv,bd->vd" %[[D0]], %[[X0]] :
// CHECK: %[[X1:.+]] = nap.slice %{{.+}} [7, 0] step [1, 1] : tensor<14x4xf32> -> tensor<7x4xf32>
// CHECK: nap.einsum "bd,vd->bv" %[[X1]], %[[W]]
// CHECK: %[[DX1:.+]] = nap.einsum "bv,vd->bd" %[[D1:.+]], %[[W]] :
// CHECK: %[[DW:.+]] = nap.einsum "bv,bd->vd" %[[D1]], %[[X1]] init %[[DW0]]
// CHECK: %[[DX:.+]] = nap.concat %[[DX0]], %[[DX1]] axis 0
// The loss's sum over all rows comes after the parts.
// CHECK: nap.reduce sum %{{.+}} [0, 1] : tensor<2x7xf32> -> tensor<f32>
// CHECK: return %{{.+}}, %{{.+}}, %[[DW]]
func.func @head(%x: tensor<2x7x4xf32> {nap.of = @x}, %w: tensor<11x4xf32> {nap.of = @w}, %targets: tensor<2x7xi32> {nap.of = @targets})
    -> (tensor<f32> {nap.result = "loss"}, tensor<2x7x4xf32> {nap.result = "output dx"}, tensor<11x4xf32> {nap.result = "output dw"}) {
  %zero = nap.constant dense<0.0> : tensor<2x7xf32>
  %zeros = nap.constant dense<0.0> : tensor<2x7x11xf32>
  %none = nap.constant dense<0> : tensor<2x7xi32>
  %ignored = nap.constant dense<3> : tensor<2x7xi32>
  %one = nap.constant dense<1.0> : tensor<f32>
  %l = nap.einsum "bsd,vd->bsv" %x, %w : (tensor<2x7x4xf32>, tensor<11x4xf32>) -> tensor<2x7x11xf32>
  %kept = nap.compare ne %targets, %ignored : tensor<2x7xi32> -> tensor<2x7xi1>
  %best = nap.reduce max %l [2] : tensor<2x7x11xf32> -> tensor<2x7xf32>
  %bests = nap.broadcast %best [0, 1] : tensor<2x7xf32> -> tensor<2x7x11xf32>
  %below = nap.sub %l, %bests : tensor<2x7x11xf32>
  %e = nap.exp %below : tensor<2x7x11xf32>
  %total = nap.reduce sum %e [2] : tensor<2x7x11xf32> -> tensor<2x7xf32>
  %log = nap.log %total : tensor<2x7xf32>
  %lse = nap.add %log, %best : tensor<2x7xf32>
  %at = nap.select %kept, %targets, %none : tensor<2x7xi1>, tensor<2x7xi32>
  %hit = nap.take_along %l, %at : tensor<2x7x11xf32>, tensor<2x7xi32> -> tensor<2x7xf32>
  %nll = nap.sub %lse, %hit : tensor<2x7xf32>
  %losses = nap.select %kept, %nll, %zero : tensor<2x7xi1>, tensor<2x7xf32>
  %sum = nap.reduce sum %losses [0, 1] : tensor<2x7xf32> -> tensor<f32>
  %counts = nap.cast %kept : tensor<2x7xi1> -> tensor<2x7xf32>
  %count = nap.reduce sum %counts [0, 1] : tensor<2x7xf32> -> tensor<f32>
  %loss = nap.div %sum, %count : tensor<f32>
  %inverse = nap.div %one, %count : tensor<f32>
  %spread = nap.broadcast %inverse [] : tensor<f32> -> tensor<2x7xf32>
  %weight = nap.select %kept, %spread, %zero : tensor<2x7xi1>, tensor<2x7xf32>
  %minus = nap.neg %weight : tensor<2x7xf32>
  %ramp = nap.iota : tensor<11xi32>
  %columns = nap.broadcast %ramp [2] : tensor<11xi32> -> tensor<2x7x11xi32>
  %ats = nap.broadcast %at [0, 1] : tensor<2x7xi32> -> tensor<2x7x11xi32>
  %minuses = nap.broadcast %minus [0, 1] : tensor<2x7xf32> -> tensor<2x7x11xf32>
  %here = nap.compare eq %columns, %ats : tensor<2x7x11xi32> -> tensor<2x7x11xi1>
  %hits = nap.select %here, %minuses, %zeros : tensor<2x7x11xi1>, tensor<2x7x11xf32>
  %scale = nap.div %weight, %total : tensor<2x7xf32>
  %scales = nap.broadcast %scale [0, 1] : tensor<2x7xf32> -> tensor<2x7x11xf32>
  %p = nap.mul %scales, %e : tensor<2x7x11xf32>
  %d = nap.add %hits, %p : tensor<2x7x11xf32>
  %dx = nap.einsum "bsv,vd->bsd" %d, %w : (tensor<2x7x11xf32>, tensor<11x4xf32>) -> tensor<2x7x4xf32>
  %dw = nap.einsum "bsv,bsd->vd" %d, %x : (tensor<2x7x11xf32>, tensor<2x7x4xf32>) -> tensor<11x4xf32>
  return %loss, %dx, %dw : tensor<f32>, tensor<2x7x4xf32>, tensor<11x4xf32>
}
nap.declare input @x : tensor<2x7x4xf32>
nap.declare parameter @w : tensor<11x4xf32>
nap.declare input @targets : tensor<2x7xi32>
