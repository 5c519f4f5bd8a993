// All families of ops.
include "ir/ops/Elementwise.td"
include "ir/ops/Views.td"
include "ir/ops/Create.td"
include "ir/ops/Contract.td"
include "ir/ops/Index.td"
include "ir/ops/Attention.td"
include "ir/ops/Structure.td"
