// napkin math: questions that need no model file.
//
//   napkin math time     how long a training run takes
//   napkin math flops    what a transformer of these sizes takes, by a preset
//   napkin math mfu      how much of its devices a run uses
//   napkin math bound    whether work is bound by arithmetic or by traffic
//   napkin math rows     from how many rows on a layer is bound by arithmetic
//   napkin math largest  the largest model whose state fits
//   napkin math memory   the state and the activations of a transformer, by a published list
//   napkin math checkpoint  what it costs to keep fewer activations
//   napkin math number   what the element types make of a number
//   napkin math size     the bytes of elements in each type
#include "passes/report/Facts.h"
#include "passes/report/print/Numbers.h"
#include "runtime/files/Console.h"
#include "tools/commands/Devices.h"
#include "tools/commands/Model.h"
#include "tools/commands/math/Memory.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

#include <cmath>

using namespace nap;
namespace rt = napkin::runtime;

static constexpr FlagSpec kMathFlags[] = {
    {"device", "D", "a device of the table, 'host', or a JSON file"},
    {"dtype", "T", "type of operands: f64, f32, tf32, f16, bf16, f8, f4, i8; default bf16"},
    {"peak", "P", "FLOP/s of one device, dense, in place of the table's"},
    {"bandwidth", "B", "bytes a second of one device, in place of the table's"},
    {"memory", "M", "bytes of one device, in place of the table's"},
    {"devices", "K", "how many devices; default 1"},
    {"mfu", "F", "the share of the peak that is used; default 0.5"},
    {"parameters", "N", "trainable elements; default: from layers, width, context and vocab"},
    {"tokens", "D", "tokens in all; for flops the default is batch x context"},
    {"flops-per-parameter", "C", "FLOPs a parameter and token; default 6"},
    {"flops", "W", "FLOPs in all, in place of C N D"},
    {"bytes", "B", "bytes moved; of one layer's activations for checkpoint"},
    {"seconds", "S", "time of a step, for mfu"},
    {"tokens-per-second", "R", "tokens a second on all devices, for mfu"},
    {"preset", "NAME",
     "how to count, such as palm; default gpt3_d1; for memory korthikanti, llm.c, a1 or lecture"},
    {"recompute", "R",
     "what is computed again: none, selective (attention) or full; 0 to 3 for memory by llm.c"},
    {"layers", "L", "of a transformer; equal layers for checkpoint"},
    {"every", "K",
     "of the layers, every K-th is kept, for checkpoint; default: the root of their number"},
    {"width", "d", "of its residual stream"},
    {"heads", "H", "of its attention"},
    {"head-size", "Q", "of a head; default width / heads"},
    {"ffn", "F", "of its hidden layer; default 4 x width"},
    {"context", "T", "tokens of a sequence"},
    {"vocab", "V", "rows of its head; default 0: no head"},
    {"batch", "B", "sequences; default 1"},
    {"bytes-per-parameter", "S", "of state, in place of optimizer and precision"},
    {"sharded-bytes", "S", "of these, what is split over --devices, for memory; default 0"},
    {"optimizer", "O",
     "whose state is kept: sgd, momentum, adagrad, rmsprop, adam, adamw (default)"},
    {"precision", "P", "of that state: f32 (default), mixed(bf16), mixed(f16), pure(bf16)"},
    {"tensor-parallel", "T", "devices that a layer is split over, for memory; default 1"},
    {"sequence-parallel", "", "split what tensor parallelism leaves whole, too"},
    {"inputs", "N", "rows of a layer's weight, for rows"},
    {"outputs", "M", "its columns; default: as many"},
    {"elements", "N", "how many, for size"},
};

namespace {

/// What the questions about devices share.
struct Hardware {
  std::optional<Device> device;
  double peak = 0, bandwidth = 0, memory = 0, devices = 1;
};

} // namespace

/// The figures that `wanted` names: "peak", "bandwidth", "memory", "devices". A flag for another is
/// not read.
static Hardware readHardware(Numbers &numbers, llvm::ArrayRef<llvm::StringRef> wanted) {
  Hardware hardware;
  bool wantsPeak = llvm::is_contained(wanted, "peak");
  numbers.used.emplace("device");
  ExitStatus status = readDeviceFlag(numbers.flags, hardware.device);
  if (status != ExitStatus::done) {
    numbers.status = status;
    return hardware;
  }
  const std::string *type = wantsPeak && !numbers.flags.has("peak") && numbers.has("dtype")
                                ? numbers.flags.find("dtype")
                                : nullptr;
  std::string input = type ? *type : "bf16";
  if (!llvm::is_contained(kPeakInputs, input))
    numbers.fail(fmt::format("--dtype={}: the types are {}", input,
                             llvm::join(llvm::ArrayRef(kPeakInputs), ", ")));
  if (hardware.device) {
    for (const Peak &peak : hardware.device->peaks)
      if (peak.input == input && hardware.peak == 0)
        hardware.peak = peak.flops;
    hardware.bandwidth = hardware.device->bandwidth;
    hardware.memory = hardware.device->memory;
    if (wantsPeak && hardware.peak == 0 && !numbers.has("peak"))
      numbers.fail(fmt::format("{} has no known peak for {}; give --dtype or --peak",
                               hardware.device->title, input));
  }
  for (auto [name, figure] : {std::pair{"peak", &Hardware::peak},
                              {"bandwidth", &Hardware::bandwidth},
                              {"memory", &Hardware::memory},
                              {"devices", &Hardware::devices}})
    if (llvm::is_contained(wanted, name))
      hardware.*figure = numbers.positive(name, hardware.*figure);
  return hardware;
}

/// Fails unless `value`, which --device or --`name` gives, is there.
static void wantHardware(Numbers &numbers, double value, const char *name) {
  if (!(value > 0))
    numbers.fail(fmt::format("--device or --{} is wanted", name));
}

/// The facts of a transformer of the sizes that the flags give. All presets but 6 N D want those of
/// its attention: without them they would count none.
static ModelFacts readTransformer(Numbers &numbers) {
  const std::string *preset = numbers.flags.find("preset");
  if (preset && *preset != "gpt3_d1") {
    for (const char *name : {"layers", "context"})
      if (!numbers.has(name))
        numbers.fail(fmt::format("--{} is wanted: preset {} counts attention", name, *preset));
    if (!numbers.has("width") && !numbers.has("head-size"))
      numbers.fail(fmt::format("--width is wanted, or --heads and --head-size: preset {} counts "
                               "attention",
                               *preset));
  }
  TransformerSizes sizes;
  sizes.layers = numbers.get("layers", 0);
  sizes.width = numbers.get("width", 0);
  sizes.heads = numbers.positive("heads", 1);
  if (!numbers.has("head-size"))
    numbers.checkHeads(sizes.width, sizes.heads, "heads that do, or --head-size");
  sizes.headSize = numbers.get("head-size", sizes.width / sizes.heads);
  sizes.ffn = numbers.get("ffn", 4 * sizes.width);
  sizes.context = numbers.get("context", 0);
  sizes.vocab = numbers.get("vocab", 0);
  sizes.tokens =
      numbers.has("tokens") ? numbers.need("tokens") : numbers.positive("batch", 1) * sizes.context;
  sizes.parameters = numbers.positive("parameters", 0);
  if (!(sizes.tokens > 0))
    numbers.fail("--tokens or --context is wanted");
  std::optional<ModelFacts> facts = factsOf(sizes);
  if (!facts)
    numbers.fail(
        "the sizes make a model that is too large to count; wanted less than 2^63 parameters "
        "and 2^120 FLOPs");
  return facts.value_or(ModelFacts());
}

/// FLOPs that --recompute adds to a preset's: attention's forward pass once more, or a third, the
/// whole forward pass.
static double readRecompute(Numbers &numbers, const Preset &preset, const ModelFacts &facts,
                            std::string &how) {
  const std::string *again = numbers.has("recompute") ? numbers.flags.find("recompute") : nullptr;
  if (!again || *again == "none")
    return 0;
  if (!preset.attention) {
    numbers.fail(fmt::format("--recompute={}: preset {} has its own rule for it; leave it out",
                             *again, preset.name));
    return 0;
  }
  how += ", recompute " + *again;
  if (*again == "selective")
    return double(facts.attention.*preset.attention);
  if (*again == "full")
    return double(preset.count(facts)) / 3;
  numbers.fail(fmt::format("--recompute={}: wanted none, selective or full", *again));
  return 0;
}

/// Whether FLOPs are C N D: neither they, nor a preset, nor a transformer's sizes are given.
static bool isByParameters(Numbers &numbers) {
  return !numbers.has("flops") && !numbers.has("preset") && !numbers.has("layers");
}

/// C N, a token's; `how` becomes "6 N" with what it is multiplied with.
static double flopsOfToken(Numbers &numbers, const char *with, std::string &how) {
  double each = numbers.positive("flops-per-parameter", 6);
  how = fmt::format("{:.6g} N {}", each, with);
  return each * numbers.need("parameters");
}

/// FLOPs of a run: given, C N D, or a preset's of a transformer.
static double readFlops(Numbers &numbers, std::string &how) {
  if (numbers.has("flops")) {
    how = "given";
    return numbers.need("flops");
  }
  if (isByParameters(numbers))
    return flopsOfToken(numbers, "D", how) * numbers.need("tokens");
  const std::string *name = numbers.has("preset") ? numbers.flags.find("preset") : nullptr;
  const Preset *preset = findPreset(name ? *name : "gpt3_d1");
  if (!preset) {
    numbers.fail(fmt::format("--preset={}: the presets are {}", *name, presetNames()));
    return 0;
  }
  if (preset->wantsGraph) {
    numbers.fail(
        fmt::format("--preset={}: sizes do not tell it; napkin report counts it of a model "
                    "file",
                    preset->name));
    return 0;
  }
  how = fmt::format("{}: {}", preset->name, preset->formula);
  ModelFacts facts = readTransformer(numbers);
  return double(preset->count(facts)) + readRecompute(numbers, *preset, facts, how);
}

static std::string timeText(Numbers &numbers) {
  Hardware hardware = readHardware(numbers, {"peak", "devices"});
  std::string how;
  double flops = readFlops(numbers, how), mfu = numbers.positive("mfu", 0.5);
  wantHardware(numbers, hardware.peak, "peak");
  if (mfu > 1)
    numbers.fail(
        fmt::format("--mfu={}: more than the peak is not done; wanted a share up to 1", mfu));
  double seconds = flops / (hardware.devices * hardware.peak * mfu);
  double days = seconds / 86400;
  return fmt::format("{:.6g} FLOPs ({})\n{:.6g} devices x {}FLOP/s x {:.4g} = {}FLOP/s\n{:.6g} s = "
                     "{} days\n",
                     flops, how, hardware.devices, scaled(hardware.peak), mfu,
                     scaled(hardware.devices * hardware.peak * mfu), seconds,
                     days < 1e9 ? fmt::format("{:.2f}", days) : fmt::format("{:.6g}", days));
}

static std::string flopsText(Numbers &numbers) {
  std::string how;
  double flops = readFlops(numbers, how);
  std::string text =
      fmt::format("{:.17g} FLOPs ({})\n{:.6g} PF-days\n", flops, how, flops / 1e15 / 86400);
  if (numbers.has("layers")) {
    ModelFacts facts = readTransformer(numbers);
    text +=
        fmt::format("{} parameters, {} tokens, {:.6g} FLOPs a token\n", grouped(facts.parameters),
                    grouped(facts.tokens), flops / double(facts.tokens));
  }
  return text;
}

static std::string mfuText(Numbers &numbers) {
  Hardware hardware = readHardware(numbers, {"peak", "devices"});
  std::string how;
  double perSecond = 0;
  if (numbers.has("tokens-per-second") && isByParameters(numbers) && !numbers.has("tokens")) {
    perSecond = flopsOfToken(numbers, "a token", how) * numbers.need("tokens-per-second");
  } else if (numbers.has("tokens-per-second")) {
    ModelFacts facts = readTransformer(numbers);
    double flops = readFlops(numbers, how);
    perSecond = flops / std::max(double(facts.tokens), 1.0) * numbers.need("tokens-per-second");
  } else {
    perSecond = readFlops(numbers, how) / numbers.need("seconds");
  }
  wantHardware(numbers, hardware.peak, "peak");
  double mfu = perSecond / (hardware.devices * hardware.peak);
  if (mfu > 1)
    numbers.fail(
        fmt::format("MFU of {:.3f} is above 1: FLOPs were counted that are not done, or the "
                    "time or the device is another",
                    mfu),
        ExitStatus::wrongInput);
  std::string each = hardware.devices == 1
                         ? ""
                         : fmt::format("{}FLOP/s a device\n", scaled(perSecond / hardware.devices));
  return fmt::format("{}FLOP/s ({})\n{}MFU {:.2f} %\n", scaled(perSecond), how, each, 100 * mfu);
}

static std::string boundText(Numbers &numbers) {
  Hardware hardware = readHardware(numbers, {"peak", "bandwidth"});
  double flops = numbers.need("flops"), bytes = numbers.need("bytes");
  wantHardware(numbers, hardware.peak, "peak");
  wantHardware(numbers, hardware.bandwidth, "bandwidth");
  double intensity = flops / bytes, ridge = hardware.peak / hardware.bandwidth;
  double compute = flops / hardware.peak, traffic = bytes / hardware.bandwidth;
  return fmt::format("intensity {:.6g} FLOP/B, the device's {:.6g} FLOP/B\narithmetic {:.6g} ms, "
                     "traffic {:.6g} ms: bound by "
                     "{}\nMFU at most {:.6g} %\n",
                     intensity, ridge, compute * 1e3, traffic * 1e3,
                     intensity > ridge   ? "compute"
                     : intensity < ridge ? "memory"
                                         : "both",
                     100 * std::min(1.0, intensity / ridge));
}

static std::string largestText(Numbers &numbers) {
  Hardware hardware = readHardware(numbers, {"memory", "devices"});
  wantHardware(numbers, hardware.memory, "memory");
  double each = bytesPerParameter(numbers), all = hardware.devices * hardware.memory;
  return fmt::format("{:.6g} devices x {:.6g} GB = {:.6g} GB\n{:.6g} bytes a parameter: {:.4g} "
                     "parameters, activations come on "
                     "top\n",
                     hardware.devices, hardware.memory / 1e9, all / 1e9, each,
                     std::floor(all / each));
}

/// From how many rows on the product with an N x M weight takes longer to compute than to move.
static std::string rowsText(Numbers &numbers) {
  Hardware hardware = readHardware(numbers, {"peak", "bandwidth"});
  double inputs = numbers.need("inputs"), outputs = numbers.positive("outputs", inputs);
  double size = elementBytes(numbers);
  wantHardware(numbers, hardware.peak, "peak");
  wantHardware(numbers, hardware.bandwidth, "bandwidth");
  double ridge = hardware.peak / hardware.bandwidth;
  std::string text = fmt::format(
      "2 B {0:.6g} {1:.6g} FLOPs, {2:.6g} ({0:.6g} {1:.6g} + B ({0:.6g} + {1:.6g})) bytes, the "
      "device's {3:.6g} FLOP/B\n",
      inputs, outputs, size, ridge);
  // 2 B N M = ridge size (N M + B (N + M)).
  double spare = 2 * inputs * outputs - ridge * size * (inputs + outputs);
  if (spare <= 0)
    return text + fmt::format("bound by memory at any number of rows: at most {:.6g} FLOP/B\n",
                              2 * inputs * outputs / size / (inputs + outputs));
  double rows = std::ceil(ridge * size * inputs * outputs / spare);
  double one = 2 * inputs * outputs / size / (inputs * outputs + inputs + outputs);
  return text + fmt::format("one row: {:.6g} FLOP/B, bound by {}\nbound by compute from {:.0f} "
                            "row{} on\n",
                            one, one > ridge ? "compute" : "memory", rows, rows == 1 ? "" : "s");
}

/// Ways to keep activations of a chain of L equal layers, each of which the backward pass wants the
/// input of. Keeping every k-th, the layers between two that are kept run again once, and their
/// results are held together (Chen et al. 2016); keeping none, each layer's input is made anew from
/// the first: L (L - 1) / 2.
static std::string checkpointText(Numbers &numbers) {
  double layers = numbers.need("layers");
  double every = numbers.positive("every", std::ceil(std::sqrt(layers)));
  if (every > layers)
    numbers.fail(
        fmt::format("--every={:g}: there are {:g} layers; wanted at most as many", every, layers));
  double bytes = numbers.positive("bytes", 0);
  std::string text = fmt::format("{:<22}{:>10}{:>15}{:>16}{:>10}{}\n", "kept", "layers",
                                 "most at once", "layers again", "step x",
                                 bytes > 0 ? fmt::format("{:>15}", "bytes at once") : "");
  auto line = [&](const std::string &name, double kept, double atOnce, double again) {
    // A layer's backward pass is twice its forward pass.
    text += fmt::format("{:<22} {:>9.15g} {:>14.15g} {:>15.15g} {:>9.4f}{}\n", name, kept, atOnce,
                        again, (3 * layers + again) / (3 * layers),
                        bytes > 0 ? fmt::format("{:>15}", scaled(bytes * atOnce) + "B") : "");
  };
  double kept = std::ceil(layers / every);
  line("all", layers, layers, 0);
  line(fmt::format("one in {:.15g}", every), kept, kept + every - 1, layers - kept);
  line("none", 1, std::min(layers, 2.0), layers * (layers - 1) / 2);
  return text;
}

/// A number rounded to each type.
static std::string numberText(Numbers &numbers, llvm::StringRef number) {
  auto value = rt::parseNumber(number.str());
  if (!value) {
    numbers.fail(fmt::format("'{}' is no number", number.str()));
    return "";
  }
  std::string text;
  auto line = [&](const char *name, const llvm::fltSemantics &semantics) {
    llvm::APFloat rounded(*value);
    bool losesInfo;
    rounded.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    double back = rounded.convertToDouble();
    std::string error = *value == 0 || !std::isfinite(back)
                            ? ""
                            : fmt::format("{:.3g} %", 100 * std::abs(back / *value - 1));
    bool isLost = (back == 0 && *value != 0) || !std::isfinite(back);
    text += fmt::format("{:<10}{:>3} bits {:>24} {:>12}\n", name,
                        llvm::APFloat::semanticsSizeInBits(semantics), fmt::format("{:.9g}", back),
                        isLost ? "lost" : error);
  };
  line("f64", llvm::APFloat::IEEEdouble());
  line("f32", llvm::APFloat::IEEEsingle());
  line("bf16", llvm::APFloat::BFloat());
  line("f16", llvm::APFloat::IEEEhalf());
  line("f8E5M2", llvm::APFloat::Float8E5M2());
  line("f8E4M3", llvm::APFloat::Float8E4M3FN());
  line("f4E2M1", llvm::APFloat::Float4E2M1FN());
  return text;
}

/// What to say of a flag that changes nothing of the answer.
static std::string unusedText(const std::string &question, const std::string &flag,
                              const Numbers &numbers) {
  std::vector<std::string> used;
  for (const FlagSpec &spec : kMathFlags)
    if (numbers.used.contains(spec.name))
      used.push_back("--" + std::string(spec.name));
  return fmt::format("--{}: '{}' does not depend on it here; leave it out. It depends on {}", flag,
                     question, used.empty() ? "no flag" : fmt::format("{}", fmt::join(used, ", ")));
}

ExitStatus nap::mathCommand(std::span<const std::string> arguments) {
  constexpr const char *usage =
      "napkin math time|flops|mfu|bound|rows|largest|memory|checkpoint|size [flags], napkin math "
      "number X";
  std::vector<FlagSpec> known(std::begin(kMathFlags), std::end(kMathFlags));
  ExitStatus status;
  bool asksNumber = !arguments.empty() && arguments[0] == "number";
  auto flags = parseCommand(arguments, known, usage, asksNumber ? 2 : 1, status,
                            asksNumber ? "a number" : "a question");
  if (!flags)
    return status;
  Numbers numbers{*flags};
  const std::string &question = flags->positional.front();
  std::string text;
  if (question == "time")
    text = timeText(numbers);
  else if (question == "flops")
    text = flopsText(numbers);
  else if (question == "mfu")
    text = mfuText(numbers);
  else if (question == "bound")
    text = boundText(numbers);
  else if (question == "rows")
    text = rowsText(numbers);
  else if (question == "memory")
    text = memoryText(numbers);
  else if (question == "size")
    text = sizeText(numbers);
  else if (question == "largest")
    text = largestText(numbers);
  else if (question == "checkpoint")
    text = checkpointText(numbers);
  else if (question == "number")
    text = numberText(numbers, flags->positional[1]);
  else
    return fail(fmt::format("there is no question '{}'; the questions are time, flops, mfu, bound, "
                            "rows, largest, memory, checkpoint, number, size",
                            question),
                ExitStatus::wrongUsage);
  for (const auto &[name, value] : flags->flags)
    if (numbers.status == ExitStatus::done && !numbers.used.contains(name))
      numbers.fail(unusedText(question, name, numbers));
  if (numbers.status != ExitStatus::done)
    return numbers.status;
  auto failure = rt::writeOutput(text);
  return failure ? fail(*failure) : ExitStatus::done;
}
