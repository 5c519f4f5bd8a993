// Reductions and contractions, executed in the order that docs/architecture.md fixes.
#include "test/interpreter/rules/Rules.h"

#include "ir/Einsum.h"

using namespace mlir;
using namespace nap::interpreter;
using llvm::SmallVector;

/// Terms in order, from 0.
static Number sumInOrder(const Arithmetic &math, ArrayRef<Number> terms) {
  if (terms.empty())
    return math.constant(0);
  Number sum = math.start(terms[0]);
  for (Number term : terms.drop_front())
    sum = math.add(sum, term);
  return sum;
}

/// The order along the last axis: blocks of 4096, or 128 running sums folded by halves.
static Number sumAlongLast(const Arithmetic &math, ArrayRef<Number> terms) {
  constexpr size_t kBlock = 4096, kSums = 128;
  if (terms.size() > kBlock) {
    std::vector<Number> blocks;
    for (size_t first = 0; first < terms.size(); first += kBlock)
      blocks.push_back(
          sumAlongLast(math, terms.slice(first, std::min(kBlock, terms.size() - first))));
    return sumAlongLast(math, blocks);
  }
  if (terms.empty())
    return math.constant(0);
  size_t active = std::min(terms.size(), kSums);
  std::vector<Number> sums;
  for (size_t j = 0; j < active; ++j)
    sums.push_back(math.start(terms[j]));
  for (size_t i = active; i < terms.size(); ++i)
    sums[i % kSums] = math.add(sums[i % kSums], terms[i]);
  // A running sum without terms is 0 and is not added.
  for (size_t half = kSums / 2; half >= 1; half /= 2)
    for (size_t j = 0; j < half && j + half < active; ++j)
      sums[j] = math.add(sums[j], sums[j + half]);
  return sums[0];
}

/// The order along other axes: blocks of 64, each in order, then the blocks in order.
static Number sumAlongOthers(const Arithmetic &math, ArrayRef<Number> terms) {
  constexpr size_t kBlock = 64;
  std::vector<Number> blocks;
  for (size_t first = 0; first < terms.size(); first += kBlock)
    blocks.push_back(sumInOrder(math, terms.slice(first, std::min(kBlock, terms.size() - first))));
  return sumInOrder(math, blocks);
}

/// The terms of one element combined.
static Number combine(const Arithmetic &math, nap::ReduceKind kind, bool last,
                      ArrayRef<Number> terms) {
  switch (kind) {
  case nap::ReduceKind::sum:
    return last ? sumAlongLast(math, terms) : sumAlongOthers(math, terms);
  case nap::ReduceKind::prod: {
    Number product = terms.empty() ? math.constant(1) : terms[0];
    for (Number term : terms.drop_front(terms.empty() ? 0 : 1))
      product = math.multiply(product, term);
    return product;
  }
  case nap::ReduceKind::max:
  case nap::ReduceKind::min: {
    Number best = terms.empty() ? math.constant(0) : terms[0];
    for (Number term : terms.drop_front(terms.empty() ? 0 : 1))
      best = math.extremum(best, term, kind == nap::ReduceKind::max);
    return best;
  }
  }
  return math.constant(0);
}

Tensor nap::interpreter::executeReduce(Machine &machine, ReduceKind kind, const Tensor &x,
                                       ArrayRef<int64_t> axes) {
  ArrayRef<int64_t> shape = x.type.getShape();
  Type element = x.type.getElementType(), wide = accumulatorType(element);
  Arithmetic math(machine, wide);
  SmallVector<int64_t> kept;
  for (auto [axis, size] : llvm::enumerate(shape))
    if (!llvm::is_contained(axes, static_cast<int64_t>(axis)))
      kept.push_back(size);
  auto type = RankedTensorType::get(kept, element);
  bool last = !axes.empty() && axes.back() == x.type.getRank() - 1;

  // Elements in row-major order of x reach each result in row-major order of the reduced axes.
  std::vector<std::vector<Number>> terms(type.getNumElements());
  for (int64_t i = 0; i < x.size(); ++i) {
    SmallVector<int64_t> index = unflatten(i, shape), place;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (!llvm::is_contained(axes, static_cast<int64_t>(axis)))
        place.push_back(index[axis]);
    terms[flatten(place, kept)].push_back(machine.read(x, i));
  }
  std::vector<Number> values;
  for (const std::vector<Number> &list : terms) {
    Number value = combine(math, kind, last, list);
    values.push_back(isReal(element) ? Number{.real = roundTo(element, value.real)} : value);
  }
  return machine.make(type, std::move(values));
}

/// The type of a tensor with `letters`, of `element`.
static RankedTensorType lettersType(StringRef letters, ArrayRef<int64_t> sizes, Type element) {
  SmallVector<int64_t> shape;
  for (char letter : letters)
    shape.push_back(sizes[letter]);
  return RankedTensorType::get(shape, element);
}

/// `x`, whose axes are `from`, summed over the letters that `to` lacks and put in its order.
static Tensor sumLetters(Machine &machine, const Tensor &x, StringRef from, StringRef to,
                         ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> axes;
  std::string kept;
  for (auto [axis, letter] : llvm::enumerate(from)) {
    if (to.contains(letter))
      kept += letter;
    else
      axes.push_back(axis);
  }
  Tensor summed = axes.empty() ? x : executeReduce(machine, nap::ReduceKind::sum, x, axes);
  Tensor result{lettersType(to, sizes, x.type.getElementType()), summed.storage, {}};
  SmallVector<int64_t> read(kept.size());
  for (int64_t i = 0; i < result.size(); ++i) {
    SmallVector<int64_t> index = unflatten(i, result.type.getShape());
    for (auto [place, letter] : llvm::enumerate(to))
      read[kept.find(letter)] = index[place];
    result.places.push_back(summed.place(flatten(read, summed.type.getShape())));
  }
  return result;
}

/// For every index over `letters`, in row-major order: what it adds to the number of an element of
/// the tensor whose axes are `group`.
static std::vector<int64_t> elementsAt(StringRef letters, StringRef group,
                                       ArrayRef<int64_t> sizes) {
  std::vector<int64_t> strides(128, 0), elements{0};
  int64_t stride = 1;
  for (char letter : llvm::reverse(group)) {
    strides[letter] = stride;
    stride *= sizes[letter];
  }
  for (char letter : letters) {
    std::vector<int64_t> longer;
    for (int64_t element : elements)
      for (int64_t i = 0; i < sizes[letter]; ++i)
        longer.push_back(element + i * strides[letter]);
    elements = std::move(longer);
  }
  return elements;
}

/// Two operands: each element one chain of multiply-adds over the letters that the result lacks, in
/// the order in which the first operand has them, from `init` (null: 0); no such letter: one
/// product.
static Tensor contract(Machine &machine, const nap::EinsumStep &step, const Tensor &lhs,
                       const Tensor &rhs, const Tensor *init, ArrayRef<int64_t> sizes,
                       Type element) {
  StringRef left = step.pattern.operands[0], right = step.pattern.operands[1],
            out = step.pattern.result;
  std::string summed;
  for (char letter : left)
    if (!out.contains(letter))
      summed += letter;
  Arithmetic math(machine, nap::accumulatorType(element));
  RankedTensorType type = lettersType(out, sizes, element);
  std::vector<Number> values;
  std::vector<int64_t> leftOuter = elementsAt(out, left, sizes),
                       rightOuter = elementsAt(out, right, sizes),
                       leftInner = elementsAt(summed, left, sizes),
                       rightInner = elementsAt(summed, right, sizes);
  for (size_t i = 0; i < leftOuter.size(); ++i) {
    Number sum = init ? machine.read(*init, i) : math.constant(0);
    for (size_t k = 0; k < leftInner.size(); ++k) {
      Number a = machine.read(lhs, leftOuter[i] + leftInner[k]);
      Number b = machine.read(rhs, rightOuter[i] + rightInner[k]);
      sum = summed.empty() ? math.multiply(a, b) : math.multiplyAdd(a, b, sum);
    }
    values.push_back(isReal(element) ? Number{.real = roundTo(element, sum.real)} : sum);
  }
  return machine.make(type, std::move(values));
}

Tensor nap::interpreter::executeEinsum(Machine &machine, EinsumOp op,
                                       ArrayRef<Tensor> operands) {
  SmallVector<int64_t> sizes = letterSizes(op);
  EinsumPattern pattern = *parseEinsum(op.getPattern());
  Type element = op.getType().getElementType();
  const Tensor *init = op.getInit() ? &operands.back() : nullptr;
  std::vector<Tensor> tensors(operands.begin(), operands.end() - (init ? 1 : 0));
  // Narrow factors of a wider result: no step rounds to their type.
  for (Tensor &tensor : tensors)
    tensor.type = tensor.type.clone(element);
  std::vector<EinsumStep> steps = planEinsum(pattern, sizes);
  // What the steps hand to each other is not memory that the op reads or writes.
  bool outer = std::exchange(machine.insideKernel, true);
  for (const EinsumStep &step : steps) {
    if (step.lhs == step.rhs)
      tensors.push_back(sumLetters(machine, tensors[step.lhs], step.pattern.operands[0],
                                   step.pattern.result, sizes));
    else
      tensors.push_back(
          contract(machine, step, tensors[step.lhs], tensors[step.rhs], init, sizes, element));
  }
  machine.insideKernel = outer;
  return machine.make(op.getType(), machine.read(tensors.back()));
}
