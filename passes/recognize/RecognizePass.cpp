// The pass nap-recognize.
//
// Finds compositions that have an op of their own, whoever wrote them, and replaces them:
//
//   %s = nap.einsum "bhse,bhte->bhst" %q, %k
//   %m = nap.select %causal, %s * scale, -1e30          %out, %lse = nap.attention %q, %k, %v
//   %p = softmax(%m), with dropout or not       ->          {scale = 1.25e-1, to = 0}
//   %o = nap.einsum "bhst,bhte->bhse" %p, %v
//
// Runs before autodiff, so that gradients are those of the op. What comes near and is not replaced
// is left as it is; with `remarks` a remark says why. To rounding: the op's sums have another order
// than the composition's.
#include "passes/Functions.h"
#include "passes/recognize/Attention.h"

namespace nap {
#define GEN_PASS_DEF_RECOGNIZEPASS
#include "passes/Passes.h.inc"
} // namespace nap

using namespace mlir;
using namespace nap;

namespace {
struct RecognizePass : nap::impl::RecognizePassBase<RecognizePass> {
  using RecognizePassBase::RecognizePassBase;

  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      SmallVector<EinsumOp> products;
      func.walk([&](EinsumOp einsum) { products.push_back(einsum); });
      for (EinsumOp product : products)
        visit(product);
      eraseUnread(func.getBody().front());
    }
  }

  void visit(EinsumOp product) {
    AttentionFinding finding = recognizeAttention(product);
    if (remarks && !finding.nearMiss.empty())
      product.emitRemark("attention is left as it is written: ") << finding.nearMiss;
  }
};
} // namespace
