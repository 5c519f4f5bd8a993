// Builds nap.kernel ops around groups of stored values.
#include "passes/kernels/Emit.h"

#include "passes/kernels/Aliases.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

#include <queue>
#include <set>

using namespace mlir;

bool nap::isFree(Operation *op) { return op && (isView(op) || isa<ConstantOp, IotaOp>(op)); }

nap::KernelClass nap::classOf(ArrayRef<Operation *> ops) {
  for (Operation *op : ops) {
    if (isa<EinsumOp>(op))
      return KernelClass::contraction;
    if (isa<ReduceOp>(op))
      return KernelClass::reduction;
    if (isa<ScatterAddOp, PutAlongOp, FoldOp>(op))
      return KernelClass::scatter;
    if (isa<ArgmaxOp, TopKOp, CumsumOp>(op))
      return KernelClass::row;
    if (isa<AttentionOp, AttentionBackwardOp>(op))
      return KernelClass::attention;
  }
  return KernelClass::pointwise;
}

//===------------------------------------------------------------------------------------------===//
// Names and places
//===------------------------------------------------------------------------------------------===//

StringRef nap::pathOf(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName();
  if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    StringRef path = nap::pathOf(call.getCallee());
    return path.empty() ? nap::pathOf(call.getCaller()) : path;
  }
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (StringRef path = nap::pathOf(part); !path.empty())
        return path;
  return "";
}

/// "h.0.mlp.c_fc" -> "h_N_mlp_c_fc": equal for all layers of a stack.
static std::string generalizePath(StringRef path) {
  std::string result;
  SmallVector<StringRef> parts;
  path.split(parts, '.', -1, false);
  for (StringRef part : parts) {
    if (!result.empty())
      result += '_';
    bool isNumber = llvm::all_of(part, llvm::isDigit);
    for (char c : isNumber ? StringRef("N") : part)
      result += llvm::isAlnum(c) ? c : '_';
  }
  return result;
}

/// The word for an op in a kernel's name; empty for one that goes without saying.
static StringRef wordFor(Operation *op) {
  if (nap::isFree(op) || isa<nap::StopGradientOp>(op))
    return "";
  if (auto reduce = dyn_cast<nap::ReduceOp>(op))
    return nap::stringifyReduceKind(reduce.getKind());
  if (isa<nap::EinsumOp>(op))
    return "matmul";
  return op->getName().stripDialect();
}

std::string nap::nameKernel(ArrayRef<Operation *> ops) {
  constexpr size_t wordsAtMost = 4;
  SmallVector<StringRef> words;
  StringRef path;
  for (Operation *op : ops) {
    StringRef word = wordFor(op);
    if (!word.empty() && !llvm::is_contained(words, word))
      words.push_back(word);
    // The last op that has a name speaks: it is what the kernel is for.
    if (StringRef own = nap::pathOf(op->getLoc()); !own.empty())
      path = own;
  }
  if (words.size() > wordsAtMost)
    words.erase(words.begin() + wordsAtMost / 2, words.end() - wordsAtMost / 2);
  std::string name = words.empty() ? "copy" : llvm::join(words, "_");
  if (words.empty() &&
      llvm::all_of(ops, [](Operation *op) { return isa<ConstantOp, BroadcastOp>(op); }) &&
      !ops.empty())
    name = "fill";
  if (std::string where = generalizePath(path); !where.empty())
    name += "." + where;
  return name;
}

/// All different places of the ops, as one location.
static Location fuseLocations(MLIRContext *context, ArrayRef<Operation *> ops, Location otherwise) {
  constexpr size_t placesAtMost = 8;
  llvm::SmallSetVector<Location, 8> places;
  for (Operation *op : ops)
    if (!nap::isFree(op) && places.size() < placesAtMost)
      places.insert(op->getLoc());
  return places.empty() ? otherwise : FusedLoc::get(context, places.getArrayRef());
}

//===------------------------------------------------------------------------------------------===//
// Kernels
//===------------------------------------------------------------------------------------------===//

nap::KernelOp nap::buildKernel(OpBuilder &builder, Location loc, ArrayRef<Operation *> ops,
                               ArrayRef<Value> inputs, ArrayRef<Value> memory,
                               ArrayRef<Value> outputs) {
  SmallVector<Type> types;
  for (Value output : outputs)
    types.push_back(output.getType());
  auto kernel =
      nap::KernelOp::create(builder, loc, types, nap::classOf(ops), nap::nameKernel(ops), memory);
  Block &block = kernel.getBody().emplaceBlock();
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, block.addArgument(input.getType(), input.getLoc()));
  OpBuilder inside = OpBuilder::atBlockBegin(&block);
  for (Operation *op : ops)
    inside.clone(*op, mapping);
  SmallVector<Value> stored;
  for (Value output : outputs)
    stored.push_back(mapping.lookup(output));
  nap::YieldOp::create(inside, loc, stored);
  return kernel;
}

Value nap::createCopy(OpBuilder &builder, Value value) {
  SmallVector<Operation *> ops;
  Value base = value;
  while (isFree(base.getDefiningOp())) {
    ops.push_back(base.getDefiningOp());
    if (base.getDefiningOp()->getNumOperands() == 0)
      break;
    base = base.getDefiningOp()->getOperand(0);
  }
  std::reverse(ops.begin(), ops.end());
  SmallVector<Value> inputs;
  if (ops.empty() || ops.front()->getNumOperands() != 0)
    inputs.push_back(base);
  return buildKernel(builder, value.getLoc(), ops, inputs, inputs, value).getResult(0);
}

namespace {
/// A kernel before it is built.
struct Draft {
  /// What it computes, each op after its operands; a single `nap.kernel` or placed join where it
  /// stands already.
  SmallVector<Operation *> ops;
  /// The stored tensors that it reads.
  SmallVector<Value> inputs;
  ArrayRef<Value> outputs;
  /// Place of its last op: kernels that do not depend on each other keep the ops' order.
  unsigned place = 0;
};

/// What must be known of a function to build its kernels.
struct Layout {
  DenseMap<Operation *, unsigned> placeOf;
  /// Which draft stores a value.
  DenseMap<Value, unsigned> storedBy;
};
} // namespace

/// Collects what the outputs need that no other draft stores: each op after its operands, in the
/// order in which the outputs and then the operands name them, so that kernels of equal structure
/// come out equal wherever their ops stand.
static Draft draftKernel(const Layout &layout, unsigned number, ArrayRef<Value> outputs) {
  Draft draft;
  draft.outputs = outputs;
  DenseSet<Operation *> seen;
  llvm::SetVector<Value> reads;
  SmallVector<std::pair<Operation *, unsigned>> path;
  auto visit = [&](Value value) {
    auto stored = layout.storedBy.find(value);
    Operation *op = value.getDefiningOp();
    if (!op || (stored != layout.storedBy.end() && stored->second != number))
      reads.insert(value);
    else if (seen.insert(op).second)
      path.push_back({op, 0});
  };
  for (Value output : outputs) {
    visit(output);
    while (!path.empty()) {
      auto &[op, next] = path.back();
      if (next < op->getNumOperands()) {
        visit(op->getOperand(next++));
        continue;
      }
      draft.ops.push_back(op);
      draft.place = std::max(draft.place, layout.placeOf.lookup(op));
      path.pop_back();
    }
  }
  // Inputs in the order in which the ops name them.
  llvm::SetVector<Value> inputs;
  for (Operation *op : draft.ops)
    for (Value operand : op->getOperands())
      if (reads.contains(operand))
        inputs.insert(operand);
  draft.inputs = inputs.takeVector();
  return draft;
}

/// Per draft: the arguments over which it writes new versions.
static SmallVector<SmallVector<Value, 1>> findOverwrites(func::FuncOp func, const Layout &layout,
                                                         size_t drafts) {
  DenseMap<Attribute, Value> arguments;
  for (BlockArgument argument : func.getArguments())
    if (Attribute of = func.getArgAttr(argument.getArgNumber(), nap::kOfAttr))
      arguments[of] = argument;
  SmallVector<SmallVector<Value, 1>> overwrites(drafts);
  for (OpOperand &operand : func.getBody().front().getTerminator()->getOpOperands()) {
    Attribute updates = func.getResultAttr(operand.getOperandNumber(), nap::kUpdatesAttr);
    Value old = updates ? arguments.lookup(updates) : Value();
    auto writer = layout.storedBy.find(operand.get());
    if (old && writer != layout.storedBy.end())
      overwrites[writer->second].push_back(old);
  }
  return overwrites;
}

namespace {
/// Orders drafts: each after all that it reads from, and, as far as that allows, after all that
/// read what it writes over; otherwise by place.
class Orderer {
public:
  Orderer(const Layout &layout, ArrayRef<Draft> drafts, ArrayRef<SmallVector<Value, 1>> overwrites);
  SmallVector<unsigned> run();

private:
  bool mustWait(unsigned number) const;
  void emit(unsigned number);

  using Entry = std::pair<unsigned, unsigned>;
  ArrayRef<Draft> drafts;
  ArrayRef<SmallVector<Value, 1>> overwrites;
  SmallVector<SmallVector<unsigned, 4>> readers;
  /// Per draft: those that it still reads from. Per argument: the drafts that still read it.
  SmallVector<unsigned> missing;
  DenseMap<Value, unsigned> readsLeft;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  /// Those that would write over what is still read, by place.
  std::set<Entry> waiting;
  SmallVector<unsigned> order;
};
} // namespace

Orderer::Orderer(const Layout &layout, ArrayRef<Draft> drafts,
                 ArrayRef<SmallVector<Value, 1>> overwrites)
    : drafts(drafts), overwrites(overwrites), readers(drafts.size()), missing(drafts.size()) {
  for (auto [number, draft] : llvm::enumerate(drafts)) {
    llvm::SmallSetVector<unsigned, 8> writers;
    for (Value input : draft.inputs) {
      if (input.getDefiningOp())
        writers.insert(layout.storedBy.lookup(input));
      else
        ++readsLeft[input];
    }
    missing[number] = writers.size();
    for (unsigned writer : writers)
      readers[writer].push_back(number);
    if (writers.empty())
      ready.push({draft.place, unsigned(number)});
  }
}

bool Orderer::mustWait(unsigned number) const {
  return llvm::any_of(overwrites[number], [&](Value old) {
    return readsLeft.lookup(old) > unsigned(llvm::is_contained(drafts[number].inputs, old));
  });
}

void Orderer::emit(unsigned number) {
  order.push_back(number);
  for (Value input : drafts[number].inputs)
    if (!input.getDefiningOp())
      --readsLeft[input];
  for (unsigned reader : readers[number])
    if (--missing[reader] == 0)
      ready.push({drafts[reader].place, reader});
  for (auto entry = waiting.begin(); entry != waiting.end();) {
    if (mustWait(entry->second)) {
      ++entry;
      continue;
    }
    ready.push(*entry);
    entry = waiting.erase(entry);
  }
}

/// Fewer numbers than drafts if kernels depend on each other in a circle.
SmallVector<unsigned> Orderer::run() {
  while (!ready.empty() || !waiting.empty()) {
    // A reader that needs the new version comes after it all the same.
    bool isForced = ready.empty();
    Entry next = isForced ? *waiting.begin() : ready.top();
    if (isForced)
      waiting.erase(waiting.begin());
    else
      ready.pop();
    if (!isForced && mustWait(next.second))
      waiting.insert(next);
    else
      emit(next.second);
  }
  return std::move(order);
}

LogicalResult nap::emitKernels(func::FuncOp func, ArrayRef<KernelGroup> groups) {
  Block &block = func.getBody().front();
  Operation *terminator = block.getTerminator();
  Layout layout;
  unsigned place = 0;
  for (Operation &op : block)
    layout.placeOf[&op] = place++;
  for (auto [number, group] : llvm::enumerate(groups))
    for (Value output : group.outputs)
      layout.storedBy[output] = number;
  SmallVector<Draft> drafts;
  for (auto [number, group] : llvm::enumerate(groups))
    drafts.push_back(draftKernel(layout, number, group.outputs));
  SmallVector<unsigned> order =
      Orderer(layout, drafts, findOverwrites(func, layout, drafts.size())).run();
  if (order.size() != drafts.size())
    return func.emitError("kernels depend on each other in a circle");

  IRMapping memory;
  for (BlockArgument argument : block.getArguments())
    memory.map(argument, argument);
  SmallVector<Operation *> old;
  for (Operation &op : block.without_terminator())
    old.push_back(&op);
  OpBuilder builder(terminator);
  for (unsigned number : order) {
    const Draft &draft = drafts[number];
    if (isa<KernelOp>(draft.ops.front()) || isPlacedJoin(draft.ops.front())) {
      builder.clone(*draft.ops.front(), memory);
      continue;
    }
    SmallVector<Value> inputs;
    for (Value input : draft.inputs)
      inputs.push_back(memory.lookup(input));
    Location loc = fuseLocations(func.getContext(), draft.ops, draft.ops.back()->getLoc());
    KernelOp kernel = buildKernel(builder, loc, draft.ops, draft.inputs, inputs, draft.outputs);
    for (auto [output, result] : llvm::zip(draft.outputs, kernel.getResults()))
      memory.map(output, result);
  }
  for (OpOperand &operand : terminator->getOpOperands())
    operand.set(memory.lookup(operand.get()));
  for (Operation *op : llvm::reverse(old))
    op->erase();
  return success();
}
