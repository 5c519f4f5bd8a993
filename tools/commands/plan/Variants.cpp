// Searches over variants of a model: batches, and changes that make it fit.
#include "tools/commands/plan/Variants.h"

#include <fmt/format.h>

#include <map>

using namespace nap;

bool Variants::plan(const Flags &more,
                    const std::function<void(const ModulePlanner &)> &use) const {
  ParsedFlags all = flags;
  all.flags.insert(all.flags.end(), more.begin(), more.end());
  all.flags.emplace_back("after", kBeforePlanning);
  Model model(/*isQuiet=*/true);
  if (model.read(all, /*takesCuda=*/true) != ExitStatus::done || model.plan() != ExitStatus::done)
    return false;
  use(ModulePlanner(model.module(), model.options().workers, device));
  return true;
}

//===-- Batches ------------------------------------------------------------------------------===//

namespace {
/// The bytes of a plan by the number of samples, each asked for once.
class BatchSearch {
public:
  /// `bytesOf` is -1 for a number that the model does not take.
  BatchSearch(std::function<int64_t(int64_t)> bytesOf, int64_t capacity)
      : bytesOf(std::move(bytesOf)), capacity(capacity) {}

  /// The largest number within the capacity, from a first guess; 0 where not even 1 is.
  int64_t run(int64_t guess);

private:
  bool fits(int64_t samples);
  int64_t nextGuess() const;

  std::function<int64_t(int64_t)> bytesOf;
  int64_t capacity;
  /// The largest number that fits and the least that does not, with their bytes.
  static constexpr int64_t kMost = int64_t(1) << 20;
  int64_t low = 0, high = kMost + 1;
  std::map<int64_t, int64_t> known;
};
} // namespace

bool BatchSearch::fits(int64_t samples) {
  int64_t bytes = bytesOf(samples);
  if (bytes >= 0)
    known[samples] = bytes;
  return bytes >= 0 && bytes <= capacity;
}

/// Bytes are nearly a line: where it meets the capacity, by the two known numbers next to there.
int64_t BatchSearch::nextGuess() const {
  int64_t middle = high > kMost ? std::min(high - 1, 2 * low + 1) : low + (high - low) / 2;
  if (known.size() < 2)
    return middle;
  auto right = known.upper_bound(low);
  if (right == known.end())
    --right;
  if (right == known.begin())
    ++right;
  auto left = std::prev(right);
  double slope = double(right->second - left->second) / double(right->first - left->first);
  if (slope <= 0)
    return middle;
  double meets = double(left->first) + double(capacity - left->second) / slope;
  // The line is trusted eightfold at most.
  double most = std::min(double(high - 1), 8.0 * double(low) + 8);
  return int64_t(std::clamp(meets, double(low + 1), most));
}

int64_t BatchSearch::run(int64_t guess) {
  for (int64_t samples = guess; low + 1 < high; samples = nextGuess())
    (fits(samples) ? low : high) = samples;
  return low;
}

int64_t nap::findLargestBatches(PlanTable &table, const Variants &variants) {
  if (table.batch <= 0)
    return -1;
  // Per number of samples: the bytes of the named strategies.
  std::map<int64_t, std::vector<int64_t>> namedBytes;
  auto flagsOf = [](int64_t samples) {
    return Variants::Flags{{"micro-batch", fmt::format("{}", samples)}};
  };
  // Where the flag is not understood at all there is nothing to seek.
  if (!variants.plan(flagsOf(table.batch), [](const ModulePlanner &) {}))
    return -1;
  auto bytesOfNamed = [&](int64_t samples) {
    auto [place, isNew] = namedBytes.try_emplace(samples);
    if (!isNew)
      return place->second;
    place->second.assign(table.named.size(), -1);
    variants.plan(flagsOf(samples), [&](const ModulePlanner &planner) {
      for (auto [bytes, named] : llvm::zip(place->second, planner.strategies()))
        bytes = planner.planFor(named.strategy).bytes;
    });
    return place->second;
  };
  for (size_t number = 0; number < table.named.size(); ++number)
    table.named[number].largestBatch =
        BatchSearch([&](int64_t samples) { return bytesOfNamed(samples)[number]; }, table.capacity)
            .run(table.batch);
  auto bytesOfLeast = [&](int64_t samples) {
    int64_t bytes = -1;
    variants.plan(flagsOf(samples),
                  [&](const ModulePlanner &planner) { bytes = planner.leastPlan().bytes; });
    return bytes;
  };
  return BatchSearch(bytesOfLeast, table.capacity).run(table.batch);
}

//===-- Changes ------------------------------------------------------------------------------===//

/// "--micro-batch=2 --accumulate=4".
static std::string textOf(const Variants::Flags &flags) {
  std::string text;
  for (const auto &[name, value] : flags) {
    std::string_view quote = value.find_first_of("() ") != std::string::npos ? "'" : "";
    text += fmt::format("{}--{}{}{}{}{}", text.empty() ? "" : " ", name, value.empty() ? "" : "=",
                        quote, value, quote);
  }
  return text;
}

/// Plans one change; nothing if the model does not compile so.
static std::optional<PlanChange> tryChange(const PlanTable &table, const Variants &variants,
                                           const Variants::Flags &flags, std::string effect) {
  PlanChange change{.flags = textOf(flags), .effect = std::move(effect)};
  // A step of fewer samples is as many steps for the same samples.
  bool isCut = llvm::is_contained(flags, std::pair<std::string, std::string>("accumulate", "1"));
  int64_t steps = isCut ? table.accumulate : 1;
  bool isDone = variants.plan(flags, [&](const ModulePlanner &planner) {
    ModulePlan least = planner.leastPlan();
    std::optional<ModulePlan> within = planner.planWithin(table.budget);
    change.leastBytes = least.bytes;
    change.fits = within.has_value();
    change.time = steps * (within ? within->time : least.time);
  });
  return isDone ? std::optional(std::move(change)) : std::nullopt;
}

/// Half of the samples at a time, a quarter and so on, with as many more micro-batches: the first
/// that fits, or the smallest.
static std::optional<PlanChange> smallerBatch(const PlanTable &table, const Variants &variants,
                                              const Variants::Flags &beside,
                                              const std::string &effect) {
  std::optional<PlanChange> last;
  for (int64_t parts = 2; table.batch % parts == 0 && parts <= table.batch; parts *= 2) {
    Variants::Flags flags = beside;
    flags.emplace_back("micro-batch", fmt::format("{}", table.batch / parts));
    flags.emplace_back("accumulate", fmt::format("{}", table.accumulate * parts));
    std::optional<PlanChange> change =
        tryChange(table, variants, flags, fmt::format("{}the same samples in a step", effect));
    if (!change)
      return last;
    last = std::move(change);
    if (last->fits)
      return last;
  }
  return last;
}

void nap::findChanges(PlanTable &table, const Variants &variants) {
  auto add = [&](std::optional<PlanChange> change) {
    if (change && change->leastBytes < table.explained.bytes)
      table.changes.push_back(std::move(*change));
  };
  auto tryFlags = [&](Variants::Flags flags, std::string effect) {
    add(tryChange(table, variants, flags, std::move(effect)));
  };
  add(smallerBatch(table, variants, {}, ""));
  std::vector<std::string> policies;
  if (table.precision == "f32" || table.precision == "f64")
    policies.push_back("mixed(bf16)");
  if (!llvm::StringRef(table.precision).starts_with("pure"))
    policies.push_back("pure(bf16)");
  for (const std::string &policy : policies) {
    tryFlags({{"precision", policy}}, "other roundings");
    add(smallerBatch(table, variants, {{"precision", policy}}, "other roundings; "));
  }
  bool hasStates = table.bytesOf("optimizer state") > 0;
  if (table.bytesOf("optimizer state") > table.bytesOf("parameters"))
    tryFlags({{"optimizer", "lion()"}}, "another optimizer: one state a parameter");
  if (hasStates)
    tryFlags({{"optimizer", "sgd()"}}, "another optimizer: no state");
  if (table.accumulate > 1)
    tryFlags({{"accumulate", "1"}}, fmt::format("{} samples in a step instead of {}", table.batch,
                                                table.batch * table.accumulate));
  // A fused update takes one micro-batch and no clipping.
  Variants::Flags fused = {{"fused-update", ""}};
  std::string effect = "a gradient goes as soon as it is final";
  if (table.accumulate > 1) {
    fused.emplace_back("accumulate", "1");
    effect += fmt::format("; {} samples in a step instead of {}", table.batch,
                          table.batch * table.accumulate);
  }
  if (std::optional<PlanChange> change = tryChange(table, variants, fused, effect)) {
    add(std::move(change));
  } else {
    fused.emplace_back("clip-norm", "none");
    tryFlags(fused, effect + "; no clipping");
  }
  if (table.workers > 1 && table.scratchBytes > 0)
    tryFlags({{"threads", "1"}}, "one worker");
  llvm::sort(table.changes, [](const PlanChange &a, const PlanChange &b) {
    return std::make_tuple(!a.fits, a.fits ? a.time : a.leastBytes, a.flags) <
           std::make_tuple(!b.fits, b.fits ? b.time : b.leastBytes, b.flags);
  });
}
