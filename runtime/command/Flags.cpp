// Flags: the table, and how it is read.

#include "runtime/command/Flags.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace napkin::runtime {

static constexpr std::array<FlagSpec, 32> runTable = {{
    {"data", "[INPUT=]FILE", "what to train on: text, .bin, .npy, .npz, .safetensors; may repeat"},
    {"data-format", "F", "auto (by the ending), bytes, tokens (uint16); default auto"},
    {"data-order", "ORDER", "shuffled or sequential; default shuffled"},
    {"steps", "N", "updates in all; default: the model's"},
    {"seed", "N", "of initial values, draws and data order; default: the model's"},
    {"threads", "N", "workers; default: all processors of this process"},
    {"log", "FILE", "write one JSON line a step"},
    {"save", "DIR", "save checkpoints in DIR/step-NNNNNNNN, the last step always"},
    {"save-every", "N", "save every N steps too"},
    {"keep", "N", "keep the N newest checkpoints; default: all"},
    {"resume", "DIR", "go on from the newest checkpoint in DIR, bit for bit"},
    {"init", "FILE", "begin with the weights of a .safetensors file, by name"},
    {"load", "DIR",
     "weights to evaluate or sample: a checkpoint or .safetensors; default: this folder's"},
    {"eval-data", "[INPUT=]FILE", "held-out data, evaluated at the end; may repeat"},
    {"eval-every", "N", "evaluate every N steps too"},
    {"outputs", "FILE", "write the evaluation's outputs as .safetensors"},
    {"sample", "N", "print N samples of a language model"},
    {"prompt", "TEXT", "how samples begin"},
    {"temperature", "T", "of sampling, 0 takes the likeliest; default 1"},
    {"sample-length", "N", "tokens of a sample at most; default: the model's sequence"},
    {"check-nan", "", "stop at the first launch that writes a value that is not finite; slow"},
    {"trace", "FILE", "write the time of each launch, predicted and measured, for Perfetto"},
    {"profile", "", "print each kernel's time beside its floor; 'napkin device' measures those"},
    {"audit", "", "print a step as predicted beside as measured; exit 5 beyond a limit"},
    {"audit-limit", "WHAT=R",
     "most of measured / predicted: memory, flops, bytes, time; 0 is none; may repeat"},
    {"audit-file", "FILE", "write the audit as JSON"},
    {"timing", "", "print the seconds of each phase up to the first step on standard error"},
    {"device", "D",
     "cpu; cuda or cuda:N, a GPU; cuda-host: CUDA text in an emulator, slow; default cpu"},
    {"algorithms", "FILE",
     "algorithms of cuBLASLt's products: read, or chosen and written; default: the cache"},
    {"quiet", "", "no progress on standard error"},
    {"program", "", "print the compiled program as text and end"},
    {"help", "", "print this and end"},
}};

static constexpr std::array<FlagSpec, 12> compileTable = {{
    {"optimizer", "EXPR", "the optimizer of each parameter"},
    {"precision", "P", "f64, f32, mixed(bf16), ..."},
    {"accumulate", "N", "micro-batches a step"},
    {"clip-norm", "X", "largest global norm of the gradients"},
    {"ema", "D", "decay of the averaged parameters"},
    {"memory", "BYTES", "budget, such as 8GiB"},
    {"checkpoint", "STRATEGY", "what the backward pass keeps"},
    {"micro-batch", "N",
     "samples of a micro-batch, not the model's own; auto: the fastest within --memory"},
    {"fused-update", "", "update each parameter as soon as its gradient is final, which then goes"},
    {"target", "T", "cpu, or architectures of GPUs, or both: sm_80,sm_90; default cpu"},
    {"cpu", "NAME", "the processor that kernels are made for"},
    {"products", "WHO", "who multiplies on a GPU: own, our tiles, or cublaslt; default own"},
}};

std::span<const FlagSpec> runFlags() { return runTable; }

std::span<const FlagSpec> compileFlags() { return compileTable; }

const std::string *ParsedFlags::find(std::string_view name) const {
  for (auto it = flags.rbegin(); it != flags.rend(); ++it)
    if (it->first == name)
      return &it->second;
  return nullptr;
}

/// Letters to insert, delete, replace or swap with their neighbour (Damerau 1964, in the restricted
/// form that edits no place twice).
static size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> table(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
        continue;
      }
      table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1,
                              table[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
    }
  return table[a.size()][b.size()];
}

std::string_view nearestName(std::string_view name,
                             std::span<const std::string_view> candidates) {
  std::string_view best;
  size_t bestDistance = std::max<size_t>(1, name.size() / 3) + 1;
  for (std::string_view candidate : candidates)
    if (size_t distance = editDistance(name, candidate); distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  return best;
}

static Error usage(std::string message) { return {std::move(message), ExitStatus::wrongUsage}; }

static Error unknownFlag(std::string_view argument, std::string_view name,
                         std::span<const FlagSpec> known) {
  std::vector<std::string_view> names;
  for (const FlagSpec &spec : known)
    names.push_back(spec.name);
  std::string_view nearest = nearestName(name, names);
  if (nearest.empty())
    return usage(fmt::format("there is no flag {}; --help lists them", argument));
  return usage(fmt::format("there is no flag {}; did you mean --{}?", argument, nearest));
}

/// Splits "name=value" after -D.
static Failure addDefinition(std::string_view text, ParsedFlags &parsed) {
  size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return usage(fmt::format("-D {}: write -D name=value", text));
  parsed.definitions.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  return std::nullopt;
}

Result<ParsedFlags> parseFlags(std::span<const std::string> arguments,
                               std::span<const FlagSpec> known) {
  ParsedFlags parsed;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string_view argument = arguments[i];
    if (argument == "--") {
      parsed.positional.insert(parsed.positional.end(), arguments.begin() + i + 1,
                               arguments.end());
      break;
    }
    if (argument == "-h")
      argument = "--help";
    if (argument.starts_with("-D")) {
      if (argument.size() == 2 && i + 1 == arguments.size())
        return usage("-D: write -D name=value");
      std::string_view text = argument.size() > 2 ? argument.substr(2) : arguments[++i];
      if (Failure failure = addDefinition(text, parsed))
        return *failure;
      continue;
    }
    if (!argument.starts_with("--")) {
      if (argument.size() > 1 && argument[0] == '-' && !parseNumber(argument))
        return unknownFlag(argument, argument.substr(1), known);
      parsed.positional.emplace_back(argument);
      continue;
    }
    size_t equals = argument.find('=');
    std::string_view name = argument.substr(2, equals == std::string_view::npos
                                                   ? std::string_view::npos
                                                   : equals - 2);
    auto spec = std::find_if(known.begin(), known.end(),
                             [&](const FlagSpec &candidate) { return candidate.name == name; });
    if (spec == known.end())
      return unknownFlag(fmt::format("--{}", name), name, known);
    if (spec->value.empty()) {
      if (equals != std::string_view::npos)
        return usage(fmt::format("--{} takes no value", name));
      parsed.flags.emplace_back(name, "");
      continue;
    }
    if (equals != std::string_view::npos)
      parsed.flags.emplace_back(name, argument.substr(equals + 1));
    else if (i + 1 < arguments.size())
      parsed.flags.emplace_back(name, arguments[++i]);
    else
      return usage(fmt::format("--{} wants {} after it", name, spec->value));
  }
  return parsed;
}

/// Digits with `_` between them, as the language writes numbers.
static std::string withoutUnderscores(std::string_view text) {
  std::string digits;
  for (char c : text)
    if (c != '_')
      digits += c;
  return digits;
}

std::optional<double> parseNumber(std::string_view text) {
  std::string digits = withoutUnderscores(text);
  double value = 0;
  auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::optional<int64_t> parseWhole(std::string_view text, int64_t least, int64_t most) {
  std::string digits = withoutUnderscores(text);
  int64_t value = 0;
  auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem != std::errc() || end != digits.data() + digits.size() || value < least ||
      value > most)
    return std::nullopt;
  return value;
}

std::optional<int64_t> parseBytes(std::string_view text) {
  static constexpr std::pair<std::string_view, int64_t> units[] = {
      {"kB", 1'000},
      {"MB", 1'000'000},
      {"GB", 1'000'000'000},
      {"TB", 1'000'000'000'000},
      {"KiB", int64_t{1} << 10},
      {"MiB", int64_t{1} << 20},
      {"GiB", int64_t{1} << 30},
      {"TiB", int64_t{1} << 40},
      {"B", 1}};
  int64_t scale = 1;
  for (const auto &[unit, bytes] : units)
    if (text.ends_with(unit)) {
      scale = bytes;
      text.remove_suffix(unit.size());
      break;
    }
  constexpr int64_t most = int64_t{1} << 60;
  if (std::optional<int64_t> whole = parseWhole(text, 0, most / scale))
    return *whole * scale;
  std::optional<double> number = parseNumber(text);
  if (!number || *number < 0 || *number * double(scale) > double(most))
    return std::nullopt;
  return int64_t(*number * double(scale));
}

/// FILE or INPUT=FILE; a name has letters, digits and `_` only, so paths with `=` stay paths.
static DataFile parseDataFile(std::string_view text) {
  size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return {"", std::string(text)};
  for (char c : text.substr(0, equals))
    if (!(c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
      return {"", std::string(text)};
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

namespace {
/// Takes values out of parsed flags; the first wrong one is kept.
class OptionReader {
public:
  explicit OptionReader(const ParsedFlags &flags) : flags(flags) {}
  Failure failure;

  void text(std::string_view name, std::string &out) {
    if (const std::string *value = flags.find(name)) {
      if (value->empty())
        for (const FlagSpec &spec : runTable)
          if (spec.name == name)
            wrong(name, *value, spec.value);
      out = *value;
    }
  }
  void whole(std::string_view name, int64_t least, int64_t most, int64_t &out) {
    if (const std::string *value = flags.find(name)) {
      if (std::optional<int64_t> number = parseWhole(*value, least, most))
        out = *number;
      else
        wrong(name, *value, fmt::format("a whole number from {} to {}", least, most));
    }
  }
  void choice(std::string_view name, std::span<const std::string_view> choices, std::string &out) {
    if (const std::string *value = flags.find(name)) {
      if (std::find(choices.begin(), choices.end(), *value) == choices.end())
        wrong(name, *value, fmt::format("{}", fmt::join(choices, " or ")));
      out = *value;
    }
  }
  void wrong(std::string_view name, std::string_view value, std::string_view wanted) {
    if (!failure)
      failure = usage(fmt::format("--{} is '{}' and {} is wanted", name, value, wanted));
  }

private:
  const ParsedFlags &flags;
};
} // namespace

/// Reads --audit-limit WHAT=RATIO, each time that it is given.
static Failure readAuditLimits(const ParsedFlags &flags, AuditLimits &limits) {
  for (const auto &[name, text] : flags.flags) {
    if (name != "audit-limit")
      continue;
    size_t equals = std::min(text.find('='), text.size());
    std::string_view what = std::string_view(text).substr(0, equals);
    const auto *known = std::find_if(std::begin(auditLimitNames), std::end(auditLimitNames),
                                     [&](const AuditLimit &limit) { return limit.name == what; });
    std::optional<double> ratio =
        parseNumber(std::string_view(text).substr(std::min(equals + 1, text.size())));
    if (known == std::end(auditLimitNames) || !ratio || (*ratio != 0 && *ratio < 1))
      return usage(fmt::format("--audit-limit is '{}' and memory, flops, bytes or time with a "
                               "ratio from 1, or 0, is wanted, such as memory=1.05",
                               text));
    limits.*known->limit = *ratio;
  }
  return std::nullopt;
}

std::optional<int> cudaOrdinal(std::string_view device) {
  constexpr std::string_view name = "cuda";
  constexpr int64_t most = 1023;
  if (device == name)
    return 0;
  if (!device.starts_with("cuda:"))
    return std::nullopt;
  std::optional<int64_t> number = parseWhole(device.substr(name.size() + 1), 0, most);
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

Result<RunOptions> readRunOptions(const ParsedFlags &flags) {
  constexpr int64_t many = int64_t{1} << 53;
  RunOptions options;
  OptionReader reader(flags);
  for (const auto &[name, value] : flags.flags) {
    if (name == "data")
      options.data.files.push_back(parseDataFile(value));
    if (name == "eval-data")
      options.evalData.files.push_back(parseDataFile(value));
  }
  constexpr std::string_view formats[] = {"auto", "bytes", "tokens"};
  reader.choice("data-format", formats, options.data.format);
  options.evalData.format = options.data.format;
  std::string order = "shuffled";
  constexpr std::string_view orders[] = {"shuffled", "sequential"};
  reader.choice("data-order", orders, order);
  options.data.sequential = order == "sequential";
  if (const std::string *value = flags.find("device")) {
    options.device = *value;
    if (*value != "cpu" && *value != "cuda-host" && !cudaOrdinal(*value))
      reader.wrong("device", *value, "cpu, cuda, cuda:N or cuda-host");
  }
  reader.text("algorithms", options.algorithms);
  if (flags.has("steps")) {
    int64_t steps = 0;
    // Above 2^32 - 3 a step would meet the words of initial values and of the runtime.
    reader.whole("steps", 1, 4294967293, steps);
    options.steps = steps;
  }
  if (const std::string *value = flags.find("seed")) {
    uint64_t seed = 0;
    auto [end, problem] = std::from_chars(value->data(), value->data() + value->size(), seed);
    if (problem != std::errc() || end != value->data() + value->size())
      reader.wrong("seed", *value, "a whole number from 0 to 18446744073709551615");
    options.seed = seed;
  }
  int64_t threads = 0;
  reader.whole("threads", 1, 1024, threads);
  options.threads = static_cast<int>(threads);
  reader.text("log", options.log);
  reader.text("save", options.save);
  reader.whole("save-every", 1, many, options.saveEvery);
  reader.whole("keep", 1, many, options.keep);
  reader.text("resume", options.resume);
  reader.text("init", options.init);
  reader.text("load", options.load);
  reader.whole("eval-every", 1, many, options.evalEvery);
  reader.text("outputs", options.outputs);
  reader.whole("sample", 1, 1'000'000, options.sample);
  if (const std::string *value = flags.find("prompt"))
    options.prompt = *value;
  if (const std::string *value = flags.find("temperature")) {
    std::optional<double> number = parseNumber(*value);
    if (!number || !(*number >= 0 && *number <= 1e6))
      reader.wrong("temperature", *value, "a number from 0 to 1000000");
    options.temperature = number.value_or(1);
  }
  reader.whole("sample-length", 1, 1'000'000, options.sampleLength);
  options.checkNan = flags.has("check-nan");
  reader.text("trace", options.trace);
  options.profile = flags.has("profile");
  options.audit = flags.has("audit");
  reader.text("audit-file", options.auditFile);
  options.quiet = flags.has("quiet");
  options.timing = flags.has("timing");
  if (reader.failure)
    return *reader.failure;
  if (options.save.empty() && (options.saveEvery > 0 || options.keep > 0))
    return usage("--save-every and --keep want --save DIR");
  if (options.evalData.files.empty() && options.evalEvery > 0)
    return usage("--eval-every wants --eval-data FILE");
  if (!options.resume.empty() && !options.init.empty())
    return usage("--resume brings its own weights; leave --init out");
  if (!options.load.empty() && !(options.resume.empty() && options.init.empty()))
    return usage(fmt::format("--{} brings its own weights; leave --load out",
                             options.resume.empty() ? "init" : "resume"));
  if (Failure failure = readAuditLimits(flags, options.auditLimits))
    return *failure;
  if (!options.audit && (flags.has("audit-limit") || !options.auditFile.empty()))
    return usage(fmt::format("--{} wants --audit",
                             options.auditFile.empty() ? "audit-limit" : "audit-file"));
  std::vector<std::string_view> timing;
  for (std::string_view name : {"profile", "trace", "audit"})
    if (flags.has(name))
      timing.push_back(name);
  if (options.checkNan && !timing.empty())
    return usage(fmt::format("--check-nan distorts times; leave --{} out", timing[0]));
  if (timing.size() > 1)
    return usage(fmt::format("--{} and --{} both time launches; give one of them", timing[0],
                             timing[1]));
  return options;
}

std::string flagHelp(std::span<const FlagSpec> flags) {
  std::string out;
  for (const FlagSpec &spec : flags) {
    std::string left =
        fmt::format("--{}{}{}", spec.name, spec.value.empty() ? "" : " ", spec.value);
    out += fmt::format("  {:<26} {}\n", left, spec.help);
  }
  return out;
}

} // namespace napkin::runtime
