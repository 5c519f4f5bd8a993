//===- Indexing.cpp - Elements, slices and stacks -------------------------===//

#include "frontend/semantics/Evaluator.h"

namespace napkin {

using llvm::SmallVector;

std::vector<Value> Evaluator::unstack(const Tensor &tensor) {
  std::vector<Value> parts;
  Axes rest(tensor.axes.begin() + 1, tensor.axes.end());
  SmallVector<int64_t> sizes = sizesOf(tensor.axes), starts(tensor.rank(), 0),
                       strides(tensor.rank(), 1);
  sizes[0] = 1;
  for (int64_t place = 0; place < tensor.axes[0].size; ++place) {
    starts[0] = place;
    mlir::Value part = emitter.slice(tensor.value, starts, strides, sizes);
    parts.push_back(Tensor{emitter.reshape(part, sizesOf(rest)), rest});
  }
  return parts;
}

Value Evaluator::stack(const std::vector<Value> &list, Range at) {
  if (list.empty()) {
    report<Error::EmptyStack>(at);
    return {};
  }
  SmallVector<mlir::Value> layers;
  const Tensor *first = list[0].tensor();
  for (const Value &value : list) {
    if (value.hasPoison())
      return {};
    const Tensor *tensor = value.tensor();
    if (!tensor) {
      report<Error::StackOfOthers>(at, describe(value));
      return {};
    }
    if (tensor->value.getType() != first->value.getType()) {
      report<Error::StackDiffers>(at, textOf(first->axes), textOf(tensor->axes));
      return {};
    }
    SmallVector<int64_t> sizes = sizesOf(tensor->axes);
    sizes.insert(sizes.begin(), 1);
    layers.push_back(emitter.reshape(tensor->value, sizes));
  }
  Axes axes = first->axes;
  axes.insert(axes.begin(), Axis{static_cast<int64_t>(list.size())});
  return Tensor{emitter.concat(layers, 0), axes};
}

/// A slice as Python reads it, counted from the axis' beginning.
struct Slice {
  int64_t start = 0, stop = 0, step = 1, count = 0;
};

/// "0:2048", from what was written and what it is.
static std::string sliceText(const ast::Index &index, int64_t start, int64_t stop, int64_t step) {
  std::string text;
  if (index.start)
    text += fmt::format("{}", start);
  text += ":";
  if (index.stop)
    text += fmt::format("{}", stop);
  if (index.step)
    text += fmt::format(":{}", step);
  return text;
}

/// Reads a slice of an axis of `size`. The steps of `evaluate` report their own errors.
template <typename Evaluate>
static std::optional<Slice> readSlice(const ast::Index &index, int64_t size, Evaluate evaluate,
                                      bool &isBeyond, std::string &text) {
  auto part = [&](const ast::ExprPtr &expr, int64_t otherwise) -> std::optional<int64_t> {
    return expr ? evaluate(*expr) : otherwise;
  };
  std::optional<int64_t> step = part(index.step, 1);
  if (!step)
    return std::nullopt;
  if (*step == 0) {
    isBeyond = true;
    text.clear();
    return std::nullopt;
  }
  std::optional<int64_t> start = part(index.start, *step > 0 ? 0 : size - 1);
  std::optional<int64_t> stop = part(index.stop, *step > 0 ? size : -1);
  if (!start || !stop)
    return std::nullopt;
  text = sliceText(index, *start, *stop, *step);
  Slice slice{*start, *stop, *step};
  if (index.start && slice.start < 0)
    slice.start += size;
  if (index.stop && slice.stop < 0)
    slice.stop += size;
  int64_t lowest = *step > 0 ? 0 : -1;
  if (slice.start < 0 || slice.start > size || slice.stop < lowest || slice.stop > size) {
    isBeyond = true;
    return slice;
  }
  int64_t span = *step > 0 ? slice.stop - slice.start : slice.start - slice.stop;
  int64_t stride = *step > 0 ? *step : -*step;
  slice.count = span > 0 ? (span - 1) / stride + 1 : 0;
  if (slice.count > 0 && slice.start >= size)
    isBeyond = true;
  return slice;
}

/// What a base is called in an error.
static std::string baseText(const ast::Expr &base) {
  if (base.kind == ast::ExprKind::Path)
    return fmt::format("'{}'", base.range.text());
  return "this tensor";
}

Value Evaluator::indexTensor(const Tensor &tensor, const ast::IndexExpr &expr) {
  size_t items = 0, ellipses = 0;
  for (const ast::Index &index : expr.indices)
    ++(index.kind == ast::Index::Ellipsis ? ellipses : items);
  if (ellipses > 1) {
    report<Error::TwoEllipses>(expr.brackets, "an index");
    return {};
  }
  if (items > tensor.rank()) {
    report<Error::TooManyIndices>(expr.brackets, items, textOf(tensor.axes));
    return {};
  }
  SmallVector<int64_t> starts, strides, sizes, kept;
  Axes axes;
  size_t axis = 0;
  auto takeWhole = [&](size_t count) {
    for (; count > 0; --count, ++axis) {
      starts.push_back(0);
      strides.push_back(1);
      sizes.push_back(tensor.axes[axis].size);
      axes.push_back(tensor.axes[axis]);
    }
  };
  auto evaluate = [&](const ast::Expr &part) { return evalWhole(part, "an index"); };
  for (const ast::Index &index : expr.indices) {
    if (index.kind == ast::Index::Ellipsis) {
      takeWhole(tensor.rank() - items);
      continue;
    }
    const Axis &own = tensor.axes[axis];
    bool isBeyond = false;
    std::string text;
    if (index.kind == ast::Index::Item) {
      std::optional<int64_t> item = evaluate(*index.item);
      if (!item)
        return {};
      text = fmt::format("index {}", *item);
      isBeyond = *item >= own.size || *item < -own.size;
      starts.push_back(*item < 0 ? *item + own.size : *item);
      strides.push_back(1);
      sizes.push_back(1);
    } else {
      std::optional<Slice> slice = readSlice(index, own.size, evaluate, isBeyond, text);
      if (!slice && !isBeyond)
        return {};
      if (slice && !isBeyond && slice->count == 0) {
        noteNames(report<Error::EmptySlice>(index.range, text, axis, own.size), index.stop.get());
        return {};
      }
      if (slice) {
        starts.push_back(slice->start);
        strides.push_back(slice->step);
        sizes.push_back(slice->count);
        bool isWhole = slice->count == own.size && slice->step == 1;
        axes.push_back(isWhole ? own : Axis{slice->count});
      }
    }
    if (isBeyond && text.empty()) {
      report<Error::ZeroStep>(index.range);
      return {};
    }
    if (isBeyond) {
      Diagnostic &error =
          report<Error::BeyondAxis>(index.range, text, axis, baseText(*expr.base), sizeText(own));
      for (const ast::ExprPtr *part : {&index.item, &index.start, &index.stop, &index.step})
        noteNames(error, part->get());
      return {};
    }
    ++axis;
  }
  takeWhole(tensor.rank() - axis);
  mlir::Value sliced = emitter.slice(tensor.value, starts, strides, sizes);
  return Tensor{emitter.reshape(sliced, sizesOf(axes)), axes};
}

Value Evaluator::indexList(const std::vector<Value> &list, const ast::IndexExpr &expr) {
  if (expr.indices.size() != 1 || expr.indices[0].kind == ast::Index::Ellipsis) {
    report<Error::ListIndex>(expr.brackets);
    return {};
  }
  const ast::Index &index = expr.indices[0];
  int64_t size = list.size();
  auto evaluate = [&](const ast::Expr &part) { return evalWhole(part, "an index"); };
  if (index.kind == ast::Index::Item) {
    std::optional<int64_t> item = evaluate(*index.item);
    if (!item)
      return {};
    if (*item >= size || *item < -size) {
      report<Error::BeyondList>(index.range, fmt::format("index {}", *item), size);
      return {};
    }
    return list[*item < 0 ? *item + size : *item];
  }
  bool isBeyond = false;
  std::string text;
  std::optional<Slice> slice = readSlice(index, size, evaluate, isBeyond, text);
  if (isBeyond && text.empty())
    report<Error::ZeroStep>(index.range);
  else if (isBeyond)
    report<Error::BeyondList>(index.range, text, size);
  if (!slice || isBeyond)
    return {};
  std::vector<Value> part;
  for (int64_t place = 0; place < slice->count; ++place)
    part.push_back(list[slice->start + place * slice->step]);
  return part;
}

} // namespace napkin
