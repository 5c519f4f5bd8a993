//===- Einsum.cpp - einsum ------------------------------------------------===//

#include "frontend/patterns/PatternCall.h"

#include <algorithm>

namespace napkin {

using llvm::SmallVector;

namespace {

/// Where a name was first met.
struct Letter {
  char letter = 0;
  int64_t size = 0;
  size_t operand = 0, place = 0;
  Span span;
  Axis axis;
};

/// One call of einsum.
class Contraction {
public:
  Contraction(Evaluator &evaluator, PrimitiveCall &call, const WrittenPattern &written)
      : evaluator(evaluator), call(call), written(written) {}
  Value evaluate();

private:
  bool readOperands();
  bool meetEllipses();
  bool readOperand(size_t number);
  void takeDiagonals(Tensor &operand, std::string &group, SmallVector<int64_t> &kept);
  bool meet(const std::string &name, const Axis &axis, size_t operand, size_t place, Span span);
  bool readResult();
  std::optional<char> freshLetter(const std::string &name);
  void noteAxis(Diagnostic &error, size_t operand, size_t place, const Axis &axis);

  Evaluator &evaluator;
  PrimitiveCall &call;
  const WrittenPattern &written;
  std::vector<Tensor> operands;
  mlir::Type resultElement;
  std::vector<std::string> groups; ///< letters of each operand
  std::map<std::string, Letter> letters;
  std::set<char> taken;
  Axes ellipsis; ///< of the broadcast "..."
  std::string result;
  Axes axes;
};

} // namespace

/// The groups are words: parentheses and 1 do not stand in an einsum.
static bool isSimple(Evaluator &evaluator, const WrittenPattern &written, const PatternSide &side) {
  for (const PatternGroup &group : side.groups)
    if (group.isParenthesised || group.items.size() != 1) {
      evaluator.report<Error::PatternSyntax>(
          written.at(group.span), "einsum takes whole axes; split and join with rearrange");
      return false;
    }
  return true;
}

bool Contraction::readOperands() {
  Emitter &emitter = evaluator.emitter;
  mlir::Type element;
  for (const Argument *argument : call.sizes) {
    const Tensor *tensor = argument->value.tensor();
    if (!tensor) {
      evaluator.report<Error::TensorExpected>(argument->range, describe(argument->value));
      return false;
    }
    operands.push_back(*tensor);
    element = element ? evaluator.meet(element, tensor->element()) : tensor->element();
  }
  if (operands.empty() || operands.size() != written.pattern.left.size()) {
    evaluator.report<Error::EinsumOperands>(written.range, written.pattern.left.size(),
                                            operands.size());
    return false;
  }
  if (element.isInteger(1)) {
    evaluator.report<Error::ArithmeticOnBools>(call.head, "einsum");
    return false;
  }
  resultElement = element;
  if (operands.size() > 1)
    resultElement = chooseProduct(emitter, operands, element);
  else
    operands[0].value = emitter.cast(operands[0].value, element);
  return std::all_of(written.pattern.left.begin(), written.pattern.left.end(),
                     [&](const PatternSide &side) { return isSimple(evaluator, written, side); });
}

/// The axes of "..." meet by NumPy's rule before the operands are read.
bool Contraction::meetEllipses() {
  for (size_t number = 0; number < operands.size(); ++number) {
    const PatternSide &side = written.pattern.left[number];
    size_t rank = operands[number].rank();
    auto found = std::find_if(side.groups.begin(), side.groups.end(),
                              [](const auto &group) { return group.items[0].isEllipsis(); });
    bool hasEllipsis = found != side.groups.end();
    size_t single = side.groups.size() - hasEllipsis;
    if (rank < single || (!hasEllipsis && rank > single)) {
      evaluator.report<Error::PatternRank>(
          written.at(side.span), single,
          operandText(*call.sizes[number], fmt::format("operand {}", number)),
          textOf(operands[number].axes));
      return false;
    }
    if (!hasEllipsis)
      continue;
    auto begin = operands[number].axes.begin() + (found - side.groups.begin());
    Axes own(begin, begin + (rank - single));
    Broadcast met = broadcastAxes(ellipsis, own);
    if (met.conflict) {
      evaluator.report<Error::EinsumEllipsis>(written.at(found->span), textOf(ellipsis),
                                              textOf(own), number);
      return false;
    }
    ellipsis = met.axes;
  }
  return true;
}

std::optional<char> Contraction::freshLetter(const std::string &name) {
  static constexpr std::string_view alphabet =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  // A name of one letter keeps it, wherever it stands in the pattern.
  auto isWritten = [&](char letter) {
    for (const PatternSide &side : written.pattern.left)
      for (const PatternGroup &group : side.groups)
        if (group.items[0].name == std::string_view(&letter, 1))
          return true;
    return false;
  };
  if (name.size() == 1 && alphabet.find(name[0]) != std::string_view::npos) {
    taken.insert(name[0]);
    return name[0];
  }
  for (char letter : alphabet)
    if (!isWritten(letter) && taken.insert(letter).second)
      return letter;
  evaluator.report<Error::EinsumLetters>(written.range);
  return std::nullopt;
}

void Contraction::noteAxis(Diagnostic &error, size_t operand, size_t place, const Axis &axis) {
  std::string what = operandText(*call.sizes[operand], fmt::format("operand {}", operand));
  std::string size = axis.binding ? fmt::format("'{}', {}", axis.binding->name, axis.size)
                                  : fmt::format("{}", axis.size);
  bool hasPlace = axis.binding && axis.where.isValid() && !axis.where.source->isPrelude();
  error.note(hasPlace ? axis.where : call.sizes[operand]->range, "axis {} of {} is {}", place, what,
             size);
}

bool Contraction::meet(const std::string &name, const Axis &axis, size_t operand, size_t place,
                       Span span) {
  auto known = letters.find(name);
  if (known == letters.end()) {
    std::optional<char> letter = freshLetter(name);
    if (!letter)
      return false;
    letters[name] = {*letter, axis.size, operand, place, span, axis};
    return true;
  }
  Letter &first = known->second;
  if (first.size == axis.size) {
    if (!first.axis.binding && axis.binding)
      first.axis = axis;
    return true;
  }
  Diagnostic &error = evaluator.report<Error::EinsumSize>(written.at(span), name, first.size,
                                                          first.operand, axis.size, operand);
  if (written.contents.isValid())
    error.underline(written.at(first.span));
  noteAxis(error, first.operand, first.place, first.axis);
  noteAxis(error, operand, place, axis);
  return false;
}

void Contraction::takeDiagonals(Tensor &operand, std::string &group, SmallVector<int64_t> &kept) {
  Emitter &emitter = evaluator.emitter;
  for (size_t first = 0; first < group.size(); ++first)
    for (size_t second = group.find(group[first], first + 1); second != std::string::npos;
         second = group.find(group[first], first + 1)) {
      kept.erase(kept.begin() + second);
      group.erase(second, 1);
      mlir::Type element = mlir::getElementTypeOrSelf(operand.value.getType());
      operand.value = emitter.create<nap::DiagonalOp>(emitter.typeOf(kept, element), operand.value,
                                                      emitter.builder.getI64IntegerAttr(first),
                                                      emitter.builder.getI64IntegerAttr(second));
    }
}

bool Contraction::readOperand(size_t number) {
  Tensor &operand = operands[number];
  const PatternSide &side = written.pattern.left[number];
  bool hasEllipsis = std::any_of(side.groups.begin(), side.groups.end(),
                                 [](const auto &group) { return group.items[0].isEllipsis(); });
  size_t ellipsisAxes = operand.rank() - (side.groups.size() - hasEllipsis);
  std::string group;
  SmallVector<int64_t> kept;
  Axes own = operand.axes;
  size_t place = 0;
  for (const PatternGroup &item : side.groups) {
    if (!item.items[0].isEllipsis()) {
      if (!meet(item.items[0].name, own[place], number, place, item.span))
        return false;
      group += letters[item.items[0].name].letter;
      kept.push_back(own[place++].size);
      continue;
    }
    for (size_t count = 0; count < ellipsisAxes; ++count, ++place) {
      size_t fromRight = ellipsisAxes - 1 - count;
      // An axis of 1 that is stretched disappears.
      if (own[place].size == 1 && ellipsis[ellipsis.size() - 1 - fromRight].size != 1)
        continue;
      if (!meet(ellipsisName(fromRight), own[place], number, place, item.span))
        return false;
      group += letters[ellipsisName(fromRight)].letter;
      kept.push_back(own[place].size);
    }
  }
  operand.value = evaluator.emitter.reshape(operand.value, kept);
  takeDiagonals(operand, group, kept);
  groups.push_back(group);
  return true;
}

bool Contraction::readResult() {
  const PatternSide &side = written.pattern.right;
  if (!isSimple(evaluator, written, side))
    return false;
  std::set<std::string> seen;
  for (const PatternGroup &group : side.groups) {
    const PatternItem &item = group.items[0];
    if (!seen.insert(item.name).second) {
      evaluator.report<Error::PatternTwice>(written.at(item.span), item.name);
      return false;
    }
    if (item.isEllipsis()) {
      for (size_t place = 0; place < ellipsis.size(); ++place) {
        const Letter &letter = letters[ellipsisName(ellipsis.size() - 1 - place)];
        result += letter.letter;
        axes.push_back(letter.axis);
      }
      continue;
    }
    auto known = letters.find(item.name);
    if (known == letters.end()) {
      evaluator.report<Error::PatternNew>(written.at(item.span), item.name, "einsum");
      return false;
    }
    result += known->second.letter;
    axes.push_back(known->second.axis);
  }
  for (const PatternSide &left : written.pattern.left)
    for (const PatternGroup &group : left.groups)
      if (group.items[0].isEllipsis() && !seen.contains("...") && !ellipsis.empty()) {
        evaluator.report<Error::PatternLost>(written.at(group.span), "...", "einsum");
        return false;
      }
  return true;
}

/// A single operand is summed and moved: no product is there.
static mlir::Value sumAndMove(Emitter &emitter, mlir::Value value, const std::string &group,
                              const std::string &result) {
  SmallVector<int64_t> dropped, order;
  std::string left;
  for (size_t place = 0; place < group.size(); ++place)
    if (result.find(group[place]) == std::string::npos)
      dropped.push_back(place);
    else
      left += group[place];
  value = emitter.reduce(nap::ReduceKind::sum, value, dropped);
  for (char letter : result)
    order.push_back(left.find(letter));
  return emitter.permute(value, order);
}

Value Contraction::evaluate() {
  if (!readOperands() || !meetEllipses())
    return {};
  for (size_t number = 0; number < operands.size(); ++number)
    if (!readOperand(number))
      return {};
  if (!readResult() || !evaluator.fits(sizesOf(axes), call.head))
    return {};
  Emitter &emitter = evaluator.emitter;
  if (operands.size() == 1)
    return Tensor{sumAndMove(emitter, operands[0].value, groups[0], result), axes};
  std::string text;
  SmallVector<mlir::Value> values;
  for (size_t number = 0; number < operands.size(); ++number) {
    text += (number ? "," : "") + groups[number];
    values.push_back(operands[number].value);
  }
  text += "->" + result;
  auto op =
      emitter.create<nap::EinsumOp>(emitter.typeOf(sizesOf(axes), resultElement),
                                    mlir::ValueRange(values), emitter.builder.getStringAttr(text));
  return Tensor{op.getResult(), axes};
}

Value evaluateEinsum(Evaluator &evaluator, PrimitiveCall &call) {
  if (!call.has(0)) {
    evaluator.report<Error::MissingArgument>(call.head, "einsum", "pattern");
    return {};
  }
  std::optional<WrittenPattern> written = readPattern(evaluator, call[0]);
  if (!written)
    return {};
  return Contraction(evaluator, call, *written).evaluate();
}

} // namespace napkin
