// Views: other shapes of the same elements. They compute nothing and copy nothing.
#ifndef NAPKIN_IR_OPS_VIEWS
#define NAPKIN_IR_OPS_VIEWS

include "ir/ops/Base.td"

class Nap_View<string mnemonic, list<Trait> traits = []>
    : Nap_Pure<mnemonic, !listconcat(HasAdjoint, traits)> {
  let hasVerifier = 1;
}

def ReshapeOp : Nap_View<"reshape"> {
  let summary = "the same elements in row-major order under another shape";
  let description = [{ C1: as many elements. C2: the same element type. }];
  let arguments = (ins NapTensor:$x);
  let results = (outs NapTensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasFolder = 1;
}

def PermuteOp : Nap_View<"permute"> {
  let summary = "axis i of the result is axis order[i] of x";
  let description = [{ C1: order is a permutation of the axes. C2: sizes follow it. C3: the same element type. }];
  let arguments = (ins NapTensor:$x, DenseI64ArrayAttr:$order);
  let results = (outs NapTensor:$result);
  let assemblyFormat = "$x $order attr-dict `:` type($x) `->` type($result)";
  let hasFolder = 1;
}

def BroadcastOp : Nap_View<"broadcast"> {
  let summary = "repeats x along the result's axes that are not in `axes`";
  let description = [{
    Axis i of x becomes axis axes[i] of the result. C1: axes rise strictly and lie in the result.
    C2: the size of axis i of x is that of the result's axis axes[i] (size 1 is not stretched).
    C3: the same element type.
  }];
  let arguments = (ins NapTensor:$x, DenseI64ArrayAttr:$axes);
  let results = (outs NapTensor:$result);
  let assemblyFormat = "$x $axes attr-dict `:` type($x) `->` type($result)";
  let hasFolder = 1;
}

def SliceOp : Nap_View<"slice"> {
  let summary = "elements starts[i] + strides[i] * k of each axis i; strides may be negative";
  let description = [{
    C1: one start and one stride per axis, no stride is 0. C2: first and last element of each axis
    lie in x. C3: the same rank and element type.
  }];
  let arguments = (ins NapTensor:$x, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$strides);
  let results = (outs NapTensor:$result);
  let assemblyFormat = "$x $starts `step` $strides attr-dict `:` type($x) `->` type($result)";
  let hasFolder = 1;
}

def DiagonalOp : Nap_View<"diagonal"> {
  let summary = "elements of x whose index along axes `first` and `second` is the same";
  let description = [{ C1: first < second, both axes of one size. C2: the result is x without axis second. C3: the same element type. }];
  let arguments = (ins NapTensor:$x, I64Attr:$first, I64Attr:$second);
  let results = (outs NapTensor:$result);
  let assemblyFormat = "$x `axes` $first `,` $second attr-dict `:` type($x) `->` type($result)";
}

def WindowOp : Nap_View<"window"> {
  let summary = "of the last k axes (places), makes k axes of places and k axes of offsets in a window";
  let description = [{
    Place p and offset o read x at p * strides + o * dilations. C1: sizes, strides and dilations have one
    length k, at most the rank, all at least 1. C2: place axis i has
    (n - dilations[i] * (sizes[i] - 1) - 1) / strides[i] + 1 elements, and at least one. C3: the result's
    shape is the leading axes, the places, the offsets, of the same element type.
  }];
  let arguments = (ins NapTensor:$x, DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$dilations);
  let results = (outs NapTensor:$result);
  let assemblyFormat = [{
    $x `sizes` $sizes `strides` $strides `dilations` $dilations attr-dict `:` type($x) `->` type($result)
  }];
}

#endif
