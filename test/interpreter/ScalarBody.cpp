// The scalar body of an elementwise op, executed.
#include "test/interpreter/ScalarBody.h"

#include "llvm/ADT/StringMap.h"

#include <cmath>
#include <map>

using namespace mlir;
using namespace nap::interpreter;
using Step = ScalarBody::Step;

/// A function of one or two floats, its result rounded to the op's type.
template <double (*function)(double)> static Number real1(const Step &step, const Number *r) {
  return {.real = roundTo(step.to, function(r[step.inputs[0]].real))};
}
template <double (*function)(double, double)>
static Number real2(const Step &step, const Number *r) {
  return {.real = roundTo(step.to, function(r[step.inputs[0]].real, r[step.inputs[1]].real))};
}

/// A function of one or two integers, its result wrapped to the op's type.
template <int64_t (*function)(int64_t)> static Number whole1(const Step &step, const Number *r) {
  return {.whole = wrapTo(step.to, function(r[step.inputs[0]].whole))};
}
template <int64_t (*function)(int64_t, int64_t)>
static Number whole2(const Step &step, const Number *r) {
  return {.whole = wrapTo(step.to, function(r[step.inputs[0]].whole, r[step.inputs[1]].whole))};
}

static double addReal(double a, double b) { return a + b; }
static double subReal(double a, double b) { return a - b; }
static double mulReal(double a, double b) { return a * b; }
static double divReal(double a, double b) { return a / b; }
static double negReal(double a) { return -a; }
static double rsqrtReal(double a) { return 1 / std::sqrt(a); }
static double same(double a) { return a; }

/// As arith.maximumf and minimumf: a NaN wins, and +0 is larger than -0.
static double maximumReal(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::nan("");
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
static double minimumReal(double a, double b) { return -maximumReal(-a, -b); }

// Unsigned arithmetic wraps; the step wraps the result to its width.
static int64_t addWhole(int64_t a, int64_t b) { return static_cast<uint64_t>(a) + b; }
static int64_t subWhole(int64_t a, int64_t b) { return static_cast<uint64_t>(a) - b; }
static int64_t mulWhole(int64_t a, int64_t b) { return static_cast<uint64_t>(a) * b; }
static int64_t maxWhole(int64_t a, int64_t b) { return std::max(a, b); }
static int64_t minWhole(int64_t a, int64_t b) { return std::min(a, b); }
static int64_t andWhole(int64_t a, int64_t b) { return a & b; }
static int64_t orWhole(int64_t a, int64_t b) { return a | b; }
static int64_t xorWhole(int64_t a, int64_t b) { return a ^ b; }
static int64_t absWhole(int64_t a) { return a < 0 ? -static_cast<uint64_t>(a) : a; }
static int64_t sameWhole(int64_t a) { return a; }

/// Undefined divisions give 0: bodies that rely on them are caught by their values.
static int64_t divWhole(int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  return b == -1 ? -static_cast<uint64_t>(a) : a / b;
}
static int64_t remWhole(int64_t a, int64_t b) { return a - divWhole(a, b) * b; }
static int64_t floorDivWhole(int64_t a, int64_t b) {
  int64_t quotient = divWhole(a, b);
  return remWhole(a, b) != 0 && ((a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

static Number select(const Step &step, const Number *r) {
  return r[step.inputs[0]].whole ? r[step.inputs[1]] : r[step.inputs[2]];
}

static Number fma(const Step &step, const Number *r) {
  double a = r[step.inputs[0]].real, b = r[step.inputs[1]].real, c = r[step.inputs[2]].real;
  if (step.to.isF64())
    return {.real = std::fma(a, b, c)};
  return {.real = std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c))};
}

static Number intToReal(const Step &step, const Number *r) {
  return {.real = roundTo(step.to, static_cast<double>(r[step.inputs[0]].whole))};
}

/// Toward zero; out of range and NaN, which arith leaves undefined, give 0.
static Number realToInt(const Step &step, const Number *r) {
  double value = std::trunc(r[step.inputs[0]].real);
  bool fits = std::abs(value) < std::ldexp(1.0, step.to.getIntOrFloatBitWidth() - 1);
  return {.whole = fits ? static_cast<int64_t>(value) : 0};
}

static Number compareReal(const Step &step, const Number *r) {
  double a = r[step.inputs[0]].real, b = r[step.inputs[1]].real;
  bool unordered = std::isnan(a) || std::isnan(b);
  using P = arith::CmpFPredicate;
  switch (static_cast<P>(step.predicate)) {
  case P::AlwaysFalse: return {.whole = 0};
  case P::AlwaysTrue: return {.whole = 1};
  case P::OEQ: return {.whole = a == b};
  case P::OGT: return {.whole = a > b};
  case P::OGE: return {.whole = a >= b};
  case P::OLT: return {.whole = a < b};
  case P::OLE: return {.whole = a <= b};
  case P::ONE: return {.whole = !unordered && a != b};
  case P::ORD: return {.whole = !unordered};
  case P::UEQ: return {.whole = unordered || a == b};
  case P::UGT: return {.whole = unordered || a > b};
  case P::UGE: return {.whole = unordered || a >= b};
  case P::ULT: return {.whole = unordered || a < b};
  case P::ULE: return {.whole = unordered || a <= b};
  case P::UNE: return {.whole = a != b};
  case P::UNO: return {.whole = unordered};
  }
  return {.whole = 0};
}

static Number compareWhole(const Step &step, const Number *r) {
  int64_t a = r[step.inputs[0]].whole, b = r[step.inputs[1]].whole;
  // Unsigned comparisons of a 32-bit number are those of its sign-extension.
  uint64_t ua = a, ub = b;
  using P = arith::CmpIPredicate;
  switch (static_cast<P>(step.predicate)) {
  case P::eq: return {.whole = a == b};
  case P::ne: return {.whole = a != b};
  case P::slt: return {.whole = a < b};
  case P::sle: return {.whole = a <= b};
  case P::sgt: return {.whole = a > b};
  case P::sge: return {.whole = a >= b};
  case P::ult: return {.whole = ua < ub};
  case P::ule: return {.whole = ua <= ub};
  case P::ugt: return {.whole = ua > ub};
  case P::uge: return {.whole = ua >= ub};
  }
  return {.whole = 0};
}

namespace {

/// How an op is executed and what it counts as.
struct Rule {
  Number (*execute)(const Step &, const Number *);
  Counter counter = nullptr;
  int64_t amount = 1;
};

} // namespace

static constexpr Counter kVec = &Counters::vec, kTrn = &Counters::trn, kCmp = &Counters::cmp,
                         kCvt = &Counters::cvt;

/// Every arith and math op that a body may hold (docs/accounting.md), by name.
static const std::map<llvm::StringRef, Rule> &rules() {
  static const std::map<llvm::StringRef, Rule> table = {
      {"arith.addf", {real2<addReal>, kVec}},
      {"arith.subf", {real2<subReal>, kVec}},
      {"arith.mulf", {real2<mulReal>, kVec}},
      {"arith.divf", {real2<divReal>, kVec}},
      {"arith.remf", {real2<std::fmod>, kVec}},
      {"arith.addi", {whole2<addWhole>, kVec}},
      {"arith.subi", {whole2<subWhole>, kVec}},
      {"arith.muli", {whole2<mulWhole>, kVec}},
      {"arith.divsi", {whole2<divWhole>, kVec}},
      {"arith.remsi", {whole2<remWhole>, kVec}},
      {"arith.floordivsi", {whole2<floorDivWhole>, kVec}},
      {"math.fma", {fma, kVec, 2}},
      {"arith.negf", {real1<negReal>}},
      {"math.absf", {real1<std::fabs>}},
      {"math.absi", {whole1<absWhole>}},
      {"math.copysign", {real2<std::copysign>}},
      {"math.exp", {real1<std::exp>, kTrn}},
      {"math.expm1", {real1<std::expm1>, kTrn}},
      {"math.log", {real1<std::log>, kTrn}},
      {"math.log1p", {real1<std::log1p>, kTrn}},
      {"math.tanh", {real1<std::tanh>, kTrn}},
      {"math.erf", {real1<std::erf>, kTrn}},
      {"math.sin", {real1<std::sin>, kTrn}},
      {"math.cos", {real1<std::cos>, kTrn}},
      {"math.sqrt", {real1<std::sqrt>, kTrn}},
      {"math.rsqrt", {real1<rsqrtReal>, kTrn}},
      {"math.powf", {real2<std::pow>, kTrn}},
      {"arith.maximumf", {real2<maximumReal>, kCmp}},
      {"arith.minimumf", {real2<minimumReal>, kCmp}},
      {"arith.maxsi", {whole2<maxWhole>, kCmp}},
      {"arith.minsi", {whole2<minWhole>, kCmp}},
      {"arith.cmpf", {compareReal, kCmp}},
      {"arith.cmpi", {compareWhole, kCmp}},
      {"arith.select", {select, kCmp}},
      {"arith.andi", {whole2<andWhole>, kCmp}},
      {"arith.ori", {whole2<orWhole>, kCmp}},
      {"arith.xori", {whole2<xorWhole>, kCmp}},
      {"math.floor", {real1<std::floor>, kCmp}},
      {"math.ceil", {real1<std::ceil>, kCmp}},
      {"math.roundeven", {real1<std::nearbyint>, kCmp}},
      {"arith.extf", {real1<same>, kCvt}},
      {"arith.truncf", {real1<same>, kCvt}},
      {"arith.sitofp", {intToReal, kCvt}},
      {"arith.uitofp", {intToReal, kCvt}},
      {"arith.fptosi", {realToInt, kCvt}},
      {"arith.extsi", {whole1<sameWhole>, kCvt}},
      {"arith.extui", {whole1<sameWhole>, kCvt}},
      {"arith.trunci", {whole1<sameWhole>, kCvt}},
  };
  return table;
}

/// The value of an arith.constant.
static Number constantValue(arith::ConstantOp op) {
  if (auto real = dyn_cast<FloatAttr>(op.getValue())) {
    llvm::APFloat value = real.getValue();
    bool losesInfo;
    value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return {.real = value.convertToDouble()};
  }
  llvm::APInt value = cast<IntegerAttr>(op.getValue()).getValue();
  return {.whole = wrapTo(op.getType(), value.getSExtValue())};
}

/// Whether every use of a mask is as the condition of a choice, of either dialect.
static bool isConditionAlone(Value mask) {
  for (OpOperand &use : mask.getUses())
    if (!isa<arith::SelectOp, nap::SelectOp>(use.getOwner()) || use.getOperandNumber() != 0)
      return false;
  return !mask.use_empty();
}

FailureOr<ScalarBody> ScalarBody::build(nap::Fusable fusable) {
  Operation *op = fusable;
  ScalarBody body;
  Block block;
  // A body over narrow floats computes in f32 and is rounded once; a cast says itself what it does.
  bool isCast = isa<nap::CastOp>(op);
  for (Type type : op->getOperandTypes()) {
    Type element = cast<RankedTensorType>(type).getElementType();
    block.addArgument(isCast ? element : nap::accumulatorType(element), op->getLoc());
  }
  body.element = cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&block);
  Value result = fusable.buildScalarBody(builder, op->getLoc(), block.getArguments());

  llvm::DenseMap<Value, size_t> numbers;
  for (BlockArgument argument : block.getArguments())
    numbers[argument] = numbers.size();
  body.operandCount = numbers.size();
  body.registers.resize(numbers.size());
  for (Operation &inner : block) {
    size_t number = body.registers.size();
    body.registers.push_back({.whole = 0});
    numbers[inner.getResult(0)] = number;
    Step step{};
    if (auto constant = dyn_cast<arith::ConstantOp>(inner)) {
      body.registers.back() = constantValue(constant);
    } else {
      auto rule = rules().find(inner.getName().getStringRef());
      if (rule == rules().end())
        return op->emitError() << "the interpreter does not know " << inner.getName();
      step.execute = rule->second.execute;
      step.counter = rule->second.counter;
      step.amount = rule->second.amount;
      step.from = inner.getOperand(0).getType();
    }
    // A comparison that only chooses is counted where it chooses.
    Value made = inner.getResult(0);
    bool isCompare = isa<arith::CmpFOp, arith::CmpIOp>(inner);
    if (isCompare && isConditionAlone(made == result ? op->getResult(0) : made))
      step.counter = nullptr;
    for (auto [place, operand] : llvm::enumerate(inner.getOperands()))
      step.inputs[place] = numbers[operand];
    step.to = inner.getResult(0).getType();
    if (auto compare = dyn_cast<arith::CmpFOp>(inner))
      step.predicate = static_cast<int64_t>(compare.getPredicate());
    if (auto compare = dyn_cast<arith::CmpIOp>(inner))
      step.predicate = static_cast<int64_t>(compare.getPredicate());
    body.steps.push_back(step);
  }
  body.result = numbers[result];
  return body;
}

Number ScalarBody::run(ArrayRef<Number> operands, Counters &counters) {
  std::copy(operands.begin(), operands.end(), registers.begin());
  for (auto [place, step] : llvm::enumerate(steps)) {
    if (!step.execute)
      continue;
    registers[operandCount + place] = step.execute(step, registers.data());
    if (step.counter)
      counters.*step.counter += step.amount;
  }
  if (isReal(element))
    return {.real = roundTo(element, registers[result].real)};
  return registers[result];
}
