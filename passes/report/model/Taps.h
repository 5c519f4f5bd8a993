// What of a convolution's products reads or writes padding.
#pragma once

#include "ir/Ops.h"

namespace nap {

/// Of the additions and multiplications of a product of two operands, `EinsumOp::getCost().mm`,
/// those of taps inside of the image. A tap is a place of a window and an offset in it; it is
/// outside where an operand reads there what nap.pad put around the image or between its elements,
/// or where the result is added (nap.fold) to an element that a slice, the adjoint of nap.pad, cuts
/// off. Windows are found behind permutations, casts, and reshapes that leave their axes alone;
/// taps of others all count.
Count tapsInBounds(EinsumOp product);

/// Places p in [0, places) and offsets o in [0, offsets) of which p * stride + o * dilation - low
/// is one of 0, step, 2 step, ..., (size - 1) step: how many pairs.
int64_t countTaps(int64_t places, int64_t stride, int64_t offsets, int64_t dilation, int64_t low,
                  int64_t step, int64_t size);

} // namespace nap
