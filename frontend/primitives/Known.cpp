//===- Known.cpp - shape to match: what is known when compiling -----------===//

#include "frontend/primitives/PrimitiveCall.h"

#include <algorithm>
#include <charconv>

namespace napkin {

static Value evaluateShape(Evaluator &evaluator, PrimitiveCall &call) {
  std::vector<Value> sizes;
  if (call[0].value.number())
    return sizes;
  const Tensor *tensor = tensorOf(evaluator, call[0]);
  if (!tensor)
    return {};
  for (const Axis &axis : tensor->axes)
    sizes.push_back(Value::whole(axis.size));
  return sizes;
}

static Value evaluateRank(Evaluator &evaluator, PrimitiveCall &call) {
  if (call[0].value.number())
    return Value::whole(0);
  const Tensor *tensor = tensorOf(evaluator, call[0]);
  return tensor ? Value::whole(tensor->rank()) : Value();
}

static Value evaluateDtype(Evaluator &evaluator, PrimitiveCall &call) {
  const Tensor *tensor = tensorOf(evaluator, call[0]);
  return tensor ? Value(evaluator.emitter.dtypeOf(tensor->element())) : Value();
}

static Value evaluateKind(Evaluator &evaluator, PrimitiveCall &call) {
  return std::string(kindOf(call[0].value));
}

static Value evaluateLen(Evaluator &evaluator, PrimitiveCall &call) {
  if (const std::vector<Value> *list = call[0].value.list())
    return Value::whole(list->size());
  evaluator.report<Error::ListExpected>(call[0].range, describe(call[0].value));
  return {};
}

/// The argument as a string; null after an error.
static const std::string *stringOf(Evaluator &evaluator, const Argument &argument) {
  const std::string *text = argument.value.string();
  if (!text)
    evaluator.report<Error::StringExpected>(argument.range, describe(argument.value));
  return text;
}

static Value evaluateSplit(Evaluator &evaluator, PrimitiveCall &call) {
  const std::string *text = stringOf(evaluator, call[0]);
  if (!text)
    return {};
  std::vector<Value> parts;
  for (size_t begin = 0; begin <= text->size();) {
    size_t end = std::min(text->find('.', begin), text->size());
    std::string part = text->substr(begin, end - begin);
    int64_t number = 0;
    auto [rest, problem] = std::from_chars(part.data(), part.data() + part.size(), number);
    bool isNumber = problem == std::errc() && rest == part.data() + part.size() && part[0] != '-';
    parts.push_back(isNumber ? Value::whole(number) : Value(part));
    begin = end + 1;
  }
  return parts;
}

/// True if a text is what a glob describes, in time linear in their product.
static bool matches(std::string_view glob, std::string_view text) {
  size_t at = 0, place = 0, star = std::string_view::npos, mark = 0;
  while (place < text.size()) {
    if (at < glob.size() && glob[at] == '*') {
      star = at++;
      mark = place;
    } else if (at < glob.size() && glob[at] == text[place]) {
      ++at;
      ++place;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      place = ++mark;
    } else {
      return false;
    }
  }
  while (at < glob.size() && glob[at] == '*')
    ++at;
  return at == glob.size();
}

static Value evaluateMatch(Evaluator &evaluator, PrimitiveCall &call) {
  const std::string *text = stringOf(evaluator, call[0]);
  if (!text)
    return {};
  std::vector<Value> globs = {call[1].value};
  if (call[1].value.list())
    globs = *call[1].value.list();
  bool isMatched = false;
  for (const Value &glob : globs) {
    if (!glob.string()) {
      evaluator.report<Error::StringExpected>(call[1].range, describe(glob));
      return {};
    }
    isMatched |= matches(*glob.string(), *text);
  }
  return isMatched;
}

void addKnownPrimitives(std::vector<Primitive> &table) {
  addPrimitive(table, "shape", {{"x"}}, evaluateShape);
  addPrimitive(table, "rank", {{"x"}}, evaluateRank);
  addPrimitive(table, "dtype", {{"x"}}, evaluateDtype);
  addPrimitive(table, "kind", {{"v"}}, evaluateKind);
  addPrimitive(table, "len", {{"list"}}, evaluateLen);
  addPrimitive(table, "split", {{"name"}}, evaluateSplit);
  addPrimitive(table, "match", {{"name"}, {"glob"}}, evaluateMatch);
}

} // namespace napkin
