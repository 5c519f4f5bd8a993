// From blocks to what is kept.
#include "passes/memory/Strategies.h"

#include "passes/memory/Blocks.h"

using namespace mlir;
using namespace nap;

/// Whether a tensor is read in another segment of `blocksASegment` blocks than the one that makes
/// it, or made in the last one, whose backward pass comes right behind it.
static bool crosses(const Blocks &blocks, int64_t tensor, int64_t blocksASegment) {
  int64_t own = blocks.blockOf[tensor];
  if (own < 0 || own / blocksASegment == (blocks.count - 1) / blocksASegment)
    return true;
  return llvm::any_of(blocks.readBy[tensor], [&](int64_t reader) {
    return reader < 0 || reader / blocksASegment != own / blocksASegment;
  });
}

/// Whether a tensor is of one block and at most the next one's business: tables that CSE shares are
/// not.
static bool isLocal(const Blocks &blocks, int64_t tensor) {
  int64_t own = blocks.blockOf[tensor];
  return own >= 0 &&
         llvm::all_of(blocks.readBy[tensor], [&](int64_t reader) { return reader <= own + 1; });
}

/// Per step of the program: the last block of the forward tensors that it reads, from which its
/// gradients come; where it reads none, that of the step before. What enters the block of the step
/// before is of that block: the gradient of its first weight reads it.
static std::vector<int64_t> groupsOf(const StepModel &model, const Blocks &blocks) {
  const planning::Recomputation &problem = model.problem;
  std::vector<int64_t> groups;
  int64_t current = blocks.count;
  for (int64_t step = 0; step < problem.programSteps; ++step) {
    int64_t last = -1;
    for (int64_t read : problem.timeline.steps[step].reads)
      if (int64_t writer = model.memory.writerOf[read];
          writer >= 0 && writer < problem.firstBackward && isLocal(blocks, read))
        last =
            std::max(last, llvm::is_contained(blocks.readBy[read], current) ? current
                                                                            : blocks.blockOf[read]);
    if (step >= problem.firstBackward && last >= 0)
      current = last;
    groups.push_back(current);
  }
  return groups;
}

StringRef nap::nameOf(CheckpointStrategy strategy) {
  return llvm::find_if(kCheckpointStrategies,
                       [&](const NamedStrategy &known) { return known.strategy == strategy; })
      ->name;
}

std::optional<CheckpointStrategy> nap::strategyNamed(StringRef name) {
  for (const NamedStrategy &known : kCheckpointStrategies)
    if (known.name == name)
      return known.strategy;
  return std::nullopt;
}

std::string nap::strategyNames(StringRef before) {
  std::string text = kAutoStrategy.str();
  for (const NamedStrategy &known : kCheckpointStrategies)
    text += ((&known == &kCheckpointStrategies.back() ? before : ", ") + known.name).str();
  return text;
}

/// Whether what a `checkpoint { }` block computes is read behind it, or is of none.
static bool leavesBlock(const Blocks &written, int64_t tensor) {
  int64_t own = written.blockOf[tensor];
  return own < 0 ||
         llvm::any_of(written.readBy[tensor], [&](int64_t reader) { return reader != own; });
}

/// Whether a tensor is made in the last block or behind all of them, or enters the last block: the
/// backward pass begins with it.
static bool isOfHead(const StepModel &model, const Blocks &blocks, int64_t tensor) {
  int64_t last = blocks.count - 1;
  if (last >= 0 && (blocks.blockOf[tensor] == last ||
                    (isLocal(blocks, tensor) && llvm::is_contained(blocks.readBy[tensor], last))))
    return true;
  int64_t lastOfBlocks = -1;
  for (auto [other, block] : llvm::enumerate(blocks.blockOf))
    if (block >= 0)
      lastOfBlocks = std::max(lastOfBlocks, model.memory.writerOf[other]);
  return blocks.blockOf[tensor] < 0 && model.memory.writerOf[tensor] >= lastOfBlocks;
}

planning::Sequence nap::sequenceOf(const StepModel &model, CheckpointStrategy strategy) {
  const planning::Recomputation &problem = model.problem;
  std::vector<bool> isForward(problem.programSteps, false);
  for (int64_t step = 0; step < problem.firstBackward; ++step)
    isForward[step] = !model.isEarlyGradient[step];
  Blocks blocks = findBlocks(model.memory, isForward);
  planning::Strategy kept;
  auto keep = [&](auto isKept) {
    for (int64_t tensor = 0; tensor < int64_t(problem.timeline.sizes.size()); ++tensor)
      kept.isKept.push_back(model.isOfEarlyGradient(tensor) || isKept(tensor));
  };
  switch (strategy) {
  case CheckpointStrategy::none:
    keep([](int64_t) { return true; });
    break;
  case CheckpointStrategy::selective:
    keep([&](int64_t tensor) { return !blocks.isInCore[tensor]; });
    break;
  case CheckpointStrategy::blocks:
    keep([&](int64_t tensor) { return crosses(blocks, tensor, 1); });
    break;
  case CheckpointStrategy::sqrt:
    keep([&](int64_t tensor) {
      return crosses(blocks, tensor, planning::sqrtStride(blocks.count));
    });
    break;
  case CheckpointStrategy::minimal:
    keep([&](int64_t tensor) { return isOfHead(model, blocks, tensor); });
    kept.group = groupsOf(model, blocks);
    break;
  case CheckpointStrategy::manual: {
    Blocks written = findBlocks(model.memory, isForward, BlockRule::checkpoint);
    keep([&](int64_t tensor) { return leavesBlock(written, tensor); });
    break;
  }
  }
  return planning::recomputeOnDemand(problem, kept);
}
