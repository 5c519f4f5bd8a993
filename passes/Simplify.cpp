// The pass nap-Simplify.
#include "passes/Passes.h"

namespace nap {
#define GEN_PASS_DEF_SIMPLIFYPASS
#include "passes/Passes.h.inc"
} // namespace nap

namespace {
struct SimplifyPass : nap::impl::SimplifyPassBase<SimplifyPass> {
  void runOnOperation() override {}
};
} // namespace
