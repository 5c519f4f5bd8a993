//===- Types.cpp - What a type says of a value ----------------------------===//

#include "frontend/semantics/Evaluator.h"

namespace napkin {

std::optional<DType> Evaluator::typeElement(const ast::Type &type) {
  if (!type.dtype)
    return DType::F32;
  std::optional<DType> dtype = dtypeNamed(type.dtype->text);
  if (!dtype)
    report<Error::UnknownElementType>(type.dtype->range, type.dtype->text);
  return dtype;
}

void Evaluator::reportTooSmall(Range at, int64_t size, const ast::Expr *expr) {
  bool isLiteral = at.text() == fmt::format("{}", size);
  noteNames(report<Error::SizeTooSmall>(at, isLiteral ? "this" : at.text(), size), expr);
}

std::optional<int64_t> Evaluator::evalSize(const ast::Size &size) {
  std::optional<int64_t> whole = evalWhole(*size.expr, "a size");
  if (!whole)
    return std::nullopt;
  if (*whole >= 1)
    return whole;
  reportTooSmall(size.range, *whole, size.expr.get());
  return std::nullopt;
}

const AxisBinding *Evaluator::bindingOf(const ast::Size &size, const Axis *outer) {
  if (!size.isName())
    return nullptr;
  auto found = frame->variables.find(size.range.text());
  if (found == frame->variables.end())
    return nullptr;
  Variable &variable = found->second;
  if (!variable.axis)
    variable.axis = &bindings.emplace_back(
        AxisBinding{std::string(size.range.text()), frame->number, nullptr, {}});
  // Outside the call the axis is called what the first axis that came in was called.
  if (!variable.axis->outer && outer && outer->binding && outer->binding->frame != frame->number) {
    variable.axis->outer = outer->binding;
    variable.axis->outerWhere = outer->where;
  }
  return variable.axis;
}

bool Evaluator::fits(llvm::ArrayRef<int64_t> sizes, Range at) {
  __int128 elements = 1;
  for (int64_t size : sizes) {
    elements *= size;
    if (elements > (static_cast<__int128>(1) << 48)) {
      report<Error::TensorTooLarge>(at);
      return false;
    }
  }
  return true;
}

std::optional<Axes> Evaluator::evalShape(const ast::Type &type, Range where) {
  Axes axes;
  bool isGood = true;
  for (const ast::Size &size : type.sizes) {
    if (size.isEllipsis()) {
      report<Error::EllipsisInDeclaration>(size.range);
      isGood = false;
      continue;
    }
    std::optional<int64_t> whole = evalSize(size);
    isGood &= whole.has_value();
    if (!whole)
      continue;
    axes.push_back({*whole, bindingOf(size, nullptr), where});
  }
  isGood = isGood && fits(sizesOf(axes), type.range);
  return isGood ? std::optional(axes) : std::nullopt;
}

void Evaluator::reportSize(const Axis &axis, unsigned place, const ast::Size &size, int64_t wanted,
                           const Matched &matched) {
  auto found = size.isName() ? frame->variables.find(size.range.text()) : frame->variables.end();
  bool isBound = found != frame->variables.end() && !found->second.boundBy.empty();
  Range outside = matched.at;
  if (isBound && matched.param) {
    const Variable &variable = found->second;
    report<Error::SignatureSize>(outside, size.range.text(), wanted, variable.boundBy, axis.size,
                                 matched.param->name.text)
        .underline(variable.boundAt)
        .note(matched.signature->name.range, "{}",
              signatureText(*matched.signature, matched.param));
    return;
  }
  Diagnostic &error =
      report<Error::TypeSize>(outside, place, matched.what, axis.size, size.range.text(), wanted);
  if (matched.param)
    error.note(matched.signature->name.range, "{}",
               signatureText(*matched.signature, matched.param));
  else
    noteNames(error, size.expr.get());
}

Value Evaluator::matchType(const ast::Type &type, const Value &value, const Matched &matched) {
  if (value.hasPoison())
    return {};
  if (type.dtype && !typeElement(type))
    return {};
  if (value.number() && type.sizes.empty()) {
    // Without axes, f32 is not rounded.
    DType dtype = *typeElement(type);
    mlir::Type element = dtype == DType::F32 ? emitter.precision.state : emitter.element(dtype);
    if (element.isInteger() && !value.number()->isWhole()) {
      report<Error::NotTensor>(matched.at, matched.what, type.range.text(), describe(value));
      return {};
    }
    return Tensor{emitter.constant(*value.number(), element), {}};
  }
  const Tensor *tensor = value.tensor();
  if (!tensor) {
    report<Error::NotTensor>(matched.at, matched.what, type.range.text(), describe(value));
    return {};
  }
  bool isOther = type.dtype && *typeElement(type) != emitter.dtypeOf(tensor->element()) &&
                 emitter.element(*typeElement(type)) != tensor->element();
  if (isOther) {
    report<Error::WrongElementType>(matched.at, matched.what, type.dtype->text,
                                    nameOf(emitter.dtypeOf(tensor->element())));
    return {};
  }
  size_t ellipses = 0;
  for (const ast::Size &size : type.sizes)
    ellipses += size.isEllipsis();
  if (ellipses > 1) {
    report<Error::TwoEllipses>(type.range, "a type");
    return {};
  }
  size_t single = type.sizes.size() - ellipses;
  if (tensor->rank() < single || (!ellipses && tensor->rank() > single)) {
    Diagnostic &error =
        report<Error::WrongRank>(matched.at, matched.what, textOf(tensor->axes), type.range.text());
    if (matched.param)
      error.note(matched.signature->name.range, "{}",
                 signatureText(*matched.signature, matched.param));
    return {};
  }

  Tensor named{tensor->value, {}};
  size_t place = 0;
  for (const ast::Size &size : type.sizes) {
    if (size.isEllipsis()) {
      Axes axes(tensor->axes.begin() + place,
                tensor->axes.begin() + place + (tensor->rank() - single));
      place += axes.size();
      named.axes.append(axes.begin(), axes.end());
      if (frame->ellipsis && sizesOf(*frame->ellipsis) != sizesOf(axes)) {
        report<Error::EllipsisDiffers>(matched.at, textOf(axes), matched.what,
                                       textOf(*frame->ellipsis))
            .underline(frame->ellipsisAt);
        return {};
      }
      if (!frame->ellipsis) {
        frame->ellipsis = axes;
        frame->ellipsisAt = matched.at;
      }
      continue;
    }
    const Axis &axis = tensor->axes[place];
    bool isFree = size.isName() && !frame->variables.contains(size.range.text());
    if (isFree) {
      Variable &variable = bind(size.range.text(), Value::whole(axis.size), size.range);
      if (matched.param)
        variable.boundBy = std::string(matched.param->name.text);
      variable.boundAt = matched.at;
    } else {
      std::optional<int64_t> wanted = evalSize(size);
      if (!wanted)
        return {};
      if (*wanted != axis.size) {
        reportSize(axis, place, size, *wanted, matched);
        return {};
      }
    }
    named.axes.push_back({axis.size, bindingOf(size, &axis), matched.where});
    ++place;
  }
  return named;
}

} // namespace napkin
