// Recomputations and moves, and what each changes.
#include "passes/planning/remat/Actions.h"

#include <algorithm>

using namespace nap::planning;
using Life = RematState::Life;

bool RematActions::isIn(const std::vector<int64_t> &list, int64_t value) const {
  return std::find(list.begin(), list.end(), value) != list.end();
}

void RematActions::aim(int64_t lowAt, int64_t beforeAt) {
  low = lowAt;
  before = beforeAt;
  ++aimed;
  tensors.resize(state.facts.sizes.size());
  steps.resize(state.facts.reads.size());
}

/// A tensor's life at the place that is aimed at.
RematActions::TensorMarks &RematActions::lifeOf(int64_t tensor) {
  TensorMarks &marks = tensors[tensor];
  if (marks.aimed != aimed) {
    marks.aimed = aimed;
    marks.isLive = state.isLiveBefore(tensor, before, marks.life);
  }
  return marks;
}

bool RematActions::weigh(RematAction &action) {
  if (!takeOut(action))
    return false;
  action.areaOfBlock = areaOfBlock(action);
  action.areaChange = action.areaOfBlock + areaOfChanges(action);
  return true;
}

/// Collects the steps to run again, nearest first, and the inputs that stay live instead.
bool RematActions::build(int64_t tensor, RematReach reach, RematAction &action) {
  const RematFacts &facts = state.facts;
  action.steps.clear();
  action.removed.clear();
  action.before = before;
  action.tensor = tensor;
  changes.clear();
  extended.clear();
  ++block;
  reachedEnd = metLate = false;
  auto add = [&](int64_t step) {
    action.steps.push_back(step);
    steps[step] = block;
  };
  add(facts.writerOf[tensor]);
  for (size_t next = 0; next < action.steps.size(); ++next)
    for (int64_t read : facts.reads[action.steps[next]]) {
      int64_t writer = facts.writerOf[read];
      if (writer < 0) {
        if (!state.isIntact(read, before))
          return false;
        continue;
      }
      if (isInBlock(writer) || isExtended(read))
        continue;
      TensorMarks &marks = lifeOf(read);
      if (marks.isLive)
        continue;
      if (marks.life.from < 0)
        return false;
      bool isFar = int64_t(action.steps.size()) >= reach.steps, isLate = marks.life.to >= low;
      reachedEnd = reachedEnd || isFar;
      metLate = metLate || isLate;
      if (!isFar && facts.sizes[read] > 0 && !(reach.keepsLate && isLate)) {
        add(writer);
        continue;
      }
      extended.push_back(read);
      marks.extended = block;
    }
  // A step that came in later may write what was to be kept.
  std::erase_if(extended, [&](int64_t read) {
    bool isWritten = isInBlock(facts.writerOf[read]);
    if (isWritten)
      tensors[read].extended = 0;
    return isWritten;
  });
  for (int64_t read : extended)
    changes.push_back({lifeOf(read).life.to + 1, before, facts.sizes[read]});
  std::sort(action.steps.begin(), action.steps.end());
  return true;
}

/// Ends the lives of what is written again after its last reader before the block, and finds the
/// instances that nothing reads any more.
bool RematActions::takeOut(RematAction &action) {
  const RematFacts &facts = state.facts;
  action.addedTime = 0;
  lasting.clear();
  // Readers come before what they read, so that a reader that goes is no reader.
  for (size_t index = action.steps.size(); index-- > 0;) {
    int64_t number = action.steps[index];
    action.addedTime += facts.problem.costs[number];
    int64_t from = -1;
    bool isRead = false;
    size_t firstChange = changes.size();
    for (int64_t result : facts.writes[number]) {
      TensorMarks &marks = lifeOf(result);
      from = marks.life.from;
      std::span<const int64_t> touches = state.touches(result);
      auto last = std::prev(std::lower_bound(touches.begin(), touches.end(), 2 * action.before));
      while ((*last & 1) == 0 && isIn(action.removed, *last / 2))
        --last;
      isRead = isRead || (*last & 1) == 0;
      if (marks.isLive) {
        lasting.push_back(result);
        marks.lasting = block;
      }
      int64_t end = marks.isLive ? action.before : marks.life.to + 1;
      if (*last / 2 + 1 < end)
        changes.push_back({*last / 2 + 1, end, -facts.sizes[result]});
    }
    bool mayGo = !isRead && (mayMove || !state.isFirst[from]);
    if (!mayGo && !facts.problem.recomputable[number])
      return false;
    if (!mayGo)
      continue;
    // The instance itself goes; its position counts no more.
    action.removed.push_back(from);
    action.addedTime -= facts.problem.costs[number];
    changes.resize(firstChange);
    for (int64_t result : facts.writes[number]) {
      const TensorMarks &marks = lifeOf(result);
      int64_t end = marks.isLive ? action.before : marks.life.to + 1;
      changes.push_back({from + 1, end, -facts.sizes[result]});
    }
  }
  std::sort(action.removed.begin(), action.removed.end());
  return true;
}

void RematActions::buildRemoval(int64_t position, RematAction &action) {
  const RematFacts &facts = state.facts;
  action.steps.clear();
  action.removed = {position};
  action.before = position;
  action.tensor = -1;
  action.addedTime = 0;
  changes.clear();
  // The tensors, with a position of a reader that goes, whose lives may become shorter.
  std::vector<std::pair<int64_t, int64_t>> shortened;
  auto lastReaderThatStays = [&](int64_t tensor, int64_t end) {
    std::span<const int64_t> touches = state.touches(tensor);
    auto last = std::prev(std::lower_bound(touches.begin(), touches.end(), 2 * end));
    while ((*last & 1) == 0 && isIn(action.removed, *last / 2))
      --last;
    return *last;
  };
  for (size_t next = 0; next < action.removed.size(); ++next) {
    int64_t at = action.removed[next], number = state.sequence[at];
    action.addedTime -= facts.problem.costs[number];
    for (int64_t result : facts.writes[number]) {
      Life life;
      bool isRead = state.isLiveBefore(result, at + 1, life);
      if (next == 0 && isRead)
        changes.push_back({lastReaderThatStays(result, at) / 2 + 1, at, facts.sizes[result]});
      if (next > 0 && life.to > at)
        changes.push_back({at + 1, life.to + 1, -facts.sizes[result]});
    }
    for (int64_t read : facts.reads[number]) {
      int64_t writer = facts.writerOf[read];
      if (writer < 0)
        continue;
      shortened.push_back({read, at});
      Life life;
      state.isLiveBefore(read, at, life);
      bool isNeeded = state.isFirst[life.from] || isIn(action.removed, life.from);
      for (int64_t result : facts.writes[writer]) {
        Life other;
        state.isLiveBefore(result, life.from + 1, other);
        isNeeded = isNeeded || other.to == state.length() ||
                   (lastReaderThatStays(result, other.to + 1) & 1) == 0;
      }
      if (!isNeeded)
        action.removed.push_back(life.from);
    }
  }
  std::sort(shortened.begin(), shortened.end());
  std::vector<std::pair<int64_t, int64_t>> seen;
  for (auto [tensor, at] : shortened) {
    Life life;
    state.isLiveBefore(tensor, at, life);
    std::pair<int64_t, int64_t> key{tensor, life.from};
    if (isIn(action.removed, life.from) || life.to == state.length() ||
        std::find(seen.begin(), seen.end(), key) != seen.end())
      continue;
    seen.push_back(key);
    int64_t last = lastReaderThatStays(tensor, life.to + 1) / 2;
    changes.push_back({last + 1, life.to + 1, -facts.sizes[tensor]});
  }
  std::sort(action.removed.begin(), action.removed.end());
  action.areaChange = areaOfChanges(action);
}

/// What the block itself has above the budget.
int64_t RematActions::areaOfBlock(const RematAction &action) {
  const RematFacts &facts = state.facts;
  int64_t live = state.found[action.before], area = 0;
  for (int64_t tensor : lasting)
    live -= facts.sizes[tensor];
  for (int64_t tensor : extended)
    live += facts.sizes[tensor];
  for (size_t index = 0; index < action.steps.size(); ++index)
    for (int64_t read : facts.reads[action.steps[index]]) {
      tensors[read].read = block;
      tensors[read].lastReader = int64_t(index);
    }
  for (int64_t index = 0; index < int64_t(action.steps.size()); ++index) {
    int64_t number = action.steps[index];
    area += std::max<int64_t>(0, live + facts.written[number] - state.budget);
    // What no later step of the block reads and nothing behind it ends here.
    auto ends = [&](int64_t tensor) {
      const TensorMarks &marks = tensors[tensor];
      return marks.lasting != block && (marks.read != block || marks.lastReader <= index);
    };
    for (int64_t result : facts.writes[number])
      live += ends(result) ? 0 : facts.sizes[result];
    for (int64_t read : facts.reads[number])
      if (ends(read) && (isExtended(read) || isInBlock(facts.writerOf[read])))
        live -= facts.sizes[read];
    ++work;
  }
  return area;
}

/// What the changed lives do to the area at the positions that stay.
int64_t RematActions::areaOfChanges(const RematAction &action) {
  // Behind the block what is live stays so.
  int64_t end = std::min(action.before + (action.steps.empty() ? 1 : 0), state.length());
  // Where the sum of the changes is another, and the positions that go: (position, bytes).
  edges.clear();
  for (const Change &change : changes)
    if (change.from < std::min(change.to, end)) {
      edges.push_back({change.from, change.bytes});
      edges.push_back({std::min(change.to, end), -change.bytes});
    }
  std::sort(edges.begin(), edges.end());
  auto removed = action.removed.begin();
  int64_t sum = 0, area = 0, at = edges.empty() ? 0 : edges.front().first;
  auto advance = [&](int64_t to) {
    for (; removed != action.removed.end() && *removed < to; ++removed) {
      int64_t above = state.heights[*removed] - state.budget;
      if (*removed >= at) {
        area += state.areaChange(at, *removed, sum);
        at = *removed + 1;
      }
      area -= std::max<int64_t>(0, above);
    }
    area += state.areaChange(at, to, sum);
    at = std::max(at, to);
  };
  for (auto [position, bytes] : edges) {
    advance(position);
    sum += bytes;
  }
  advance(state.length());
  work += 8 + int64_t(edges.size()) * 4 + (end - (edges.empty() ? end : edges.front().first)) / 16;
  return area;
}

Sequence nap::planning::applied(const RematState &state, const std::vector<RematAction> &actions) {
  std::vector<const RematAction *> ordered;
  std::vector<bool> isRemoved(state.length(), false);
  int64_t added = 0;
  for (const RematAction &action : actions) {
    ordered.push_back(&action);
    added += int64_t(action.steps.size());
    for (int64_t position : action.removed)
      isRemoved[position] = true;
  }
  // Actions at one position go in the order in which they are given, as they stand in `actions`.
  std::sort(ordered.begin(), ordered.end(), [](const RematAction *a, const RematAction *b) {
    return a->before != b->before ? a->before < b->before : a < b;
  });
  Sequence result;
  result.reserve(state.length() + added);
  auto next = ordered.begin();
  for (int64_t at = 0; at <= state.length(); ++at) {
    for (; next != ordered.end() && (*next)->before == at; ++next)
      result.insert(result.end(), (*next)->steps.begin(), (*next)->steps.end());
    if (at < state.length() && !isRemoved[at])
      result.push_back(state.sequence[at]);
  }
  return result;
}
