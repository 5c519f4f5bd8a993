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

def RecognizePass : Pass<"nap-recognize", "::mlir::ModuleOp"> {
  let summary = "finds compositions that have an op of their own, such as attention, and replaces them";
  let description = [{ To rounding: the op's sums have another order. }];
  let options = [Option<"remarks", "remarks", "bool", "false",
                        "say of each near miss why it was left as it is">];
}

def AutodiffPass : Pass<"nap-autodiff", "::mlir::ModuleOp"> {
  let summary = "makes @micro_step from @forward: the gradient of the loss for every trained parameter";
  let description = [{
    Each op's adjoint is its exact derivative; a value's cotangents are added, latest use first. Under mixed(f16) all
    are multiplied by a dynamic loss scale, a power of two.
  }];
  let options = [Option<"keepForward", "keep-forward", "bool", "false",
                        "leave @forward beside @micro_step, for tests that compare them">];
}

def MixedPrecisionPass : Pass<"nap-mixed-precision", "::mlir::ModuleOp"> {
  let summary = "working copies of parameters; their gradients in f32 where the policy stores less";
  let description = [{
    To a tolerance: takes roundings out of gradients, before accumulation and optimizers read them. All
    other roundings stand where the model file's types put them. No pass after it adds or removes one.
  }];
}

def AssembleStepPass : Pass<"nap-assemble-step", "::mlir::ModuleOp"> {
  let summary = "makes the functions that the runtime calls from @micro_step and @update";
  let description = [{ Exact; norms, and sums over micro-batches, have a fixed order. }];
  let options = [Option<"fusedUpdate", "fused-update", "bool", "false",
                        "update each parameter as soon as its gradient is final">];
}

def ChunkRowsPass : Pass<"nap-chunk-rows", "::mlir::ModuleOp"> {
  let summary = "products over a large vocabulary, their loss and its gradients for some rows at a time";
  let description = [{
    Exact for any number of parts: no row needs another, and the contraction over the rows goes on in each part where
    the one before ended. A remark says why a product that looks like a head is left whole.
  }];
  let options = [Option<"chunks", "chunks", "int64_t", "0",
                        "how many parts; 0: from the product's bytes, large ones alone">];
}

def SplitReductionsPass : Pass<"nap-split-reductions", "::mlir::ModuleOp"> {
  let summary = "large sums to few elements as sums of blocks, then of the blocks' results";
  let description = [{ Exact: the blocks are those of the order of sums. }];
}

def FusePass : Pass<"nap-fuse", "::mlir::ModuleOp"> {
  let summary = "leaves only kernels: regions of the graph that become one launch each";
  let description = [{ Exact: an op has the same bits in any kernel. }];
  let options = [Option<"singleOps", "single-ops", "bool", "false",
                        "each op its own kernel">,
                 Option<"storeMasks", "store-masks", "bool", "false",
                        "store the mask that is made of a draw, a byte an element, rather than draw again">,
                 Option<"recompute", "recompute", "bool", "true",
                        "compute in several kernels also what is made of as many bytes as it has">];
}

def ChooseSchedulesPass : Pass<"nap-choose-schedules", "::mlir::ModuleOp"> {
  let summary = "says how each kernel is cut into tasks, from shapes alone";
  let description = [{ Exact: a task computes whole elements. }];
  let options = [Option<"minTasks", "min-tasks", "int64_t", "1",
                        "cut small kernels into this many tasks too, where they have as many elements">,
                 Option<"vectorBytes", "vector-bytes", "int64_t", "0",
                        "bytes of the target's vectors; 0: the module's nap.vector_bytes, or 64">,
                 Option<"bf16Unit", "bf16-unit", "std::string", "",
                        "what multiplies bf16: fma, dot or amx; empty: the module's nap.bf16_unit, or fma">];
}

def SchedulePass : Pass<"nap-schedule", "::mlir::ModuleOp"> {
  let summary = "orders kernels so that fewer bytes are live at once";
  let description = [{ Exact: every kernel reads what it read before. }];
}

def CheckpointPass : Pass<"nap-checkpoint", "::mlir::ModuleOp"> {
  let summary = "chooses what the backward pass keeps and what is computed again, under a budget of bytes";
  let description = [{ Exact: a kernel that runs again computes the same bits. }];
  let options = [Option<"strategy", "strategy", "std::string", "\"auto\"",
                        "auto, or one of passes/memory/Strategies.h">,
                 Option<"budget", "budget", "int64_t", "0",
                        "bytes of the arena and all scratch; 0: no limit">,
                 Option<"workers", "workers", "int64_t", "1", "workers that have scratch">];
}

def PlanMemoryPass : Pass<"nap-plan-memory", "::mlir::ModuleOp"> {
  let summary = "gives every tensor of the kernels its place in one arena";
  let description = [{ Exact. Adds a copy where the new version of a declared tensor cannot be written in place. }];
}

def OutlinePass : Pass<"nap-outline", "::mlir::ModuleOp"> {
  let summary = "makes kernels of equal structure one definition and a launch each";
  let description = [{ Exact. }];
}

def AnnotateCostPass : Pass<"nap-annotate-cost", "::mlir::ModuleOp"> {
  let summary = "writes on every op or kernel what it costs, and on the module its model FLOPs";
  let description = [{ Exact: only attributes are added. }];
  let options = [Option<"moduleOnly", "module-only", "bool", "false",
                        "write the module's model FLOPs alone">];
}

def ReportPass : Pass<"nap-report", "::mlir::ModuleOp"> {
  let summary = "prints the ledger's row of the module as it stands, to standard error";
  let description = [{ Exact: nothing changes. }];
  let options = [Option<"device", "device", "std::string", "", "a device of the table, for times">];
}

#endif
