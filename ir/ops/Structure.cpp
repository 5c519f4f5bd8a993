// Rules of declarations, averages and kernels.
#include "ir/ops/Build.h"
#include "ir/Verify.h"

using namespace mlir;
using namespace nap;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

// nap.declare

LogicalResult DeclareOp::verify() {
  bool belongs = getRole() == Role::state || getRole() == Role::gradient ||
                 getRole() == Role::working;
  if (belongs != getOf().has_value()) // C1
    return emitOpError() << "a " << stringifyRole(getRole()) << " "
                         << (belongs ? "names the parameter that it belongs to: of @parameter"
                                     : "belongs to no parameter, found of @" + getOf()->str());
  RankedTensorType type = getTensorType();
  if (getRole() == Role::scalar && type.getRank() != 0) // C2
    return emitOpError() << "a scalar has no axes, found " << type;
  if (getRole() != Role::scalar && getValue()) // C2
    return emitOpError() << "only a scalar has a value, this is a " << stringifyRole(getRole());
  bool isKey = type.getShape() == ArrayRef<int64_t>{4} && type.getElementType().isInteger(32);
  if (getRole() == Role::random && !isKey) // C3
    return emitOpError() << "random is tensor<4xi32>, found " << type;
  if (getAxes() && static_cast<int64_t>(getAxes()->size()) != type.getRank()) // C4
    return emitOpError() << "has " << getAxes()->size() << " names for " << type.getRank()
                         << " axes";
  return success();
}

// nap.average

LogicalResult AverageOp::verify() {
  if (getType().getRank() != 0) // C1
    return emitOpError() << "averages numbers without axes, found " << getType();
  return success();
}

Cost AverageOp::getCost() { return arithmetic(getType(), 1); }

void AverageOp::buildAdjoint(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                             SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents.assign(2, nullptr);
  if (needed[0] && cotangents[0])
    operandCotangents[0] =
        AverageOp::create(builder, getLoc(), getType(), cotangents[0], getCount(), getIndex());
}

// nap.kernel, nap.kernel_def and nap.launch

/// Whether `op` may stand in a pointwise kernel, or around another kernel's main op.
static bool isPointwise(Operation *op) {
  return isa<Fusable>(op) ||
         isa<ReshapeOp, PermuteOp, BroadcastOp, SliceOp, DiagonalOp, WindowOp, ConstantOp, IotaOp,
             RandomUniformOp, RandomNormalOp, EmbedOp, TakeAlongOp, ConcatOp, PadOp, AverageOp>(op);
}

/// Whether `op` is what a kernel of class `kind` has one of (a reduction: one or more).
static bool isMainOp(KernelClass kind, Operation *op) {
  switch (kind) {
  case KernelClass::pointwise:
    return false;
  case KernelClass::reduction:
    return isa<ReduceOp>(op);
  case KernelClass::contraction:
    return isa<EinsumOp>(op) && cast<EinsumOp>(op).getFactors().size() == 2;
  case KernelClass::scatter:
    return isa<ScatterAddOp, PutAlongOp, FoldOp>(op);
  case KernelClass::row:
    return isa<ArgmaxOp, TopKOp, CumsumOp>(op);
  case KernelClass::attention:
    return isa<AttentionOp, AttentionBackwardOp>(op);
  }
  return false;
}

/// Whether `shape` has one element for each row that some leading axes of `space` make.
static bool areRowsOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> space) {
  int64_t elements = ShapedType::getNumElements(shape), rows = 1;
  for (int64_t extent : space)
    rows *= rows < elements ? extent : 1;
  return elements > 1 && rows == elements;
}

/// Fails unless the region ends in a yield, fits its class and can be counted. C2, C3 and C4 of
/// nap.kernel.
static LogicalResult checkKernelBody(Operation *op, KernelClass kind, Block &body) {
  auto yield = body.empty() ? YieldOp() : dyn_cast<YieldOp>(body.back());
  if (!yield)
    return op->emitOpError() << "the region does not end in nap.yield";
  int64_t mains = 0;
  for (Operation &inner : body.without_terminator()) {
    if (!isa<Costed>(inner))
      return inner.emitOpError() << "has no cost rule, so the kernel's work cannot be counted; give it "
                                    "getCost";
    if (isMainOp(kind, &inner)) {
      ++mains;
      continue;
    }
    if (!isPointwise(&inner))
      return op->emitOpError() << "a " << stringifyKernelClass(kind) << " kernel cannot hold "
                               << inner.getName();
  }
  int64_t wanted = kind == KernelClass::pointwise ? 0 : 1;
  bool areMore = kind == KernelClass::reduction && mains > wanted;
  if (mains != wanted && !areMore)
    return op->emitOpError() << "a " << stringifyKernelClass(kind) << " kernel has " << mains
                             << " ops of its class, wanted " << wanted;
  if (kind != KernelClass::pointwise)
    return success();
  ArrayRef<int64_t> space = tensorType(yield.getValues()[0]).getShape();
  for (Value value : yield.getValues())
    if (ShapedType::getNumElements(space) < tensorType(value).getNumElements())
      space = tensorType(value).getShape();
  for (Value value : yield.getValues())
    if (auto shape = tensorType(value).getShape(); shape != space && !areRowsOf(shape, space))
      return op->emitOpError() << "results of a pointwise kernel have one shape, or one element for each of "
                                  "its rows; found "
                               << shapeText(space) << " beside " << shapeText(shape);
  return success();
}

LogicalResult KernelOp::verify() {
  Block &body = getBody().front();
  if (!llvm::equal(body.getArgumentTypes(), getInputs().getTypes())) // C1
    return emitOpError() << "the region's arguments differ from the inputs' types";
  if (failed(checkKernelBody(*this, getKernelClass(), body))) // C2, C3
    return failure();
  if (!llvm::equal(body.getTerminator()->getOperandTypes(), getOutputs().getTypes())) // C2
    return emitOpError() << "the yielded types differ from the outputs' types";
  return success();
}

LogicalResult KernelDefOp::verify() {
  Block &body = getBody().front();
  if (failed(checkKernelBody(*this, getKernelClass(), body)))
    return failure();
  auto sites = (*this)->getAttrOfType<IntegerAttr>("nap.sites");
  for (Operation &op : body)
    if (auto site = op.getAttrOfType<IntegerAttr>("site"))
      if (sites && (site.getInt() < 0 || site.getInt() >= sites.getInt())) // C1
        return op.emitOpError() << "draws at site " << site.getInt() << " of a kernel with " << sites.getInt()
                                << "; number its sites from 0";
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<KernelDefOp>(*this, getKernelAttr());
  if (!kernel) // C1
    return emitOpError() << "there is no kernel_def @" << getKernel();
  Block &body = kernel.getBody().front();
  if (!llvm::equal(body.getArgumentTypes(), getInputs().getTypes()) ||
      !llvm::equal(body.getTerminator()->getOperandTypes(), getOutputs().getTypes())) // C2
    return emitOpError() << "the types differ from those of @" << getKernel();
  auto given = (*this)->getAttrOfType<DenseI64ArrayAttr>("nap.sites");
  auto wanted = kernel->getAttrOfType<IntegerAttr>("nap.sites");
  int64_t found = given ? given.size() : 0, count = wanted ? wanted.getInt() : 0;
  if (found != count) // C3
    return emitOpError() << "has " << found << " sites, and @" << getKernel() << " draws at " << count
                         << "; write them in nap.sites";
  return success();
}
