// Sums of op costs, and the distinct elements that ops touch.
#include "passes/report/Costs.h"

#include "ir/Views.h"
#include "ir/contraction/CudaProduct.h"
#include "ir/contraction/Epilogue.h"
#include "ir/schedule/ContractionSchedule.h"
#include "passes/MemoryModel.h"
#include "passes/kernels/Aliases.h"
#include "passes/kernels/Emit.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nap;

/// The largest count: what does not fit stays there.
static constexpr Count kMostCount = Count(~(unsigned __int128)0 >> 1);

Count nap::addCounts(Count a, Count b) {
  Count sum;
  return __builtin_add_overflow(a, b, &sum) ? kMostCount : sum;
}

Count nap::multiplyCounts(Count a, Count b) {
  Count product;
  return __builtin_mul_overflow(a, b, &product) ? kMostCount : product;
}

void Work::add(const Cost &more, Count times) {
  if (llvm::all_of(kCounters, [&](const Counter &counter) { return more.*counter.member == 0; }))
    return;
  auto part = llvm::find_if(parts, [&](const Cost &known) {
    return known.compute == more.compute && known.accumulate == more.accumulate;
  });
  if (part == parts.end()) {
    Cost &added = parts.emplace_back();
    added.compute = more.compute;
    added.accumulate = more.accumulate;
    part = parts.end() - 1;
  }
  for (auto [name, counter] : kCounters)
    (*part).*counter = addCounts((*part).*counter, multiplyCounts(more.*counter, times));
}

void Work::add(const Work &more, Count times) {
  for (const Cost &part : more.parts)
    add(part, times);
}

Cost Work::total() const {
  Cost sum;
  for (const Cost &part : parts)
    for (auto [name, counter] : kCounters)
      sum.*counter = addCounts(sum.*counter, part.*counter);
  return sum;
}

Value nap::rootOf(Value value) {
  while (value.getDefiningOp() && isView(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

Block *nap::bodyOf(Operation *op, const SymbolTable &symbols) {
  if (auto kernel = dyn_cast<KernelOp>(op))
    return &kernel.getBody().front();
  if (auto launch = dyn_cast<LaunchOp>(op))
    if (auto definition = symbols.lookup<KernelDefOp>(launch.getKernel()))
      return &definition.getBody().front();
  return nullptr;
}

int64_t nap::distinctElements(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  SmallVector<std::pair<int64_t, int64_t>> axes;
  for (auto [size, stride] : llvm::zip(shape, strides))
    if (size > 1 && stride != 0)
      axes.push_back({std::abs(stride), size});
  llvm::sort(axes);
  int64_t product = 1, reach = 0;
  bool overlaps = false;
  for (auto [stride, size] : axes) {
    overlaps |= stride <= reach;
    reach += stride * (size - 1);
    product *= size;
  }
  if (!overlaps)
    return product;
  constexpr int64_t mostMarked = int64_t(1) << 28;
  if (reach >= mostMarked)
    return std::min(product, reach + 1);
  // Windows that overlap: mark every place. Each axis widens the set of the axes before it.
  std::vector<bool> touched(reach + 1), next;
  touched[0] = true;
  int64_t end = 1;
  for (auto [stride, size] : axes) {
    next.assign(reach + 1, false);
    for (int64_t place = 0; place < end; ++place)
      if (touched[place])
        for (int64_t k = 0; k < size; ++k)
          next[place + k * stride] = true;
    end += stride * (size - 1);
    touched.swap(next);
  }
  return llvm::count(touched, true);
}

Count nap::elementBytes(Value tensor, int64_t elements) {
  unsigned bits = cast<RankedTensorType>(tensor.getType()).getElementTypeBitWidth();
  return (Count(elements) * (bits == 1 ? 8 : bits) + 7) / 8;
}

/// Whether a root is in nobody's memory: a splat or an index ramp.
static bool isUnstored(Value root) {
  Operation *maker = root.getDefiningOp();
  if (auto constant = dyn_cast_or_null<ConstantOp>(maker))
    return isa<SplatElementsAttr>(constant.getValue());
  return isa_and_nonnull<IotaOp>(maker);
}

namespace {

/// How many elements of each tensor the ops of a block ask for. Ops are visited from the last to
/// the first: when one is reached, all that read it have said what they want.
class Wishes {
public:
  /// Notes what `op` reads to make `results` elements of its result: an elementwise op so many of
  /// each operand, a gather the rows that its ids name, any other op all.
  void addOperands(Operation *op, int64_t results) {
    for (OpOperand &operand : op->getOpOperands())
      add(operand.get(), mostRead(operand, results), isGathered(operand));
  }
  /// Elements of `root` that are asked for.
  int64_t of(Value root) const {
    int64_t sum = 0;
    if (auto views = byRoot.find(root); views != byRoot.end())
      for (auto [view, elements] : views->second)
        sum += elements;
    return std::min(sum, elementsOf(root));
  }
  /// All roots, in the order of their first wish.
  auto begin() const { return byRoot.begin(); }
  auto end() const { return byRoot.end(); }

private:
  /// Whether ids name what is read of the operand: different ids, for different ops.
  static bool isGathered(OpOperand &operand) {
    return isa<EmbedOp, TakeAlongOp>(operand.getOwner()) && operand.getOperandNumber() == 0;
  }
  static int64_t mostRead(OpOperand &operand, int64_t results) {
    Operation *op = operand.getOwner();
    int64_t all = elementsOf(operand.get());
    if (isa<Fusable>(op))
      return results;
    if (!isGathered(operand))
      return all;
    if (auto embed = dyn_cast<EmbedOp>(op))
      return std::min(all,
                      elementsOf(embed.getIds()) *
                          (all / std::max<int64_t>(embed.getTable().getType().getDimSize(0), 1)));
    return std::min(all, elementsOf(cast<TakeAlongOp>(op).getIds()));
  }
  void add(Value value, int64_t elements, bool isOther) {
    Value root = value;
    if (Operation *maker = value.getDefiningOp(); maker && isView(maker)) {
      auto view = stridedView(value);
      root = view ? view->root : rootOf(value);
      if (view)
        elements =
            std::min(elements, distinctElements(cast<RankedTensorType>(value.getType()).getShape(),
                                                view->strides));
    }
    int64_t &most = byRoot[root][value];
    most = isOther ? most + elements : std::max(most, elements);
  }

  /// By root, then by the view of it that is read: the most elements of the view that one op reads.
  /// Different views are taken to show different elements, as far as the root has so many.
  llvm::SmallMapVector<Value, llvm::SmallMapVector<Value, int64_t, 2>, 4> byRoot;
};

} // namespace

/// Visits the ops of a kernel's body that compute, last first, with the elements of its result that
/// an elementwise op need make: what a slice behind it leaves out is never computed. What is asked
/// for comes back.
static Wishes visitBody(Block &body, llvm::function_ref<void(Operation &, int64_t)> visit) {
  Wishes wishes;
  for (Operation &op : llvm::reverse(body)) {
    if (isView(&op))
      continue;
    int64_t results = op.getNumResults() ? elementsOf(op.getResult(0)) : 0;
    if (isa<Fusable>(op))
      results = wishes.of(op.getResult(0));
    wishes.addOperands(&op, results);
    visit(op, results);
  }
  return wishes;
}

/// A cost of `all` elements, of which `some` are made.
static Cost partOf(Cost cost, int64_t some, int64_t all) {
  if (some == all)
    return cost;
  for (auto [name, counter] : kCounters)
    cost.*counter = cost.*counter / all * some;
  return cost;
}

void nap::visitCosts(Block &body,
                     llvm::function_ref<void(Operation &, const Cost &, int64_t)> visit) {
  visitBody(body, [&](Operation &inner, int64_t results) {
    auto costed = dyn_cast<Costed>(inner);
    if (!costed)
      return;
    bool isWhole = !isa<Fusable>(inner);
    visit(inner,
          isWhole ? costed.getCost()
                  : partOf(costed.getCost(), results, elementsOf(inner.getResult(0))),
          results);
  });
}

void nap::readElements(Block &block, llvm::function_ref<void(Value, int64_t)> visit) {
  Wishes wishes = visitBody(block, [](Operation &, int64_t) {});
  for (auto &[root, views] : wishes)
    visit(root, wishes.of(root));
}

Work nap::workOf(Operation *op, const SymbolTable &symbols) {
  Block *body = bodyOf(op, symbols);
  Work sum;
  if (!body) {
    if (auto costed = dyn_cast<Costed>(op))
      sum.add(costed.getCost());
    return sum;
  }
  visitCosts(*body, [&](Operation &, const Cost &cost, int64_t) { sum.add(cost); });
  return sum;
}

Count nap::leastBytes(Operation *op, const SymbolTable &symbols) {
  Block *body = bodyOf(op, symbols);
  if (!body && (isFree(op) || isPlacedJoin(op)))
    return 0;
  Count bytes = 0;
  for (Value result : op->getResults())
    bytes += bytesOf(result.getType());
  Wishes wishes;
  if (body)
    wishes = visitBody(*body, [](Operation &, int64_t) {});
  else
    wishes.addOperands(op, op->getNumResults() ? elementsOf(op->getResult(0)) : 0);
  for (auto &[root, views] : wishes) {
    // What a kernel computes on the way is in no memory.
    bool isStored = !body || isa<BlockArgument>(root) || isa<ConstantOp>(root.getDefiningOp());
    if (isStored && !isUnstored(root))
      bytes += elementBytes(root, wishes.of(root));
  }
  return bytes;
}

/// The schedule of a kernel or of what a launch calls; null where none is chosen.
static DictionaryAttr scheduleOf(Operation *op, const SymbolTable &symbols) {
  if (auto launch = dyn_cast<LaunchOp>(op))
    op = symbols.lookup(launch.getKernel());
  return op ? op->getAttrOfType<DictionaryAttr>("nap.schedule") : DictionaryAttr();
}

/// Bytes that the blocks of a processor's task read again of a product's sides.
static Count processorReReads(Block &body, DictionaryAttr schedule) {
  EinsumOp einsum = getContraction(body);
  auto form = einsum ? getContractionForm(einsum) : std::nullopt;
  if (!form)
    return 0;
  ContractionSchedule cut = ContractionSchedule::fromAttr(schedule);
  Count bytes = 0;
  auto addReads = [&](Value side, int64_t extent, int64_t block) {
    if (block > 0 && extent > block)
      bytes += bytesOf(side.getType()) * Count(llvm::divideCeil(extent, block) - 1);
  };
  addReads(form->lhs.root, form->columnExtent(), cut.columnBlock);
  addReads(form->rhs.root, form->rowExtent(), cut.rowBlock);
  return bytes;
}

/// The same of the tiles of CUDA, beside what its cache keeps, and the sums of ranges.
static Count cudaReReads(Block &body, const Device &device) {
  std::optional<CudaProduct> found = getCudaProduct(body);
  if (!found)
    return 0;
  const CudaTiling &tiling = found->tiling;
  CudaProductSizes sizes = found->sizes();
  Count bytes = 0;
  if (tiling.splits > 1)
    bytes += Count(2 * sizeof(float)) * tiling.splits * sizes.batches * sizes.rows * sizes.columns;
  // Of the right side, what a batch entry multiplies stays in the cache or is read by each set.
  Count right = Count(sizes.depth) * sizes.columns * tiling.factorBytes();
  if (2 * right <= Count(device.cacheBytes))
    return bytes;
  int64_t passes = tiling.passesOverColumns(sizes, device.multiprocessors);
  return bytes + right * sizes.batches * (passes - 1);
}

Count nap::plannedBytes(Operation *op, const SymbolTable &symbols, const Device &device,
                        Count least) {
  Count bytes = least < 0 ? leastBytes(op, symbols) : least;
  Block *body = bodyOf(op, symbols);
  DictionaryAttr schedule = scheduleOf(op, symbols);
  if (!body || !schedule || !schedule.get("tile_rows"))
    return bytes;
  if (device.kernels == DeviceKernels::processor)
    bytes += processorReReads(*body, schedule);
  if (device.kernels == DeviceKernels::cuda)
    bytes += cudaReReads(*body, device);
  return bytes;
}
