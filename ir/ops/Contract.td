// Contractions and reductions.
#ifndef NAPKIN_IR_OPS_CONTRACT
#define NAPKIN_IR_OPS_CONTRACT

include "ir/ops/Base.td"

def EinsumOp : Nap_Pure<"einsum", !listconcat([AttrSizedOperandSegments], HasAdjoint)> {
  let summary = "sums the product of its factors over the letters that the result lacks";
  let description = [{
    The pattern has one letter (a-z, A-Z) an axis: "bsd,vd->bsv". C1: one group a factor, one letter an axis.
    C2: a letter has one size everywhere. C3: no letter twice in one group (a diagonal is a view). C4: every
    letter of the result stands in a factor. C5: one element type; the result may have
    the one that sums are kept in, f32 for narrower floats. An element of a contraction of two factors
    accumulates in f32 (f64 for f64) in one chain of fused multiply-adds and is rounded once, in rising order of the
    contracted letters as they stand in the first factor.

    With `init` the chain of each element goes on from that element of init, not from 0: a product cut along its
    first contracted letter, each part going on from the one before, has the bits of the whole. C6: init has the
    result's type, whose sums lose nothing when stored (f32, f64, integers); there are two factors, with a letter
    to sum over; each letter that is summed stands in both.
  }];
  let arguments = (ins Variadic<NapNumberTensor>:$factors, Optional<NapNumberTensor>:$init, StrAttr:$pattern);
  let results = (outs NapNumberTensor:$result);
  let assemblyFormat = "$pattern $factors (`init` $init^)? attr-dict `:` functional-type(operands, $result)";
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::ValueRange":$factors, "::llvm::StringRef":$pattern), [{
    build($_builder, $_state, result, factors, ::mlir::Value(), pattern);
  }]>, OpBuilder<(ins "::mlir::Type":$result, "::mlir::ValueRange":$factors, "::mlir::StringAttr":$pattern), [{
    build($_builder, $_state, result, factors, ::mlir::Value(), pattern);
  }]>];
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
