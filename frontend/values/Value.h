//===- Value.h - What an expression of a model file is --------------------===//
//
// A value is known when compiling (numbers, bools, strings, none, element
// types, functions, lists) or is a tensor, of which element type, sizes and
// axis names are known. A poisoned value is what a wrong expression gives:
// whatever is made from it is poisoned too, and silent.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/Ast.h"
#include "frontend/values/Number.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace napkin {

struct LibraryFile;
struct Primitive;

/// A name that a type wrote for an axis. Two axes carry the same name when they point to the same
/// binding; `outer` is what the axis was called where the function was called from.
struct AxisBinding {
  std::string name;
  unsigned frame = 0; ///< the number of the call whose scope it belongs to
  const AxisBinding *outer = nullptr;
  Range outerWhere = {}; ///< the name whose type wrote `outer`
};

/// An axis of a tensor.
struct Axis {
  int64_t size = 1;
  const AxisBinding *binding = nullptr; ///< null: unnamed
  Range where = {};                     ///< the name whose type wrote the binding
};
using Axes = llvm::SmallVector<Axis, 4>;

/// A tensor: its value in the graph, and its axes.
struct Tensor {
  mlir::Value value;
  Axes axes;
  mlir::Type element() const;
  unsigned rank() const { return axes.size(); }
};

/// An element type of the language.
enum class DType { F64, F32, F16, BF16, F8E4M3, F8E5M2, F4E2M1, I64, I32, Bool };
/// "f32"; all of them in order.
std::string_view nameOf(DType dtype);
/// The element type of this name.
std::optional<DType> dtypeNamed(std::string_view name);

/// A fn, layer, optimizer, model or primitive: compared by address.
struct Callable {
  std::string_view name;
  const ast::Function *function = nullptr; ///< null for a primitive
  const LibraryFile *file = nullptr;       ///< where the function stands
  const Primitive *primitive = nullptr;
};

class Value;
struct Poison {};
struct NoneValue {};
/// What the call of an optimizer gives.
struct UpdateValue {};
using List = std::shared_ptr<const std::vector<Value>>;

/// A value.
class Value {
public:
  Value() = default;
  Value(NoneValue) : data(NoneValue{}) {}
  Value(UpdateValue) : data(UpdateValue{}) {}
  Value(Number number) : data(number) {}
  Value(bool value) : data(value) {}
  Value(std::string text) : data(std::move(text)) {}
  Value(DType dtype) : data(dtype) {}
  Value(const Callable *callable) : data(callable) {}
  Value(Tensor tensor) : data(std::move(tensor)) {}
  Value(std::vector<Value> list)
      : data(std::make_shared<const std::vector<Value>>(std::move(list))) {}
  static Value whole(int64_t value) { return Number::ofWhole(value); }

  bool isPoison() const { return std::holds_alternative<Poison>(data); }
  bool isNone() const { return std::holds_alternative<NoneValue>(data); }
  bool isUpdate() const { return std::holds_alternative<UpdateValue>(data); }
  /// The content, or null where the value is of another kind.
  const Number *number() const { return std::get_if<Number>(&data); }
  const bool *boolean() const { return std::get_if<bool>(&data); }
  const std::string *string() const { return std::get_if<std::string>(&data); }
  const DType *dtype() const { return std::get_if<DType>(&data); }
  const Callable *callable() const {
    auto *pointer = std::get_if<const Callable *>(&data);
    return pointer ? *pointer : nullptr;
  }
  const Tensor *tensor() const { return std::get_if<Tensor>(&data); }
  const std::vector<Value> *list() const {
    auto *pointer = std::get_if<List>(&data);
    return pointer ? pointer->get() : nullptr;
  }
  /// A list of poisoned values is poisoned too.
  bool hasPoison() const;

private:
  std::variant<Poison, NoneValue, UpdateValue, Number, bool, std::string, DType, const Callable *,
               Tensor, List>
      data;
};

/// "number", "element type", ...: the first column of the language's table.
std::string_view kindOf(const Value &value);
/// A value in a sentence: "the number 3", "a tensor [batch, 4]", "a list of 3".
std::string describe(const Value &value);
/// A value inside a string, `"{x}"`: 3, [3, 4], f32. Tensors as `describe` says.
std::string textOf(const Value &value);
/// "[batch, seq, 64]".
std::string textOf(llvm::ArrayRef<Axis> axes);
/// The sizes alone: "[4, 64]".
std::string sizesText(llvm::ArrayRef<Axis> axes);
/// "768", or "768 ('d')".
std::string sizeText(const Axis &axis);
/// Equality of values known when compiling.
bool isEqual(const Value &a, const Value &b);

/// One axis as it prints: its name or its size.
std::string axisText(const Axis &axis);

/// The sentence part of a mistake against the rule of axis names: the name that does not line up,
/// and whether the remedy is a written 1.
struct Misalignment {
  std::string name;
  bool wantsOne = false;
};
/// Checks the axis-name rule for an elementwise operation; nothing if it holds.
std::optional<Misalignment> misaligned(llvm::ArrayRef<Axis> a, llvm::ArrayRef<Axis> b);

/// The axes of an elementwise result, or the place of the first size that differs: counted from the
/// left in the longer operand.
struct Broadcast {
  Axes axes;
  std::optional<unsigned> conflict; ///< counted from the right
};
Broadcast broadcastAxes(llvm::ArrayRef<Axis> a, llvm::ArrayRef<Axis> b);

/// The sizes alone.
llvm::SmallVector<int64_t> sizesOf(llvm::ArrayRef<Axis> axes);

} // namespace napkin
