// Einsum patterns: reading them, their cheapest pairwise order.
#include "ir/Einsum.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <bit>

using namespace nap;

std::string EinsumPattern::text() const { return llvm::join(operands, ",") + "->" + result; }

std::optional<EinsumPattern> nap::parseEinsum(llvm::StringRef text) {
  size_t arrow = text.find("->");
  if (arrow == llvm::StringRef::npos)
    return std::nullopt;
  auto letters = [](llvm::StringRef group) { return llvm::all_of(group, llvm::isAlpha); };
  EinsumPattern pattern;
  llvm::SmallVector<llvm::StringRef> groups;
  text.take_front(arrow).split(groups, ',');
  for (llvm::StringRef group : groups) {
    if (!letters(group))
      return std::nullopt;
    pattern.operands.push_back(group.str());
  }
  pattern.result = text.drop_front(arrow + 2).str();
  if (!letters(pattern.result))
    return std::nullopt;
  return pattern;
}

llvm::SmallVector<int64_t> nap::letterSizes(EinsumOp op) {
  llvm::SmallVector<int64_t> sizes(128, 1);
  std::optional<EinsumPattern> pattern = parseEinsum(op.getPattern());
  for (auto [group, operand] : llvm::zip_equal(pattern->operands, op.getFactors()))
    for (auto [letter, size] : llvm::zip_equal(
             group, llvm::cast<mlir::RankedTensorType>(operand.getType()).getShape()))
      sizes[letter] = size;
  return sizes;
}

/// `letters` that `wanted` has too, in their order.
static std::string common(llvm::StringRef letters, llvm::StringRef wanted) {
  std::string result;
  for (char letter : letters)
    if (wanted.contains(letter))
      result += letter;
  return result;
}

/// All letters of `first`, then those that `second` adds.
static std::string joined(std::string first, llvm::StringRef second) {
  for (char letter : second)
    if (first.find(letter) == std::string::npos)
      first += letter;
  return first;
}

/// Product of the sizes of `letters`.
static Count extent(llvm::StringRef letters, llvm::ArrayRef<int64_t> sizes) {
  Count result = 1;
  for (char letter : letters)
    result *= sizes[letter];
  return result;
}

/// The step that makes `result` of the tensors `lhs` and `rhs` whose letters are given.
static EinsumStep pairStep(size_t lhs, size_t rhs, std::string lhsLetters, std::string rhsLetters,
                           std::string result, llvm::ArrayRef<int64_t> sizes) {
  std::string all = joined(lhsLetters, rhsLetters);
  bool contracts = all.size() > result.size();
  Count work = extent(all, sizes) * (contracts ? 2 : 1);
  return {lhs, rhs, {{std::move(lhsLetters), std::move(rhsLetters)}, std::move(result)}, contracts,
          work};
}

namespace {

/// Chooses the pairwise order over all subsets of the operands.
class PairOrder {
public:
  /// `groups` are the operands' letters, each without those that it alone has.
  PairOrder(llvm::ArrayRef<std::string> groups, llvm::StringRef result,
            llvm::ArrayRef<int64_t> sizes)
      : groups(groups), result(result), sizes(sizes), letters(size_t(1) << groups.size()),
        work(letters.size(), 0), half(letters.size(), 0) {
    for (size_t set = 1; set < letters.size(); ++set)
      choose(set);
  }

  /// The first of the two subsets that `set` is best made of.
  size_t firstHalf(size_t set) const { return half[set]; }
  /// The letters of the tensor made of `set`.
  const std::string &lettersOf(size_t set) const { return letters[set]; }

private:
  /// Fills in letters, work and half of `set`, whose subsets are done.
  void choose(size_t set) {
    std::string inside, outside = result.str();
    for (size_t i = 0; i < groups.size(); ++i)
      (set >> i & 1 ? inside : outside) = joined(set >> i & 1 ? inside : outside, groups[i]);
    letters[set] = set + 1 == letters.size() ? result.str() : common(inside, outside);
    if (std::has_single_bit(set)) {
      letters[set] = groups[std::countr_zero(set)];
      return;
    }
    size_t lowest = set & -set;
    for (size_t part = (set - 1) & set; part; part = (part - 1) & set) {
      if (!(part & lowest))
        continue;
      size_t rest = set ^ part;
      std::string all = joined(letters[part], letters[rest]);
      Count total = work[part] + work[rest] +
                    extent(all, sizes) * (all.size() > letters[set].size() ? 2 : 1);
      if (!half[set] || total < work[set]) {
        work[set] = total;
        half[set] = part;
      }
    }
  }

  llvm::ArrayRef<std::string> groups;
  llvm::StringRef result;
  llvm::ArrayRef<int64_t> sizes;
  std::vector<std::string> letters;
  std::vector<Count> work;
  std::vector<size_t> half;
};

} // namespace

/// Appends the steps that make the tensor of `set`; returns its number. `places` are the numbers of
/// the single operands' tensors.
static size_t expand(const PairOrder &order, size_t set, llvm::ArrayRef<size_t> places,
                     llvm::ArrayRef<int64_t> sizes, size_t operands,
                     std::vector<EinsumStep> &steps) {
  if (std::has_single_bit(set))
    return places[std::countr_zero(set)];
  size_t part = order.firstHalf(set), rest = set ^ part;
  size_t lhs = expand(order, part, places, sizes, operands, steps);
  size_t rhs = expand(order, rest, places, sizes, operands, steps);
  if (lhs > rhs) {
    std::swap(lhs, rhs);
    std::swap(part, rest);
  }
  steps.push_back(pairStep(lhs, rhs, order.lettersOf(part), order.lettersOf(rest),
                           order.lettersOf(set), sizes));
  return operands + steps.size() - 1;
}

std::vector<EinsumStep> nap::planEinsum(const EinsumPattern &pattern,
                                        llvm::ArrayRef<int64_t> sizes) {
  size_t count = pattern.operands.size();
  std::vector<EinsumStep> steps;
  std::vector<std::string> groups = pattern.operands;
  llvm::SmallVector<size_t> places;
  for (size_t i = 0; i < count; ++i) {
    std::string others = pattern.result;
    for (size_t j = 0; j < count; ++j)
      if (j != i)
        others = joined(others, pattern.operands[j]);
    std::string kept = count == 1 ? pattern.result : common(groups[i], others);
    places.push_back(i);
    if (kept == groups[i])
      continue;
    // A sum of n terms is n - 1 additions; a mere permutation is none.
    Count work = std::max<Count>(extent(groups[i], sizes) - extent(kept, sizes), 0);
    places[i] = count + steps.size();
    steps.push_back({i, i, {{groups[i]}, kept}, false, work});
    groups[i] = kept;
  }
  if (count == 1)
    return steps;
  if (count <= 12) {
    PairOrder order(groups, pattern.result, sizes);
    expand(order, (size_t(1) << count) - 1, places, sizes, count, steps);
    return steps;
  }
  size_t left = places[0];
  std::string letters = groups[0];
  for (size_t i = 1; i < count; ++i) {
    std::string later = pattern.result;
    for (size_t j = i + 1; j < count; ++j)
      later = joined(later, groups[j]);
    std::string kept =
        i + 1 == count ? pattern.result : common(joined(letters, groups[i]), later);
    bool swapped = places[i] < left;
    steps.push_back(swapped ? pairStep(places[i], left, groups[i], letters, kept, sizes)
                            : pairStep(left, places[i], letters, groups[i], kept, sizes));
    left = count + steps.size() - 1;
    letters = kept;
  }
  return steps;
}
