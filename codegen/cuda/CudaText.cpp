// One translation unit: every kernel with its head comment.
#include "codegen/cuda/CudaText.h"

#include "codegen/BuildProgram.h"
#include "codegen/cuda/printer/CudaPrinter.h"
#include "ir/schedule/StatedCost.h"

#include <fmt/format.h>

using namespace mlir;
using namespace nap;

/// "f32[256, 768]".
static std::string typeText(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  std::string text;
  llvm::raw_string_ostream stream(text);
  tensor.getElementType().print(stream);
  stream << "[";
  llvm::interleaveComma(tensor.getShape(), stream);
  stream << "]";
  return text;
}

/// Whether a result may take over bytes of an input: in the plan, or as a new version of a declared
/// tensor.
static bool writesInput(LaunchOp launch) {
  auto offsets = launch->getAttrOfType<DenseI64ArrayAttr>("nap.offsets");
  if (!offsets)
    return true;
  return llvm::any_of(launch.getInputs(), [&](Value input) {
    auto maker = input.getDefiningOp<LaunchOp>();
    // Rows of a tensor, or a join.
    if (Operation *alias = input.getDefiningOp(); alias && !maker) {
      auto place = alias->getAttrOfType<IntegerAttr>("nap.offset");
      return place && llvm::is_contained(offsets.asArrayRef(), place.getInt());
    }
    auto own = maker ? maker->getAttrOfType<DenseI64ArrayAttr>("nap.offsets") : DenseI64ArrayAttr();
    // Tensors overlap as wholes or not at all.
    return own ? llvm::is_contained(offsets.asArrayRef(),
                                    own[cast<OpResult>(input).getResultNumber()])
               : llvm::any_of(launch->getUsers(),
                              [](Operation *user) { return isa<func::ReturnOp>(user); });
  });
}

/// Names for the arguments, from the graph's names of the tensors.
static CudaHead headOf(KernelDefOp def, const CudaKernel &kernel, ArrayRef<LaunchOp> launches) {
  CudaHead head;
  head.name = cudaKernelName(def.getSymName());
  head.blockThreads = kernel.blockThreads;
  head.blocksAtOnce = kernel.blocksAtOnce;
  Block &body = def.getBody().front();
  auto results = body.getTerminator()->getOperands();
  std::string types;
  for (auto [i, input] : llvm::enumerate(body.getArguments())) {
    head.arguments.push_back(fmt::format("in_{}", i));
    types += (i ? ", " : "") + typeText(input.getType());
  }
  types += " -> ";
  for (auto [i, result] : llvm::enumerate(results)) {
    head.arguments.push_back(results.size() == 1 ? "out" : fmt::format("out_{}", i));
    types += (i ? ", " : "") + typeText(result.getType());
  }
  head.firstResult = body.getNumArguments();
  head.lastResult = head.arguments.size();
  if (def->hasAttr("nap.sites"))
    head.arguments.push_back("sites");

  SmallVector<Location> places;
  for (LaunchOp launch : launches) {
    places.push_back(launch.getLoc());
    head.isInPlace |= writesInput(launch);
  }
  std::string lines = describeLocation(FusedLoc::get(def.getContext(), places));
  head.comments.push_back(fmt::format("{}  ({})", def.getSymName().str(), lines));
  head.comments.push_back(types);
  if (!launches.empty()) {
    LaunchOp launch = launches.front();
    double operations = statedOperations(launch);
    double bytes = launch->getAttrOfType<FloatAttr>("nap.bytes_min").getValueAsDouble();
    head.comments.push_back(fmt::format(
        "{} launch{} of {} x {} threads, each {:.4g} MFLOP, {:.4g} MB, {:.3g} FLOP/byte",
        launches.size(), launches.size() == 1 ? "" : "es", kernel.blocks, kernel.blockThreads,
        operations / 1e6, bytes / 1e6, operations / bytes));
  }
  return head;
}

FailureOr<CudaKernelText> nap::printCudaKernel(KernelDefOp def, ArrayRef<LaunchOp> launches,
                                               ModuleOp lowered) {
  FailureOr<CudaKernel> kernel = lowerCudaKernel(def, lowered);
  if (failed(kernel))
    return failure();
  CudaHead head = headOf(def, *kernel, launches);
  auto text = printCuda(kernel->func, head, kernel->isWide);
  if (failed(text))
    return failure();
  CudaKernelText result{head.name,      std::move(*text), {},
                        head.isInPlace, kernel->blocks,   kernel->blockThreads};
  for (auto [i, type] : llvm::enumerate(kernel->func.getArgumentTypes())) {
    auto memory = cast<MemRefType>(type);
    result.arguments.push_back(
        {head.arguments[i], memory.getNumElements(), memory.getElementTypeBitWidth() / 8,
         i >= head.firstResult && i < head.lastResult, i >= head.lastResult});
  }
  return result;
}

FailureOr<std::vector<CudaKernelText>> nap::printCudaKernels(ModuleOp planned) {
  llvm::StringMap<SmallVector<LaunchOp>> launches;
  planned.walk([&](LaunchOp launch) { launches[launch.getKernel()].push_back(launch); });
  std::vector<CudaKernelText> kernels;
  for (auto def : planned.getOps<KernelDefOp>()) {
    OwningOpRef<ModuleOp> lowered = ModuleOp::create(def.getLoc());
    auto kernel = printCudaKernel(def, launches[def.getSymName()], *lowered);
    if (failed(kernel))
      return failure();
    kernels.push_back(std::move(*kernel));
  }
  return kernels;
}

std::string nap::joinCudaText(ArrayRef<CudaKernelText> kernels) {
  std::string text = "#include \"napkin.cuh\"\n";
  for (const CudaKernelText &kernel : kernels)
    text += "\n" + kernel.text;
  return text;
}
