// napkin report: the ledger of a model, a row a pass.
#include "passes/Report.h"
#include "passes/report/model/ByPreset.h"
#include "runtime/files/Console.h"
#include "tools/commands/Activations.h"
#include "tools/commands/Devices.h"
#include "tools/commands/Model.h"
#include "tools/commands/plan/MicroBatch.h"
#include "tools/commands/report/Measured.h"
#include "tools/commands/report/Products.h"

#include <fmt/format.h>

using namespace nap;
namespace rt = napkin::runtime;

static constexpr FlagSpec kReportFlags[] = {
    {"device", "D",
     "a device of the table such as h100_sxm, 'host' as `napkin device` measured it, or a JSON "
     "file; default: no times"},
    {"step-time", "MS", "a measured time of a step, for MFU and HFU"},
    {"measured", "FILE",
     "what --audit-file wrote of a run of this model: its time of a step, and measured bytes"},
    {"after", "PASS", "stop after this pass; 'import' is the graph as the frontend makes it"},
    {"diff", "PASS",
     "what the last pass shown has more than this one; default: than the last that differs"},
    {"explain", "OP", "print what a kernel or op, or all, count as a formula with its numbers"},
    {"activations", "",
     "run the forward pass once on initial values: mean and deviation of what layers pass on"},
    {"data", "[INPUT=]FILE", "with --activations: its first batch; default: drawn numbers and ids"},
    {"threads", "N", "workers, whose scratch counts; default: all processors of this process"},
    {"preset", "NAME",
     "count the model's FLOPs as a paper does, such as palm; with --explain those of ops, such as "
     "cs336"},
    {"trn-weight", "W", "what exp, log and kin count each in total FLOPs; default 1"},
    {"json", "", "print JSON"},
    {"html", "", "print a page of HTML that needs nothing else"},
    {"folded", "WEIGHT",
     "print stacks for flame graphs by 'time' at the roof of --device, or by 'bytes'"},
    {"timeline", "", "print bytes in use by class, op by op, as CSV"},
    {"steps", "N", "planned updates"},
    {"seed", "N", "the default seed"},
    kTimingFlag,
};

/// The preset that the flags name, or null; false after an error.
static bool readPreset(const ParsedFlags &flags, const Preset *&preset) {
  const std::string *name = flags.find("preset");
  preset = nullptr;
  if (!name || *name == "exact")
    return true;
  preset = findPreset(*name);
  if (preset && flags.has("explain") && !countsOps(*preset)) {
    fail(fmt::format("--preset={}: it counts parameters, not ops; of an op there are exact, {}",
                     *name, opPresetNames()),
         ExitStatus::wrongUsage);
    return false;
  }
  if (preset)
    return true;
  fail(fmt::format("--preset={}: the presets are exact, {}", *name, presetNames()),
       ExitStatus::wrongUsage);
  return false;
}

/// The measured time of a step in seconds, 0 without one; nothing after an error.
static std::optional<double> readStepTime(const ParsedFlags &flags) {
  const std::string *text = flags.find("step-time");
  if (!text)
    return 0;
  std::optional<double> milliseconds = rt::parseNumber(*text);
  // Femtoseconds are as short as a step could ever be, and whole numbers of FLOP/s follow from
  // them.
  if (!milliseconds || *milliseconds < 1e-12) {
    fail(fmt::format("--step-time={}: wanted milliseconds above 0", *text), ExitStatus::wrongUsage);
    return std::nullopt;
  }
  return *milliseconds / 1e3;
}

/// What a function counts in total FLOPs; nothing after an error.
static std::optional<int64_t> readTrnWeight(const ParsedFlags &flags) {
  const std::string *text = flags.find("trn-weight");
  if (!text)
    return 1;
  std::optional<int64_t> weight = rt::parseWhole(*text, 0, 1000);
  if (!weight)
    fail(fmt::format("--trn-weight={}: wanted a whole number from 0 to 1000", *text),
         ExitStatus::wrongUsage);
  return weight;
}

/// Fails where flags ask for nothing or for two things at once; the status goes through.
static ExitStatus checkFlags(const ParsedFlags &flags) {
  for (auto [name, wanted] : {std::pair{"after", "the name of a pass such as nap-fuse"},
                              {"diff", "the name of a pass such as nap-fuse"},
                              {"explain", "the name of a kernel or op such as einsum"},
                              {"measured", "a file that --audit-file wrote"}})
    if (const std::string *value = flags.find(name); value && value->empty())
      return fail(fmt::format("--{} is '' and {} is wanted", name, wanted), ExitStatus::wrongUsage);
  std::vector<std::string_view> forms;
  for (std::string_view name : {"explain", "json", "html", "folded", "timeline", "activations"})
    if (flags.has(name))
      forms.push_back(name);
  if (forms.size() > 1)
    return fail(
        fmt::format("--{} and --{}: one report has one form; leave one out", forms[0], forms[1]),
        ExitStatus::wrongUsage);
  if (const std::string *weight = flags.find("folded")) {
    if (*weight != "time" && *weight != "bytes")
      return fail(fmt::format("--folded={}: the weights are time, bytes", *weight),
                  ExitStatus::wrongUsage);
    if (*weight == "time" && !flags.has("device"))
      return fail("--folded=time wants the --device whose time is meant", ExitStatus::wrongUsage);
  }
  if (flags.has("step-time") && flags.has("measured"))
    return fail("--step-time and --measured: each tells the time of a step; leave one out",
                ExitStatus::wrongUsage);
  for (std::string_view name : {"explain", "folded", "timeline", "activations"})
    if (flags.has("diff") && flags.has(name))
      return fail(
          fmt::format("--diff compares rows, of which --{} shows none; leave one out", name),
          ExitStatus::wrongUsage);
  if (flags.has("data") && !flags.has("activations"))
    return fail("--data is for --activations, which runs the model; leave it out",
                ExitStatus::wrongUsage);
  for (std::string_view name : {"explain", "folded", "timeline", "activations"})
    if (flags.has("trn-weight") && flags.has(name))
      return fail(fmt::format("--trn-weight changes total FLOPs, of which --{} shows none; leave "
                              "one out",
                              name),
                  ExitStatus::wrongUsage);
  for (std::string_view name : {"device", "step-time", "measured", "after", "preset"})
    if (flags.has(name) && flags.has("activations"))
      return fail(
          fmt::format("--activations measures values, to which --{} says nothing; leave it out",
                      name),
          ExitStatus::wrongUsage);
  return ExitStatus::done;
}

/// More than a device can do was not done: the time or the device is wrong. The status goes
/// through.
static ExitStatus checkUse(const Ledger &ledger, const ReportOptions &options) {
  if (!options.tellsUse())
    return ExitStatus::done;
  Utilisation use = utilisationOf(ledger, *options.device, options.stepSeconds);
  for (auto [what, value] : {std::pair{"MFU", use.exact}, {"HFU", use.hardware}})
    if (value > 1)
      return fail(fmt::format("{} of {:.3f} is above 1: a step takes at least {:.4g} ms on {}; was "
                              "the time taken after "
                              "synchronising, and of this device?",
                              what, value, value * options.stepSeconds * 1e3,
                              options.device->title));
  return ExitStatus::done;
}

/// Runs the passes up to the one that --after names and records a row after each; the status goes
/// through.
static ExitStatus recordPasses(Model &model, const ParsedFlags &flags, Ledger &ledger) {
  recordPass(ledger, "import", model.module());
  const std::string *last = flags.find("after");
  if (last && *last == "import")
    return ExitStatus::done;
  std::vector<std::string> passes = {"import"};
  ExitStatus status = model.plan([&](llvm::StringRef pass, mlir::ModuleOp module) {
    // Annotating changes no row.
    if (pass == "nap-annotate-cost")
      return;
    passes.push_back(pass.str());
    recordPass(ledger, pass, module);
  });
  if (status != ExitStatus::done)
    return status;
  auto refuse = [&](llvm::StringRef flag, const std::string &name) {
    return fail(fmt::format("--{}={}: no such pass ran; the passes are {}", flag.str(), name,
                            fmt::join(passes, ", ")),
                ExitStatus::wrongUsage);
  };
  if (last && !llvm::is_contained(passes, *last))
    return refuse("after", *last);
  const std::string *from = flags.find("diff");
  if (from && !llvm::is_contained(passes, *from))
    return refuse("diff", *from);
  if (from && llvm::count(passes, *from) == 1 && *from == passes.back())
    return fail(fmt::format("--diff={}: it is the last pass, which differs from earlier ones: {}",
                            *from, fmt::join(llvm::drop_end(passes), ", ")),
                ExitStatus::wrongUsage);
  return ExitStatus::done;
}

/// Prints the report in the form that the flags name; the status goes through.
static ExitStatus print(Model &model, const ParsedFlags &flags, const Ledger &ledger,
                        const ReportOptions &options) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (const std::string *explained = flags.find("explain")) {
    const std::string *last = flags.find("after");
    if (!explainOp(model.module(), *explained, *ledger.device, options.preset, stream))
      return fail(
          fmt::format("--explain={}: no kernel or op is called so {}; `napkin report` lists them",
                      *explained, last ? "after " + *last : "in the planned step"),
          ExitStatus::wrongUsage);
  } else if (flags.has("json")) {
    printLedgerJson(ledger, options, stream);
  } else if (flags.has("html")) {
    printLedgerHtml(ledger, options, stream);
  } else if (const std::string *weight = flags.find("folded")) {
    printFolded(model.module(), *ledger.device, *weight == "time", stream);
  } else if (flags.has("timeline")) {
    printTimeline(ledger.rows.back(), model.module(), stream);
  } else {
    printLedger(ledger, options, stream);
    stream << model.planLine() << productsTable(model.module());
  }
  auto failure = rt::writeOutput(text);
  return failure ? fail(*failure) : ExitStatus::done;
}

ExitStatus nap::reportCommand(std::span<const std::string> arguments) {
  std::vector<FlagSpec> known(std::begin(kReportFlags), std::end(kReportFlags));
  known.insert(known.end(), rt::compileFlags().begin(), rt::compileFlags().end());
  known.insert(known.end(), modelFlags().begin(), modelFlags().end());
  ExitStatus status;
  auto flags = parseCommand(arguments, known, "napkin report MODEL.nap [flags]", 1, status);
  if (!flags)
    return status;
  if ((status = checkFlags(*flags)) != ExitStatus::done)
    return status;
  if ((status = chooseMicroBatch(*flags)) != ExitStatus::done)
    return status;
  if (flags->has("activations"))
    return reportActivations(*flags);
  std::optional<Device> device;
  const std::string *weight = flags->find("folded");
  bool wantsTimes = weight && *weight == "time";
  if ((status = readDeviceFlag(*flags, device, wantsTimes)) != ExitStatus::done)
    return status;
  ReportOptions options;
  options.device = device ? &*device : nullptr;
  auto seconds = readStepTime(*flags);
  auto trnWeight = readTrnWeight(*flags);
  if (!seconds || !trnWeight || !readPreset(*flags, options.preset))
    return ExitStatus::wrongUsage;
  options.stepSeconds = *seconds;
  if (const std::string *from = flags->find("diff"))
    options.diffFrom = *from;
  Model model;
  const std::string *audited = flags->find("measured");
  if (!audited)
    model.onlyReport();
  if ((status = model.read(*flags)) != ExitStatus::done)
    return status;
  std::optional<MeasuredStep> measured;
  if (audited) {
    auto read = readMeasured(*audited, model.hash());
    if (!read)
      return fail(llvm::toString(read.takeError()), ExitStatus::wrongInput);
    measured = std::move(*read);
    options.measured = &*measured;
    options.stepSeconds = measured->seconds;
  }
  Ledger ledger;
  ledger.trnWeight = *trnWeight;
  if (device)
    ledger.device = &*device;
  if ((status = recordPasses(model, *flags, ledger)) != ExitStatus::done ||
      (status = checkUse(ledger, options)) != ExitStatus::done ||
      (status = print(model, *flags, ledger, options)) != ExitStatus::done)
    return status;
  model.printTimes();
  for (const LedgerRow &row : ledger.rows)
    if (row.isBroken)
      return fail(fmt::format("{}: {}", row.pass, row.check), ExitStatus::machineFailure);
  return ExitStatus::done;
}
