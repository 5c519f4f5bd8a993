// Finds blocks by the paths of ops inside kernels, or by the model's `checkpoint { }`, and
// attention cores by their products.
#include "passes/memory/Blocks.h"

#include "ir/location/CheckpointBlock.h"
#include "passes/kernels/Emit.h"
#include "passes/report/Costs.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace nap;

static bool isNumber(StringRef word) { return !word.empty() && llvm::all_of(word, llvm::isDigit); }

/// The words of a path up to its last number; empty if it has none.
static std::string numberedPart(StringRef path) {
  SmallVector<StringRef> words;
  path.split(words, '.');
  while (!words.empty() && !isNumber(words.back()))
    words.pop_back();
  return llvm::join(words, ".");
}

namespace {
/// Walks the ops of the forward kernels.
class Finder {
public:
  Finder(const FunctionMemory &memory, const std::vector<bool> &isForward, BlockRule rule)
      : memory(memory), rule(rule) {
    for (auto [op, isOwn] : llvm::zip(memory.kernels, isForward))
      if (auto kernel = dyn_cast<KernelOp>(op); kernel && isOwn)
        kernels.push_back(kernel);
    size_t tensors = memory.timeline.sizes.size();
    blocks.blockOf.assign(tensors, -1);
    blocks.readBy.resize(tensors);
    blocks.isInCore.assign(tensors, false);
  }

  Blocks run();

private:
  std::string nameOfBlock(Operation *op) const;
  int64_t blockOf(Operation *op);
  void addReaders(int64_t tensor, Value value);
  void markCores(KernelOp kernel);

  const FunctionMemory &memory;
  BlockRule rule;
  SmallVector<KernelOp> kernels;
  bool hasNumbers = false;
  llvm::StringMap<int64_t> numberOf;
  Blocks blocks;
  /// Tensors that depend on the model's inputs.
  llvm::DenseSet<int64_t> activations;
};
} // namespace

/// Empty outside of all blocks.
std::string Finder::nameOfBlock(Operation *op) const {
  if (rule == BlockRule::checkpoint) {
    std::optional<int64_t> number = checkpointBlockOf(op->getLoc());
    return number ? std::to_string(*number) : "";
  }
  StringRef path = pathOf(op->getLoc());
  return hasNumbers ? numberedPart(path) : path.str();
}

int64_t Finder::blockOf(Operation *op) {
  std::string name = nameOfBlock(op);
  if (name.empty())
    return -1;
  auto [place, isNew] = numberOf.try_emplace(name, blocks.count);
  blocks.count += isNew;
  return place->second;
}

/// Adds the blocks of the ops that read `value`, through views.
void Finder::addReaders(int64_t tensor, Value value) {
  for (Operation *user : value.getUsers()) {
    if (isView(user)) {
      addReaders(tensor, user->getResult(0));
      continue;
    }
    if (isa<YieldOp>(user))
      continue;
    int64_t block = blockOf(user);
    if (!llvm::is_contained(blocks.readBy[tensor], block))
      blocks.readBy[tensor].push_back(block);
  }
}

/// Follows what depends on activations, and what lies between two products of activations.
void Finder::markCores(KernelOp kernel) {
  DenseSet<Value> active, core;
  Block &block = kernel.getBody().front();
  for (auto [argument, input] : llvm::zip(block.getArguments(), kernel.getInputs())) {
    if (activations.contains(memory.numberOf(input)))
      active.insert(argument);
    if (blocks.isInCore[memory.numberOf(input)])
      core.insert(argument);
  }
  for (Operation &op : block.without_terminator()) {
    size_t actives = llvm::count_if(op.getOperands(), [&](Value v) { return active.contains(v); });
    bool readsCore = llvm::any_of(op.getOperands(), [&](Value v) { return core.contains(v); });
    bool isProduct = isa<EinsumOp>(op);
    bool starts = isProduct && actives == 2 && !readsCore;
    for (Value result : op.getResults()) {
      if (actives > 0)
        active.insert(result);
      if (starts || (readsCore && !isProduct))
        core.insert(result);
    }
  }
  for (auto [stored, result] :
       llvm::zip(block.getTerminator()->getOperands(), kernel.getResults())) {
    if (active.contains(stored))
      activations.insert(memory.numberOf(result));
    blocks.isInCore[memory.numberOf(result)] = core.contains(stored);
  }
}

Blocks Finder::run() {
  for (KernelOp kernel : kernels)
    kernel.getBody().walk(
        [&](Operation *op) { hasNumbers |= !numberedPart(pathOf(op->getLoc())).empty(); });
  for (const auto &[tensor, declare] : memory.declarations) {
    DeclareOp declaration = declare;
    if (declaration.getRole() == Role::input)
      activations.insert(tensor);
  }
  for (KernelOp kernel : kernels) {
    Block &block = kernel.getBody().front();
    for (auto [argument, input] : llvm::zip(block.getArguments(), kernel.getInputs()))
      addReaders(memory.numberOf(input), argument);
    for (auto [stored, result] :
         llvm::zip(block.getTerminator()->getOperands(), kernel.getResults())) {
      int64_t tensor = memory.numberOf(result);
      Value made = rootOf(stored);
      if (Operation *maker = made.getDefiningOp()) {
        blocks.blockOf[tensor] = blockOf(maker);
        addReaders(tensor, made);
      }
    }
    markCores(kernel);
  }
  return std::move(blocks);
}

Blocks nap::findBlocks(const FunctionMemory &memory, const std::vector<bool> &isForward,
                       BlockRule rule) {
  return Finder(memory, isForward, rule).run();
}

bool nap::hasCheckpointBlocks(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        return checkpointBlockOf(op->getLoc()) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}
