// Ops that place elements: gathers, scatters, joins, and rows in order.
#ifndef NAPKIN_IR_OPS_INDEX
#define NAPKIN_IR_OPS_INDEX

include "ir/ops/Base.td"

class Nap_Index<string mnemonic, list<Trait> traits = []>
    : Nap_Pure<mnemonic, !listconcat(HasAdjoint, traits)> {
  let hasVerifier = 1;
}

def ConcatOp : Nap_Index<"concat"> {
  let summary = "joins the operands along one axis";
  let description = [{ C1: the axis lies in the result. C2: other sizes are equal, those along the axis add up. C3: one element type. }];
  let arguments = (ins Variadic<NapTensor>:$operands, I64Attr:$axis);
  let results = (outs NapTensor:$result);
  let assemblyFormat = "$operands `axis` $axis attr-dict `:` functional-type($operands, $result)";
}

def PadOp : Nap_Index<"pad"> {
  let summary = "x with low[i] and high[i] elements of `value` around axis i and inner[i] between its elements";
  let description = [{ C1: one entry an axis, none negative. C2: sizes follow. C3: the same element type. }];
  let arguments = (ins NapTensor:$x, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high,
                       DenseI64ArrayAttr:$inner, F64Attr:$value);
  let results = (outs NapTensor:$result);
  let assemblyFormat = [{
    $x `low` $low `high` $high `inner` $inner `with` $value attr-dict `:` type($x) `->` type($result)
  }];
}

def EmbedOp : Nap_Index<"embed"> {
  let summary = "rows of a table: table [n, rest...] and ids [lead...] give [lead..., rest...]";
  let description = [{ C1: the result is the shape of ids and the table's without its first axis. C2: the table's element type. Ids that are read from data are checked where they are read; a computed id is clamped into the table. }];
  let arguments = (ins NapTensor:$table, NapIntTensor:$ids);
  let results = (outs NapTensor:$result);
  let assemblyFormat = "$table `,` $ids attr-dict `:` type($table) `,` type($ids) `->` type($result)";
}

def ScatterAddOp : Nap_Index<"scatter_add"> {
  let summary = "the adjoint of embed: adds rows [lead..., rest...] into zeros, or into a tensor, [n, rest...], in rising order of the ids' places";
  let description = [{ C1: rows are the shape of ids and the result's without its first axis. C2: one element type. C3: into has the result's type. }];
  let arguments = (ins NapNumberTensor:$rows, NapIntTensor:$ids, Optional<NapNumberTensor>:$into);
  let results = (outs NapNumberTensor:$result);
  let assemblyFormat = "$rows `,` $ids (`into` $into^)? attr-dict `:` type(operands) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$rows, "::mlir::Value":$ids), [{
    build($_builder, $_state, result, rows, ids, ::mlir::Value());
  }]>];
}

def TakeAlongOp : Nap_Index<"take_along"> {
  let summary = "elements along the last axis: x [lead..., n], ids [lead...] or [lead..., k]; the result has the shape of ids";
  let description = [{ C1: ids have x's leading axes and perhaps one more. C2: the result has the shape of ids and x's element type. }];
  let arguments = (ins NapTensor:$x, NapIntTensor:$ids);
  let results = (outs NapTensor:$result);
  let assemblyFormat = "$x `,` $ids attr-dict `:` type($x) `,` type($ids) `->` type($result)";
}

def PutAlongOp : Nap_Index<"put_along"> {
  let summary = "the adjoint of take_along: adds values (of the shape of ids) into zeros [lead..., n] along the last axis";
  let description = [{ C1: ids have the result's leading axes and perhaps one more. C2: values have the shape of ids and the result's element type. }];
  let arguments = (ins NapNumberTensor:$values, NapIntTensor:$ids);
  let results = (outs NapNumberTensor:$result);
  let assemblyFormat = "$values `,` $ids attr-dict `:` type($values) `,` type($ids) `->` type($result)";
}

def FoldOp : Nap_Index<"fold"> {
  let summary = "the adjoint of window: adds the windows' elements back into their places, offsets in rising order";
  let description = [{ C1: the operand's type is what `window` makes of the result's. }];
  let arguments = (ins NapNumberTensor:$windows, DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$dilations);
  let results = (outs NapNumberTensor:$result);
  let assemblyFormat = [{
    $windows `sizes` $sizes `strides` $strides `dilations` $dilations attr-dict `:` type($windows) `->` type($result)
  }];
}

def ArgmaxOp : Nap_Index<"argmax"> {
  let summary = "place of the largest element along the last axis, the lowest at ties";
  let description = [{ C1: the result is x without its last axis. }];
  let arguments = (ins NapNumberTensor:$x);
  let results = (outs NapIntTensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
}

def TopKOp : Nap_Index<"top_k"> {
  let summary = "the k largest along the last axis, falling, and their places; the lower place first at ties";
  let description = [{ C1: both results are x with a last axis of k, 1 <= k <= its size. C2: values have x's element type. }];
  let arguments = (ins NapNumberTensor:$x);
  let results = (outs NapNumberTensor:$values, NapIntTensor:$ids);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($values) `,` type($ids)";
}

def CumsumOp : Nap_Index<"cumsum", [SameOperandsAndResultType]> {
  let summary = "running sum along an axis, from its end if reverse";
  let description = [{ C1: the axis lies in x. }];
  let arguments = (ins NapNumberTensor:$x, I64Attr:$axis, UnitAttr:$reverse);
  let results = (outs NapNumberTensor:$result);
  let assemblyFormat = "$x `axis` $axis (`reverse` $reverse^)? attr-dict `:` type($x)";
}

#endif
