// The memory of a step at any stage.
#include "passes/report/model/StepMemory.h"

#include "passes/MemoryModel.h"
#include "passes/kernels/Aliases.h"
#include "passes/kernels/Emit.h"
#include "passes/report/Names.h"

#include <map>
#include <set>

using namespace mlir;
using namespace nap;

/// Numbers the transient tensors of a function. New versions of declared tensors take no bytes:
/// they are written where the old ones lie.
static FunctionMemoryUse tensorsOf(func::FuncOp func) {
  FunctionMemoryUse tensors;
  DenseMap<Value, int64_t> numbers;
  Block &block = func.getBody().front();
  // Parts of a join are the join.
  DenseMap<Value, Value> wholeOf;
  for (Operation &op : block)
    if (isPlacedJoin(&op))
      for (Value part : op.getOperands())
        wholeOf[part] = op.getResult(0);
  size_t most = block.getOperations().size();
  tensors.timeline.steps.reserve(most);
  tensors.ops.reserve(most);
  tensors.values.reserve(most);
  numbers.reserve(most);
  for (Operation &op : block.without_terminator()) {
    if (isFree(&op) || isPlacedJoin(&op))
      continue;
    planning::Step step;
    for (Value operand : op.getOperands())
      if (auto found = numbers.find(rootOf(operand)); found != numbers.end())
        step.reads.push_back(found->second);
    for (Value result : op.getResults()) {
      auto part = wholeOf.find(result);
      Value whole = part == wholeOf.end() ? result : part->second;
      auto [known, isNew] = numbers.try_emplace(whole, tensors.values.size());
      int64_t number = known->second;
      numbers[result] = number;
      step.writes.push_back(number);
      if (!isNew)
        continue;
      tensors.values.push_back(whole);
      tensors.timeline.sizes.push_back(bytesOf(whole.getType()));
    }
    tensors.ops.push_back(&op);
    tensors.timeline.steps.push_back(std::move(step));
  }
  tensors.lossStep = int64_t(tensors.ops.size());
  for (OpOperand &operand : block.getTerminator()->getOpOperands()) {
    auto found = numbers.find(rootOf(operand.get()));
    if (found == numbers.end())
      continue;
    unsigned result = operand.getOperandNumber();
    if (func.getResultAttr(result, kUpdatesAttr) || func.getResultAttr(result, kGradientOfAttr))
      tensors.timeline.sizes[found->second] = 0;
    else
      tensors.timeline.kept.push_back(found->second);
    auto name = func.getResultAttrOfType<StringAttr>(result, kResultAttr);
    if (name && name.getValue() == "loss")
      for (auto [number, step] : llvm::enumerate(tensors.timeline.steps))
        if (llvm::is_contained(step.writes, found->second))
          tensors.lossStep = int64_t(number) + 1;
  }
  return tensors;
}

/// Where a tensor lies by the memory plan; -1 where it has no place yet.
static int64_t placeOf(Value value) {
  auto result = cast<OpResult>(value);
  Operation *maker = result.getOwner();
  if (auto place = maker->getAttrOfType<IntegerAttr>("nap.offset"))
    return place.getInt();
  auto offsets = maker->getAttrOfType<DenseI64ArrayAttr>("nap.offsets");
  return offsets ? offsets[result.getResultNumber()] : -1;
}

/// Ends the life of each tensor whose place, by the memory plan, the result of its last reader
/// takes.
static void endAtTakeover(FunctionMemoryUse &tensors) {
  std::vector<int64_t> places;
  for (Value value : tensors.values)
    places.push_back(placeOf(value));
  for (auto [number, step] : llvm::enumerate(tensors.timeline.steps))
    for (int64_t read : step.reads)
      for (int64_t write : step.writes)
        if (places[read] >= 0 && places[read] == places[write])
          tensors.lives[read].upper = std::min(tensors.lives[read].upper, int64_t(number));
}

FunctionMemoryUse nap::memoryOf(func::FuncOp func) {
  FunctionMemoryUse tensors = tensorsOf(func);
  tensors.lives = planning::lifetimes(tensors.timeline);
  endAtTakeover(tensors);
  return tensors;
}

std::vector<int64_t> FunctionMemoryUse::load(bool onlySaved) const {
  size_t steps = ops.size();
  std::vector<int64_t> bytes(steps + 2);
  for (const planning::Interval &life : lives) {
    if (onlySaved && !isSaved(life))
      continue;
    bytes[life.lower] += life.size;
    bytes[std::max(life.upper, life.lower)] -= life.size;
  }
  for (size_t step = 1; step < steps; ++step)
    bytes[step] += bytes[step - 1];
  bytes.resize(steps);
  return bytes;
}

std::vector<int64_t> FunctionMemoryUse::ends() const {
  // Tensors that begin and that end with each op, by where they end in memory.
  std::vector<std::vector<int64_t>> begin(ops.size() + 1), end(ops.size() + 1);
  for (auto [tensor, life] : llvm::enumerate(lives)) {
    int64_t place = placeOf(values[tensor]);
    size_t last = std::min(size_t(std::max(life.upper, life.lower)), ops.size());
    if (place < 0 || life.size == 0)
      continue;
    begin[life.lower].push_back(place + life.size);
    end[last].push_back(place + life.size);
  }
  std::vector<int64_t> highest;
  std::multiset<int64_t> inUse;
  for (size_t op = 0; op < ops.size(); ++op) {
    for (int64_t one : begin[op])
      inUse.insert(one);
    for (int64_t one : end[op])
      inUse.erase(inUse.find(one));
    highest.push_back(inUse.empty() ? 0 : *inUse.rbegin());
  }
  return highest;
}

int64_t nap::endOfDeclared(ModuleOp module) {
  int64_t end = 0;
  for (auto declare : module.getOps<DeclareOp>())
    if (auto place = declare->getAttrOfType<IntegerAttr>("nap.offset"))
      end = std::max(end, place.getInt() + bytesOf(declare.getTensorType()));
  return end;
}

/// Declared bytes by role.
static void addDeclarations(MemoryByClass &memory, ModuleOp module) {
  for (auto declare : module.getOps<DeclareOp>()) {
    int64_t bytes = bytesOf(declare.getTensorType());
    switch (declare.getRole()) {
    case Role::parameter:
      memory.parameters += bytes;
      break;
    case Role::working:
      memory.working += bytes;
      break;
    case Role::buffer:
      memory.buffers += bytes;
      break;
    case Role::state:
      memory.states += bytes;
      break;
    case Role::gradient:
      memory.gradients += bytes;
      break;
    case Role::input:
    case Role::scalar:
    case Role::random:
      memory.inputs += bytes;
      break;
    }
  }
}

/// Fills `row.saved` with the tensors of `use` that `isSaved` names, each with what reads it first
/// after the loss is known.
static void listSaved(LedgerRow &row, const FunctionMemoryUse &use,
                      llvm::function_ref<bool(int64_t)> isSaved,
                      llvm::function_ref<std::string(Value)> name) {
  std::vector<Operation *> readers(use.lives.size());
  for (int64_t step = int64_t(use.ops.size()) - 1; step >= use.lossStep; --step)
    for (int64_t read : use.timeline.steps[step].reads)
      readers[read] = use.ops[step];
  std::map<std::pair<std::string, StringRef>, SavedTensors> groups;
  for (auto [tensor, life] : llvm::enumerate(use.lives)) {
    if (!isSaved(int64_t(tensor)) || life.size == 0)
      continue;
    StringRef reader = readers[tensor] ? nameOf(readers[tensor]) : StringRef();
    SavedTensors &group = groups[{name(use.values[tensor]), reader}];
    ++group.count;
    group.bytes += life.size;
  }
  row.saved.clear();
  for (auto &[names, group] : groups) {
    std::tie(group.name, group.reader) = names;
    row.saved.push_back(group);
  }
  llvm::stable_sort(row.saved,
                    [](const SavedTensors &a, const SavedTensors &b) { return a.bytes > b.bytes; });
}

void nap::measureMemory(LedgerRow &row, ModuleOp module) {
  addDeclarations(row.memory, module);
  int64_t most = -1;
  // "add.h.0.mlp 4x64x256xf32": what made a tensor, and its type. Many tensors have few types.
  DenseMap<Type, std::string> types;
  auto nameLive = [&](Value value) {
    std::string &type = types[value.getType()];
    if (type.empty())
      type = typeText(value.getType());
    return (nameOf(value.getDefiningOp()) + " " + type).str();
  };
  for (auto [func, times] : stepFunctions(module)) {
    FunctionMemoryUse use = memoryOf(cast<func::FuncOp>(func));
    std::vector<int64_t> load = use.load();
    int64_t saved = 0;
    DenseSet<int64_t> kept(use.timeline.kept.begin(), use.timeline.kept.end());
    auto isSaved = [&](int64_t tensor) {
      return use.isSaved(use.lives[tensor]) && !kept.contains(tensor);
    };
    for (auto [tensor, life] : llvm::enumerate(use.lives))
      if (isSaved(int64_t(tensor)))
        saved += life.size;
    if (saved > row.savedAtLoss) {
      row.savedAtLoss = saved;
      listSaved(row, use, isSaved, nameLive);
    }
    auto peak = std::max_element(load.begin(), load.end());
    int64_t bytes = load.empty() ? 0 : *peak;
    if (bytes <= most)
      continue;
    most = bytes;
    int64_t at = peak - load.begin();
    row.peakAt = load.empty() ? "" : nameLive(use.values[use.timeline.steps[at].writes.front()]);
    row.memory.saved = row.memory.temporary = 0;
    row.live.clear();
    row.timeline = std::move(load);
    for (int64_t &inUse : row.timeline)
      inUse += row.memory.persistent();
    for (auto [tensor, life] : llvm::enumerate(use.lives)) {
      if (life.lower > at || life.upper <= at || life.size == 0)
        continue;
      (use.isSaved(life) ? row.memory.saved : row.memory.temporary) += life.size;
      row.live.push_back({nameLive(use.values[tensor]), life.size});
    }
    llvm::sort(row.live, [](const LiveTensor &a, const LiveTensor &b) {
      return std::tie(b.bytes, a.name) < std::tie(a.bytes, b.name);
    });
  }
  auto arena = module->getAttrOfType<IntegerAttr>("nap.arena_bytes");
  if (!arena)
    return;
  row.isPlanned = true;
  row.memory.padding = arena.getInt() - row.memory.total();
}
