// Rules of constants, ramps and random draws.
#include "ir/Ops.h"
#include "ir/Verify.h"
#include "ir/schedule/DrawWork.h"

using namespace mlir;
using namespace nap;

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

Cost ConstantOp::getCost() { return costOn(getType()); }

LogicalResult IotaOp::verify() {
  if (getType().getRank() == 1)
    return success();
  return emitOpError() << "the result has " << getType().getRank() << " axes, wanted 1"; // C1
}

Cost IotaOp::getCost() { return costOn(getType()); }

/// Random bits count as integer work, up to the number in [0, 1).
static Cost uniformCost(RankedTensorType type) {
  Cost cost = costOn(type);
  Count elements = type.getNumElements();
  cost.integer = (elements + 3) / 4 * kPhiloxBlock + elements * kUniformElement;
  return cost;
}

Cost RandomUniformOp::getCost() { return uniformCost(getType()); }

Cost RandomNormalOp::getCost() {
  Cost cost = uniformCost(getType());
  Count pairs = (getType().getNumElements() + 1) / 2;
  // Both words of a pair are drawn even where only its first element exists.
  cost.integer = (Count(getType().getNumElements()) + 3) / 4 * kPhiloxBlock +
                 pairs * 2 * kUniformElement;
  // 1 - u, -2 log, 2 pi u, and two products with the radius; log, sqrt, cos, sin.
  cost.vec = pairs * 5;
  cost.trn = pairs * 4;
  return cost;
}
