// Strategies as sequences: stretches of blocks, and nothing kept.
#include "passes/planning/chains/Strategies.h"
#include "passes/planning/remat/State.h"

#include <algorithm>

using namespace nap::planning;

int64_t nap::planning::sqrtStride(int64_t blocks) {
  int64_t stride = 1;
  while (stride * stride < blocks)
    ++stride;
  return stride;
}

static int64_t countBlocks(const BlockOfStep &blockOf) {
  return blockOf.empty() ? 0 : *std::max_element(blockOf.begin(), blockOf.end()) + 1;
}

/// Adds, in rising order, the steps that must run for `tensors` to be there, given what is.
static std::vector<int64_t> closure(const RematFacts &facts, const std::vector<int64_t> &tensors,
                                    const std::vector<bool> &isThere) {
  std::vector<int64_t> steps;
  std::vector<bool> isIn(facts.reads.size(), false);
  auto need = [&](int64_t tensor) {
    int64_t writer = facts.writerOf[tensor];
    if (isThere[tensor] || isIn[writer])
      return;
    isIn[writer] = true;
    steps.push_back(writer);
  };
  for (int64_t tensor : tensors)
    need(tensor);
  for (size_t next = 0; next < steps.size(); ++next)
    for (int64_t read : facts.reads[steps[next]])
      need(read);
  std::sort(steps.begin(), steps.end());
  return steps;
}

/// Per tensor: whether it stays from its first instance on, which is so unless a block's step that may
/// run again writes it, `drops` says so, and nothing wants it at the end.
template <typename Drops>
static std::vector<bool> staying(const RematFacts &facts, const BlockOfStep &blockOf, Drops drops) {
  std::vector<bool> stays(facts.sizes.size(), true);
  for (size_t tensor = 0; tensor < stays.size(); ++tensor) {
    int64_t writer = facts.writerOf[tensor];
    if (writer >= 0 && blockOf[writer] >= 0 && facts.problem.recomputable[writer] &&
        !facts.isKept[tensor])
      stays[tensor] = !drops(blockOf[writer]);
  }
  return stays;
}

Sequence nap::planning::keepEvery(const RematProblem &problem, const BlockOfStep &blockOf,
                                  int64_t stride) {
  RematFacts facts(problem);
  int64_t last = (countBlocks(blockOf) - 1) / stride;
  std::vector<bool> isThere =
      staying(facts, blockOf, [&](int64_t block) { return block / stride < last; });
  // What another stretch reads going forward is its input.
  for (size_t number = 0; number < blockOf.size(); ++number)
    for (int64_t read : facts.reads[number]) {
      int64_t writer = facts.writerOf[read];
      if (blockOf[number] >= 0 && writer >= 0 && blockOf[writer] >= 0 &&
          blockOf[writer] / stride != blockOf[number] / stride)
        isThere[read] = true;
    }
  Sequence sequence;
  for (size_t number = 0; number < blockOf.size(); ++number) {
    if (blockOf[number] < 0)
      for (int64_t step : closure(facts, facts.reads[number], isThere)) {
        sequence.push_back(step);
        for (int64_t result : facts.writes[step])
          isThere[result] = true;
      }
    sequence.push_back(int64_t(number));
    if (blockOf[number] < 0)
      for (int64_t result : facts.writes[number])
        isThere[result] = true;
  }
  return sequence;
}

Sequence nap::planning::keepNothing(const RematProblem &problem, const BlockOfStep &blockOf) {
  RematFacts facts(problem);
  int64_t last = countBlocks(blockOf) - 1;
  std::vector<bool> stays = staying(facts, blockOf, [&](int64_t block) { return block < last; });
  // Per block: its inputs and results that the way back reads.
  std::vector<bool> isReadBack(facts.sizes.size(), false);
  std::vector<std::vector<int64_t>> wanted(last + 1);
  for (size_t number = 0; number < blockOf.size(); ++number)
    for (int64_t read : facts.reads[number])
      isReadBack[read] = isReadBack[read] || blockOf[number] < 0;
  for (size_t number = 0; number < blockOf.size(); ++number) {
    if (blockOf[number] < 0)
      continue;
    for (const std::vector<int64_t> &tensors : {facts.reads[number], facts.writes[number]})
      for (int64_t tensor : tensors)
        if (isReadBack[tensor])
          wanted[blockOf[number]].push_back(tensor);
  }
  std::vector<bool> isThere = stays;
  if (last >= 0)
    for (int64_t tensor : wanted[last])
      isThere[tensor] = true;
  Sequence sequence;
  for (size_t number = 0; number < blockOf.size(); ++number) {
    if (blockOf[number] >= 0) {
      sequence.push_back(int64_t(number));
      continue;
    }
    // The latest block of which something is missing runs again with all before it; what was there of
    // another is no longer counted on.
    for (;;) {
      int64_t block = -1;
      for (int64_t read : facts.reads[number])
        if (!isThere[read])
          block = std::max(block, blockOf[facts.writerOf[read]]);
      if (block < 0)
        break;
      std::vector<int64_t> tensors = wanted[block];
      for (int64_t read : facts.reads[number])
        if (!stays[read])
          tensors.push_back(read);
      for (int64_t step : closure(facts, tensors, stays))
        sequence.push_back(step);
      isThere = stays;
      for (int64_t tensor : tensors)
        isThere[tensor] = true;
    }
    sequence.push_back(int64_t(number));
    for (int64_t result : facts.writes[number])
      stays[result] = isThere[result] = true;
  }
  return sequence;
}
