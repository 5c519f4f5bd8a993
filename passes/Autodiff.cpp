// The pass nap-Autodiff.
#include "passes/Passes.h"

namespace nap {
#define GEN_PASS_DEF_AUTODIFFPASS
#include "passes/Passes.h.inc"
} // namespace nap

namespace {
struct AutodiffPass : nap::impl::AutodiffPassBase<AutodiffPass> {
  void runOnOperation() override {}
};
} // namespace
