// Elementwise ops: one scalar body for every element of one shape.
#ifndef NAPKIN_IR_OPS_ELEMENTWISE
#define NAPKIN_IR_OPS_ELEMENTWISE

include "ir/ops/Base.td"

defvar ElementwiseTraits = [DeclareOpInterfaceMethods<Fusable>];

class Nap_Unary<string mnemonic, Type type = NapNumberTensor, list<Trait> traits = []>
    : Nap_Pure<mnemonic, !listconcat([SameOperandsAndResultType], ElementwiseTraits, HasAdjoint, traits)> {
  let arguments = (ins type:$x);
  let results = (outs type:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

class Nap_Binary<string mnemonic, Type type = NapNumberTensor, list<Trait> traits = []>
    : Nap_Pure<mnemonic, !listconcat([SameOperandsAndResultType], ElementwiseTraits, HasAdjoint, traits)> {
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
}

def AddOp : Nap_Binary<"add", NapNumberTensor, [Commutative]> { let summary = "sum"; }
def SubOp : Nap_Binary<"sub"> { let summary = "difference"; }
def MulOp : Nap_Binary<"mul", NapNumberTensor, [Commutative]> { let summary = "product"; }
def DivOp : Nap_Binary<"div", NapFloatTensor> { let summary = "quotient of floats"; }
def RemOp : Nap_Binary<"rem"> { let summary = "remainder with the divisor's sign"; }
def FloorDivOp : Nap_Binary<"floor_div"> { let summary = "quotient rounded down"; }
def PowOp : Nap_Binary<"pow", NapFloatTensor> { let summary = "lhs to the power of rhs"; }
def MaximumOp : Nap_Binary<"maximum", NapNumberTensor, [Commutative]> {
  let summary = "the larger; a NaN wins; the gradient is shared at ties";
}
def MinimumOp : Nap_Binary<"minimum", NapNumberTensor, [Commutative]> {
  let summary = "the smaller; a NaN wins; the gradient is shared at ties";
}
def AndOp : Nap_Binary<"and", NapBoolTensor, [Commutative]> { let summary = "both"; }
def OrOp : Nap_Binary<"or", NapBoolTensor, [Commutative]> { let summary = "either"; }

def NegOp : Nap_Unary<"neg"> { let summary = "negation"; }
def AbsOp : Nap_Unary<"abs"> { let summary = "absolute value; gradient 0 at 0"; }
def SignOp : Nap_Unary<"sign"> { let summary = "-1, 0 or 1"; }
def CeilOp : Nap_Unary<"ceil", NapFloatTensor> { let summary = "rounded up"; }
def FloorOp : Nap_Unary<"floor", NapFloatTensor> { let summary = "rounded down"; }
def RoundOp : Nap_Unary<"round", NapFloatTensor> { let summary = "rounded to nearest, ties to even"; }
def CosOp : Nap_Unary<"cos", NapFloatTensor> { let summary = "cosine"; }
def SinOp : Nap_Unary<"sin", NapFloatTensor> { let summary = "sine"; }
def ErfOp : Nap_Unary<"erf", NapFloatTensor> { let summary = "error function"; }
def ExpOp : Nap_Unary<"exp", NapFloatTensor> { let summary = "exponential"; }
def Expm1Op : Nap_Unary<"expm1", NapFloatTensor> { let summary = "exp(x) - 1"; }
def LogOp : Nap_Unary<"log", NapFloatTensor> { let summary = "natural logarithm"; }
def Log1pOp : Nap_Unary<"log1p", NapFloatTensor> { let summary = "log(1 + x)"; }
def RsqrtOp : Nap_Unary<"rsqrt", NapFloatTensor> { let summary = "1 / sqrt(x)"; }
def SqrtOp : Nap_Unary<"sqrt", NapFloatTensor> { let summary = "square root"; }
def SigmoidOp : Nap_Unary<"sigmoid", NapFloatTensor> { let summary = "1 / (1 + exp(-x))"; }
def TanhOp : Nap_Unary<"tanh", NapFloatTensor> { let summary = "hyperbolic tangent"; }
def NotOp : Nap_Unary<"not", NapBoolTensor> { let summary = "logical negation"; }
def StopGradientOp : Nap_Unary<"stop_gradient", NapTensor> {
  let summary = "x, of which nothing is differentiated";
}

def CompareOp : Nap_Pure<"compare", !listconcat([SameTypeOperands, SameOperandsAndResultShape],
                                                ElementwiseTraits, HasAdjoint)> {
  let summary = "compares two tensors element by element";
  let arguments = (ins ComparePredicateAttr:$predicate, NapTensor:$lhs, NapTensor:$rhs);
  let results = (outs NapBoolTensor:$result);
  let assemblyFormat = "$predicate $lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
}

def SelectOp : Nap_Pure<"select", !listconcat([AllTypesMatch<["onTrue", "onFalse", "result"]>,
                                               SameOperandsAndResultShape], ElementwiseTraits, HasAdjoint)> {
  let summary = "onTrue where the condition holds, else onFalse; the side not taken gets gradient 0";
  let arguments = (ins NapBoolTensor:$condition, NapTensor:$onTrue, NapTensor:$onFalse);
  let results = (outs NapTensor:$result);
  let assemblyFormat = "$condition `,` $onTrue `,` $onFalse attr-dict `:` type($condition) `,` type($result)";
}

def CastOp : Nap_Pure<"cast", !listconcat([SameOperandsAndResultShape], ElementwiseTraits, HasAdjoint)> {
  let summary = "converts the element type; floats to integers toward zero, bools to 0 and 1, to bool: not 0";
  let arguments = (ins NapTensor:$x);
  let results = (outs NapTensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
}

#endif
