// Philox4x32-10 (Salmon et al., SC 2011) on scalars or vectors.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

#include <array>
#include <cmath>

namespace nap {

/// A number of a type of integers, or in each lane of a vector of them.
inline mlir::Value buildWord(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type,
                             uint64_t value) {
  using namespace mlir;
  Type element = getElementTypeOrSelf(type);
  TypedAttr number = b.getIntegerAttr(element, APInt(element.getIntOrFloatBitWidth(), value));
  if (auto vector = llvm::dyn_cast<VectorType>(type))
    number = DenseElementsAttr::get(vector, Attribute(number));
  return arith::ConstantOp::create(b, loc, number);
}

/// The four words for one counter and key: i32, or vectors of i32 of one length.
inline std::array<mlir::Value, 4> buildPhilox(mlir::OpBuilder &b, mlir::Location loc,
                                              std::array<mlir::Value, 4> counter,
                                              std::array<mlir::Value, 2> key) {
  using namespace mlir;
  Type type = counter[0].getType();
  auto constant = [&](uint32_t value) { return buildWord(b, loc, type, value); };
  auto mix = [&](Value x, Value y) -> Value { return arith::XOrIOp::create(b, loc, x, y); };
  Value factor0 = constant(0xD2511F53), factor1 = constant(0xCD9E8D57);
  Value step0 = constant(0x9E3779B9), step1 = constant(0xBB67AE85);
  for (int round = 0; round < 10; ++round) {
    if (round > 0) {
      key[0] = arith::AddIOp::create(b, loc, key[0], step0);
      key[1] = arith::AddIOp::create(b, loc, key[1], step1);
    }
    auto product0 = arith::MulUIExtendedOp::create(b, loc, counter[0], factor0);
    auto product1 = arith::MulUIExtendedOp::create(b, loc, counter[2], factor1);
    counter = {mix(mix(product1.getHigh(), counter[1]), key[0]), product1.getLow(),
               mix(mix(product0.getHigh(), counter[3]), key[1]), product0.getLow()};
  }
  return counter;
}

/// The least word w whose uniform number, (w >> 8) times 2^-24, is at least `rate`, which is below 1.
inline int64_t leastWord(double rate) { return int64_t(std::ceil(rate * 0x1p24)) << 8; }

/// The four words for a group of four elements: `group` is an i64, `keys` are the random key's
/// words, `site` the draw's (ir/ops/Create.td); all scalars, or all vectors of one length.
inline std::array<mlir::Value, 4> buildDraw(mlir::OpBuilder &b, mlir::Location loc,
                                            mlir::Value group, std::array<mlir::Value, 4> keys,
                                            mlir::Value site) {
  using namespace mlir;
  Type words = site.getType();
  auto constant = [&](Type type, uint64_t value) { return buildWord(b, loc, type, value); };
  Value low = arith::TruncIOp::create(b, loc, words, group);
  Value shifted = arith::ShRUIOp::create(b, loc, group, constant(group.getType(), 32));
  Value high = arith::TruncIOp::create(b, loc, words, shifted);
  Value second = arith::OrIOp::create(
      b, loc, arith::AndIOp::create(b, loc, high, constant(words, 0xFFFF)),
      arith::ShLIOp::create(b, loc, keys[3], constant(words, 16)));
  return buildPhilox(b, loc, {low, second, keys[2], site}, {keys[0], keys[1]});
}

} // namespace nap
