// Reads an einsum's pattern as a batched matrix product.
#include "ir/contraction/Contraction.h"

using namespace nap;

int64_t ContractionForm::extentOf(llvm::ArrayRef<ContractionAxis> axes) {
  int64_t extent = 1;
  for (const ContractionAxis &axis : axes)
    extent *= axis.extent;
  return extent;
}

/// Merges neighbours where the outer axis moves, in every tensor, as far as the inner one's whole
/// extent.
static void mergeAxes(llvm::SmallVector<ContractionAxis> &axes) {
  llvm::SmallVector<ContractionAxis> merged;
  for (const ContractionAxis &axis : axes) {
    if (axis.extent == 1)
      continue;
    if (!merged.empty()) {
      ContractionAxis &outer = merged.back();
      if (outer.strideLhs == axis.strideLhs * axis.extent &&
          outer.strideRhs == axis.strideRhs * axis.extent &&
          outer.strideResult == axis.strideResult * axis.extent) {
        outer = {outer.extent * axis.extent, axis.strideLhs, axis.strideRhs, axis.strideResult};
        continue;
      }
    }
    merged.push_back(axis);
  }
  axes = std::move(merged);
}

std::optional<ContractionForm> nap::getContractionForm(EinsumOp einsum) {
  auto init = llvm::dyn_cast_if_present<mlir::BlockArgument>(einsum.getInit());
  if (einsum.getFactors().size() != 2 || (einsum.getInit() && !init))
    return std::nullopt;
  auto [inputs, result] = einsum.getPattern().split("->");
  llvm::StringRef letters[2];
  std::tie(letters[0], letters[1]) = inputs.split(',');
  std::optional<StridedView> views[2];
  for (int side : {0, 1}) {
    views[side] = stridedView(einsum.getFactors()[side]);
    if (!views[side] || !llvm::isa<mlir::BlockArgument>(views[side]->root))
      return std::nullopt;
  }
  auto resultType = llvm::cast<mlir::RankedTensorType>(einsum.getType());

  // The side that holds the result's last free letter gives the columns.
  int columnSide = 1;
  for (char letter : llvm::reverse(result)) {
    bool in0 = letters[0].contains(letter), in1 = letters[1].contains(letter);
    if (in0 && in1)
      continue;
    columnSide = in1 ? 1 : 0;
    break;
  }
  int rowSide = 1 - columnSide;

  ContractionForm form;
  form.init = init;
  form.swapped = rowSide == 1;
  form.lhs = *views[rowSide];
  form.rhs = *views[columnSide];
  form.elementType = resultType.getElementType();
  form.factorType = mlir::getElementTypeOrSelf(einsum.getFactors()[0].getType());

  auto axisOf = [&](char letter) {
    ContractionAxis axis;
    for (int side : {0, 1}) {
      size_t place = letters[side].find(letter);
      if (place == llvm::StringRef::npos)
        continue;
      auto type = llvm::cast<mlir::RankedTensorType>(einsum.getFactors()[side].getType());
      axis.extent = type.getDimSize(place);
      (side == rowSide ? axis.strideLhs : axis.strideRhs) = views[side]->strides[place];
    }
    if (size_t place = result.find(letter); place != llvm::StringRef::npos) {
      axis.strideResult = 1;
      for (int64_t size : resultType.getShape().drop_front(place + 1))
        axis.strideResult *= size;
    }
    return axis;
  };

  for (char letter : result) {
    bool inRows = letters[rowSide].contains(letter), inColumns = letters[columnSide].contains(letter);
    auto &group = inRows && inColumns ? form.batch : inRows ? form.rows : form.columns;
    group.push_back(axisOf(letter));
  }
  for (char letter : letters[0])
    if (!result.contains(letter)) {
      if (!letters[1].contains(letter))
        return std::nullopt;
      form.contracted.push_back(axisOf(letter));
    }
  for (char letter : letters[1])
    if (!result.contains(letter) && !letters[0].contains(letter))
      return std::nullopt;
  for (auto *axes : {&form.batch, &form.rows, &form.columns, &form.contracted})
    mergeAxes(*axes);
  bool sideBySide =
      form.columns.empty() || (form.columns.size() == 1 && form.columns.front().strideResult == 1);
  if (init && !sideBySide)
    return std::nullopt;
  return form;
}
