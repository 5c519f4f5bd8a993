// Which kernels are one call of cuBLASLt.
#include "ir/contraction/LibraryProduct.h"

#include "ir/contraction/Epilogue.h"

#include <fmt/format.h>

using namespace mlir;
using namespace nap;

/// How far a step along axes goes, of which there is one at most; 0: there is none.
static int64_t stepOf(ArrayRef<ContractionAxis> axes, int64_t ContractionAxis::*step) {
  return axes.empty() ? 0 : axes.front().*step;
}

/// A matrix of `inner` x `outer` whose inner axis lies together, as the lines that it has; null
/// where it does not, or lines overlap.
static std::optional<int64_t> lineStride(int64_t inner, int64_t innerStep, int64_t outer,
                                         int64_t outerStep) {
  if (inner > 1 && innerStep != 1)
    return std::nullopt;
  if (outer == 1)
    return inner;
  return outerStep >= inner ? std::optional(outerStep) : std::nullopt;
}

/// One side: `lines` are its rows or columns, beside the terms. `isPlain` where the terms lie
/// together on the left, and the lines on the right.
static std::optional<LibraryMatrix> sideOf(const ContractionForm &form, bool isLeft) {
  auto step = isLeft ? &ContractionAxis::strideLhs : &ContractionAxis::strideRhs;
  const StridedView &view = isLeft ? form.lhs : form.rhs;
  ArrayRef<ContractionAxis> lines = isLeft ? form.rows : form.columns;
  int64_t count = ContractionForm::extentOf(lines), terms = form.contractedExtent();
  int64_t lineStep = stepOf(lines, step), termStep = stepOf(form.contracted, step);
  LibraryMatrix matrix;
  matrix.argument = cast<BlockArgument>(view.root).getArgNumber();
  matrix.offset = view.offset;
  matrix.batchStride = stepOf(form.batch, step);
  bool termsTogether = true;
  std::optional<int64_t> stride = lineStride(terms, termStep, count, lineStep);
  if (!stride) {
    termsTogether = false;
    stride = lineStride(count, lineStep, terms, termStep);
  }
  if (!stride || matrix.batchStride < 0)
    return std::nullopt;
  matrix.lineStride = *stride;
  matrix.isPlain = termsTogether == isLeft;
  return matrix;
}

/// What a kernel adds to its product and does no more: an argument of the result's type, f32, so
/// that the sum is rounded once, as a sum that goes on is. Null where it is not that.
static BlockArgument addedTo(EinsumOp product, Value result) {
  auto add = result.getDefiningOp<AddOp>();
  if (!add || !product.getType().getElementType().isF32() || result.getType() != product.getType())
    return {};
  Value left = add->getOperand(0), right = add->getOperand(1), sum = product.getResult();
  Value other = left == sum ? right : right == sum ? left : Value();
  return dyn_cast_if_present<BlockArgument>(other);
}

std::optional<LibraryProduct> nap::getLibraryProduct(Block &region, std::string *why) {
  auto no = [&](const char *reason) -> std::optional<LibraryProduct> {
    if (why)
      *why = reason;
    return std::nullopt;
  };
  std::optional<CudaProduct> found = getCudaProduct(region);
  if (!found)
    return no("it is no product of two matrices of bf16 or f32");
  OperandRange results = region.getTerminator()->getOperands();
  const ContractionForm &form = found->form;
  BlockArgument init = form.init;
  if (results.size() == 1 && !init)
    init = addedTo(found->product, results[0]);
  bool isWhole =
      results.size() == 1 && (results[0] == found->product.getResult() || (init && !form.init));
  if (!isWhole)
    return no("more follows from the product");
  constexpr int64_t most = INT32_MAX;
  for (const auto *axes : {&form.batch, &form.rows, &form.columns, &form.contracted})
    if (axes->size() > 1 || ContractionForm::extentOf(*axes) > most)
      return no("its axes are not those of matrices");
  if (form.factorType.isF16())
    return no("its factors are f16, which our own tiles multiply");
  Type element = form.elementType;
  if (!element.isF32() && !(element.isBF16() && form.factorType.isBF16()))
    return no("its result is of another type");
  if (init && cast<RankedTensorType>(init.getType()).getElementType() != element)
    return no("what it goes on from is of another type");
  LibraryProduct call;
  call.product = found->product;
  call.sizes = found->sizes();
  call.unit = found->tiling.unit;
  std::optional<LibraryMatrix> left = sideOf(form, /*isLeft=*/true),
                               right = sideOf(form, /*isLeft=*/false);
  constexpr auto step = &ContractionAxis::strideResult;
  std::optional<int64_t> stride = lineStride(call.sizes.columns, stepOf(form.columns, step),
                                             call.sizes.rows, stepOf(form.rows, step));
  if (!left || !right || !stride)
    return no("its tensors do not lie as matrices");
  call.left = *left;
  call.right = *right;
  call.resultStride = *stride;
  call.resultBatchStride = stepOf(form.batch, step);
  if (init)
    call.init = init.getArgNumber();
  return call;
}

std::optional<LibraryProduct> nap::getChosenLibraryProduct(Block &region) {
  auto module = region.getParentOp()->getParentOfType<ModuleOp>();
  auto chosen = module ? module->getAttrOfType<StringAttr>(kProductsAttr) : StringAttr();
  if (!chosen || chosen.getValue() != kCublasLt)
    return std::nullopt;
  return getLibraryProduct(region);
}

std::string LibraryProduct::describe() const {
  auto nameOf = [](Type type) { return type.isBF16() ? "bf16" : "f32"; };
  Type factor = getElementTypeOrSelf(EinsumOp(product).getFactors()[0].getType());
  std::string text;
  if (sizes.batches > 1)
    text = fmt::format("{} of ", sizes.batches);
  text += fmt::format("{} x {} by {} x {} of {}{} to {}", sizes.rows, sizes.depth, sizes.depth,
                      sizes.columns, nameOf(factor), unit == CudaUnit::tf32 ? " as tf32" : "",
                      nameOf(EinsumOp(product).getType().getElementType()));
  if (!left.isPlain || !right.isPlain)
    text += fmt::format(", {} transposed", !left.isPlain && !right.isPlain ? "both sides"
                                           : left.isPlain                  ? "the right side"
                                                                           : "the left side");
  if (init)
    text += fmt::format(", added to in_{}", *init);
  return text;
}
