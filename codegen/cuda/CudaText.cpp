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

/// What the heads of a kernel's grids have in common: names for the arguments, and comments.
/// Without a kernel it is one of the library's.
static CudaHead headOf(KernelDefOp def, const CudaKernel *kernel, ArrayRef<LaunchOp> launches) {
  CudaHead head;
  head.name = cudaKernelName(def.getSymName());
  Block &body = def.getBody().front();
  auto results = body.getTerminator()->getOperands();
  std::string types;
  for (auto [i, input] : llvm::enumerate(body.getArguments())) {
    head.arguments.push_back({fmt::format("in_{}", i)});
    types += (i ? ", " : "") + typeText(input.getType());
  }
  types += " -> ";
  for (auto [i, result] : llvm::enumerate(results)) {
    head.arguments.push_back({results.size() == 1 ? "out" : fmt::format("out_{}", i), true});
    types += (i ? ", " : "") + typeText(result.getType());
  }
  if (def->hasAttr("nap.sites"))
    head.arguments.push_back({"sites"});
  if (kernel && kernel->workspace)
    types += fmt::format("; f32[{}] between its grids", kernel->workspace);

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
    std::string what =
        kernel ? fmt::format("{} x {} threads", kernel->blocks, kernel->blockThreads) : "cuBLASLt";
    head.comments.push_back(fmt::format(
        "{} launch{} of {}, each {:.4g} MFLOP, {:.4g} MB, {:.3g} FLOP/byte", launches.size(),
        launches.size() == 1 ? "" : "es", what, operations / 1e6, bytes / 1e6, operations / bytes));
  }
  if (kernel && !kernel->remark.empty())
    head.comments.push_back(kernel->remark);
  return head;
}

/// Prints one grid of the kernel, and notes it.
static LogicalResult printGrid(const CudaGridForm &grid, const CudaHead &head, bool isWide,
                               CudaKernelText &result) {
  CudaHead own = head;
  own.blockThreads = grid.blockThreads;
  own.blocksAtOnce = grid.blocksAtOnce;
  own.askedBytes = grid.askedBytes;
  std::optional<CudaWork> work = workOf(grid.func, grid.blocks * grid.blockThreads);
  if (work) {
    double bytes = double(work->readBytes + work->writtenBytes);
    std::string asks = fmt::format("asks memory for {:.4g} MB", bytes / 1e6);
    for (auto [unit, flops] : {std::pair("tensor cores", work->productFlops),
                               {"its threads", work->threadFlops}})
      if (flops > 0)
        asks += fmt::format(", {} for {:.4g} MFLOP", unit, double(flops) / 1e6);
    own.comments.push_back(asks);
  }
  auto text = printCuda(grid.func, own, isWide);
  if (failed(text))
    return failure();
  result.text += (result.text.empty() ? "" : "\n") + *text;
  CudaGrid &made = result.grids.emplace_back();
  made.name = head.name;
  made.blocks = grid.blocks;
  made.blockThreads = grid.blockThreads;
  made.askedBytes = grid.askedBytes;
  made.work = work;
  for (const CudaHead::Argument &argument : own.arguments)
    made.isWritten.push_back(argument.isWritten);
  return success();
}

/// A kernel that is a call of the library: comments, and no function.
static CudaKernelText printLibraryProduct(KernelDefOp def, const LibraryProduct &product,
                                          ArrayRef<LaunchOp> launches) {
  CudaHead head = headOf(def, nullptr, launches);
  head.comments.push_back("cublasLtMatmul, and no text: " + product.describe());
  CudaKernelText result;
  result.name = head.name;
  result.isInPlace = head.isInPlace;
  result.product = product;
  for (const std::string &comment : head.comments)
    result.text += "// " + comment + "\n";
  Block &body = def.getBody().front();
  SmallVector<Type> types(body.getArgumentTypes());
  llvm::append_range(types, body.getTerminator()->getOperandTypes());
  for (auto [argument, type] : llvm::zip_equal(head.arguments, types)) {
    auto tensor = cast<RankedTensorType>(type);
    result.arguments.push_back({argument.name, tensor.getNumElements(),
                                tensor.getElementTypeBitWidth() / 8, argument.isWritten, false});
  }
  return result;
}

FailureOr<CudaKernelText> nap::printCudaKernel(KernelDefOp def, ArrayRef<LaunchOp> launches,
                                               ModuleOp lowered) {
  if (auto product = getChosenLibraryProduct(def.getBody().front()))
    return printLibraryProduct(def, *product, launches);
  FailureOr<CudaKernel> kernel = lowerCudaKernel(def, lowered);
  if (failed(kernel))
    return failure();
  CudaHead head = headOf(def, &*kernel, launches);
  CudaKernelText result;
  result.name = head.name;
  result.isInPlace = head.isInPlace;
  result.workspaceBytes = kernel->workspace * 4;
  for (auto [argument, type] : llvm::zip(head.arguments, kernel->func.getArgumentTypes())) {
    auto memory = cast<MemRefType>(type);
    result.arguments.push_back({argument.name, memory.getNumElements(),
                                memory.getElementTypeBitWidth() / 8, argument.isWritten,
                                argument.name == "sites"});
  }
  if (!kernel->sum.func)
    return failed(printGrid(*kernel, head, kernel->isWide, result))
               ? FailureOr<CudaKernelText>(failure())
               : FailureOr<CudaKernelText>(std::move(result));
  // The first grid writes the workspace alone, the second reads it.
  CudaHead parts = head, sum = head;
  for (CudaHead::Argument &argument : parts.arguments)
    argument.isWritten = false;
  parts.arguments.push_back({"parts", true});
  sum.arguments.push_back({"parts", false});
  sum.name += "__sum";
  sum.comments = {head.comments[0] + ", its second grid", head.comments[1],
                  fmt::format("{} x {} threads", kernel->sum.blocks, kernel->sum.blockThreads)};
  if (failed(printGrid(*kernel, parts, kernel->isWide, result)) ||
      failed(printGrid(kernel->sum, sum, kernel->isWide, result)))
    return failure();
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

/// What NVRTC takes for the kernel, in thousandths of a second, about.
static int64_t weightOf(const CudaKernelText &kernel) {
  int64_t weight = 30 * static_cast<int64_t>(kernel.grids.size()) +
                   static_cast<int64_t>(kernel.text.size()) / 200;
  StringRef text = kernel.text;
  for (auto [call, own] : {std::pair("multiply_", 50), {"attention_", 250}})
    weight += own * static_cast<int64_t>(text.count(call));
  return weight;
}

CudaParts nap::partCudaText(ArrayRef<CudaKernelText> kernels) {
  // The prelude alone takes about 30. Up to the second a program is one part.
  constexpr int64_t partWeight = 1000, wholeWeight = 3000;
  int64_t total = 0;
  for (const CudaKernelText &kernel : kernels)
    total += weightOf(kernel);
  int64_t most = total > wholeWeight ? partWeight : wholeWeight;
  CudaParts parts;
  do {
    size_t count = 0;
    for (int64_t weight = 0; count < kernels.size() && weight < most; ++count)
      weight += weightOf(kernels[count]);
    parts.partOf.insert(parts.partOf.end(), count, static_cast<int64_t>(parts.texts.size()));
    parts.texts.push_back(joinCudaText(kernels.take_front(count)));
    kernels = kernels.drop_front(count);
  } while (!kernels.empty());
  return parts;
}

std::string nap::joinCudaText(ArrayRef<CudaKernelText> kernels) {
  std::string text = "#include \"napkin.cuh\"\n";
  for (const CudaKernelText &kernel : kernels)
    text += "\n" + kernel.text;
  return text;
}
