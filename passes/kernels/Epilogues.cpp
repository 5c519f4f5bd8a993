// Products that take in what is computed of them.
//
// Elementwise ops that want a product's elements where they write become its epilogue: the
// product's element goes to them from the registers and not through memory.
//
//   {einsum}  {add(einsum, bias), gelu(..)}  ->  {add(einsum, bias), gelu(..)}, the einsum inside
//
// Where another kernel reads the product too, it stays as one more result, unless the epilogue
// would then wait for that other kernel.
#include "passes/kernels/Epilogues.h"

#include "ir/contraction/Epilogue.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace nap;

/// Results of a product at most.
static constexpr size_t kResultsAtMost = 8;

namespace {
/// What must be known of a group.
struct Part {
  /// What it computes, in the function's order.
  SmallVector<Operation *> ops;
  /// The groups whose results it reads.
  DenseSet<unsigned> reads;
};

class Joiner {
public:
  Joiner(Block &block, SmallVectorImpl<KernelGroup> &groups);
  void run();

private:
  Part partOf(unsigned number) const;
  bool isEpilogue(unsigned number, EinsumOp product) const;
  bool dependsOn(unsigned number, unsigned other) const;
  void join(unsigned product);

  Block &block;
  SmallVectorImpl<KernelGroup> &groups;
  DenseMap<Value, unsigned> storedBy;
  std::vector<Part> parts;
};
} // namespace

Joiner::Joiner(Block &block, SmallVectorImpl<KernelGroup> &groups) : block(block), groups(groups) {
  for (auto [number, group] : llvm::enumerate(groups))
    for (Value output : group.outputs)
      storedBy[output] = unsigned(number);
  for (unsigned number = 0; number < groups.size(); ++number)
    parts.push_back(partOf(number));
}

Part Joiner::partOf(unsigned number) const {
  Part part;
  llvm::SetVector<Operation *> ops;
  SmallVector<Value> wanted(groups[number].outputs);
  while (!wanted.empty()) {
    Value value = wanted.pop_back_val();
    Operation *op = value.getDefiningOp();
    auto stored = storedBy.find(value);
    if (stored != storedBy.end() && stored->second != number)
      part.reads.insert(stored->second);
    else if (op && ops.insert(op))
      wanted.append(op->operand_begin(), op->operand_end());
  }
  part.ops = ops.takeVector();
  llvm::sort(part.ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return part;
}

/// Whether the group computes elements of the product's space, reading the product in place.
bool Joiner::isEpilogue(unsigned number, EinsumOp product) const {
  const Part &part = parts[number];
  if (groups[number].outputs.empty() || classOf(part.ops) != KernelClass::pointwise)
    return false;
  int64_t elements = product.getType().getNumElements();
  for (Value output : groups[number].outputs)
    if (cast<RankedTensorType>(output.getType()).getNumElements() != elements)
      return false;
  return !valuesReadElsewhere(part.ops).contains(product.getResult());
}

/// Whether the group needs results of the other, directly or through groups between.
bool Joiner::dependsOn(unsigned number, unsigned other) const {
  DenseSet<unsigned> seen;
  SmallVector<unsigned> next = {number};
  while (!next.empty()) {
    unsigned group = next.pop_back_val();
    if (group == other)
      return true;
    for (unsigned read : parts[group].reads)
      if (seen.insert(read).second)
        next.push_back(read);
  }
  return false;
}

/// A product of two tensors in memory, or views of them: what the contraction skeleton takes.
static bool isProductOfMemory(EinsumOp einsum, const DenseMap<Value, unsigned> &storedBy) {
  auto isMemory = [&](Value operand) {
    auto view = stridedView(operand);
    return view && (isa<BlockArgument>(view->root) || storedBy.contains(view->root));
  };
  return einsum.getFactors().size() == 2 && llvm::all_of(einsum.getFactors(), isMemory);
}

void Joiner::join(unsigned number) {
  if (groups[number].outputs.size() != 1)
    return;
  Value value = groups[number].outputs[0];
  auto product = value.getDefiningOp<EinsumOp>();
  if (!product || !isProductOfMemory(product, storedBy))
    return;
  SmallVector<unsigned> readers;
  for (unsigned other = 0; other < groups.size(); ++other)
    if (parts[other].reads.contains(number))
      readers.push_back(other);
  bool isReturned = llvm::is_contained(block.getTerminator()->getOperands(), value);
  bool staysStored = readers.size() > 1 || isReturned;
  for (unsigned reader : readers) {
    KernelGroup &group = groups[reader];
    if (!isEpilogue(reader, product))
      continue;
    bool wouldWait = llvm::any_of(
        readers, [&](unsigned other) { return other != reader && dependsOn(reader, other); });
    if (wouldWait || (staysStored && (group.outputs.size() >= kResultsAtMost ||
                                      group.outputs[0].getType() != value.getType())))
      continue;
    groups[number].outputs.clear();
    storedBy.erase(value);
    if (staysStored) {
      group.outputs.push_back(value);
      storedBy[value] = reader;
    }
    parts[number] = Part();
    for (unsigned other : readers)
      parts[other].reads.erase(number);
    parts[reader] = partOf(reader);
    if (staysStored)
      for (unsigned other : readers)
        if (other != reader)
          parts[other].reads.insert(reader);
    return;
  }
}

void Joiner::run() {
  for (unsigned number = 0; number < groups.size(); ++number)
    join(number);
  llvm::erase_if(groups, [](const KernelGroup &group) { return group.outputs.empty(); });
}

void nap::joinEpilogues(Block &block, SmallVectorImpl<KernelGroup> &groups) {
  Joiner(block, groups).run();
}
