// Articulation points of the forward pass, and where the way back passes them.
#include "passes/planning/chains/Cuts.h"

#include <algorithm>
#include <limits>

using namespace nap::planning;

namespace {
/// A place between two steps of the forward pass, and where the way back passes it: steps from
/// `back` on read nothing that is written from `at` to the end of the forward pass.
struct Cut {
  int64_t at, back;
};

/// Finds cuts, and says what passes them.
class Parting {
public:
  Parting(const RematFacts &facts, int64_t firstBackward);

  ChainOfBlocks run();

private:
  /// Per place: tensors that are handed on there, and their bytes.
  struct Handed {
    std::vector<int64_t> count, bytes;
  };

  void pin();
  void leaveOutRest();
  std::vector<int64_t> handedAt(int64_t at) const;
  std::vector<int64_t> returnedAt(int64_t back) const;
  int64_t backOf(int64_t at, int64_t first, int64_t end) const;
  Handed handedEverywhere() const;
  std::vector<Cut> findCuts() const;

  const RematFacts &facts;
  /// `end` is the first step behind the way back.
  int64_t steps, firstBackward, end = 0;
  /// Per tensor: the last steps that read it, forwards and in all.
  std::vector<int64_t> lastForward, last;
  /// Per place of the way back: bytes that the steps of it before hand to those behind.
  std::vector<int64_t> returned;
  ChainOfBlocks chain;
};
} // namespace

Parting::Parting(const RematFacts &facts, int64_t firstBackward)
    : facts(facts), steps(int64_t(facts.reads.size())), firstBackward(firstBackward),
      lastForward(facts.sizes.size(), -1), last(facts.sizes.size(), -1), returned(steps + 1, 0) {
  for (int64_t step = 0; step < steps; ++step)
    for (int64_t read : facts.reads[step]) {
      last[read] = step;
      // The step that turns round reads what the last block hands on.
      if (step <= firstBackward)
        lastForward[read] = step;
    }
}

/// Bytes of a tensor that is held whatever the block: hardly any beside the largest, as numbers a
/// row are, whose readers may come much later than the block's own.
static int64_t fewBytes(const RematFacts &facts, int64_t firstBackward) {
  constexpr int64_t kPart = 512;
  int64_t largest = 0;
  for (int64_t step = 0; step < firstBackward; ++step)
    for (int64_t write : facts.writes[step])
      largest = std::max(largest, facts.sizes[write]);
  return largest / kPart;
}

/// What is kept, what only one run can write, what many blocks read, and what has hardly any bytes.
void Parting::pin() {
  chain.isPinned = facts.isKept;
  int64_t few = fewBytes(facts, firstBackward);
  for (size_t tensor = 0; tensor < facts.sizes.size(); ++tensor) {
    int64_t writer = facts.writerOf[tensor];
    bool isForward = writer >= 0 && writer < firstBackward;
    if (isForward && (!facts.problem.recomputable[writer] || facts.sizes[tensor] <= few ||
                      (firstBackward > 24 && lastForward[tensor] - writer > firstBackward / 3)))
      chain.isPinned[tensor] = true;
    if (chain.isPinned[tensor] && writer >= 0)
      chain.pinnedBytes += facts.sizes[tensor];
    if (!chain.isPinned[tensor] && writer >= firstBackward && last[tensor] > writer) {
      returned[writer + 1] += facts.sizes[tensor];
      returned[last[tensor] + 1] -= facts.sizes[tensor];
    }
  }
  leaveOutRest();
  for (int64_t step = 0; step < steps; ++step)
    returned[step + 1] += returned[step];
}

/// The way back ends where nothing of the forward pass is read any more, and what is first read
/// behind it is no block's business; unless that is a thing or two, the last block's own.
void Parting::leaveOutRest() {
  constexpr size_t kFew = 4;
  end = firstBackward;
  for (int64_t step = firstBackward; step < steps; ++step)
    for (int64_t read : facts.reads[step])
      if (facts.writerOf[read] >= 0 && facts.writerOf[read] < firstBackward &&
          facts.sizes[read] > 0 && !chain.isPinned[read])
        end = step + 1;
  std::vector<bool> isReadBefore(facts.sizes.size(), false);
  for (int64_t step = firstBackward; step < end; ++step)
    for (int64_t read : facts.reads[step])
      isReadBefore[read] = true;
  std::vector<size_t> waiting;
  for (size_t tensor = 0; tensor < facts.sizes.size(); ++tensor)
    if (facts.writerOf[tensor] >= firstBackward && facts.writerOf[tensor] < end &&
        !isReadBefore[tensor] && last[tensor] >= end && !chain.isPinned[tensor])
      waiting.push_back(tensor);
  if (waiting.size() <= kFew) {
    end = steps;
    return;
  }
  for (size_t tensor : waiting) {
    chain.isPinned[tensor] = true;
    returned[facts.writerOf[tensor] + 1] -= facts.sizes[tensor];
    returned[last[tensor] + 1] += facts.sizes[tensor];
  }
}

/// The tensors that the steps before `at` hand to forward steps behind.
std::vector<int64_t> Parting::handedAt(int64_t at) const {
  std::vector<int64_t> handed;
  for (size_t tensor = 0; tensor < facts.sizes.size(); ++tensor)
    if (facts.writerOf[tensor] >= 0 && facts.writerOf[tensor] < at && lastForward[tensor] >= at &&
        facts.sizes[tensor] > 0 && !chain.isPinned[tensor])
      handed.push_back(int64_t(tensor));
  return handed;
}

/// The tensors that steps of the way back before `back` hand to those behind.
std::vector<int64_t> Parting::returnedAt(int64_t back) const {
  std::vector<int64_t> returned;
  for (size_t tensor = 0; tensor < facts.sizes.size(); ++tensor)
    if (facts.writerOf[tensor] >= firstBackward && facts.writerOf[tensor] < back &&
        last[tensor] >= back && facts.sizes[tensor] > 0 && !chain.isPinned[tensor])
      returned.push_back(int64_t(tensor));
  return returned;
}

/// Where the way back passes a cut at `at`: from `first` on, where nothing from behind the cut is
/// read any more, and before anything from before it is read but what is handed; of these places
/// the last before `end` at which the least is returned. -1 where there is none, or where what is
/// handed is not read on the way back, so that it need not be there.
int64_t Parting::backOf(int64_t at, int64_t first, int64_t end) const {
  std::vector<int64_t> handed = handedAt(at);
  for (int64_t tensor : handed)
    if (last[tensor] < firstBackward)
      return -1;
  int64_t best = -1;
  for (int64_t step = firstBackward; step < end; ++step) {
    if (step >= first && (best < 0 || returned[step] <= returned[best]))
      best = step;
    for (int64_t read : facts.reads[step]) {
      int64_t writer = facts.writerOf[read];
      if (writer >= 0 && writer < at && facts.sizes[read] > 0 && !chain.isPinned[read] &&
          std::find(handed.begin(), handed.end(), read) == handed.end())
        return best;
    }
  }
  return best;
}

/// What is handed on at each place of the forward pass.
Parting::Handed Parting::handedEverywhere() const {
  Handed handed{std::vector<int64_t>(firstBackward + 2, 0),
                std::vector<int64_t>(firstBackward + 2, 0)};
  for (size_t tensor = 0; tensor < facts.sizes.size(); ++tensor) {
    int64_t writer = facts.writerOf[tensor], bytes = facts.sizes[tensor];
    if (writer < 0 || writer >= firstBackward || bytes == 0 || chain.isPinned[tensor] ||
        lastForward[tensor] <= writer)
      continue;
    ++handed.count[writer + 1];
    --handed.count[lastForward[tensor] + 1];
    handed.bytes[writer + 1] += bytes;
    handed.bytes[lastForward[tensor] + 1] -= bytes;
  }
  for (int64_t at = 1; at <= firstBackward; ++at) {
    handed.count[at] += handed.count[at - 1];
    handed.bytes[at] += handed.bytes[at - 1];
  }
  return handed;
}

std::vector<Cut> Parting::findCuts() const {
  // Per place: the last step of the way back that reads what is written there or behind.
  std::vector<int64_t> back(firstBackward + 1, firstBackward + 1);
  for (size_t tensor = 0; tensor < facts.sizes.size(); ++tensor)
    if (int64_t writer = facts.writerOf[tensor];
        writer >= 0 && writer < firstBackward && facts.sizes[tensor] > 0 && !chain.isPinned[tensor])
      back[writer] = std::max(back[writer], last[tensor] + 1);
  for (int64_t at = firstBackward; at-- > 0;)
    back[at] = std::max(back[at], back[at + 1]);
  auto cutsWhere = [&](auto isNarrow) {
    std::vector<Cut> cuts{{0, end}};
    for (int64_t at = 1; at <= firstBackward; ++at)
      if (isNarrow(at) && back[at] < cuts.back().back)
        if (int64_t passed = backOf(at, back[at], cuts.back().back); passed >= 0)
          cuts.push_back({at, passed});
    return cuts;
  };
  Handed handed = handedEverywhere();
  std::vector<Cut> cuts = cutsWhere([&](int64_t at) { return handed.count[at] == 1; });
  constexpr size_t kFewCuts = 5;
  if (cuts.size() >= kFewCuts)
    return cuts;
  // No single tensor: where the fewest bytes of the middle of the pass are handed on, a residual
  // stream together with what belongs to its rows.
  constexpr int64_t kMostHanded = 3;
  auto isSmall = [&](int64_t at) {
    return handed.count[at] > 0 && handed.count[at] <= kMostHanded;
  };
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int64_t at = firstBackward / 4; at <= firstBackward * 3 / 4; ++at)
    if (isSmall(at))
      least = std::min(least, handed.bytes[at]);
  if (least == std::numeric_limits<int64_t>::max())
    return cuts;
  std::vector<Cut> wider =
      cutsWhere([&](int64_t at) { return isSmall(at) && handed.bytes[at] <= least + least / 8; });
  return wider.size() > cuts.size() ? wider : cuts;
}

ChainOfBlocks Parting::run() {
  pin();
  std::vector<Cut> cuts = findCuts();
  for (size_t number = 0; number + 1 < cuts.size(); ++number) {
    ChainBlock block;
    for (int64_t step = cuts[number].at; step < cuts[number + 1].at; ++step)
      block.forward.push_back(step);
    for (int64_t step = cuts[number + 1].back; step < cuts[number].back; ++step)
      block.backward.push_back(step);
    block.inputs = handedAt(cuts[number].at);
    block.gradients = returnedAt(cuts[number].back);
    chain.blocks.push_back(std::move(block));
  }
  // What is kept and written on the last stretch of the way back is the first block's to hand on.
  if (!chain.blocks.empty())
    for (int64_t step : chain.blocks.front().backward)
      for (int64_t write : facts.writes[step])
        if (facts.isKept[write] && chain.isPinned[write]) {
          chain.isPinned[write] = false;
          chain.pinnedBytes -= facts.sizes[write];
          chain.blocks.front().gradients.push_back(write);
        }
  for (int64_t step = cuts.back().at; step < cuts.back().back; ++step)
    chain.turn.push_back(step);
  for (int64_t step = end; step < steps; ++step)
    chain.rest.push_back(step);
  chain.lastInputs = handedAt(cuts.back().at);
  chain.lastGradients = returnedAt(cuts.back().back);
  return std::move(chain);
}

ChainOfBlocks nap::planning::partIntoBlocks(const RematFacts &facts, int64_t firstBackward) {
  return Parting(facts, firstBackward).run();
}
