// Orders of low peak: several quick ones, and the best of all.
#include "passes/planning/orders/Order.h"
#include "passes/planning/remat/State.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <tuple>

using namespace nap::planning;

namespace {
/// Which steps come before which, and what each reads, once.
struct Graph {
  explicit Graph(const RematFacts &facts);

  const RematFacts &facts;
  std::vector<std::vector<int64_t>> before, after;
  /// Per tensor: how many steps read it; one more if it is kept.
  std::vector<int64_t> readers;
};
} // namespace

Graph::Graph(const RematFacts &facts)
    : facts(facts), before(facts.reads.size()), after(facts.reads.size()),
      readers(facts.sizes.size(), 0) {
  std::vector<std::vector<int64_t>> readersOf(facts.sizes.size());
  for (size_t number = 0; number < facts.reads.size(); ++number)
    for (int64_t read : facts.reads[number]) {
      ++readers[read];
      readersOf[read].push_back(int64_t(number));
      if (facts.writerOf[read] >= 0)
        before[number].push_back(facts.writerOf[read]);
    }
  for (size_t tensor = 0; tensor < readers.size(); ++tensor)
    readers[tensor] += facts.isKept[tensor];
  for (size_t number = 0; number < facts.reads.size(); ++number) {
    for (int64_t old : facts.overwritten[number])
      for (int64_t reader : readersOf[old])
        if (reader != int64_t(number))
          before[number].push_back(reader);
    std::sort(before[number].begin(), before[number].end());
    before[number].erase(std::unique(before[number].begin(), before[number].end()),
                         before[number].end());
  }
  for (size_t number = 0; number < before.size(); ++number)
    for (int64_t other : before[number])
      after[other].push_back(int64_t(number));
}

/// Ready steps that a greedy order compares at a time.
static constexpr size_t kCompared = 256;

namespace {
/// Steps that wait for others, and those that are ready, in the order of `Compare`.
template <typename Compare> class ReadySteps {
public:
  /// A step is ready where all of `needs` are done; `followers` is the same from the other side.
  ReadySteps(const std::vector<std::vector<int64_t>> &needs,
             const std::vector<std::vector<int64_t>> &followers)
      : followers(followers) {
    for (size_t number = 0; number < needs.size(); ++number) {
      waiting.push_back(int64_t(needs[number].size()));
      if (waiting.back() == 0)
        ready.insert(int64_t(number));
    }
  }

  bool empty() const { return ready.empty(); }

  /// Takes the step of least `growth`, of equal ones the first.
  template <typename Growth> int64_t take(Growth growth) {
    int64_t best = -1, least = 0;
    size_t compared = 0;
    for (int64_t number : ready) {
      int64_t bytes = growth(number);
      if (best < 0 || bytes < least) {
        best = number;
        least = bytes;
      }
      if (++compared == kCompared)
        break;
    }
    ready.erase(best);
    return best;
  }

  /// What waited for `number` alone is ready.
  void finish(int64_t number) {
    for (int64_t follower : followers[number])
      if (--waiting[follower] == 0)
        ready.insert(follower);
  }

private:
  const std::vector<std::vector<int64_t>> &followers;
  std::vector<int64_t> waiting;
  std::set<int64_t, Compare> ready;
};
} // namespace

/// Bytes that a step leaves more than were live before it, where each tensor has so many readers
/// left.
static int64_t growthOf(const Graph &graph, const std::vector<int64_t> &left, int64_t number) {
  const RematFacts &facts = graph.facts;
  int64_t bytes = 0;
  for (int64_t result : facts.writes[number])
    bytes += graph.readers[result] > 0 ? facts.sizes[result] : 0;
  for (int64_t read : facts.reads[number])
    bytes -= left[read] == 1 ? facts.sizes[read] : 0;
  return bytes;
}

/// Takes, of the ready steps, the one of least `growth`, of equal ones the first; `read` hears of
/// each tensor that it reads.
template <typename Compare, typename Growth, typename Read>
static Sequence greedily(const RematFacts &facts, ReadySteps<Compare> ready, Growth growth,
                         Read read) {
  Sequence order;
  while (!ready.empty()) {
    order.push_back(ready.take(growth));
    for (int64_t tensor : facts.reads[order.back()])
      read(tensor);
    ready.finish(order.back());
  }
  return order;
}

/// Runs, of the ready steps, the one that leaves the fewest bytes more.
static Sequence greedyOrder(const Graph &graph) {
  std::vector<int64_t> left = graph.readers;
  return greedily(
      graph.facts, ReadySteps<std::less<>>(graph.before, graph.after),
      [&](int64_t number) { return growthOf(graph, left, number); },
      [&](int64_t tensor) { --left[tensor]; });
}

/// Bytes that a step adds to what is live when the order is made from its end back.
static int64_t growthFromEnd(const RematFacts &facts, const std::vector<bool> &isLive,
                             int64_t number) {
  int64_t bytes = 0;
  for (int64_t read : facts.reads[number])
    bytes += isLive[read] ? 0 : facts.sizes[read];
  for (int64_t result : facts.writes[number])
    bytes -= isLive[result] ? facts.sizes[result] : 0;
  return bytes;
}

/// The same from the end back: of the steps behind which all have their place, the one that makes
/// the fewest bytes live before it.
static Sequence greedyFromTheEnd(const Graph &graph) {
  std::vector<bool> isLive = graph.facts.isKept;
  Sequence order = greedily(
      graph.facts, ReadySteps<std::greater<>>(graph.after, graph.before),
      [&](int64_t number) { return growthFromEnd(graph.facts, isLive, number); },
      [&](int64_t tensor) { isLive[tensor] = true; });
  std::reverse(order.begin(), order.end());
  return order;
}

/// The given order, from its start or from its end back, but a step that is wanted runs as soon as
/// it can, the first of those. `ran` hears of each step, and may have others looked at again.
/// Nothing where an edge of overwriting leads back: then the given order is none.
static Sequence eagerly(const Graph &graph, bool fromEnd,
                        const std::function<bool(int64_t)> &isWanted,
                        const std::function<void(int64_t, std::function<void(int64_t)>)> &ran) {
  auto count = int64_t(graph.before.size());
  auto turned = [&](int64_t number) { return fromEnd ? count - 1 - number : number; };
  std::vector<int64_t> waiting;
  for (const std::vector<int64_t> &needs : fromEnd ? graph.after : graph.before)
    waiting.push_back(int64_t(needs.size()));
  std::vector<bool> hasRun(count, false);
  std::set<int64_t> open;
  auto look = [&](int64_t number) {
    if (!hasRun[number] && waiting[number] == 0 && isWanted(number))
      open.insert(turned(number));
  };
  Sequence order;
  auto run = [&](int64_t number) {
    hasRun[number] = true;
    order.push_back(number);
    ran(number, look);
    for (int64_t follower : (fromEnd ? graph.before : graph.after)[number])
      if (--waiting[follower] == 0)
        look(follower);
  };
  for (int64_t place = 0; place < count; ++place) {
    int64_t number = turned(place);
    if (!hasRun[number] && waiting[number] > 0)
      return {};
    if (!hasRun[number])
      run(number);
    while (!open.empty()) {
      int64_t next = turned(open.extract(open.begin()).value());
      if (!hasRun[next] && isWanted(next))
        run(next);
    }
  }
  if (fromEnd)
    std::reverse(order.begin(), order.end());
  return order;
}

/// A step runs as soon as it can where it then frees more than it adds: an update whose gradient is
/// final, a sum of what nobody else reads.
static Sequence shrinkingFirst(const Graph &graph) {
  const RematFacts &facts = graph.facts;
  std::vector<int64_t> left = graph.readers;
  std::vector<std::vector<int64_t>> readersOf(facts.sizes.size());
  for (size_t number = 0; number < facts.reads.size(); ++number)
    for (int64_t read : facts.reads[number])
      readersOf[read].push_back(int64_t(number));
  auto shrinks = [&](int64_t number) { return growthOf(graph, left, number) < 0; };
  auto ran = [&](int64_t number, const std::function<void(int64_t)> &look) {
    for (int64_t read : facts.reads[number])
      if (--left[read] == 1)
        for (int64_t reader : readersOf[read])
          look(reader);
  };
  return eagerly(graph, /*fromEnd=*/false, shrinks, ran);
}

/// The same from the end back: a step comes as late as it can where it makes more than it reads for
/// the last time.
static Sequence growingLast(const Graph &graph) {
  std::vector<bool> isLive = graph.facts.isKept;
  auto grows = [&](int64_t number) { return growthFromEnd(graph.facts, isLive, number) < 0; };
  auto ran = [&](int64_t number, const std::function<void(int64_t)> &) {
    for (int64_t read : graph.facts.reads[number])
      isLive[read] = true;
  };
  return eagerly(graph, /*fromEnd=*/true, grows, ran);
}

/// What a step needs comes right before it, the input with the larger results behind it first.
static Sequence depthFirst(const Graph &graph) {
  const RematFacts &facts = graph.facts;
  size_t count = graph.before.size();
  // Bytes of all results that a step needs, its inputs' needs counted once for every way.
  std::vector<double> weight(count, 0);
  for (size_t number = 0; number < count; ++number) {
    weight[number] = double(facts.written[number]);
    for (int64_t other : graph.before[number])
      if (other < int64_t(number))
        weight[number] = std::min(1e300, weight[number] + weight[other]);
  }
  std::vector<bool> hasRun(count, false), isOpen(count, false);
  Sequence order;
  std::vector<int64_t> stack;
  for (size_t root = 0; root < count; ++root) {
    if (!graph.after[root].empty())
      continue;
    stack.push_back(int64_t(root));
    while (!stack.empty()) {
      int64_t number = stack.back();
      if (isOpen[number] || hasRun[number]) {
        stack.pop_back();
        if (!hasRun[number])
          order.push_back(number);
        hasRun[number] = true;
        continue;
      }
      isOpen[number] = true;
      std::vector<int64_t> needed;
      for (int64_t other : graph.before[number])
        if (!hasRun[other])
          needed.push_back(other);
      std::sort(needed.begin(), needed.end(), [&](int64_t a, int64_t b) {
        return weight[a] != weight[b] ? weight[a] < weight[b] : a > b;
      });
      stack.insert(stack.end(), needed.begin(), needed.end());
    }
  }
  return order;
}

Sequence nap::planning::bestOfOrders(const RematProblem &problem, int64_t parting) {
  RematFacts facts(problem);
  Graph graph(facts);
  RematState best(facts, givenOrder(problem), 0);
  for (Sequence order : {shrinkingFirst(graph), growingLast(graph), greedyOrder(graph),
                         greedyFromTheEnd(graph), depthFirst(graph)}) {
    // An order that leaves something out is none: edges of overwriting may close a circle.
    if (order.size() != facts.reads.size())
      continue;
    auto isForward = [&](int64_t number) { return number < parting; };
    Sequence parted;
    std::copy_if(order.begin(), order.end(), std::back_inserter(parted), isForward);
    std::remove_copy_if(order.begin(), order.end(), std::back_inserter(parted), isForward);
    RematState next(facts, parted, 0);
    if (next.assign(parted) && next.peak() < best.peak())
      best.assign(std::move(parted));
  }
  return best.sequence;
}

namespace {
/// A set of steps that may have run, with the least peak on the way to it.
struct DownSet {
  uint64_t steps;
  int64_t peak, live;
  size_t parent;
  int64_t last;
};
} // namespace

/// What runs when `number` runs after `set`: the height, and what is live then.
static DownSet extend(const Graph &graph, const std::vector<uint64_t> &readersOf,
                      const DownSet &set, int64_t number) {
  const RematFacts &facts = graph.facts;
  uint64_t steps = set.steps | uint64_t(1) << number;
  auto dies = [&](int64_t tensor) {
    return !facts.isKept[tensor] && (readersOf[tensor] & ~steps) == 0;
  };
  int64_t height = set.live + facts.written[number], live = set.live;
  for (int64_t result : facts.writes[number])
    live += dies(result) ? 0 : facts.sizes[result];
  for (int64_t read : facts.reads[number])
    live -= facts.writerOf[read] >= 0 && dies(read) ? facts.sizes[read] : 0;
  std::vector<int64_t> taken;
  auto isTaken = [&](int64_t tensor) {
    return std::find(taken.begin(), taken.end(), tensor) != taken.end();
  };
  for (auto [read, write] : facts.problem.timeline.steps[number].inPlace)
    if (facts.sizes[read] > 0 && facts.sizes[read] == facts.sizes[write] && dies(read) &&
        !isTaken(read) && !isTaken(write)) {
      taken.push_back(read);
      taken.push_back(write);
      height -= facts.sizes[write];
    }
  return {steps, std::max(set.peak, height), live, 0, number};
}

Sequence nap::planning::exactOrder(const RematProblem &problem, int64_t known, size_t mostSets,
                                   int64_t parting) {
  RematFacts facts(problem);
  int64_t count = int64_t(facts.reads.size());
  if (count > 64)
    return {};
  Graph graph(facts);
  std::vector<uint64_t> readersOf(facts.sizes.size(), 0), needs(count, 0);
  for (int64_t number = 0; number < count; ++number) {
    for (int64_t read : facts.reads[number])
      readersOf[read] |= uint64_t(1) << number;
    for (int64_t other : graph.before[number])
      needs[number] |= uint64_t(1) << other;
    if (number >= parting)
      needs[number] |= (uint64_t(1) << parting) - 1;
  }
  std::vector<std::vector<DownSet>> layers{{{0, facts.resident, facts.resident, 0, -1}}};
  for (int64_t size = 0; size < count; ++size) {
    std::vector<DownSet> next;
    for (size_t index = 0; index < layers.back().size(); ++index) {
      const DownSet &set = layers.back()[index];
      for (int64_t number = 0; number < count; ++number) {
        if (set.steps >> number & 1 || needs[number] & ~set.steps)
          continue;
        DownSet wider = extend(graph, readersOf, set, number);
        wider.parent = index;
        if (wider.peak < known)
          next.push_back(wider);
      }
      if (next.size() > 8 * mostSets)
        return {};
    }
    std::sort(next.begin(), next.end(), [](const DownSet &a, const DownSet &b) {
      return std::tie(a.steps, a.peak, a.parent, a.last) <
             std::tie(b.steps, b.peak, b.parent, b.last);
    });
    auto isSame = [](const DownSet &a, const DownSet &b) { return a.steps == b.steps; };
    next.erase(std::unique(next.begin(), next.end(), isSame), next.end());
    if (next.empty() || next.size() > mostSets)
      return {};
    layers.push_back(std::move(next));
  }
  Sequence order;
  size_t index = 0;
  for (size_t layer = layers.size() - 1; layer > 0; --layer) {
    order.push_back(layers[layer][index].last);
    index = layers[layer][index].parent;
  }
  std::reverse(order.begin(), order.end());
  return order;
}
