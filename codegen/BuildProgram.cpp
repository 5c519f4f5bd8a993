// Writes the runtime's Program from a planned module: copies, decides nothing.
#include "codegen/BuildProgram.h"
#include "codegen/Object.h"

#include "ir/Ops.h"
#include "ir/Views.h"
#include "ir/schedule/Entries.h"
#include "ir/schedule/StatedCost.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

#include <set>

using namespace mlir;
using namespace nap;
namespace rt = napkin::runtime;

//===--------------------------------------------------------------------------------------------===//
// Lines
//===--------------------------------------------------------------------------------------------===//

using Lines = std::set<std::pair<std::string, unsigned>>;

/// Collects the places in model files that a location stands for; of a call, the caller's.
static void collectLines(Location location, Lines &lines) {
  if (auto place = dyn_cast<FileLineColLoc>(location)) {
    if (place.getLine() > 0)
      lines.insert(
          {llvm::sys::path::filename(place.getFilename().getValue()).str(), place.getLine()});
  } else if (auto named = dyn_cast<NameLoc>(location)) {
    collectLines(named.getChildLoc(), lines);
  } else if (auto call = dyn_cast<CallSiteLoc>(location)) {
    collectLines(call.getCaller(), lines);
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations())
      collectLines(part, lines);
  }
}

std::string nap::describeLocation(Location location) {
  Lines lines;
  collectLines(location, lines);
  std::string text, file;
  for (const auto &[name, line] : lines) {
    if (name == file) {
      text += "," + std::to_string(line);
    } else {
      text += (text.empty() ? "" : " ") + name + ":" + std::to_string(line);
      file = name;
    }
  }
  return text;
}

//===--------------------------------------------------------------------------------------------===//
// Tensors
//===--------------------------------------------------------------------------------------------===//

static rt::DType dtypeOf(Type type) {
  if (type.isF64())
    return rt::DType::f64;
  if (type.isF16())
    return rt::DType::f16;
  if (type.isBF16())
    return rt::DType::bf16;
  if (isa<Float8E4M3FNType>(type))
    return rt::DType::f8e4m3;
  if (isa<Float8E5M2Type>(type))
    return rt::DType::f8e5m2;
  if (isa<Float4E2M1FNType>(type))
    return rt::DType::f4e2m1;
  if (type.isInteger(64))
    return rt::DType::i64;
  if (type.isInteger(32))
    return rt::DType::i32;
  if (type.isInteger(1))
    return rt::DType::boolean;
  return rt::DType::f32;
}

static rt::Role roleOf(Role role) {
  switch (role) {
  case Role::parameter:
    return rt::Role::parameter;
  case Role::buffer:
    return rt::Role::buffer;
  case Role::state:
    return rt::Role::state;
  case Role::gradient:
    return rt::Role::gradient;
  case Role::input:
    return rt::Role::input;
  case Role::scalar:
    return rt::Role::scalar;
  case Role::random:
    return rt::Role::random;
  case Role::working:
    return rt::Role::working;
  }
  return rt::Role::temporary;
}

static rt::MemoryClass memoryClassOf(Role role) {
  switch (role) {
  case Role::parameter:
    return rt::MemoryClass::parameters;
  case Role::buffer:
    return rt::MemoryClass::buffers;
  case Role::state:
    return rt::MemoryClass::states;
  case Role::gradient:
    return rt::MemoryClass::gradients;
  case Role::working:
    return rt::MemoryClass::working;
  case Role::input:
    return rt::MemoryClass::inputs;
  case Role::scalar:
  case Role::random:
    return rt::MemoryClass::scalars;
  }
  return rt::MemoryClass::temporary;
}

static rt::TensorInfo makeTensor(std::string name, RankedTensorType type, Location location) {
  rt::TensorInfo tensor;
  tensor.name = std::move(name);
  tensor.dtype = dtypeOf(type.getElementType());
  tensor.shape.assign(type.getShape().begin(), type.getShape().end());
  tensor.bytes = rt::bytesOf(tensor.dtype, tensor.shape);
  tensor.where = describeLocation(location);
  return tensor;
}

/// `nap.load`, as the frontend wrote it.
static rt::InitialSource sourceOf(DictionaryAttr load) {
  rt::InitialSource source;
  for (auto name : load.getAs<ArrayAttr>("theirs").getAsRange<StringAttr>())
    source.names.push_back(name.str());
  auto copy = [&](StringRef name, std::vector<int64_t> &out) {
    if (auto sizes = load.getAs<DenseI64ArrayAttr>(name))
      out.assign(sizes.asArrayRef().begin(), sizes.asArrayRef().end());
  };
  copy("shape", source.shape);
  copy("split", source.split);
  copy("order", source.order);
  return source;
}

/// Bytes that a call of the library may use beside its tensors: what NVIDIA advises for its largest
/// GPUs ("cuBLAS", "cublasSetWorkspace").
static constexpr int64_t kLibraryWorkspace = int64_t(32) << 20;

rt::LibraryProduct nap::libraryCallOf(const LibraryProduct &product) {
  auto matrix = [](const LibraryMatrix &own) {
    return rt::LibraryProduct::Matrix{own.offset, own.lineStride, own.batchStride, !own.isPlain};
  };
  rt::LibraryProduct call;
  call.batches = product.sizes.batches;
  call.rows = product.sizes.rows;
  call.columns = product.sizes.columns;
  call.depth = product.sizes.depth;
  call.left = product.left.argument;
  call.right = product.right.argument;
  if (product.init)
    call.init = *product.init;
  call.leftMatrix = matrix(product.left);
  call.rightMatrix = matrix(product.right);
  call.resultMatrix = {0, product.resultStride, product.resultBatchStride, false};
  EinsumOp einsum = product.product;
  call.factors = dtypeOf(getElementTypeOrSelf(einsum.getFactors()[0].getType()));
  call.result = dtypeOf(einsum.getType().getElementType());
  call.roundsToTf32 = product.unit == CudaUnit::tf32;
  call.workspaceBytes = kLibraryWorkspace;
  return call;
}

namespace {

/// Builds one program.
class ProgramBuilder {
public:
  ProgramBuilder(ModuleOp module, std::string target) : module(module), symbols(module) {
    program.target = std::move(target);
  }
  FailureOr<rt::Program> build();

private:
  void copyModuleAttributes();
  LogicalResult addDeclarations();
  LogicalResult addKernels();
  LogicalResult addFunction(func::FuncOp func);
  FailureOr<int64_t> tensorOfArgument(func::FuncOp func, unsigned index);
  LogicalResult addAlias(Operation *op, llvm::StringRef function,
                         llvm::DenseMap<Value, int64_t> &tensors);

  ModuleOp module;
  SymbolTable symbols;
  rt::Program program;
  llvm::StringMap<int64_t> declared, gradientOf, kernels;
};

void ProgramBuilder::copyModuleAttributes() {
  auto integer = [&](StringRef name, int64_t otherwise) {
    auto attr = module->getAttrOfType<IntegerAttr>(name);
    return attr ? attr.getInt() : otherwise;
  };
  if (auto name = module->getAttrOfType<StringAttr>("nap.model"))
    program.model = name.str();
  if (auto policy = module->getAttrOfType<StringAttr>("nap.policy"))
    program.policy = policy.str();
  program.accumulate = integer("nap.accumulate", 1);
  program.plannedSteps = integer("nap.steps", 1);
  program.defaultSeed = integer("nap.seed", 0);
  program.arenaBytes = integer("nap.arena_bytes", 0);
  program.memoryBudget = integer("nap.memory_budget", 0);
  if (auto flops = module->getAttrOfType<FloatAttr>("nap.model_flops"))
    program.modelFlopsPerStep = flops.getValueAsDouble();
  if (auto products = module->getAttrOfType<DictionaryAttr>("nap.product_flops"))
    for (NamedAttribute entry : products)
      if (auto type = rt::dtypeNamed(entry.getName().str()))
        program.productFlops.emplace_back(*type,
                                          cast<FloatAttr>(entry.getValue()).getValueAsDouble());
  // "d=64": what compiling fixed, so that an executable can refuse to set it.
  if (auto fixed = module->getAttrOfType<ArrayAttr>("nap.fixed"))
    for (auto choice : fixed.getAsRange<StringAttr>()) {
      auto [name, value] = choice.getValue().split('=');
      program.fixedChoices.emplace_back(name.str(), value.str());
    }
}

LogicalResult ProgramBuilder::addDeclarations() {
  for (auto declare : module.getOps<DeclareOp>()) {
    rt::TensorInfo tensor =
        makeTensor(declare.getSymName().str(), declare.getTensorType(), declare.getLoc());
    auto offset = declare->getAttrOfType<IntegerAttr>("nap.offset");
    if (!offset)
      return declare.emitOpError("has no place in memory; run nap-plan-memory");
    tensor.role = roleOf(declare.getRole());
    tensor.memoryClass = memoryClassOf(declare.getRole());
    tensor.offset = offset.getInt();
    if (auto owner = declare.getOf())
      tensor.owner = owner->str();
    if (auto axes = declare.getAxes())
      for (Attribute axis : *axes)
        tensor.axes.push_back(cast<StringAttr>(axis).str());
    if (auto value = declare.getValue())
      tensor.value = value->convertToDouble();
    tensor.settable = declare->hasAttr("nap.settable");
    if (auto limit = declare->getAttrOfType<IntegerAttr>("nap.id_limit"))
      tensor.idLimit = limit.getInt();
    if (auto ignored = declare->getAttrOfType<IntegerAttr>("nap.id_ignored"))
      tensor.idIgnored = ignored.getInt();
    if (auto load = declare->getAttrOfType<DictionaryAttr>("nap.load"))
      tensor.load = sourceOf(load);
    declared[declare.getSymName()] = program.tensors.size();
    if (tensor.role == rt::Role::gradient)
      gradientOf.try_emplace(tensor.owner, program.tensors.size());
    program.tensors.push_back(std::move(tensor));
  }
  return success();
}

/// True where every result is a constant whose bytes are all 0.
static bool writesZeros(KernelDefOp kernel) {
  Operation *yield = kernel.getBody().front().getTerminator();
  return llvm::all_of(yield->getOperands(), [](Value result) {
    return matchPattern(result, m_PosZeroFloat()) || matchPattern(result, m_Zero());
  });
}

LogicalResult ProgramBuilder::addKernels() {
  for (auto kernel : module.getOps<KernelDefOp>()) {
    auto schedule = kernel->getAttrOfType<DictionaryAttr>("nap.schedule");
    if (!schedule)
      return kernel.emitOpError("has no schedule; run nap-choose-schedules");
    rt::KernelInfo info;
    info.name = kernel.getSymName().str();
    info.symbol = symbolOfKernel(info.name);
    info.kind = stringifyKernelClass(kernel.getKernelClass()).str();
    info.scratchBytesPerWorker = scheduleEntry(schedule, "scratch");
    if (auto unit = schedule.getAs<StringAttr>("unit"))
      program.tileRegisters |= unit.getValue() == "amx";
    program.scratchBytesPerWorker =
        std::max(program.scratchBytesPerWorker, info.scratchBytesPerWorker);
    if (auto sites = kernel->getAttrOfType<IntegerAttr>("nap.sites"))
      info.sites = sites.getInt();
    info.zeros = writesZeros(kernel);
    if (auto product = getChosenLibraryProduct(kernel.getBody().front()))
      info.product = libraryCallOf(*product);
    kernels[info.name] = program.kernels.size();
    program.kernels.push_back(std::move(info));
  }
  program.scratchBytesPerWorker = (program.scratchBytesPerWorker + rt::arenaAlignment - 1) /
                                  rt::arenaAlignment * rt::arenaAlignment;
  return success();
}

FailureOr<int64_t> ProgramBuilder::tensorOfArgument(func::FuncOp func, unsigned index) {
  auto of = func.getArgAttrOfType<FlatSymbolRefAttr>(index, kOfAttr);
  auto found = of ? declared.find(of.getValue()) : declared.end();
  if (found != declared.end())
    return found->second;
  // An accumulated gradient is declared; its argument names the parameter.
  if (auto parameter = func.getArgAttrOfType<FlatSymbolRefAttr>(index, kGradientOfAttr))
    if (auto gradient = gradientOf.find(parameter.getValue()); gradient != gradientOf.end())
      return gradient->second;
  return func.emitOpError() << "argument " << index << " names no declaration";
}

/// What lies in another tensor, rows of it or a part of a join, as that tensor.
static Value wholeOf(Value value) {
  for (Operation *reader : value.getUsers())
    if (isa<ConcatOp>(reader))
      return wholeOf(reader->getResult(0));
  Operation *maker = value.getDefiningOp();
  return maker && isView(maker) ? wholeOf(maker->getOperand(0)) : value;
}

/// The tensors among a launch's arguments and results whose bytes nobody reads afterwards.
static void addDeaths(LaunchOp launch, const llvm::DenseMap<Value, int64_t> &tensors,
                      rt::Launch &record) {
  auto dies = launch->getAttrOfType<DenseI64ArrayAttr>("nap.dies");
  if (!dies)
    return;
  size_t inputs = launch.getInputs().size();
  for (size_t place : dies.asArrayRef()) {
    Value dead = place < inputs ? launch.getInputs()[place] : launch.getOutputs()[place - inputs];
    int64_t tensor = tensors.lookup(wholeOf(dead));
    if (!llvm::is_contained(record.dies, tensor))
      record.dies.push_back(tensor);
  }
}

// The runtime finds it as it finds a tensor of its own.
static_assert(kAliasAlignment == rt::arenaAlignment);

/// Adds a tensor that lies in others: rows of one, or a join.
LogicalResult ProgramBuilder::addAlias(Operation *op, llvm::StringRef function,
                                       llvm::DenseMap<Value, int64_t> &tensors) {
  auto offset = op->getAttrOfType<IntegerAttr>("nap.offset");
  if (!offset || op->getNumResults() != 1)
    return op->emitOpError(
        "is neither a launch nor has a place in memory; run nap-plan-memory and nap-outline");
  Value value = op->getResult(0);
  rt::TensorInfo tensor = makeTensor((function + "." + op->getName().stripDialect()).str(),
                                     cast<RankedTensorType>(value.getType()), op->getLoc());
  tensor.offset = offset.getInt();
  tensors[value] = program.tensors.size();
  program.tensors.push_back(std::move(tensor));
  return success();
}

LogicalResult ProgramBuilder::addFunction(func::FuncOp func) {
  rt::Function function;
  // In the IR, @step is the scalar that counts updates.
  function.name = func.getName() == "train_step" ? "step" : func.getName().str();
  llvm::DenseMap<Value, int64_t> tensors;
  for (BlockArgument argument : func.getArguments()) {
    auto tensor = tensorOfArgument(func, argument.getArgNumber());
    if (failed(tensor))
      return failure();
    tensors[argument] = *tensor;
  }
  for (Operation &op : func.front().without_terminator()) {
    auto launch = dyn_cast<LaunchOp>(op);
    if (!launch) {
      if (failed(addAlias(&op, function.name, tensors)))
        return failure();
      continue;
    }
    auto offsets = launch->getAttrOfType<DenseI64ArrayAttr>("nap.offsets");
    if (!offsets || offsets.size() != launch.getNumResults())
      return launch.emitOpError("has no places for its results; run nap-plan-memory");
    auto kernel = symbols.lookup<KernelDefOp>(launch.getKernel());
    rt::Launch record;
    record.kernel = kernels.lookup(launch.getKernel());
    record.where = describeLocation(launch.getLoc());
    record.tasks = scheduleEntry(kernel->getAttrOfType<DictionaryAttr>("nap.schedule"), "tasks", 1);
    if (auto sites = launch->getAttrOfType<DenseI64ArrayAttr>("nap.sites"))
      record.sites.assign(sites.asArrayRef().begin(), sites.asArrayRef().end());
    for (Value input : launch.getInputs()) {
      record.arguments.push_back(tensors.lookup(input));
      record.bytes += program.tensors[tensors.lookup(input)].bytes;
    }
    for (auto [i, output] : llvm::enumerate(launch.getOutputs())) {
      std::string name = function.name + "." + launch.getKernel().str();
      if (launch.getNumResults() > 1)
        name += "#" + std::to_string(i);
      rt::TensorInfo tensor =
          makeTensor(std::move(name), cast<RankedTensorType>(output.getType()), launch.getLoc());
      tensor.offset = offsets[i];
      record.bytes += tensor.bytes;
      tensors[output] = program.tensors.size();
      record.results.push_back(program.tensors.size());
      program.tensors.push_back(std::move(tensor));
    }
    if (auto bytes = launch->getAttrOfType<FloatAttr>("nap.bytes_min"))
      record.bytes = bytes.getValueAsDouble();
    record.flops = statedOperations(launch);
    record.products = statedCounter(launch, "mm");
    record.functions = statedCounter(launch, "trn");
    record.integers = statedCounter(launch, "integer");
    function.launches.push_back(std::move(record));
  }
  // A join has its place only after its parts.
  for (auto [launch, record] : llvm::zip_equal(func.getOps<LaunchOp>(), function.launches))
    addDeaths(launch, tensors, record);
  Operation *terminator = func.front().getTerminator();
  for (auto [i, value] : llvm::enumerate(terminator->getOperands()))
    if (auto name = func.getResultAttrOfType<StringAttr>(i, kResultAttr))
      function.results[name.str()] = tensors.lookup(value);
  program.functions.push_back(std::move(function));
  return success();
}

FailureOr<rt::Program> ProgramBuilder::build() {
  copyModuleAttributes();
  if (failed(addDeclarations()) || failed(addKernels()))
    return failure();
  for (auto func : module.getOps<func::FuncOp>())
    if (failed(addFunction(func)))
      return failure();
  return std::move(program);
}

} // namespace

FailureOr<rt::Program> nap::buildProgram(ModuleOp module, std::string target) {
  return ProgramBuilder(module, std::move(target)).build();
}
