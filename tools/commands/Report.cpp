// napkin report: the ledger of a model, a row a pass.
#include "passes/Report.h"
#include "runtime/files/Console.h"
#include "tools/commands/Model.h"

#include <fmt/format.h>

using namespace nap;
namespace rt = napkin::runtime;

static constexpr FlagSpec kReportFlags[] = {
    {"device", "D", "a device of the table, such as h100; default: no times"},
    {"after", "PASS", "stop after this pass"},
    {"steps", "N", "planned updates"},
    {"seed", "N", "the default seed"},
    kTimingFlag,
};

/// The device that the flags name, or null; false after an error.
static bool findDeviceFlag(const ParsedFlags &flags, const Device *&device) {
  const std::string *name = flags.find("device");
  device = name ? findDevice(*name) : nullptr;
  if (!name || device)
    return true;
  std::vector<std::string_view> names;
  for (const Device &known : knownDevices())
    names.push_back(known.name);
  std::string_view near = rt::nearestName(*name, names);
  fail(near.empty() ? fmt::format("--device={}: not in the table, which has {}", *name, fmt::join(names, ", "))
                    : fmt::format("--device={}: not in the table; did you mean '{}'?", *name, near),
       ExitStatus::wrongUsage);
  return false;
}

ExitStatus nap::reportCommand(std::span<const std::string> arguments) {
  std::vector<FlagSpec> known(std::begin(kReportFlags), std::end(kReportFlags));
  known.insert(known.end(), rt::compileFlags().begin(), rt::compileFlags().end());
  known.insert(known.end(), modelFlags().begin(), modelFlags().end());
  ExitStatus status;
  auto flags = parseCommand(arguments, known, "napkin report MODEL.nap [flags]", 1, status);
  if (!flags)
    return status;
  const Device *device;
  if (!findDeviceFlag(*flags, device))
    return ExitStatus::wrongUsage;
  Model model;
  if ((status = model.read(*flags)) != ExitStatus::done)
    return status;

  Ledger ledger;
  if (auto name = model.module()->getAttrOfType<mlir::StringAttr>("nap.model"))
    ledger.model = name.str();
  recordPass(ledger, "import", model.module());
  std::string last = flags->find("after") ? *flags->find("after") : "";
  bool stopped = false;
  std::vector<std::string> passes;
  status = model.plan([&](llvm::StringRef pass, mlir::ModuleOp module) {
    // Annotating changes no row.
    if (pass == "nap-annotate-cost" || stopped)
      return;
    passes.push_back(pass.str());
    recordPass(ledger, pass, module);
    stopped = pass == last;
  });
  if (status != ExitStatus::done)
    return status;
  if (!last.empty() && !stopped)
    return fail(fmt::format("--after={}: no such pass ran; the passes are {}", last, fmt::join(passes, ", ")),
                ExitStatus::wrongUsage);
  std::string text;
  llvm::raw_string_ostream stream(text);
  printLedger(ledger, device, stream);
  model.printTimes();
  auto failure = rt::writeOutput(text);
  return failure ? fail(*failure) : ExitStatus::done;
}
