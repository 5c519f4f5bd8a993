//===- Rearrange.cpp - rearrange, repeat, reduce --------------------------===//
//
// The left side splits every axis into elementary ones (a reshape), axes are
// reduced, moved (a permute) and repeated (a broadcast), and the right side
// joins them (a reshape). Steps that change nothing make no op.
//
//===----------------------------------------------------------------------===//

#include "frontend/patterns/PatternCall.h"

#include <algorithm>

namespace napkin {

using llvm::SmallVector;

std::optional<WrittenPattern> readPattern(Evaluator &evaluator, const Argument &argument) {
  const std::string *text = argument.value.string();
  if (!text) {
    evaluator.report<Error::PatternKind>(argument.range, describe(argument.value));
    return std::nullopt;
  }
  WrittenPattern written{{}, argument.range, {}};
  const auto *literal = llvm::dyn_cast_or_null<ast::StringExpr>(argument.expr);
  if (literal && literal->isPlain())
    written.contents = literal->contents();
  PatternProblem problem;
  std::optional<Pattern> pattern = parsePattern(*text, problem);
  if (!pattern) {
    evaluator.report<Error::PatternSyntax>(written.at(problem.span), problem.sentence);
    return std::nullopt;
  }
  written.pattern = std::move(*pattern);
  return written;
}

std::string ellipsisName(size_t place) { return fmt::format("...{}", place); }

std::optional<std::vector<int64_t>>
splitGroup(Evaluator &evaluator, const WrittenPattern &written, const PatternGroup &group,
           const std::map<std::string, GivenSize> &given, const Axis &axis, size_t place,
           const std::string &what) {
  Range at = written.at(group.span);
  if (group.items.empty() && axis.size != 1) {
    evaluator.report<Error::PatternOne>(at, place, what, sizeText(axis));
    return std::nullopt;
  }
  int64_t known = 1;
  const PatternItem *unknown = nullptr;
  const ast::Expr *expr = nullptr;
  std::string text;
  for (const PatternItem &item : group.items) {
    auto size = given.find(item.name);
    if (size == given.end()) {
      if (unknown) {
        evaluator.report<Error::PatternUnknowns>(at, unknown->name, item.name);
        return std::nullopt;
      }
      unknown = &item;
      continue;
    }
    expr = size->second.expr;
    text += fmt::format("{}'{}'", text.empty() ? "" : " * ", item.name);
    if (__builtin_mul_overflow(known, size->second.size, &known))
      known = 0;
  }
  bool fits = known > 0 && (unknown ? axis.size % known == 0 : axis.size == known);
  if (!fits) {
    Diagnostic &error =
        unknown ? evaluator.report<Error::DoesNotDivide>(at, place, what, axis.size, text, known)
                : evaluator.report<Error::PatternSize>(at, place, what, axis.size, text, known);
    if (expr)
      evaluator.noteNames(error, expr);
    return std::nullopt;
  }
  std::vector<int64_t> parts;
  for (const PatternItem &item : group.items)
    parts.push_back(&item == unknown ? axis.size / known : given.at(item.name).size);
  return parts;
}

std::string operandText(const Argument &argument, std::string otherwise) {
  if (argument.expr && argument.expr->kind == ast::ExprKind::Path)
    return fmt::format("'{}'", argument.expr->range.text());
  return otherwise;
}

namespace {

/// An axis that no side splits further.
struct Elementary {
  std::string name;
  int64_t size = 1;
  Axis whole; ///< the axis that it is, where it is one alone
  bool isWhole = false;
};

/// What the three functions have in common.
class Rearrangement {
public:
  Rearrangement(Evaluator &evaluator, PrimitiveCall &call, WrittenPattern written, Tensor tensor)
      : evaluator(evaluator), call(call), written(std::move(written)), tensor(std::move(tensor)),
        what(operandText(call[0], "the tensor")) {}

  /// Reads the named sizes and splits the axes; false after an error.
  bool split();
  /// The elementary axis of this name; null: none.
  const Elementary *find(const std::string &name) const;
  /// The places of elementary axes that the right side lacks.
  SmallVector<int64_t> missing() const;
  /// Checks the right side: new names where `mayAdd`, missing ones where `mayDrop`.
  bool checkRight(bool mayAdd, bool mayDrop);
  /// Moves, repeats and joins a value whose axes `dropped` are gone.
  Value join(mlir::Value value, llvm::ArrayRef<int64_t> dropped);

  Evaluator &evaluator;
  PrimitiveCall &call;
  WrittenPattern written;
  Tensor tensor;
  std::string what;
  std::vector<Elementary> elementary;
  size_t ellipsisAxes = 0;

private:
  bool readSizes();
  bool splitGroup(const PatternGroup &group, size_t place);
  /// The names of a group in order, "..." as its axes.
  std::vector<std::string> namesOf(const PatternGroup &group) const;
  std::map<std::string, GivenSize> sizes;
};

} // namespace

bool Rearrangement::readSizes() {
  std::vector<std::string_view> names;
  for (const PatternSide *side : {&written.pattern.left[0], &written.pattern.right})
    for (const PatternGroup &group : side->groups)
      for (const PatternItem &item : group.items)
        names.push_back(item.name);
  for (const Argument *argument : call.sizes) {
    std::string name(argument->name->text);
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      evaluator.report<Error::NoPatternAxis>(argument->name->range, name);
      return false;
    }
    std::optional<int64_t> size = evaluator.wholeOf(
        argument->value, argument->range, fmt::format("the size '{}'", name), argument->expr);
    if (!size)
      return false;
    if (*size < 1) {
      evaluator.reportTooSmall(argument->range, *size, argument->expr);
      return false;
    }
    sizes[name] = {*size, argument->expr};
  }
  return true;
}

bool Rearrangement::splitGroup(const PatternGroup &group, size_t place) {
  const Axis &axis = tensor.axes[place];
  auto parts = napkin::splitGroup(evaluator, written, group, sizes, axis, place, what);
  if (!parts)
    return false;
  if (group.items.empty())
    elementary.push_back({"", 1, axis, false});
  for (size_t i = 0; i < group.items.size(); ++i) {
    const PatternItem &item = group.items[i];
    if (find(item.name)) {
      evaluator.report<Error::PatternTwice>(written.at(item.span), item.name);
      return false;
    }
    elementary.push_back({item.name, (*parts)[i], axis, group.items.size() == 1});
  }
  return true;
}

bool Rearrangement::split() {
  if (written.pattern.left.size() != 1) {
    evaluator.report<Error::PatternSyntax>(written.at(written.pattern.left[1].span),
                                           "one tensor has one group of axes; ',' is for einsum");
    return false;
  }
  if (!readSizes())
    return false;
  const PatternSide &left = written.pattern.left[0];
  size_t ellipses = 0;
  for (const PatternGroup &group : left.groups)
    for (const PatternItem &item : group.items) {
      if (item.isEllipsis() && group.isParenthesised) {
        evaluator.report<Error::PatternSyntax>(written.at(item.span),
                                               "'...' stands alone on the left");
        return false;
      }
      ellipses += item.isEllipsis();
    }
  size_t single = left.groups.size() - ellipses;
  if (tensor.rank() < single || (!ellipses && tensor.rank() > single)) {
    evaluator.report<Error::PatternRank>(written.at(left.span), single, what, textOf(tensor.axes));
    return false;
  }
  ellipsisAxes = ellipses ? tensor.rank() - single : 0;
  size_t place = 0;
  for (const PatternGroup &group : left.groups) {
    if (!group.items.empty() && group.items[0].isEllipsis()) {
      for (size_t count = 0; count < ellipsisAxes; ++count, ++place)
        elementary.push_back(
            {ellipsisName(count), tensor.axes[place].size, tensor.axes[place], true});
      continue;
    }
    if (!splitGroup(group, place++))
      return false;
  }
  return true;
}

const Elementary *Rearrangement::find(const std::string &name) const {
  for (const Elementary &axis : elementary)
    if (!axis.name.empty() && axis.name == name)
      return &axis;
  return nullptr;
}

std::vector<std::string> Rearrangement::namesOf(const PatternGroup &group) const {
  std::vector<std::string> names;
  for (const PatternItem &item : group.items) {
    if (!item.isEllipsis()) {
      names.push_back(item.name);
      continue;
    }
    for (size_t count = 0; count < ellipsisAxes; ++count)
      names.push_back(ellipsisName(count));
  }
  return names;
}

SmallVector<int64_t> Rearrangement::missing() const {
  std::set<std::string> kept;
  for (const PatternGroup &group : written.pattern.right.groups)
    for (const std::string &name : namesOf(group))
      kept.insert(name);
  SmallVector<int64_t> places;
  for (size_t place = 0; place < elementary.size(); ++place)
    if (!kept.contains(elementary[place].name))
      places.push_back(place);
  return places;
}

bool Rearrangement::checkRight(bool mayAdd, bool mayDrop) {
  std::set<std::string> seen;
  bool leftHasEllipsis = false;
  for (const PatternGroup &group : written.pattern.left[0].groups)
    leftHasEllipsis |= !group.items.empty() && group.items[0].isEllipsis();
  for (const PatternGroup &group : written.pattern.right.groups)
    for (const PatternItem &item : group.items) {
      Range at = written.at(item.span);
      if (!seen.insert(item.name).second) {
        evaluator.report<Error::PatternTwice>(at, item.name);
        return false;
      }
      if (item.isEllipsis() ? leftHasEllipsis : find(item.name) != nullptr)
        continue;
      if (!mayAdd || item.isEllipsis()) {
        evaluator.report<Error::PatternNew>(at, item.name, call.primitive.callable.name);
        return false;
      }
      if (!sizes.contains(item.name)) {
        evaluator.report<Error::RepeatSize>(at, item.name);
        return false;
      }
    }
  if (mayDrop)
    return true;
  for (const PatternGroup &group : written.pattern.left[0].groups)
    for (const PatternItem &item : group.items)
      if (!seen.contains(item.name)) {
        evaluator.report<Error::PatternLost>(written.at(item.span), item.name,
                                             call.primitive.callable.name);
        return false;
      }
  return true;
}

Value Rearrangement::join(mlir::Value value, llvm::ArrayRef<int64_t> dropped) {
  Emitter &emitter = evaluator.emitter;
  // Axes of size 1 without a name disappear with the first reshape.
  std::vector<const Elementary *> named;
  for (size_t place = 0; place < elementary.size(); ++place)
    if (!llvm::is_contained(dropped, static_cast<int64_t>(place)) &&
        !elementary[place].name.empty())
      named.push_back(&elementary[place]);
  auto placeOf = [&](const std::string &name) -> int64_t {
    for (size_t place = 0; place < named.size(); ++place)
      if (named[place]->name == name)
        return place;
    return -1;
  };

  SmallVector<int64_t> order, kept, all;
  Axes axes;
  for (const PatternGroup &group : written.pattern.right.groups) {
    int64_t size = 1;
    std::vector<std::string> names = namesOf(group);
    bool isEllipsis =
        !group.isParenthesised && group.items.size() == 1 && group.items[0].isEllipsis();
    bool isSingle = isEllipsis || names.size() == 1;
    for (const std::string &name : names) {
      int64_t place = placeOf(name);
      int64_t own = place < 0 ? sizes[name].size : named[place]->size;
      if (place >= 0) {
        order.push_back(place);
        kept.push_back(all.size());
      }
      all.push_back(own);
      size *= own;
      if (isSingle)
        axes.push_back(place >= 0 && named[place]->isWhole ? named[place]->whole : Axis{own});
    }
    if (!isSingle)
      axes.push_back(Axis{size});
  }
  if (!evaluator.fits(all, call.head))
    return {};
  SmallVector<int64_t> split;
  for (const Elementary *axis : named)
    split.push_back(axis->size);
  value = emitter.reshape(value, split);
  value = emitter.permute(value, order);
  value = emitter.broadcastInto(value, kept, all);
  return Tensor{emitter.reshape(value, sizesOf(axes)), axes};
}

/// The operand of a pattern: a tensor, or a list of them on a new first axis.
static std::optional<Tensor> operandOf(Evaluator &evaluator, const Argument &argument) {
  Value value = argument.value;
  if (value.list())
    value = evaluator.stack(*value.list(), argument.range);
  if (value.tensor())
    return *value.tensor();
  if (!value.hasPoison())
    evaluator.report<Error::TensorExpected>(argument.range, describe(value));
  return std::nullopt;
}

/// What all three begin with.
static std::optional<Rearrangement> begin(Evaluator &evaluator, PrimitiveCall &call) {
  std::optional<WrittenPattern> written = readPattern(evaluator, call[1]);
  std::optional<Tensor> tensor = operandOf(evaluator, call[0]);
  if (!written || !tensor)
    return std::nullopt;
  Rearrangement rearrangement(evaluator, call, std::move(*written), std::move(*tensor));
  if (!rearrangement.split())
    return std::nullopt;
  return rearrangement;
}

Value evaluateRearrange(Evaluator &evaluator, PrimitiveCall &call) {
  std::optional<Rearrangement> rearrangement = begin(evaluator, call);
  if (!rearrangement || !rearrangement->checkRight(false, false))
    return {};
  return rearrangement->join(rearrangement->tensor.value, {});
}

Value evaluateRepeat(Evaluator &evaluator, PrimitiveCall &call) {
  std::optional<Rearrangement> rearrangement = begin(evaluator, call);
  if (!rearrangement || !rearrangement->checkRight(true, false))
    return {};
  return rearrangement->join(rearrangement->tensor.value, {});
}

/// The kind of a reduction by its word; a mean is a sum.
static std::optional<nap::ReduceKind> reductionNamed(std::string_view word) {
  if (word == "sum" || word == "mean")
    return nap::ReduceKind::sum;
  if (word == "max")
    return nap::ReduceKind::max;
  if (word == "min")
    return nap::ReduceKind::min;
  if (word == "prod")
    return nap::ReduceKind::prod;
  return std::nullopt;
}

Value evaluateReduce(Evaluator &evaluator, PrimitiveCall &call) {
  std::optional<Rearrangement> rearrangement = begin(evaluator, call);
  if (!rearrangement || !rearrangement->checkRight(false, true))
    return {};
  const std::string *op = call[2].value.string();
  std::optional<nap::ReduceKind> kind = op ? reductionNamed(*op) : std::nullopt;
  if (!kind) {
    evaluator.report<Error::ReductionKind>(call[2].range, describe(call[2].value));
    return {};
  }
  bool isMean = *op == "mean";
  Emitter &emitter = evaluator.emitter;
  mlir::Type element = rearrangement->tensor.element();
  bool isBool = element.isInteger(1);
  mlir::Value value = rearrangement->tensor.value;
  if (isMean && element.isInteger())
    value = emitter.cast(value, emitter.floatType);
  else if (isBool)
    value = emitter.cast(value, emitter.builder.getI32Type());
  SmallVector<int64_t> split, places = rearrangement->missing();
  int64_t count = 1;
  for (const Elementary &axis : rearrangement->elementary)
    split.push_back(axis.size);
  for (int64_t place : places)
    count *= split[place];
  // What has no axes is not rounded.
  if (places.size() == split.size())
    value = widened(emitter, value);
  value = emitter.reduce(*kind, emitter.reshape(value, split), places);
  if (isMean && count > 1) {
    auto type = llvm::cast<mlir::RankedTensorType>(value.getType());
    value = emitter.binary(
        "div", value,
        emitter.splat(Number::ofWhole(count), type.getShape(), type.getElementType()));
  }
  bool isChoice = *kind == nap::ReduceKind::max || *kind == nap::ReduceKind::min;
  if (isBool && isChoice)
    value = emitter.cast(value, element);
  return rearrangement->join(value, places);
}

} // namespace napkin
