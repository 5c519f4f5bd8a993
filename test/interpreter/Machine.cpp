// What the interpreter keeps: host tensors, counters, memory traffic.
#include "test/interpreter/Machine.h"

#include "llvm/ADT/APFloat.h"

#include <cmath>

using namespace nap::interpreter;
using llvm::ArrayRef;

double nap::interpreter::roundTo(mlir::Type type, double value) {
  if (type.isF64())
    return value;
  if (type.isF32())
    return static_cast<float>(value);
  llvm::APFloat rounded(value);
  bool losesInfo;
  rounded.convert(llvm::cast<mlir::FloatType>(type).getFloatSemantics(),
                  llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return rounded.convertToDouble();
}

int64_t nap::interpreter::wrapTo(mlir::Type type, int64_t value) {
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits == 1)
    return value & 1;
  return bits == 64 ? value : static_cast<int32_t>(value);
}

int64_t nap::interpreter::flatten(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  int64_t result = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    result = result * shape[axis] + index[axis];
  return result;
}

llvm::SmallVector<int64_t> nap::interpreter::unflatten(int64_t element, ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; element /= shape[axis])
    index[axis] = element % shape[axis];
  return index;
}

Number Machine::read(const Tensor &tensor, int64_t element) {
  Storage &storage = *tensor.storage;
  int64_t place = tensor.place(element);
  if (storage.bits && storage.readIn[place] != scope) {
    storage.readIn[place] = scope;
    counters.readBits += storage.bits;
  }
  if (storage.compute && !storage.isComputed[place]) {
    storage.values[place] = storage.compute(place);
    storage.isComputed[place] = true;
  }
  return storage.values[place];
}

std::vector<Number> Machine::read(const Tensor &tensor) {
  std::vector<Number> values(tensor.size());
  for (int64_t element = 0; element < tensor.size(); ++element)
    values[element] = read(tensor, element);
  return values;
}

Tensor Machine::makeFree(mlir::RankedTensorType type, std::vector<Number> values) {
  auto storage = std::make_shared<Storage>();
  storage->values = std::move(values);
  return {type, std::move(storage), {}};
}

Tensor Machine::makeLazy(mlir::RankedTensorType type, std::function<Number(int64_t)> compute) {
  Tensor tensor = makeFree(type, std::vector<Number>(type.getNumElements()));
  tensor.storage->compute = std::move(compute);
  tensor.storage->isComputed.assign(type.getNumElements(), false);
  return tensor;
}

Tensor Machine::makeStored(mlir::RankedTensorType type, std::vector<Number> values) {
  Tensor tensor = makeFree(type, std::move(values));
  unsigned bits = type.getElementType().getIntOrFloatBitWidth();
  tensor.storage->bits = bits == 1 ? 8 : bits;
  tensor.storage->readIn.assign(tensor.storage->values.size(), 0);
  return tensor;
}

Tensor Machine::make(mlir::RankedTensorType type, std::vector<Number> values) {
  if (insideKernel)
    return makeFree(type, std::move(values));
  Tensor tensor = makeStored(type, std::move(values));
  counters.writtenBits += tensor.size() * tensor.storage->bits;
  return tensor;
}

/// A float rounded to `type`.
static Number real(mlir::Type type, double value) { return {.real = roundTo(type, value)}; }

/// An integer wrapped to `type`.
static Number whole(mlir::Type type, uint64_t value) {
  return {.whole = wrapTo(type, static_cast<int64_t>(value))};
}

Number Arithmetic::add(Number a, Number b, Counter counter) const {
  ++(machine.counters.*counter);
  if (isReal(element))
    return real(element, a.real + b.real);
  return whole(element, static_cast<uint64_t>(a.whole) + static_cast<uint64_t>(b.whole));
}

Number Arithmetic::multiply(Number a, Number b, Counter counter) const {
  ++(machine.counters.*counter);
  if (isReal(element))
    return real(element, a.real * b.real);
  return whole(element, static_cast<uint64_t>(a.whole) * static_cast<uint64_t>(b.whole));
}

Number Arithmetic::multiplyAdd(Number a, Number b, Number c, Counter counter) const {
  machine.counters.*counter += 2;
  if (!isReal(element))
    return whole(element, static_cast<uint64_t>(a.whole) * static_cast<uint64_t>(b.whole) +
                              static_cast<uint64_t>(c.whole));
  if (element.isF64())
    return {.real = std::fma(a.real, b.real, c.real)};
  return real(element, std::fma(static_cast<float>(a.real), static_cast<float>(b.real),
                                static_cast<float>(c.real)));
}

Number Arithmetic::divide(Number a, Number b) const {
  ++machine.counters.vec;
  return real(element, a.real / b.real);
}

Number Arithmetic::extremum(Number a, Number b, bool larger) const {
  ++machine.counters.cmp;
  if (!isReal(element))
    return (a.whole > b.whole) == larger ? a : b;
  if (std::isnan(a.real) || std::isnan(b.real))
    return std::isnan(a.real) ? a : b;
  // Of two zeros the positive one is the larger.
  if (a.real == b.real)
    return std::signbit(a.real) == larger ? b : a;
  return (a.real > b.real) == larger ? a : b;
}

bool Arithmetic::exceeds(Number a, Number b) const {
  ++machine.counters.cmp;
  return isReal(element) ? a.real > b.real : a.whole > b.whole;
}

Number Arithmetic::start(Number a) const {
  return isReal(element) ? Number{.real = 0.0 + a.real} : a;
}

Number Arithmetic::constant(double value) const {
  return isReal(element) ? real(element, value) : whole(element, static_cast<int64_t>(value));
}
