//===- Value.cpp - What an expression of a model file is ------------------===//

#include "frontend/values/Value.h"

#include "mlir/IR/BuiltinTypes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace napkin {

static constexpr std::string_view dtypeNames[] = {"f64",    "f32",    "f16", "bf16", "f8e4m3",
                                                  "f8e5m2", "f4e2m1", "i64", "i32",  "bool"};

std::string_view nameOf(DType dtype) { return dtypeNames[static_cast<size_t>(dtype)]; }

std::optional<DType> dtypeNamed(std::string_view name) {
  for (size_t index = 0; index < std::size(dtypeNames); ++index)
    if (dtypeNames[index] == name)
      return static_cast<DType>(index);
  return std::nullopt;
}

mlir::Type Tensor::element() const {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getElementType();
}

bool Value::hasPoison() const {
  if (isPoison())
    return true;
  const std::vector<Value> *elements = list();
  return elements && std::any_of(elements->begin(), elements->end(),
                                 [](const Value &element) { return element.hasPoison(); });
}

std::string_view kindOf(const Value &value) {
  if (value.number())
    return "number";
  if (value.boolean())
    return "bool";
  if (value.string())
    return "string";
  if (value.isNone())
    return "none";
  if (value.dtype())
    return "element type";
  if (value.callable())
    return "function";
  if (value.list())
    return "list";
  if (value.tensor())
    return "tensor";
  return "update";
}

std::string axisText(const Axis &axis) {
  return axis.binding ? axis.binding->name : fmt::format("{}", axis.size);
}

std::string textOf(llvm::ArrayRef<Axis> axes) {
  std::string text = "[";
  for (const Axis &axis : axes) {
    if (text.size() > 1)
      text += ", ";
    text += axisText(axis);
  }
  return text + "]";
}

std::string sizesText(llvm::ArrayRef<Axis> axes) {
  return fmt::format("[{}]", fmt::join(sizesOf(axes), ", "));
}

std::string sizeText(const Axis &axis) {
  if (!axis.binding)
    return fmt::format("{}", axis.size);
  return fmt::format("{} ('{}')", axis.size, axis.binding->name);
}

std::string describe(const Value &value) {
  if (const Number *number = value.number())
    return fmt::format("the number {}", number->text());
  if (const bool *boolean = value.boolean())
    return *boolean ? "true" : "false";
  if (const std::string *text = value.string())
    return fmt::format("the string \"{}\"", *text);
  if (const DType *dtype = value.dtype())
    return fmt::format("the element type {}", nameOf(*dtype));
  if (const Callable *callable = value.callable())
    return fmt::format("the function '{}'", callable->name);
  if (const std::vector<Value> *list = value.list())
    return fmt::format("a list of {}", list->size());
  if (const Tensor *tensor = value.tensor())
    return fmt::format("a tensor {}", textOf(tensor->axes));
  return value.isUpdate() ? "the call of an optimizer" : "none";
}

std::string textOf(const Value &value) {
  if (const Number *number = value.number())
    return number->text();
  if (const std::string *text = value.string())
    return *text;
  if (const DType *dtype = value.dtype())
    return std::string(nameOf(*dtype));
  if (const Callable *callable = value.callable())
    return std::string(callable->name);
  if (const std::vector<Value> *list = value.list()) {
    std::string text = "[";
    for (const Value &element : *list) {
      if (text.size() > 1)
        text += ", ";
      text += textOf(element);
    }
    return text + "]";
  }
  return describe(value);
}

bool isEqual(const Value &a, const Value &b) {
  if (a.number() && b.number())
    return *a.number() == *b.number();
  if (a.boolean() && b.boolean())
    return *a.boolean() == *b.boolean();
  if (a.string() && b.string())
    return *a.string() == *b.string();
  if (a.dtype() && b.dtype())
    return *a.dtype() == *b.dtype();
  if (a.callable() && b.callable())
    return a.callable() == b.callable();
  const std::vector<Value> *listA = a.list(), *listB = b.list();
  if (listA && listB)
    return std::equal(listA->begin(), listA->end(), listB->begin(), listB->end(), isEqual);
  return a.isNone() && b.isNone();
}

/// The axis at a place counted from the right; null beyond the first.
static const Axis *fromRight(llvm::ArrayRef<Axis> axes, size_t place) {
  return place < axes.size() ? &axes[axes.size() - 1 - place] : nullptr;
}

/// True if every axis of `a` called `name` faces an unnamed axis of size 1 in `b`.
static bool facesOnes(llvm::ArrayRef<Axis> a, llvm::ArrayRef<Axis> b, const AxisBinding *name) {
  for (size_t place = 0; place < a.size(); ++place) {
    if (fromRight(a, place)->binding != name)
      continue;
    const Axis *other = fromRight(b, place);
    if (!other || other->binding || other->size != 1)
      return false;
  }
  return true;
}

std::optional<Misalignment> misaligned(llvm::ArrayRef<Axis> a, llvm::ArrayRef<Axis> b) {
  for (const Axis &axis : a) {
    const AxisBinding *name = axis.binding;
    if (!name)
      continue;
    bool isInBoth = false, linesUp = false;
    for (size_t place = 0; place < b.size(); ++place) {
      const Axis *left = fromRight(a, place), *right = fromRight(b, place);
      isInBoth |= right->binding == name;
      linesUp |= right->binding == name && left && left->binding == name;
    }
    if (!isInBoth || linesUp || (facesOnes(a, b, name) && facesOnes(b, a, name)))
      continue;
    // A name that faces a 1 on one side and nothing on the other lacks the other 1.
    bool wantsOne = a.size() != b.size() && (facesOnes(a, b, name) || facesOnes(b, a, name));
    return Misalignment{name->name, wantsOne};
  }
  return std::nullopt;
}

Broadcast broadcastAxes(llvm::ArrayRef<Axis> a, llvm::ArrayRef<Axis> b) {
  Broadcast result;
  size_t rank = std::max(a.size(), b.size());
  result.axes.resize(rank);
  for (size_t place = 0; place < rank; ++place) {
    const Axis *left = fromRight(a, place), *right = fromRight(b, place);
    Axis &axis = result.axes[rank - 1 - place];
    if (!left || !right) {
      axis = left ? *left : *right;
      continue;
    }
    if (left->size != right->size && left->size != 1 && right->size != 1) {
      result.conflict = place;
      return result;
    }
    bool takesRight = (left->size == 1 && right->size != 1) ||
                      (left->size == right->size && !left->binding && right->binding);
    axis = takesRight ? *right : *left;
  }
  return result;
}

llvm::SmallVector<int64_t> sizesOf(llvm::ArrayRef<Axis> axes) {
  llvm::SmallVector<int64_t> sizes;
  for (const Axis &axis : axes)
    sizes.push_back(axis.size);
  return sizes;
}

} // namespace napkin
