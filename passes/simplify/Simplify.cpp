// Canonical forms, common subexpressions, dead code.
//
// In and out: functions of graph ops, before or after autodiff. Afterwards every einsum has two
// operands, contracts, and sums over no letter that one operand alone has. Each pattern says how
// it keeps bits: exact; but for the sign of a zero; to rounding. Sums and products of constants are
// never regrouped, draws of two sites never merged. View-of-view rules are the ops' folders
// (exact).
//
//   %y = nap.einsum "ab,bc,cd->ad" %u, %v, %w     becomes     %t = nap.einsum "bc,cd->bd" %v, %w
//                                                             %y = nap.einsum "ab,bd->ad" %u, %t
#include "passes/Passes.h"
#include "passes/simplify/Patterns.h"

#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace nap {
#define GEN_PASS_DEF_SIMPLIFYPASS
#include "passes/Passes.h.inc"
} // namespace nap

using namespace mlir;
using namespace nap;

namespace {
struct SimplifyPass : nap::impl::SimplifyPassBase<SimplifyPass> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    addArithmeticPatterns(set);
    addConstantPatterns(set);
    addViewPatterns(set);
    addContractionPatterns(set);
    patterns = std::move(set);
    return success();
  }

  /// Patterns, then equal expressions; what became equal may match once more.
  void runOnOperation() override {
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    config.setMaxIterations(GreedyRewriteConfig::kNoLimit);
    bool merged = true;
    for (int round = 0; round < 4 && merged; ++round) {
      for (auto function : getOperation().getOps<func::FuncOp>())
        if (failed(applyPatternsGreedily(function, patterns, config)))
          return signalPassFailure();
      IRRewriter rewriter(&getContext());
      DominanceInfo dominance(getOperation());
      eliminateCommonSubExpressions(rewriter, dominance, getOperation(), &merged);
    }
  }

  FrozenRewritePatternSet patterns;
};
} // namespace
