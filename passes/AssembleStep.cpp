// The pass nap-AssembleStep.
#include "passes/Passes.h"

namespace nap {
#define GEN_PASS_DEF_ASSEMBLESTEPPASS
#include "passes/Passes.h.inc"
} // namespace nap

namespace {
struct AssembleStepPass : nap::impl::AssembleStepPassBase<AssembleStepPass> {
  void runOnOperation() override {}
};
} // namespace
