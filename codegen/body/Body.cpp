// Emits the value of any tensor of a kernel at an index.
#include "codegen/body/Body.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nap;

Body::Body(OpBuilder builder, Location loc, DenseMap<Value, Value> memory, int64_t width)
    : location(loc), width(width), memory(std::move(memory)), entry(builder) {
  entry.setInsertionPointToStart(builder.getInsertionBlock());
  scopes.push_back({builder, {}, {}});
}

static std::pair<const void *, std::vector<Linear>> keyOf(Value tensor, ArrayRef<Linear> index) {
  return {tensor.getAsOpaquePointer(), index.vec()};
}

Value Body::at(Value tensor, ArrayRef<Linear> index) {
  if (Value value = given.lookup(tensor))
    return value;
  unsigned level = indices.levelOf(index);
  auto key = keyOf(tensor, index);
  auto found = scopes[level].values.find(key);
  if (found != scopes[level].values.end())
    return found->second;
  Value value = compute(tensor, index);
  // What is printed for people calls the value by its op.
  if (Operation *op = tensor.getDefiningOp(), *own = value.getDefiningOp();
      op && own && own->getLoc() == location)
    own->setLoc(NameLoc::get(StringAttr::get(op->getContext(), op->getName().stripDialect()), location));
  scopes[level].values[key] = value;
  return value;
}

void Body::preset(Value tensor, ArrayRef<Linear> index, Value value) {
  scopes[indices.levelOf(index)].values[keyOf(tensor, index)] = value;
}

Value Body::compute(Value tensor, ArrayRef<Linear> index) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (Value memref = memory.lookup(tensor))
    return load(memref, type.getElementType(), indices.linearize(index, type.getShape()));
  Operation *op = tensor.getDefiningOp();
  return TypeSwitch<Operation *, Value>(op)
      .Case<ConstantOp>([&](auto op) { return constant(op, index); })
      .Case<IotaOp>([&](auto op) { return iota(op, index); })
      .Case<PadOp>([&](auto op) { return pad(op, index); })
      .Case<ConcatOp>([&](auto op) { return concat(op, index); })
      .Case<ReduceOp>([&](auto op) { return reduce(op, index); })
      .Case<EinsumOp>([&](auto op) { return einsum(op, index); })
      .Case<FoldOp>([&](auto op) { return fold(op, index); })
      .Case<PutAlongOp>([&](auto op) { return putAlong(op, index); })
      .Case<ArgmaxOp>([&](auto op) { return argmax(op, index); })
      .Case<RandomUniformOp, RandomNormalOp>([&](auto op) { return random(op, index); })
      .Case<ReshapeOp, PermuteOp, BroadcastOp, SliceOp, DiagonalOp, WindowOp>([&](auto op) {
        return at(op.getX(), indexThroughView(op, index, indices));
      })
      .Case<EmbedOp>([&](EmbedOp op) {
        size_t lead = op.getIds().getType().getRank();
        SmallVector<Linear> place{
            idAt(op.getIds(), index.take_front(lead), op.getTable().getType().getDimSize(0))};
        llvm::append_range(place, index.drop_front(lead));
        return at(op.getTable(), place);
      })
      .Case<TakeAlongOp>([&](TakeAlongOp op) {
        auto shape = op.getX().getType().getShape();
        SmallVector<Linear> place(index.take_front(shape.size() - 1));
        place.push_back(idAt(op.getIds(), index, shape.back()));
        return at(op.getX(), place);
      })
      .Default([&](Operation *op) { return elementwise(cast<Fusable>(op), index); });
}

Value Body::elementwise(Fusable op, ArrayRef<Linear> index) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(at(operand, index));
  OpBuilder &b = scopes[indices.levelOf(index)].builder;
  bool anyLanes = llvm::any_of(operands, [](Value v) { return isa<VectorType>(v.getType()); });
  if (anyLanes)
    for (Value &operand : operands)
      operand = splat(b, operand);
  return op.buildScalarBody(b, location, operands);
}

//===-- Loops --------------------------------------------------------------------------------===//

Body::Loop Body::open(Value lower, Value upper, IndexRange range, ValueRange inits, int64_t step) {
  OpBuilder &outer = scopes.back().builder;
  auto op = scf::ForOp::create(outer, location, lower, upper, indexConstant(step), inits);
  outer.setInsertionPoint(op);
  OpBuilder inner(op.getContext());
  if (inits.empty())
    inner.setInsertionPoint(op.getBody()->getTerminator());
  else
    inner.setInsertionPointToEnd(op.getBody());
  scopes.push_back({inner, {}, {}});
  Atom counter;
  counter.range = range;
  counter.level = level();
  counter.value = op.getInductionVar();
  return {op, indices.add(counter)};
}

Body::Loop Body::open(int64_t lower, int64_t upper, ValueRange inits) {
  return open(indexConstant(lower), indexConstant(upper), {lower, upper - 1}, inits);
}

void Body::close(const Loop &loop, ValueRange yields) {
  if (!yields.empty())
    scf::YieldOp::create(builder(), location, yields);
  scopes.pop_back();
  builder().setInsertionPointAfter(loop.op);
}

void Body::atLevel(unsigned level, llvm::function_ref<void()> emit) {
  std::vector<Scope> deeper(std::make_move_iterator(scopes.begin() + level + 1),
                            std::make_move_iterator(scopes.end()));
  scopes.erase(scopes.begin() + level + 1, scopes.end());
  emit();
  scopes.insert(scopes.end(), std::make_move_iterator(deeper.begin()),
                std::make_move_iterator(deeper.end()));
}

unsigned Body::addLane(Value mask) {
  Atom lane;
  lane.kind = Atom::lane;
  lane.range = IndexRange::below(width);
  lane.level = level();
  lane.varies = true;
  lane.mask = mask;
  return indices.add(lane);
}

Linear Body::dynamic(Value value, IndexRange range, unsigned level, unsigned lane) {
  Atom atom;
  atom.kind = Atom::dynamic;
  atom.range = range;
  atom.level = level;
  atom.varies = isa<VectorType>(value.getType());
  atom.value = value;
  atom.laneAtom = lane;
  return Linear::of(indices.add(atom));
}

//===-- Numbers ------------------------------------------------------------------------------===//

Value Body::indexConstant(int64_t value) {
  return number(entry.getIndexType(), entry.getIndexAttr(value), false);
}

Value Body::constantOf(TypedAttr value) {
  Value &known = constants[value];
  if (!known) {
    entry.setInsertionPointToStart(entry.getInsertionBlock());
    known = arith::ConstantOp::create(entry, location, value);
  }
  return known;
}

Value Body::number(Type element, TypedAttr value, bool lanes) {
  if (lanes)
    value = DenseElementsAttr::get(lanesOf(element), Attribute(value));
  return constantOf(value);
}

Value Body::zero(Type element, bool lanes) {
  return number(element, entry.getZeroAttr(element), lanes);
}

Value Body::splat(OpBuilder &b, Value value) {
  if (isa<VectorType>(value.getType()))
    return value;
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    return number(value.getType(), constant.getValue(), true);
  return vector::BroadcastOp::create(b, location, lanesOf(value.getType()), value);
}

Value Body::scalar(const Linear &form) {
  if (form.isConstant())
    return indexConstant(form.constant);
  unsigned level = indices.levelOf(form);
  auto found = scopes[level].scalars.find(form);
  if (found != scopes[level].scalars.end())
    return found->second;
  Value sum;
  for (auto [id, coefficient] : form.terms) {
    Value value = indices[id].value;
    if (indices[id].kind == Atom::quotient) {
      Value numerator = scalar(indices[id].numerator);
      Value divisor = indexConstant(indices[id].divisor);
      OpBuilder &b = scopes[indices[id].level].builder;
      if (!value) {
        if (indices.rangeOf(indices[id].numerator).lo >= 0)
          value = arith::DivUIOp::create(b, location, numerator, divisor);
        else
          value = arith::FloorDivSIOp::create(b, location, numerator, divisor);
        indices[id].value = value;
      }
    }
    OpBuilder &b = scopes[level].builder;
    if (coefficient != 1)
      value = arith::MulIOp::create(b, location, value, indexConstant(coefficient));
    sum = sum ? arith::AddIOp::create(b, location, sum, value) : value;
  }
  if (form.constant)
    sum = arith::AddIOp::create(scopes[level].builder, location, sum,
                                indexConstant(form.constant));
  scopes[level].scalars[form] = sum;
  return sum;
}

bool Body::isWide(const Linear &form) const {
  IndexRange range = indices.rangeOf(form);
  if (range.lo < INT32_MIN || range.hi > INT32_MAX)
    return true;
  return llvm::any_of(form.terms, [&](auto term) {
    const Atom &atom = indices[term.first];
    return atom.kind == Atom::quotient && atom.varies && isWide(atom.numerator);
  });
}

Value Body::vector(const Linear &form, bool wide) {
  unsigned level = indices.levelOf(form);
  Type element = wide ? entry.getI64Type() : entry.getI32Type();
  auto integer = [&](int64_t value) {
    return number(element, entry.getIntegerAttr(element, APInt(wide ? 64 : 32, value, true, true)),
                  true);
  };
  Linear uniform(form.constant);
  Value sum;
  for (auto [id, coefficient] : form.terms) {
    const Atom &atom = indices[id];
    if (!atom.varies) {
      uniform.terms.push_back({id, coefficient});
      continue;
    }
    Value value;
    if (atom.kind == Atom::lane) {
      SmallVector<APInt> ramp;
      for (int64_t i = 0; i < width; ++i)
        ramp.push_back(APInt(wide ? 64 : 32, i));
      value = constantOf(DenseElementsAttr::get(lanesOf(element), ramp));
    } else if (atom.kind == Atom::quotient) {
      Value numerator = vector(atom.numerator, wide);
      Value divisor = integer(atom.divisor);
      OpBuilder &b = scopes[level].builder;
      if (indices.rangeOf(atom.numerator).lo >= 0)
        value = arith::DivUIOp::create(b, location, numerator, divisor);
      else
        value = arith::FloorDivSIOp::create(b, location, numerator, divisor);
    } else {
      value = atom.value;
      OpBuilder &b = scopes[level].builder;
      bool isWide = getElementTypeOrSelf(value.getType()).isInteger(64);
      if (wide && !isWide)
        value = arith::ExtSIOp::create(b, location, lanesOf(element), value);
      else if (!wide && isWide)
        value = arith::TruncIOp::create(b, location, lanesOf(element), value);
    }
    OpBuilder &b = scopes[level].builder;
    if (coefficient != 1)
      value = arith::MulIOp::create(b, location, value, integer(coefficient));
    sum = sum ? arith::AddIOp::create(b, location, sum, value) : value;
  }
  if (uniform.isConstant() && uniform.constant == 0 && sum)
    return sum;
  Value rest;
  if (uniform.isConstant()) {
    rest = integer(uniform.constant);
  } else {
    Value base = scalar(uniform);
    OpBuilder &b = scopes[level].builder;
    rest = splat(b, arith::IndexCastOp::create(b, location, element, base));
  }
  return sum ? arith::AddIOp::create(scopes[level].builder, location, sum, rest) : rest;
}
