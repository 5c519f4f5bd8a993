// The passes over nap graphs, in the order in which Pipeline.cpp runs them.
#ifndef NAPKIN_PASSES
#define NAPKIN_PASSES

include "mlir/Pass/PassBase.td"

def SimplifyPass : Pass<"nap-simplify", "::mlir::ModuleOp"> {
  let summary = "canonical forms, common subexpressions, dead code, einsums of two operands";
  let description = [{
    Exact, but for einsums of three operands and more, whose products are taken in another order
    than written (to rounding).
  }];
}

def AutodiffPass : Pass<"nap-autodiff", "::mlir::ModuleOp"> {
  let summary = "makes @micro_step from @forward: the gradient of the loss for every trained parameter";
}

def AssembleStepPass : Pass<"nap-assemble-step", "::mlir::ModuleOp"> {
  let summary = "makes the functions that the runtime calls from @micro_step and @update";
}

#endif
