// The three questions that a pass may ask an op.
#ifndef NAPKIN_IR_INTERFACES
#define NAPKIN_IR_INTERFACES

include "mlir/IR/OpBase.td"

def Differentiable : OpInterface<"Differentiable"> {
  let cppNamespace = "::nap";
  let description = [{ Reverse mode: the adjoint of an op, as ops. }];
  let methods = [InterfaceMethod<[{
      Adds to `operandCotangents`, one per operand, the cotangent that each operand receives from the
      results' `cotangents` (null: that result has none). `needed[i]` tells whether operand i wants
      one; the entry of an operand that wants none, or gets none, is null.
    }],
    "void", "buildAdjoint",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$cotangents,
         "::llvm::ArrayRef<bool>":$needed,
         "::llvm::SmallVectorImpl<::mlir::Value> &":$operandCotangents)>];
}

def Costed : OpInterface<"Costed"> {
  let cppNamespace = "::nap";
  let description = [{ Arithmetic work by counter (docs/accounting), from the op's types alone. }];
  // One rule asks for more than types: a comparison that only chooses counts with its choices.
  let methods = [InterfaceMethod<[{ The work of one execution of the op. }],
    "::nap::Cost", "getCost", (ins)>];
}

def Fusable : OpInterface<"Fusable"> {
  let cppNamespace = "::nap";
  let description = [{
    An op that computes each element of its result from the same element of its operands: its scalar
    body in `arith` and `math`. The operands given are scalars or vectors of one length.
  }];
  let methods = [InterfaceMethod<[{
      Builds the body over `operands` (scalars, or vectors of one length, of the operands' element
      types; i1 for bools) and returns the result, of the result's element type.
    }],
    "::mlir::Value", "buildScalarBody",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::ValueRange":$operands)>];
}

#endif
