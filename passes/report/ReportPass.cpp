// The pass nap-report.
//
// Prints the ledger's row of the module as it stands, and its memory and largest ops, to standard
// error: what `napkin report` prints after the last pass. Changes nothing.
#include "passes/Passes.h"
#include "passes/Report.h"

#include "llvm/Support/raw_ostream.h"

namespace nap {
#define GEN_PASS_DEF_REPORTPASS
#include "passes/Passes.h.inc"
} // namespace nap

namespace {
struct ReportPass : nap::impl::ReportPassBase<ReportPass> {
  using ReportPassBase::ReportPassBase;

  void runOnOperation() override {
    const nap::Device *known = nap::findDevice(device);
    if (!device.empty() && !known) {
      getOperation().emitError("unknown device '") << device << "'";
      return signalPassFailure();
    }
    nap::Ledger ledger;
    if (known)
      ledger.device = known;
    nap::recordPass(ledger, "now", getOperation());
    nap::ReportOptions options;
    options.device = known;
    nap::printLedger(ledger, options, llvm::errs());
    markAllAnalysesPreserved();
  }
};
} // namespace
