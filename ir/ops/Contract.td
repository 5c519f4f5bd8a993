// Contractions and reductions.
#ifndef NAPKIN_IR_OPS_CONTRACT
#define NAPKIN_IR_OPS_CONTRACT

include "ir/ops/Base.td"

def EinsumOp : Nap_Pure<"einsum", HasAdjoint> {
  let summary = "sums the product of its operands over the letters that the result lacks";
  let description = [{
    The pattern has one letter (a-z, A-Z) an axis: "bsd,vd->bsv". C1: one group an operand, one letter an axis.
    C2: a letter has one size everywhere. C3: no letter twice in one group (a diagonal is a view). C4: every
    letter of the result stands in an operand. C5: one element type; the result may have
    the one that sums are kept in, f32 for narrower floats. An element of a two-operand contraction
    accumulates in f32 (f64 for f64) in one chain of fused multiply-adds and is rounded once, in rising order of the contracted letters as
    they stand in the first operand.
  }];
  let arguments = (ins Variadic<NapNumberTensor>:$operands, StrAttr:$pattern);
  let results = (outs NapNumberTensor:$result);
  let assemblyFormat = "$pattern $operands attr-dict `:` functional-type($operands, $result)";
  let hasVerifier = 1;
}

def ReduceOp : Nap_Pure<"reduce", HasAdjoint> {
  let summary = "combines the elements along `axes`; a mean is a sum and a product";
  let description = [{
    C1: axes rise strictly and lie in x. C2: the result is x without them. C3: the same element type. The order
    of sums is that of docs/architecture.md.
  }];
  let arguments = (ins ReduceKindAttr:$kind, NapNumberTensor:$x, DenseI64ArrayAttr:$axes);
  let results = (outs NapNumberTensor:$result);
  let assemblyFormat = "$kind $x $axes attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

#endif
