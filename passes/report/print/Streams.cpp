// The last program of a ledger as files for other tools: stacks for flame graphs, memory op by op.
#include "passes/kernels/Emit.h"
#include "passes/report/KernelTime.h"
#include "passes/report/Names.h"
#include "passes/report/model/StepMemory.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <fmt/format.h>

#include <cmath>

using namespace mlir;
using namespace nap;

/// "train_step;h;0;mlp;kernel": the function, the instance that an op belongs to, its name.
static std::string stackOf(func::FuncOp func, Operation *op) {
  std::string stack = func.getName().str();
  for (StringRef part : llvm::split(pathOf(op->getLoc()), '.'))
    if (!part.empty())
      stack += ";" + part.str();
  return stack + ";" + nameOf(op).str();
}

void nap::printFolded(ModuleOp module, const Device &device, bool byTime, llvm::raw_ostream &out) {
  SymbolTable symbols(module);
  llvm::MapVector<StringRef, double> weights;
  llvm::StringSet<> names;
  for (auto [function, times] : stepFunctions(module)) {
    auto func = cast<func::FuncOp>(function);
    for (Operation &op : func.getBody().front().without_terminator()) {
      if (isFree(&op))
        continue;
      double each =
          byTime ? kernelTime(&op, symbols, device) : double(plannedBytes(&op, symbols, device));
      weights[names.insert(stackOf(func, &op)).first->getKey()] += each * double(times);
    }
  }
  for (const auto &[stack, weight] : weights)
    if (weight > 0)
      out << fmt::format("{} {:.0f}\n", stack.str(), std::ceil(weight));
}

void nap::printTimeline(const LedgerRow &row, ModuleOp module, llvm::raw_ostream &out) {
  const MemoryByClass &memory = row.memory;
  out << "function,op,name,parameters,working,buffers,states,gradients,inputs,saved,temporary,"
         "total,padding\n";
  std::string declared =
      fmt::format("{},{},{},{},{},{}", memory.parameters, memory.working, memory.buffers,
                  memory.states, memory.gradients, memory.inputs);
  int64_t declaredEnd = endOfDeclared(module);
  for (auto [function, times] : stepFunctions(module)) {
    auto func = cast<func::FuncOp>(function);
    FunctionMemoryUse use = memoryOf(func);
    std::vector<int64_t> all = use.load(), saved = use.load(/*onlySaved=*/true);
    std::vector<int64_t> ends = use.ends();
    for (auto [index, op] : llvm::enumerate(use.ops)) {
      int64_t total = memory.persistent() + all[index];
      int64_t padding = row.isPlanned ? std::max(ends[index], declaredEnd) - total : 0;
      out << fmt::format("{},{},{},{},{},{},{},{}\n", func.getName().str(), index, nameOf(op).str(),
                         declared, saved[index], all[index] - saved[index], total, padding);
    }
  }
}
