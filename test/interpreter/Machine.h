// What the interpreter keeps: host tensors, counters, memory traffic.
#pragma once

#include "ir/Ops.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace nap::interpreter {

/// One element: floats as the double of the same value, integers and bools whole.
union Number {
  double real;
  int64_t whole;
};

/// Whether elements of `type` are kept in Number::real.
inline bool isReal(mlir::Type type) { return llvm::isa<mlir::FloatType>(type); }

/// Elements that exist in memory, or (`bits` 0) inside a kernel only.
struct Storage {
  std::vector<Number> values;
  /// What reading or writing one element moves.
  unsigned bits = 0;
  /// By element: the scope that last read it.
  std::vector<uint64_t> readIn;
  /// What an element is that nobody has read yet; null: all are in `values`.
  std::function<Number(int64_t)> compute;
  /// By element: whether it has been computed.
  std::vector<bool> isComputed;
};

/// A tensor on the host: a storage, and where its elements stand there.
struct Tensor {
  mlir::RankedTensorType type;
  std::shared_ptr<Storage> storage;
  /// By element in row-major order: its place in the storage; empty where that is its own number.
  std::vector<int64_t> places;

  int64_t size() const { return type.getNumElements(); }
  int64_t place(int64_t element) const { return places.empty() ? element : places[element]; }
  Number at(int64_t element) const { return storage->values[place(element)]; }
};

/// What has been executed, by kind of operation (docs/accounting.md).
struct Counters {
  int64_t mm = 0, vec = 0, trn = 0, cmp = 0, cvt = 0, integer = 0;
  /// Bits of distinct elements read, and of elements written, op by op or kernel by kernel.
  int64_t readBits = 0, writtenBits = 0;
};

/// A member of Counters.
using Counter = int64_t Counters::*;

/// The state of a run.
class Machine {
public:
  Counters counters;

  /// From here on, an element counts as read once.
  void enterScope() { ++scope; }
  /// Reads one element.
  Number read(const Tensor &tensor, int64_t element);
  /// Reads all elements, in row-major order.
  std::vector<Number> read(const Tensor &tensor);
  /// A tensor of `values` that an op made: written to memory unless inside a kernel.
  Tensor make(mlir::RankedTensorType type, std::vector<Number> values);
  /// A tensor that nobody pays for: a splat constant, or what a kernel computes on the way.
  static Tensor makeFree(mlir::RankedTensorType type, std::vector<Number> values);
  /// A tensor inside a kernel, each of whose elements is computed when it is first read, if ever.
  static Tensor makeLazy(mlir::RankedTensorType type, std::function<Number(int64_t)> compute);
  /// A tensor that exists in memory before the run.
  static Tensor makeStored(mlir::RankedTensorType type, std::vector<Number> values);

  /// Whether results are kept inside a kernel.
  bool insideKernel = false;
  /// The sites of the launch being executed; null: they stand in the draws.
  mlir::DenseI64ArrayAttr sites;

private:
  uint64_t scope = 0;
};

/// Adds, multiplies and compares elements of one type, rounds to it, and counts.
class Arithmetic {
public:
  Arithmetic(Machine &machine, mlir::Type element) : machine(machine), element(element) {}

  /// a + b, counted.
  Number add(Number a, Number b, Counter counter = &Counters::vec) const;
  /// a * b, counted.
  Number multiply(Number a, Number b, Counter counter = &Counters::vec) const;
  /// a * b + c, rounded once, counted as two.
  Number multiplyAdd(Number a, Number b, Number c, Counter counter = &Counters::mm) const;
  /// a / b, counted.
  Number divide(Number a, Number b) const;
  /// The larger, or the smaller; a NaN wins. Counted.
  Number extremum(Number a, Number b, bool larger) const;
  /// Whether a > b, counted.
  bool exceeds(Number a, Number b) const;
  /// 0 + a, not counted: where a sum starts.
  Number start(Number a) const;
  /// `value` as an element.
  Number constant(double value) const;

private:
  Machine &machine;
  mlir::Type element;
};

/// `value` rounded to the float type `type`.
double roundTo(mlir::Type type, double value);

/// `value` wrapped to the integer type `type`; i1 is 0 or 1.
int64_t wrapTo(mlir::Type type, int64_t value);

/// The row-major number of `index` in `shape`.
int64_t flatten(llvm::ArrayRef<int64_t> index, llvm::ArrayRef<int64_t> shape);

/// The index of element number `element` of `shape`.
llvm::SmallVector<int64_t> unflatten(int64_t element, llvm::ArrayRef<int64_t> shape);

} // namespace nap::interpreter
