// What a whole step must move, however its kernels are cut.
#include "passes/report/model/GraphBytes.h"

#include "passes/MemoryModel.h"
#include "passes/Report.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace nap;

/// Whether what is declared so stays, and so need be read but once a step.
static bool isKept(Role role) {
  return role == Role::parameter || role == Role::state || role == Role::buffer;
}

Count nap::graphBytes(ModuleOp module) {
  DeclaredTensors declared(module);
  // Of what stays, the most that one function reads or changes.
  llvm::MapVector<Operation *, Count> reads, writes;
  Count bytes = 0;
  for (auto [op, times] : stepFunctions(module)) {
    auto func = cast<func::FuncOp>(op);
    readElements(func.getBody().front(), [&](Value root, int64_t elements) {
      auto argument = dyn_cast<BlockArgument>(root);
      DeclareOp declare =
          argument ? declared.find(func.getArgAttrDict(argument.getArgNumber())) : DeclareOp();
      if (!declare)
        return;
      Count read = elementBytes(root, elements);
      if (isKept(declare.getRole()))
        reads[declare] = std::max(reads[declare], read);
      else if (declare.getRole() == Role::input)
        bytes += read * times;
    });
    for (auto [i, type] : llvm::enumerate(func.getResultTypes())) {
      DeclareOp declare = declared.find(func.getResultAttrDict(i));
      if (func.getResultAttr(i, kResultAttr))
        bytes += bytesOf(type) * Count(times);
      else if (func.getResultAttr(i, kUpdatesAttr) && declare && isKept(declare.getRole()))
        writes[declare] = bytesOf(type);
    }
  }
  for (const auto &[declare, read] : reads)
    bytes += read;
  for (const auto &[declare, written] : writes)
    bytes += written;
  return bytes;
}
