// Attention, executed row by row with a running maximum, block after block of keys.
#include "test/interpreter/rules/Rules.h"

#include "llvm/ADT/TypeSwitch.h"

#include <array>
#include <cmath>
#include <map>

using namespace mlir;
using namespace nap::interpreter;

namespace {

/// Queries, and keys, of a block.
constexpr int64_t kBlock = 64;

/// One attention op at work: sizes, operands, the type that sums are kept in.
template <typename OpTy> struct Attention {
  Machine &machine;
  OpTy op;
  ArrayRef<Tensor> operands;
  int64_t lead = 1, heads, groups, queries, keys, keySize, valueSize;
  Type sums;
  Arithmetic math;
  std::array<uint32_t, 4> seeds{};
  /// Words of the row at hand, by group of four.
  std::map<int64_t, std::array<uint32_t, 4>> drawn;

  Attention(Machine &machine, OpTy op, ArrayRef<Tensor> operands, Type sums)
      : machine(machine), op(op), operands(operands), sums(sums), math(machine, sums) {
    ArrayRef<int64_t> q = operands[0].type.getShape(), k = operands[1].type.getShape();
    for (int64_t size : q.drop_back(3))
      lead *= size;
    heads = q[q.size() - 3];
    groups = k[k.size() - 3];
    queries = q[q.size() - 2];
    keys = k[k.size() - 2];
    keySize = q.back();
    valueSize = operands[2].type.getShape().back();
    if (op.getKey())
      for (int64_t i = 0; i < 4; ++i)
        seeds[i] = static_cast<uint32_t>(machine.read(operands.back(), i).whole);
  }

  double rate() { return op.getRate().convertToDouble(); }

  bool sees(int64_t i, int64_t j) {
    return (!op.getFrom() || i + int64_t(*op.getFrom()) <= j) &&
           (!op.getTo() || j <= i + int64_t(*op.getTo()));
  }
  /// Whether any query of the block sees any key of the other block.
  bool isVisited(int64_t firstQuery, int64_t firstKey) {
    for (int64_t i = firstQuery; i < std::min(firstQuery + kBlock, queries); ++i)
      for (int64_t j = firstKey; j < std::min(firstKey + kBlock, keys); ++j)
        if (sees(i, j))
          return true;
    return false;
  }

  /// The key head of query head `head` (lead axes and heads together).
  int64_t groupOf(int64_t head) { return head / heads * groups + head % heads / (heads / groups); }

  /// Row `row` of head `head` of an operand, `width` elements.
  std::vector<Number> row(unsigned operand, int64_t head, int64_t rows, int64_t row,
                          int64_t width) {
    std::vector<Number> values;
    for (int64_t c = 0; c < width; ++c)
      values.push_back(machine.read(operands[operand], (head * rows + row) * width + c));
    return values;
  }

  /// scale * q of a row, in the type of sums.
  std::vector<Number> scaledQuery(int64_t head, int64_t i) {
    std::vector<Number> values = row(0, head, queries, i, keySize);
    for (Number &value : values)
      value = math.multiply(math.constant(op.getScale().convertToDouble()), value);
    return values;
  }

  Number dot(ArrayRef<Number> x, ArrayRef<Number> y) {
    Number sum = math.constant(0);
    for (auto [a, b] : llvm::zip_equal(x, y))
      sum = math.multiplyAdd(a, b, sum);
    return sum;
  }

  Number subtract(Number a, Number b) { return math.add(a, {.real = -b.real}); }
  Number exponential(Number x) {
    ++machine.counters.trn;
    return math.constant(std::exp(x.real));
  }

  /// What dropout multiplies the probability of a pair by: 0 or 1 / (1 - rate).
  Number keep(int64_t head, int64_t i, int64_t j) {
    int64_t element = (head * queries + i) * keys + j, group = element / 4;
    auto [found, isNew] = drawn.try_emplace(group);
    if (isNew) {
      auto site = static_cast<uint32_t>(*op.getSite());
      if (machine.sites)
        site = static_cast<uint32_t>(machine.sites[site]);
      uint32_t second = static_cast<uint32_t>(group >> 32 & 0xFFFF) | seeds[3] << 16;
      found->second = philox(
          {static_cast<uint32_t>(group), second, seeds[2], site},
          {seeds[0], seeds[1]}, machine.counters);
    }
    machine.counters.integer += 3;
    // A comparison that chooses.
    ++machine.counters.cmp;
    double uniform = static_cast<float>(found->second[element % 4] >> 8) * 0x1p-24f;
    bool isKept = uniform >= roundTo(sums, rate());
    return math.constant(isKept ? 1 / (1 - rate()) : 0);
  }
};

} // namespace

static Results forward(Machine &machine, nap::AttentionOp op, ArrayRef<Tensor> operands) {
  auto outType = cast<RankedTensorType>(op.getOut().getType());
  auto lseType = cast<RankedTensorType>(op.getLse().getType());
  Attention<nap::AttentionOp> at(machine, op, operands, lseType.getElementType());
  const Arithmetic &math = at.math;
  std::vector<Number> out, lse;
  for (int64_t head = 0; head < at.lead * at.heads; ++head)
    for (int64_t i = 0; i < at.queries; ++i) {
      int64_t group = at.groupOf(head);
      at.drawn.clear();
      std::vector<Number> query = at.scaledQuery(head, i);
      std::vector<Number> sum(at.valueSize, math.constant(0));
      Number largest = math.constant(-1e30), total = math.constant(0);
      for (int64_t first = 0; first < at.keys; first += kBlock) {
        if (!at.isVisited(i / kBlock * kBlock, first))
          continue;
        int64_t last = std::min(first + kBlock, at.keys);
        std::vector<Number> scores;
        Number old = largest;
        for (int64_t j = first; j < last; ++j) {
          scores.push_back(at.dot(query, at.row(1, group, at.keys, j, at.keySize)));
          largest =
              math.extremum(largest, at.sees(i, j) ? scores.back() : math.constant(-1e30), true);
        }
        Number factor = at.exponential(at.subtract(old, largest)), part = math.constant(0);
        for (Number &value : sum)
          value = math.multiply(value, factor);
        for (int64_t j = first; j < last; ++j) {
          Number p = at.exponential(at.subtract(scores[j - first], largest));
          if (!at.sees(i, j))
            p = math.constant(0);
          part = math.add(part, p);
          if (at.rate() > 0)
            p = math.multiply(p, at.keep(head, i, j));
          std::vector<Number> value = at.row(2, group, at.keys, j, at.valueSize);
          for (int64_t c = 0; c < at.valueSize; ++c)
            sum[c] = math.multiplyAdd(p, value[c], sum[c]);
        }
        total = math.add(math.multiply(total, factor), part);
      }
      ++machine.counters.trn;
      lse.push_back(math.add(largest, math.constant(std::log(total.real))));
      Number inverse = math.divide(math.constant(1), total);
      for (Number &value : sum)
        out.push_back(
            {.real = roundTo(outType.getElementType(), math.multiply(value, inverse).real)});
    }
  return std::vector<Tensor>{machine.make(outType, std::move(out)),
                             machine.make(lseType, std::move(lse))};
}

static Results backward(Machine &machine, nap::AttentionBackwardOp op, ArrayRef<Tensor> operands) {
  Type element = operands[0].type.getElementType();
  Attention<nap::AttentionBackwardOp> at(machine, op, operands, operands[4].type.getElementType());
  const Arithmetic &math = at.math;
  RankedTensorType types[3];
  std::vector<Number> gradients[3];
  for (int k = 0; k < 3; ++k) {
    types[k] = cast<RankedTensorType>(op->getResult(k).getType());
    gradients[k].assign(types[k].getNumElements(), math.constant(0));
  }
  auto accumulate = [&](int which, int64_t row, int64_t width, Number factor,
                        ArrayRef<Number> values) {
    for (int64_t c = 0; c < width; ++c) {
      Number &place = gradients[which][row * width + c];
      place = math.multiplyAdd(factor, values[c], place);
    }
  };
  for (int64_t head = 0; head < at.lead * at.heads; ++head)
    for (int64_t i = 0; i < at.queries; ++i) {
      int64_t group = at.groupOf(head), row = head * at.queries + i;
      at.drawn.clear();
      std::vector<Number> query = at.scaledQuery(head, i);
      std::vector<Number> cotangent = at.row(5, head, at.queries, i, at.valueSize);
      Number delta = at.dot(cotangent, at.row(3, head, at.queries, i, at.valueSize));
      Number lse = machine.read(operands[4], row);
      for (int64_t j = 0; j < at.keys; ++j) {
        if (!at.isVisited(i / kBlock * kBlock, j / kBlock * kBlock))
          continue;
        std::vector<Number> key = at.row(1, group, at.keys, j, at.keySize);
        std::vector<Number> value = at.row(2, group, at.keys, j, at.valueSize);
        Number p = at.exponential(at.subtract(at.dot(query, key), lse));
        if (!at.sees(i, j))
          p = math.constant(0);
        Number dp = at.dot(cotangent, value), kept = p;
        if (at.rate() > 0) {
          Number factor = at.keep(head, i, j);
          dp = math.multiply(dp, factor);
          kept = math.multiply(p, factor);
        }
        Number ds = math.multiply(p, at.subtract(dp, delta));
        accumulate(0, row, at.keySize, ds, key);
        accumulate(1, group * at.keys + j, at.keySize, ds, query);
        accumulate(2, group * at.keys + j, at.valueSize, kept, cotangent);
      }
      for (int64_t c = 0; c < at.keySize; ++c) {
        Number &place = gradients[0][row * at.keySize + c];
        place = math.multiply(math.constant(op.getScale().convertToDouble()), place);
      }
    }
  std::vector<Tensor> results;
  for (int k = 0; k < 3; ++k) {
    for (Number &value : gradients[k])
      value.real = roundTo(element, value.real);
    results.push_back(machine.make(types[k], std::move(gradients[k])));
  }
  return results;
}

Results nap::interpreter::executeAttention(Machine &machine, Operation *op,
                                           ArrayRef<Tensor> operands) {
  if (auto attention = dyn_cast<AttentionOp>(op))
    return forward(machine, attention, operands);
  return backward(machine, cast<AttentionBackwardOp>(op), operands);
}
