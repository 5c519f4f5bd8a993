// Blocks as problems of their own.
#include "passes/planning/chains/Options.h"
#include "passes/planning/remat/Rematerialize.h"

#include <algorithm>
#include <map>

using namespace nap::planning;

/// The most options of one kind that are looked for at one limit of live bytes.
static constexpr int64_t kMostOptions = 12;

namespace {
/// A block whose inputs a first step writes, with the blocks behind it as one step, the gap,
/// between its steps forwards and back.
struct BlockProblem {
  RematProblem problem;
  int64_t gap = 0;
  /// Bytes of the inputs.
  int64_t inputBytes = 0;
  /// Per step: its number in the whole problem; -1 for the first and the gap.
  std::vector<int64_t> stepOf;
};

/// Builds a block's problem, and describes it so that blocks of one kind have one description.
class BlockWriter {
public:
  BlockWriter(const RematFacts &facts, const ChainOfBlocks &chain, size_t number)
      : facts(facts), chain(chain), block(chain.blocks[number]),
        outputs(number + 1 < chain.blocks.size() ? chain.blocks[number + 1].inputs
                                                 : chain.lastInputs),
        returned(number + 1 < chain.blocks.size() ? chain.blocks[number + 1].gradients
                                                  : chain.lastGradients) {}

  /// `handsOn`: the gap reads what the block hands on.
  BlockProblem write(bool handsOn);
  /// The steps forwards alone, whose results for others are kept.
  BlockProblem writePlain();
  std::vector<int64_t> description();

private:
  int64_t local(int64_t tensor);
  void addStep(int64_t step);
  void addOutside(const std::vector<int64_t> &reads, const std::vector<int64_t> &writes);
  void keepForOthers();

  const RematFacts &facts;
  const ChainOfBlocks &chain;
  const ChainBlock &block;
  const std::vector<int64_t> &outputs, &returned;
  BlockProblem result;
  std::map<int64_t, int64_t> numbers;
};
} // namespace

/// The tensor's number in the block's problem. It is given until a step writes it; what is pinned
/// takes no bytes here.
int64_t BlockWriter::local(int64_t tensor) {
  auto [it, isNew] = numbers.try_emplace(tensor, int64_t(numbers.size()));
  if (isNew)
    result.problem.timeline.sizes.push_back(0);
  return it->second;
}

void BlockWriter::addStep(int64_t step) {
  const Step &from = facts.problem.timeline.steps[step];
  Step to;
  for (int64_t read : facts.reads[step])
    to.reads.push_back(local(read));
  for (int64_t write : facts.writes[step]) {
    to.writes.push_back(local(write));
    result.problem.timeline.sizes[to.writes.back()] =
        chain.isPinned[write] ? 0 : facts.sizes[write];
    for (auto [old, fresh] : facts.problem.overwrites)
      if (fresh == write)
        result.problem.overwrites.push_back({local(old), local(fresh)});
  }
  for (auto [read, write] : from.inPlace)
    to.inPlace.push_back({local(read), local(write)});
  result.problem.timeline.steps.push_back(std::move(to));
  result.problem.costs.push_back(facts.problem.costs[step]);
  result.problem.workspace.push_back(facts.problem.workspace[step]);
  result.problem.recomputable.push_back(facts.problem.recomputable[step]);
  result.stepOf.push_back(step);
}

/// What no step of the block's problem writes is given.
static void finish(BlockProblem &block) {
  Timeline &timeline = block.problem.timeline;
  std::vector<bool> isWritten(timeline.sizes.size(), false);
  for (const Step &step : timeline.steps)
    for (int64_t write : step.writes)
      isWritten[write] = true;
  for (size_t tensor = 0; tensor < isWritten.size(); ++tensor)
    if (!isWritten[tensor])
      timeline.given.push_back(int64_t(tensor));
  // A given tensor has its bytes elsewhere, so that none can be taken in place.
  for (Step &step : timeline.steps)
    std::erase_if(step.inPlace, [&](auto &pair) { return !isWritten[pair.first]; });
}

/// A step that stands for what is outside the block.
void BlockWriter::addOutside(const std::vector<int64_t> &reads,
                             const std::vector<int64_t> &writes) {
  Step step;
  for (int64_t read : reads)
    step.reads.push_back(local(read));
  for (int64_t write : writes) {
    step.writes.push_back(local(write));
    result.problem.timeline.sizes[step.writes.back()] = facts.sizes[write];
  }
  result.problem.timeline.steps.push_back(std::move(step));
  result.problem.costs.push_back(0);
  result.problem.workspace.push_back(0);
  result.problem.recomputable.push_back(false);
  result.stepOf.push_back(-1);
}

/// What goes back from the block is kept, whoever wrote it, and inputs that blocks before it read
/// when it has come back.
void BlockWriter::keepForOthers() {
  std::vector<int64_t> &kept = result.problem.timeline.kept;
  for (int64_t tensor : block.gradients)
    if (numbers.contains(tensor))
      kept.push_back(local(tensor));
  std::vector<bool> isInput(facts.sizes.size(), false);
  for (int64_t tensor : block.inputs)
    isInput[tensor] = true;
  int64_t end = block.backward.empty() ? 0 : block.backward.back() + 1;
  for (int64_t step = end; step < int64_t(facts.reads.size()); ++step)
    for (int64_t read : facts.reads[step])
      if (isInput[read]) {
        isInput[read] = false;
        kept.push_back(local(read));
      }
}

BlockProblem BlockWriter::write(bool handsOn) {
  result = {};
  numbers.clear();
  addOutside({}, block.inputs);
  for (int64_t tensor : block.inputs)
    result.inputBytes += facts.sizes[tensor];
  for (int64_t step : block.forward)
    addStep(step);
  result.gap = int64_t(result.stepOf.size());
  addOutside(handsOn ? outputs : std::vector<int64_t>(), returned);
  for (int64_t step : block.backward)
    addStep(step);
  keepForOthers();
  finish(result);
  return result;
}

BlockProblem BlockWriter::writePlain() {
  result = {};
  numbers.clear();
  std::vector<bool> isWanted(facts.sizes.size(), false);
  for (int64_t tensor : outputs)
    isWanted[tensor] = true;
  std::vector<int64_t> needed;
  for (size_t place = block.forward.size(); place-- > 0;) {
    int64_t step = block.forward[place];
    bool isNeeded =
        std::any_of(facts.writes[step].begin(), facts.writes[step].end(), [&](int64_t write) {
          return isWanted[write] || chain.isPinned[write] || facts.sizes[write] == 0;
        });
    if (!isNeeded)
      continue;
    needed.push_back(step);
    for (int64_t read : facts.reads[step])
      isWanted[read] = true;
  }
  std::reverse(needed.begin(), needed.end());
  for (int64_t step : needed)
    addStep(step);
  for (int64_t tensor : outputs)
    if (numbers.contains(tensor))
      result.problem.timeline.kept.push_back(local(tensor));
  result.gap = int64_t(result.stepOf.size());
  finish(result);
  return result;
}

/// All that the options depend on: numbers of the block's problem.
std::vector<int64_t> BlockWriter::description() {
  BlockProblem whole = write(true);
  std::vector<int64_t> text{whole.gap};
  auto add = [&](const std::vector<int64_t> &list) {
    text.push_back(int64_t(list.size()));
    text.insert(text.end(), list.begin(), list.end());
  };
  const RematProblem &problem = whole.problem;
  for (size_t step = 0; step < problem.costs.size(); ++step) {
    add(problem.timeline.steps[step].reads);
    add(problem.timeline.steps[step].writes);
    text.push_back(int64_t(problem.timeline.steps[step].inPlace.size()));
    for (auto [read, write] : problem.timeline.steps[step].inPlace)
      add({read, write});
    add({problem.costs[step], problem.workspace[step], problem.recomputable[step]});
  }
  add(problem.timeline.sizes);
  add(problem.timeline.kept);
  for (auto [old, fresh] : problem.overwrites)
    add({old, fresh});
  add({int64_t(block.inputs.size()), int64_t(outputs.size())});
  return text;
}

/// A sequence of the block's problem as an option; its steps are places in the problem.
static BlockOption measure(const BlockProblem &block, const Sequence &sequence) {
  BlockOption option;
  Simulation simulation = simulate(block.problem, sequence);
  option.time = simulation.time;
  bool isBehind = false;
  for (size_t place = 0; place < sequence.size(); ++place) {
    int64_t height = simulation.heights[place] - block.inputBytes;
    if (sequence[place] == block.gap) {
      isBehind = true;
      option.held = height;
      for (int64_t write : block.problem.timeline.steps[block.gap].writes)
        option.held -= block.problem.timeline.sizes[write];
      option.held = std::max<int64_t>(option.held, 0);
      continue;
    }
    if (block.stepOf[sequence[place]] < 0)
      continue;
    int64_t &peak = isBehind ? option.backwardPeak : option.forwardPeak;
    peak = std::max(peak, height);
    (isBehind ? option.backward : option.forward).push_back(sequence[place]);
  }
  return option;
}

static bool isNoBetter(const BlockOption &a, const BlockOption &b) {
  return a.held >= b.held && a.forwardPeak >= b.forwardPeak && a.backwardPeak >= b.backwardPeak &&
         a.time >= b.time;
}

/// Takes the option unless one is as good; those that it beats go.
static void addOption(std::vector<BlockOption> &options, BlockOption option) {
  for (const BlockOption &other : options)
    if (isNoBetter(option, other))
      return;
  std::erase_if(options, [&](const BlockOption &other) { return isNoBetter(other, option); });
  options.push_back(std::move(option));
}

/// At several limits of live bytes: the fastest sequence, then the fastest that holds less across
/// the gap, and so on.
static std::vector<BlockOption> findOptions(BlockProblem &block) {
  RematLimits limits;
  limits.windows = 8;
  limits.starts = 1;
  limits.attempts = 1;
  limits.work = 100'000;
  limits.wantsBound = false;
  std::vector<BlockOption> options;
  RematProblem &problem = block.problem;
  int64_t returned = 0;
  for (int64_t write : problem.timeline.steps[block.gap].writes)
    returned += problem.timeline.sizes[write];
  addOption(options, measure(block, givenOrder(problem)));
  int64_t highest = simulate(problem, givenOrder(problem)).peak;
  int64_t lowest = leastPeak(problem, limits).peak;
  for (int64_t part = 0; part <= 3; ++part) {
    int64_t budget = highest - (highest - lowest) * part / 3;
    int64_t most = budget - returned;
    for (int64_t count = 0; count < kMostOptions && most >= 0; ++count) {
      // The gap needs whatever must not be held.
      problem.workspace[block.gap] = budget - returned - most;
      RematResult found = rematerialize(problem, budget, limits);
      problem.workspace[block.gap] = 0;
      if (!found.fits)
        break;
      BlockOption option = measure(block, found.sequence);
      most = std::min(most, option.held + block.inputBytes) - 1;
      addOption(options, std::move(option));
    }
  }
  return options;
}

/// The places of an option's steps as numbers of the whole problem.
static void translate(BlockOption &option, const std::vector<int64_t> &stepOf) {
  for (Sequence *sequence : {&option.forward, &option.backward})
    for (int64_t &step : *sequence)
      step = stepOf[step];
}

std::vector<BlockOptions> nap::planning::optionsOf(const RematFacts &facts,
                                                   const ChainOfBlocks &chain, int64_t &kinds) {
  std::vector<BlockOptions> result;
  // Options in places of the block's problem.
  std::map<std::vector<int64_t>, BlockOptions> known;
  auto bytesOf = [&](const std::vector<int64_t> &tensors) {
    int64_t bytes = 0;
    for (int64_t tensor : tensors)
      bytes += facts.sizes[tensor];
    return bytes;
  };
  for (size_t number = 0; number < chain.blocks.size(); ++number) {
    BlockWriter writer(facts, chain, number);
    std::vector<int64_t> description = writer.description();
    auto it = known.find(description);
    if (it == known.end()) {
      BlockOptions options;
      BlockProblem inner = writer.write(true), last = writer.write(false);
      options.inner = findOptions(inner);
      options.last = findOptions(last);
      BlockProblem plain = writer.writePlain();
      options.plain = measure(plain, givenOrder(plain.problem));
      it = known.emplace(std::move(description), std::move(options)).first;
    }
    BlockOptions options = it->second;
    options.inputBytes = bytesOf(chain.blocks[number].inputs);
    options.gradientBytes = bytesOf(chain.blocks[number].gradients);
    std::vector<int64_t> stepOf = writer.write(true).stepOf;
    for (std::vector<BlockOption> *list : {&options.inner, &options.last})
      for (BlockOption &option : *list)
        translate(option, stepOf);
    translate(options.plain, writer.writePlain().stepOf);
    result.push_back(std::move(options));
  }
  kinds = int64_t(known.size());
  return result;
}
