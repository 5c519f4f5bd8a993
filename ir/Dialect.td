// The nap dialect and its enumerations.
#ifndef NAPKIN_IR_DIALECT
#define NAPKIN_IR_DIALECT

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def NapDialect : Dialect {
  let name = "nap";
  let cppNamespace = "::nap";
  let summary = "training graphs on ranked tensors of static size";
  let description = [{
    Values are builtin ranked tensors whose sizes are all static. Operands of an elementwise op
    have one shape: broadcasting is an op of its own. A module declares its persistent tensors,
    its inputs and its run-time scalars; its functions refer to them by the attributes of their
    arguments and results (docs/architecture.md).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

/// Any tensor that a graph may hold.
def NapTensor : StaticShapeTensorOf<[F64, F32, F16, BF16, F8E4M3FN, F8E5M2, F4E2M1FN, I32, I64, I1]>;
def NapFloatTensor : StaticShapeTensorOf<[F64, F32, F16, BF16, F8E4M3FN, F8E5M2, F4E2M1FN]>;
def NapNumberTensor : StaticShapeTensorOf<[F64, F32, F16, BF16, F8E4M3FN, F8E5M2, F4E2M1FN, I32, I64]>;
def NapIntTensor : StaticShapeTensorOf<[I32, I64]>;
def NapBoolTensor : StaticShapeTensorOf<[I1]>;
/// The random key: [seed low, seed high, step, micro-batch].
def NapRandomKey : Type<CPred<[{
  ::llvm::isa<::mlir::RankedTensorType>($_self) &&
  ::llvm::cast<::mlir::RankedTensorType>($_self).getShape() == ::llvm::ArrayRef<int64_t>{4} &&
  ::llvm::cast<::mlir::RankedTensorType>($_self).getElementType().isInteger(32)}]>,
  "tensor<4xi32>">;

def ComparePredicate : I32EnumAttr<"ComparePredicate", "how two numbers compare", [
  I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>, I32EnumAttrCase<"lt", 2>,
  I32EnumAttrCase<"le", 3>, I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]> {
  let cppNamespace = "::nap";
  let genSpecializedAttr = 0;
}
def ComparePredicateAttr : EnumAttr<NapDialect, ComparePredicate, "predicate">;

def ReduceKind : I32EnumAttr<"ReduceKind", "how a reduction combines", [
  I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"max", 1>, I32EnumAttrCase<"min", 2>,
  I32EnumAttrCase<"prod", 3>]> {
  let cppNamespace = "::nap";
  let genSpecializedAttr = 0;
}
def ReduceKindAttr : EnumAttr<NapDialect, ReduceKind, "reduction">;

def Role : I32EnumAttr<"Role", "what a declared tensor is for", [
  I32EnumAttrCase<"parameter", 0>, I32EnumAttrCase<"buffer", 1>, I32EnumAttrCase<"state", 2>,
  I32EnumAttrCase<"gradient", 3>, I32EnumAttrCase<"input", 4>, I32EnumAttrCase<"scalar", 5>,
  I32EnumAttrCase<"random", 6>, I32EnumAttrCase<"working", 7>]> {
  let cppNamespace = "::nap";
  let genSpecializedAttr = 0;
}
def RoleAttr : EnumAttr<NapDialect, Role, "role">;

def KernelClass : I32EnumAttr<"KernelClass", "the skeleton that executes a kernel", [
  I32EnumAttrCase<"pointwise", 0>, I32EnumAttrCase<"reduction", 1>,
  I32EnumAttrCase<"contraction", 2>, I32EnumAttrCase<"scatter", 3>, I32EnumAttrCase<"row", 4>,
  I32EnumAttrCase<"attention", 5>]> {
  let cppNamespace = "::nap";
  let genSpecializedAttr = 0;
}
def KernelClassAttr : EnumAttr<NapDialect, KernelClass, "kernel_class">;

#endif
