// RUN: napkin-opt %s --nap-simplify | FileCheck %s

// The cheap pair first: u (2x300) only meets the product of v and w.
// CHECK-LABEL: func.func @einsum_order
func.func @einsum_order(%u: tensor<200x3xf32>, %v: tensor<3x500xf32>, %w: tensor<500x7xf32>) -> tensor<200x7xf32> {
  // CHECK: [[T:%.+]] = nap.einsum "bc,cd->bd" %arg1, %arg2
  // CHECK-NEXT: nap.einsum "ab,bd->ad" %arg0, [[T]]
  %y = nap.einsum "ab,bc,cd->ad" %u, %v, %w : (tensor<200x3xf32>, tensor<3x500xf32>, tensor<500x7xf32>) -> tensor<200x7xf32>
  return %y : tensor<200x7xf32>
}

// CHECK-LABEL: func.func @einsum_sums_lone_letters_first
func.func @einsum_sums_lone_letters_first(%x: tensor<2x3x5xf32>, %y: tensor<3x7xf32>) -> tensor<7x2xf32> {
  // CHECK: [[S:%.+]] = nap.reduce sum %arg0 [2]
  // CHECK: nap.einsum "bd,ab->da" %arg1, [[S]]
  %z = nap.einsum "abc,bd->da" %x, %y : (tensor<2x3x5xf32>, tensor<3x7xf32>) -> tensor<7x2xf32>
  return %z : tensor<7x2xf32>
}

// CHECK-LABEL: func.func @einsum_without_contraction_is_a_product
func.func @einsum_without_contraction_is_a_product(%x: tensor<2x3xf32>, %y: tensor<3x5xf32>) -> tensor<5x3x2xf32> {
  // CHECK: [[XT:%.+]] = nap.permute %arg0 [1, 0]
  // CHECK: [[X:%.+]] = nap.broadcast [[XT]] [1, 2]
  // CHECK: [[YT:%.+]] = nap.permute %arg1 [1, 0]
  // CHECK: [[Y:%.+]] = nap.broadcast [[YT]] [0, 1]
  // CHECK: nap.mul [[X]], [[Y]]
  %z = nap.einsum "ab,bc->cba" %x, %y : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<5x3x2xf32>
  return %z : tensor<5x3x2xf32>
}

// CHECK-LABEL: func.func @einsum_of_one
func.func @einsum_of_one(%x: tensor<2x3x5xf32>) -> tensor<5x2xf32> {
  // CHECK: [[S:%.+]] = nap.reduce sum %arg0 [1]
  // CHECK: nap.permute [[S]] [1, 0]
  %z = nap.einsum "abc->ca" %x : (tensor<2x3x5xf32>) -> tensor<5x2xf32>
  return %z : tensor<5x2xf32>
}

// CHECK-LABEL: func.func @identities
func.func @identities(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %zero = nap.constant dense<0.0> : tensor<3xf32>
  %one = nap.constant dense<1.0> : tensor<3xf32>
  %two = nap.constant dense<2.0> : tensor<3xf32>
  %four = nap.constant dense<4.0> : tensor<3xf32>
  %a = nap.add %zero, %x : tensor<3xf32>
  %b = nap.mul %a, %one : tensor<3xf32>
  %n = nap.neg %y : tensor<3xf32>
  // CHECK-DAG: [[D:%.+]] = nap.sub %arg0, %arg1
  %c = nap.add %x, %n : tensor<3xf32>
  // CHECK-DAG: [[QUARTER:%.+]] = nap.constant dense<2.500000e-01>
  // CHECK-DAG: [[Q:%.+]] = nap.mul %arg0, [[QUARTER]]
  %d = nap.div %x, %four : tensor<3xf32>
  // CHECK-DAG: [[S:%.+]] = nap.mul %arg1, %arg1
  %e = nap.pow %y, %two : tensor<3xf32>
  %f = nap.neg %n : tensor<3xf32>
  // CHECK: return %arg0, [[D]], [[Q]], [[S]], %arg1
  return %b, %c, %d, %e, %f : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// A third is not exact: x / 3 stays. So does x * 0, which may be NaN.
// CHECK-LABEL: func.func @what_would_change_bits
func.func @what_would_change_bits(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %three = nap.constant dense<3.0> : tensor<3xf32>
  %tenth = nap.constant dense<0.1> : tensor<3xf32>
  %zero = nap.constant dense<0.0> : tensor<3xf32>
  // CHECK-DAG: nap.div %arg0
  %a = nap.div %x, %three : tensor<3xf32>
  // CHECK-DAG: nap.mul %arg0
  %b = nap.mul %x, %zero : tensor<3xf32>
  // CHECK-DAG: [[P:%.+]] = nap.mul %arg0
  // CHECK-DAG: nap.mul [[P]]
  %p = nap.mul %x, %tenth : tensor<3xf32>
  %c = nap.mul %p, %tenth : tensor<3xf32>
  return %a, %b, %c : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// Constants fold by the scalar body; a function of the library does not, its bits are codegen's.
// CHECK-LABEL: func.func @constants
func.func @constants() -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xi32>) {
  %x = nap.constant dense<1.5> : tensor<f32>
  %xs = nap.broadcast %x [] : tensor<f32> -> tensor<2x3xf32>
  %s = nap.sign %xs : tensor<2x3xf32>
  %a = nap.add %xs, %s : tensor<2x3xf32>
  %e = nap.exp %xs : tensor<2x3xf32>
  %i = nap.constant dense<-7> : tensor<3xi32>
  %j = nap.constant dense<2> : tensor<3xi32>
  %q = nap.floor_div %i, %j : tensor<3xi32>
  // CHECK-DAG: [[A:%.+]] = nap.constant dense<2.500000e+00> : tensor<2x3xf32>
  // CHECK-DAG: [[E0:%.+]] = nap.exp {{%.+}} : tensor<f32>
  // CHECK-DAG: [[E:%.+]] = nap.broadcast [[E0]]
  // CHECK-DAG: [[Q:%.+]] = nap.constant dense<-4> : tensor<3xi32>
  // CHECK: return [[A]], [[E]], [[Q]]
  return %a, %e, %q : tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xi32>
}

// Numbers are computed before they are repeated.
// CHECK-LABEL: func.func @hoists_over_broadcast
func.func @hoists_over_broadcast(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %xs = nap.broadcast %x [] : tensor<f32> -> tensor<2x3xf32>
  %ys = nap.broadcast %y [] : tensor<f32> -> tensor<2x3xf32>
  // CHECK: [[P:%.+]] = nap.mul %arg0, %arg1 : tensor<f32>
  // CHECK: [[PS:%.+]] = nap.broadcast [[P]] []
  // CHECK: nap.mul [[PS]], %arg2 : tensor<2x3xf32>
  %p = nap.mul %xs, %ys : tensor<2x3xf32>
  %r = nap.mul %p, %z : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @sum_of_negations
func.func @sum_of_negations(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  // CHECK: [[S:%.+]] = nap.reduce sum %arg0 [1]
  // CHECK-NEXT: nap.neg [[S]]
  %n = nap.neg %x : tensor<2x3xf32>
  %s = nap.reduce sum %n [1] : tensor<2x3xf32> -> tensor<2xf32>
  return %s : tensor<2xf32>
}

// One expression once; two draws of one site are one, of two sites never.
// CHECK-LABEL: func.func @draws
func.func @draws(%key: tensor<4xi32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  // CHECK: [[A:%.+]] = nap.random_uniform %arg0 site 1
  // CHECK: [[B:%.+]] = nap.random_uniform %arg0 site 2
  // CHECK: return [[A]], [[B]], [[A]]
  %a = nap.random_uniform %key site 1 : tensor<4xi32> -> tensor<3xf32>
  %b = nap.random_uniform %key site 2 : tensor<4xi32> -> tensor<3xf32>
  %c = nap.random_uniform %key site 1 : tensor<4xi32> -> tensor<3xf32>
  return %a, %b, %c : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// The gradient of a tensor that was cut into thirds is put together again.
// CHECK-LABEL: func.func @parts_that_tile
func.func @parts_that_tile(%q: tensor<2x3xf32>, %k: tensor<2x3xf32>, %v: tensor<2x3xf32>) -> tensor<2x9xf32> {
  // CHECK: nap.concat %arg0, %arg1, %arg2 axis 1
  // CHECK-NEXT: return
  %pq = nap.pad %q low [0, 0] high [0, 6] inner [0, 0] with 0.0 : tensor<2x3xf32> -> tensor<2x9xf32>
  %pk = nap.pad %k low [0, 3] high [0, 3] inner [0, 0] with 0.0 : tensor<2x3xf32> -> tensor<2x9xf32>
  %pv = nap.pad %v low [0, 6] high [0, 0] inner [0, 0] with 0.0 : tensor<2x3xf32> -> tensor<2x9xf32>
  %a = nap.add %pv, %pk : tensor<2x9xf32>
  %b = nap.add %a, %pq : tensor<2x9xf32>
  return %b : tensor<2x9xf32>
}

// Parts that overlap stay a sum.
// CHECK-LABEL: func.func @parts_that_overlap
func.func @parts_that_overlap(%q: tensor<2x3xf32>, %k: tensor<2x3xf32>) -> tensor<2x5xf32> {
  // CHECK-NOT: nap.concat
  // CHECK: nap.add
  %pq = nap.pad %q low [0, 0] high [0, 2] inner [0, 0] with 0.0 : tensor<2x3xf32> -> tensor<2x5xf32>
  %pk = nap.pad %k low [0, 2] high [0, 0] inner [0, 0] with 0.0 : tensor<2x3xf32> -> tensor<2x5xf32>
  %b = nap.add %pq, %pk : tensor<2x5xf32>
  return %b : tensor<2x5xf32>
}

// CHECK-LABEL: func.func @one_target_a_row
func.func @one_target_a_row(%g: tensor<2xf32>, %ids: tensor<2xi32>) -> tensor<2x5xf32> {
  // CHECK: nap.compare eq
  // CHECK: nap.select
  %p = nap.put_along %g, %ids : tensor<2xf32>, tensor<2xi32> -> tensor<2x5xf32>
  return %p : tensor<2x5xf32>
}

// @forward is still to be differentiated; the others are not.
// CHECK-LABEL: func.func @forward
// CHECK: nap.stop_gradient
func.func @forward(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = nap.stop_gradient %x : tensor<3xf32>
  return %y : tensor<3xf32>
}
// CHECK-LABEL: func.func @evaluate
// CHECK-NEXT: return %arg0
func.func @evaluate(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = nap.stop_gradient %x : tensor<3xf32>
  return %y : tensor<3xf32>
}

// CHECK-LABEL: func.func @sums_from_zero_start_there
// CHECK-SAME: (%[[X:.+]]: tensor<3x5xf32>, %[[W:.+]]: tensor<5x7xf32>, %[[ROWS:.+]]: tensor<2x7xf32>, %[[IDS:.+]]: tensor<2xi32>)
func.func @sums_from_zero_start_there(%x: tensor<3x5xf32>, %w: tensor<5x7xf32>, %rows: tensor<2x7xf32>, %ids: tensor<2xi32>) -> (tensor<3x7xf32>, tensor<3x7xf32>) {
  %zero = nap.constant dense<0.0> : tensor<3x7xf32>
  // CHECK: nap.einsum "ab,bc->ac" %[[X]], %[[W]] :
  %y = nap.einsum "ab,bc->ac" %x, %w init %zero : (tensor<3x5xf32>, tensor<5x7xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
  // CHECK: nap.scatter_add %[[ROWS]], %[[IDS]] :
  %z = nap.scatter_add %rows, %ids into %zero : tensor<2x7xf32>, tensor<2xi32>, tensor<3x7xf32> -> tensor<3x7xf32>
  return %y, %z : tensor<3x7xf32>, tensor<3x7xf32>
}

// A chain from -0 may end in -0: it stays.
// CHECK-LABEL: func.func @sums_from_minus_zero_stay
func.func @sums_from_minus_zero_stay(%x: tensor<3x5xf32>, %w: tensor<5x7xf32>) -> tensor<3x7xf32> {
  %zero = nap.constant dense<-0.0> : tensor<3x7xf32>
  // CHECK: nap.einsum {{.*}} init
  %y = nap.einsum "ab,bc->ac" %x, %w init %zero : (tensor<3x5xf32>, tensor<5x7xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
  return %y : tensor<3x7xf32>
}

// CHECK-LABEL: func.func @scattered_rows_go_into_the_other_term
// CHECK-SAME: (%[[ROWS:.+]]: tensor<2x7xf32>, %[[IDS:.+]]: tensor<2xi32>, %[[X:.+]]: tensor<3x7xf32>)
func.func @scattered_rows_go_into_the_other_term(%rows: tensor<2x7xf32>, %ids: tensor<2xi32>, %x: tensor<3x7xf32>) -> tensor<3x7xf32> {
  // CHECK-NEXT: %[[Y:.+]] = nap.scatter_add %[[ROWS]], %[[IDS]] into %[[X]]
  // CHECK-NEXT: return %[[Y]]
  %y = nap.scatter_add %rows, %ids : tensor<2x7xf32>, tensor<2xi32> -> tensor<3x7xf32>
  %z = nap.add %x, %y : tensor<3x7xf32>
  return %z : tensor<3x7xf32>
}

// CHECK-LABEL: func.func @scattered_rows_come_last
// CHECK-SAME: (%[[ROWS:.+]]: tensor<2x7xf32>, %[[IDS:.+]]: tensor<2xi32>, %[[X:.+]]: tensor<3x7xf32>, %[[G:.+]]: tensor<3x7xf32>)
func.func @scattered_rows_come_last(%rows: tensor<2x7xf32>, %ids: tensor<2xi32>, %x: tensor<3x7xf32>, %g: tensor<3x7xf32>) -> tensor<3x7xf32> {
  // CHECK-NEXT: %[[SUM:.+]] = nap.add %[[X]], %[[G]]
  // CHECK-NEXT: %[[Y:.+]] = nap.scatter_add %[[ROWS]], %[[IDS]] into %[[SUM]]
  // CHECK-NEXT: return %[[Y]]
  %y = nap.scatter_add %rows, %ids into %g : tensor<2x7xf32>, tensor<2xi32>, tensor<3x7xf32> -> tensor<3x7xf32>
  %z = nap.add %x, %y : tensor<3x7xf32>
  return %z : tensor<3x7xf32>
}

// Scattered rows that somebody else reads are scattered by themselves.
// CHECK-LABEL: func.func @scattered_rows_with_two_readers_stay
func.func @scattered_rows_with_two_readers_stay(%rows: tensor<2x7xf32>, %ids: tensor<2xi32>, %x: tensor<3x7xf32>) -> (tensor<3x7xf32>, tensor<3x7xf32>) {
  // CHECK: nap.scatter_add
  // CHECK-NOT: into
  // CHECK: nap.add
  %y = nap.scatter_add %rows, %ids : tensor<2x7xf32>, tensor<2xi32> -> tensor<3x7xf32>
  %z = nap.add %x, %y : tensor<3x7xf32>
  return %y, %z : tensor<3x7xf32>, tensor<3x7xf32>
}

// A sum that is rounded at once stays with its rounding.
// CHECK-LABEL: func.func @rounded_sums_stay
func.func @rounded_sums_stay(%rows: tensor<2x7xf32>, %ids: tensor<2xi32>, %x: tensor<3x7xf32>) -> tensor<3x7xbf16> {
  // CHECK: nap.scatter_add
  // CHECK-NOT: into
  // CHECK: nap.add
  // CHECK-NEXT: nap.cast
  %y = nap.scatter_add %rows, %ids : tensor<2x7xf32>, tensor<2xi32> -> tensor<3x7xf32>
  %z = nap.add %x, %y : tensor<3x7xf32>
  %n = nap.cast %z : tensor<3x7xf32> -> tensor<3x7xbf16>
  return %n : tensor<3x7xbf16>
}
