//===- Primitives.cpp - The table of primitives ---------------------------===//

#include "frontend/primitives/Primitive.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace napkin {

namespace {

/// All primitives, and where each name stands. It never moves, for values point into it.
struct Table {
  Table() {
    addElementwisePrimitives(all);
    addPatternPrimitives(all);
    addShapePrimitives(all);
    addIndexPrimitives(all);
    addKnownPrimitives(all);
    for (Primitive &primitive : all) {
      primitive.callable.primitive = &primitive;
      byName[primitive.callable.name] = &primitive;
    }
  }
  std::vector<Primitive> all;
  std::map<std::string_view, const Primitive *> byName;
};

} // namespace

static const std::map<std::string_view, const Primitive *> &table() {
  static const Table table;
  return table.byName;
}

const Primitive *findPrimitive(std::string_view name) {
  auto found = table().find(name);
  return found == table().end() ? nullptr : found->second;
}

std::vector<std::string_view> primitiveNames() {
  std::vector<std::string_view> names;
  for (const auto &[name, primitive] : table())
    names.push_back(name);
  return names;
}

std::string signatureOf(const Primitive &primitive) {
  std::string text(primitive.callable.name);
  text += primitive.isVariadic ? "(x, y, ..." : "(";
  for (const PrimitiveParam &param : primitive.params) {
    if (text.back() != '(')
      text += ", ";
    text += param.isRequired ? std::string(param.name) : fmt::format("[{}]", param.name);
  }
  return text + (primitive.takesSizes ? ", n = SIZE, ...)" : ")");
}

} // namespace napkin
