// Lifetimes, and what the plan's checker must find.
#include "passes/planning/Layout.h"
#include "passes/planning/Random.h"
#include "test/Check.h"

#include <algorithm>

using namespace nap::planning;
using namespace napkin::test;

/// Tensor 0 is given; 0 -> 1 -> 2, and 2 is kept.
static Timeline chain() {
  Timeline timeline;
  timeline.sizes = {8, 8, 8};
  timeline.given = {0};
  timeline.kept = {2};
  timeline.steps = {{{0}, {1}, {}}, {{1}, {2}, {}}};
  return timeline;
}

static void testLifetimes() {
  auto intervals = lifetimes(chain());
  expect(intervals[0].lower == 0 && intervals[0].upper == 1, "a given tensor lives to its reader");
  expect(intervals[1].lower == 0 && intervals[1].upper == 2,
         "a tensor lives from writer to reader");
  expect(intervals[2].lower == 1 && intervals[2].upper == 3,
         "a kept tensor outlives the last step");
  expect(maxLoad(lifetimes(chain())) == 16, "the peak of a chain is two tensors");
}

static void testUnreadResultOccupiesItsStep() {
  Timeline timeline = chain();
  timeline.kept = {};
  expect(lifetimes(timeline)[2].upper == 2, "a result that nobody reads lives in its own step");
}

static void testCheckerAcceptsReuse() {
  expect(checkPlan(chain(), {0, 8, 0}).empty(), "storage of a dead tensor may be used again");
}

static void testCheckerFindsOverwrittenRead() {
  Timeline timeline = chain();
  timeline.steps.push_back({{0}, {}, {}});
  expect(checkPlan(timeline, {0, 8, 0}) == "step 2 reads tensor 0, whose bytes were overwritten",
         "a read of overwritten bytes is not seen");
}

static void testCheckerFindsPartialOverlap() {
  Timeline timeline = chain();
  timeline.steps.push_back({{0}, {}, {}});
  expect(!checkPlan(timeline, {4, 12, 0}).empty(), "a partial overwrite is not seen");
}

static void testCheckerWantsPermissionInPlace() {
  Timeline timeline = chain();
  expect(!checkPlan(timeline, {0, 0, 8}).empty(), "writing over one's own input is not seen");
  timeline.steps[0].inPlace = {{0, 1}};
  expect(checkPlan(timeline, {0, 0, 8}).empty(), "an allowed write in place is refused");
  expect(!checkPlan(timeline, {0, 4, 12}).empty(), "a shifted write in place is not seen");
}

/// Rule 6: the new version of a state may not be written while its old one has a reader to come.
static void testCheckerFindsEarlyStateUpdate() {
  Timeline timeline;
  timeline.sizes = {8, 8, 8};
  timeline.given = {0};
  timeline.kept = {1, 2};
  timeline.steps = {{{0}, {1}, {{0, 1}}}, {{0}, {2}, {}}};
  expect(checkPlan(timeline, {0, 0, 8}) == "step 1 reads tensor 0, whose bytes were overwritten",
         "an update before the last read is not seen");
}

static void testCheckerFindsLostResult() {
  Timeline timeline = chain();
  timeline.kept = {1, 2};
  expect(!checkPlan(timeline, {0, 8, 8}).empty(), "a lost result is not seen");
}

static void testCheckerFindsTwoWritesToOnePlace() {
  Timeline timeline;
  timeline.sizes = {8, 8};
  timeline.steps = {{{}, {0, 1}, {}}};
  expect(!checkPlan(timeline, {0, 0}).empty(), "two results in one place are not seen");
}

/// Tensor 1 is written in place over tensor 2, which has the higher number, as a version that is
/// computed again has; tensor 3 lives beside that version only. No step touches tensor 4.
static void testPlaceBeginsWithItsEarliestTensor() {
  Timeline timeline;
  timeline.sizes = {256, 256, 256, 256, 256};
  timeline.given = {0};
  timeline.kept = {1};
  timeline.steps = {{{0}, {2, 3}, {}}, {{2}, {1}, {{2, 1}}}};
  Layout layout = layOut(timeline, {true, false, false, false, false}, 256);
  expect(layout.storage[1] == layout.storage[2], "tensor 1 takes the place of tensor 2");
  expect(layout.load == 512 && layout.height == 512, "tensors 2 and 3 are live at once");
  expect(layout.offsets[1] == layout.offsets[2] && layout.offsets[1] != layout.offsets[3],
         "the result lies where the version lay, beside the other");
  expect(layout.offsets[4] == -1, "what no step touches has no place");
  std::vector<int64_t> offsets = layout.offsets;
  for (int64_t &offset : offsets)
    offset += 256;
  offsets[0] = 0;
  expect(checkPlan(timeline, offsets).empty(), "the layout is a sound plan");
}

/// Tensor 1 is written in two parts, by steps 0 and 2, and read as a whole by step 3.
static Timeline parts() {
  Timeline timeline;
  timeline.sizes = {8, 16, 8, 8};
  timeline.given = {0};
  timeline.kept = {3};
  timeline.steps = {{{0}, {1}, {}}, {{0}, {2}, {}}, {{2}, {}, {}, {1}}, {{1}, {3}, {}}};
  return timeline;
}

static void testPartsLiveFromTheFirst() {
  auto intervals = lifetimes(parts());
  expect(intervals[1].lower == 0 && intervals[1].upper == 4,
         "a tensor of parts lives from its first");
  expect(checkPlan(parts(), {0, 8, 24, 24}).empty(), "a good plan of parts is refused");
}

static void testCheckerFindsLostPart() {
  Timeline timeline = parts();
  timeline.steps[2].reads = {0};
  expect(checkPlan(timeline, {0, 8, 16, 24}) ==
             "step 2 writes a part of tensor 1, whose other parts were overwritten",
         "a lost part is not seen");
}

static void testCheckerFindsPartOverRead() {
  Timeline timeline = parts();
  timeline.steps[2].reads = {1};
  expect(checkPlan(timeline, {0, 8, 24, 24}) ==
             "step 2 writes a part of tensor 1 over tensor 1, which it reads",
         "a part written over its own reader is not seen");
}

static void testCheckerFindsPartUnderWrite() {
  Timeline timeline = parts();
  timeline.steps[2].writes = {3};
  timeline.steps[3].writes = {};
  expect(checkPlan(timeline, {0, 8, 24, 16}) ==
             "step 2 writes a part of tensor 1 and another tensor to the same bytes",
         "a part under another result is not seen");
}

/// A step a tensor, each of which reads two earlier results; tensors are numbered from the first
/// step on, or from the last.
static Timeline randomChain(uint64_t seed, bool isTurned) {
  Random random(seed);
  constexpr int64_t count = 40;
  auto numberOf = [&](int64_t step) { return isTurned ? count - 1 - step : step; };
  Timeline timeline;
  timeline.sizes.resize(count);
  for (int64_t step = 0; step < count; ++step) {
    Step &next = timeline.steps.emplace_back();
    next.writes = {numberOf(step)};
    timeline.sizes[numberOf(step)] = 256 * (1 + random.below(4));
    for (int64_t read = 0; read < 2 && step > 0; ++read)
      next.reads.push_back(numberOf(step - 1 - random.below(std::min<int64_t>(step, 12))));
  }
  return timeline;
}

/// A plan numbers what is computed again behind all else, the program that it becomes does not.
static void testNumbersChangeNoPlace() {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Timeline plain = randomChain(seed, false), turned = randomChain(seed, true);
    std::vector<bool> isFixed(plain.sizes.size(), false);
    Layout one = layOut(plain, isFixed, 256), other = layOut(turned, isFixed, 256);
    std::reverse(other.offsets.begin(), other.offsets.end());
    expect(one.height == other.height && one.offsets == other.offsets,
           "other numbers, other places");
  }
}

int main() {
  testNumbersChangeNoPlace();
  testPlaceBeginsWithItsEarliestTensor();
  testLifetimes();
  testUnreadResultOccupiesItsStep();
  testCheckerAcceptsReuse();
  testCheckerFindsOverwrittenRead();
  testCheckerFindsPartialOverlap();
  testCheckerWantsPermissionInPlace();
  testCheckerFindsEarlyStateUpdate();
  testCheckerFindsLostResult();
  testCheckerFindsTwoWritesToOnePlace();
  testPartsLiveFromTheFirst();
  testCheckerFindsLostPart();
  testCheckerFindsPartOverRead();
  testCheckerFindsPartUnderWrite();
  return failures != 0;
}
