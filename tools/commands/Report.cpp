// napkin report: the ledger of a model, a row a pass.
#include "passes/Report.h"
#include "runtime/device/Peaks.h"
#include "runtime/execute/WorkerPool.h"
#include "runtime/files/Console.h"
#include "tools/commands/Devices.h"
#include "tools/commands/Model.h"

#include <fmt/format.h>

using namespace nap;
namespace rt = napkin::runtime;

static constexpr FlagSpec kReportFlags[] = {
    {"device", "D", "a device of the table such as h100_sxm, 'host' as `napkin device` measured it, or a JSON file; default: no times"},
    {"step-time", "MS", "a measured time of a step, for MFU and HFU"},
    {"after", "PASS", "stop after this pass"},
    {"explain", "OP", "print what a kernel or op counts, as a formula with its numbers"},
    {"preset", "NAME", "count the model's FLOPs as a paper does, such as palm"},
    {"json", "", "print JSON"},
    {"html", "", "print a page of HTML that needs nothing else"},
    {"steps", "N", "planned updates"},
    {"seed", "N", "the default seed"},
    kTimingFlag,
};

/// The preset that the flags name, or null; false after an error.
static bool findPreset(const ParsedFlags &flags, const Preset *&preset) {
  const std::string *name = flags.find("preset");
  preset = nullptr;
  if (!name || *name == "exact")
    return true;
  std::vector<std::string_view> names = {"exact"};
  for (const Preset &known : presets()) {
    names.push_back(known.name);
    if (known.name == *name)
      preset = &known;
  }
  if (preset)
    return true;
  fail(fmt::format("--preset={}: the presets are {}", *name, fmt::join(names, ", ")), ExitStatus::wrongUsage);
  return false;
}

/// The measured time of a step in seconds, 0 without one; nothing after an error.
static std::optional<double> readStepTime(const ParsedFlags &flags) {
  const std::string *text = flags.find("step-time");
  if (!text)
    return 0;
  double milliseconds = 0;
  if (llvm::StringRef(*text).getAsDouble(milliseconds) || !(milliseconds > 0)) {
    fail(fmt::format("--step-time={}: wanted milliseconds above 0", *text), ExitStatus::wrongUsage);
    return std::nullopt;
  }
  return milliseconds / 1e3;
}

/// More than a device can do was not done: the time or the device is wrong. The status goes through.
static ExitStatus checkUse(const Ledger &ledger, const ReportOptions &options) {
  if (!options.device || options.stepSeconds <= 0)
    return ExitStatus::done;
  Utilisation use = utilisationOf(ledger, *options.device, options.stepSeconds);
  for (auto [what, value] : {std::pair{"MFU", use.exact}, {"HFU", use.hardware}})
    if (value > 1)
      return fail(fmt::format("{} of {:.3f} is above 1: a step takes at least {:.3f} ms on {}; was the time taken after "
                              "synchronising, and of this device?",
                              what, value, value * options.stepSeconds * 1e3, options.device->title));
  return ExitStatus::done;
}

ExitStatus nap::reportCommand(std::span<const std::string> arguments) {
  std::vector<FlagSpec> known(std::begin(kReportFlags), std::end(kReportFlags));
  known.insert(known.end(), rt::compileFlags().begin(), rt::compileFlags().end());
  known.insert(known.end(), modelFlags().begin(), modelFlags().end());
  ExitStatus status;
  auto flags = parseCommand(arguments, known, "napkin report MODEL.nap [flags]", 1, status);
  if (!flags)
    return status;
  std::optional<Device> device;
  if ((status = readDeviceFlag(*flags, device)) != ExitStatus::done)
    return status;
  ReportOptions options;
  options.device = device ? &*device : nullptr;
  auto seconds = readStepTime(*flags);
  if (!seconds || !findPreset(*flags, options.preset))
    return ExitStatus::wrongUsage;
  options.stepSeconds = *seconds;
  Model model;
  if ((status = model.read(*flags)) != ExitStatus::done)
    return status;

  const std::string *explained = flags->find("explain");
  Ledger ledger;
  recordPass(ledger, "import", model.module());
  std::string last = flags->find("after") ? *flags->find("after") : "", explanation;
  bool stopped = false;
  std::vector<std::string> passes;
  auto explain = [&](mlir::ModuleOp module) {
    llvm::raw_string_ostream stream(explanation);
    return !explained || explainOp(module, *explained, stream);
  };
  bool isFound = true;
  status = model.plan([&](llvm::StringRef pass, mlir::ModuleOp module) {
    // Annotating changes no row.
    if (pass == "nap-annotate-cost" || stopped)
      return;
    passes.push_back(pass.str());
    recordPass(ledger, pass, module);
    stopped = pass == last;
    if (stopped)
      isFound = explain(module);
  });
  if (status != ExitStatus::done)
    return status;
  if (!last.empty() && !stopped)
    return fail(fmt::format("--after={}: no such pass ran; the passes are {}", last, fmt::join(passes, ", ")),
                ExitStatus::wrongUsage);
  if (last.empty())
    isFound = explain(model.module());
  if (!isFound)
    return fail(fmt::format("--explain={}: no kernel or op is called so {}; `napkin report` lists them", *explained,
                            last.empty() ? "in the planned step" : "after " + last),
                ExitStatus::wrongUsage);
  if ((status = checkUse(ledger, options)) != ExitStatus::done)
    return status;
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (explained)
    text = explanation;
  else if (flags->has("json"))
    printLedgerJson(ledger, options, stream);
  else if (flags->has("html"))
    printLedgerHtml(ledger, options, stream);
  else
    printLedger(ledger, options, stream);
  model.printTimes();
  auto failure = rt::writeOutput(text);
  if (failure)
    return fail(*failure);
  for (const LedgerRow &row : ledger.rows)
    if (row.isBroken)
      return fail(fmt::format("{}: {}", row.pass, row.check), ExitStatus::machineFailure);
  return ExitStatus::done;
}
