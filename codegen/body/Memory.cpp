// Loads, stores and the places they touch.
#include "codegen/body/Body.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace nap;

/// Whether the form is uniform + lane: neighbouring lanes are neighbours in memory.
static bool isContiguous(const Linear &form, unsigned lane, const IndexSpace &space) {
  if (form.coefficientOf(lane) != 1)
    return false;
  return llvm::count_if(form.terms, [&](auto term) { return space[term.first].varies; }) == 1;
}

/// Whether one turn more of the innermost loop that the form depends on goes on to what lies next,
/// or not far behind.
static bool goesAlong(const Linear &form, const IndexSpace &space) {
  unsigned level = space.levelOf(form);
  return llvm::any_of(form.terms, [&](auto term) {
    const Atom &atom = space[term.first];
    return atom.kind == Atom::counter && atom.level == level && term.second > 0 &&
           term.second <= kRunningSums;
  });
}

void Body::prefetch(OpBuilder &b, Value memref, const Linear &place, Value index) {
  // Half a page: prefetchers of the machine stop at its end. Small tensors are in a cache.
  constexpr int64_t aheadBytes = 2048, farBytes = 2 << 20;
  auto type = cast<MemRefType>(memref.getType());
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  if (!fetchesAhead || type.getNumElements() * bytes < farBytes || width * bytes > kLineBytes ||
      !goesAlong(place, indices))
    return;
  Value ahead = arith::AddIOp::create(b, location, index, indexConstant(aheadBytes / bytes));
  memref::PrefetchOp::create(b, location, memref, ahead, /*isWrite=*/false, /*localityHint=*/3,
                             /*isDataCache=*/true);
}

/// A bool in memory, one byte, as i1.
static Value asBool(OpBuilder &b, Location loc, Value byte) {
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(byte.getType()));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, byte, zero);
}

Value Body::load(Value memref, Type element, const Linear &place) {
  Type stored = cast<MemRefType>(memref.getType()).getElementType();
  unsigned level = indices.levelOf(place);
  auto finish = [&](Value value) {
    OpBuilder &b = scopes[level].builder;
    return element.isInteger(1) ? asBool(b, location, value) : fromMemory(b, location, value);
  };
  if (!indices.varies(place)) {
    Value index = scalar(place);
    return finish(memref::LoadOp::create(scopes[level].builder, location, memref, index));
  }
  unsigned lane = indices.laneOf(place);
  Value mask = indices[lane].mask;
  VectorType type = lanesOf(stored);
  if (isContiguous(place, lane, indices)) {
    Value index = scalar(place - Linear::of(lane));
    OpBuilder &b = scopes[level].builder;
    if (!mask) {
      prefetch(b, memref, place, index);
      return finish(vector::LoadOp::create(b, location, type, memref, index));
    }
    return finish(vector::MaskedLoadOp::create(b, location, type, memref, index, mask,
                                               constantOf(b.getZeroAttr(type))));
  }
  ++scattered;
  Value offsets = vector(place, isWide(place));
  if (!mask)
    mask = number(entry.getI1Type(), entry.getBoolAttr(true), true);
  return finish(vector::GatherOp::create(scopes[level].builder, location, type, memref,
                                         indexConstant(0), offsets, mask,
                                         constantOf(entry.getZeroAttr(type))));
}

void Body::store(Value value, Value memref, const Linear &place) {
  Type stored = cast<MemRefType>(memref.getType()).getElementType();
  OpBuilder &b = builder();
  bool lanes = indices.varies(place);
  if (lanes)
    value = splat(b, value);
  value = toMemory(b, location, value, stored);
  if (getElementTypeOrSelf(value.getType()) != stored)
    value = arith::ExtUIOp::create(b, location, lanes ? Type(lanesOf(stored)) : stored, value);
  if (!lanes) {
    memref::StoreOp::create(b, location, value, memref, scalar(place));
    return;
  }
  unsigned lane = indices.laneOf(place);
  assert(isContiguous(place, lane, indices) && "results are written in their own order");
  Value index = scalar(place - Linear::of(lane));
  if (Value mask = indices[lane].mask)
    vector::MaskedStoreOp::create(b, location, memref, index, mask, value);
  else
    vector::StoreOp::create(b, location, value, memref, index);
}

Value Body::allocate(Type element, int64_t count) {
  entry.setInsertionPointToStart(entry.getInsertionBlock());
  return memref::AllocaOp::create(entry, location, MemRefType::get({count}, element),
                                  entry.getI64IntegerAttr(64));
}

/// A list of numbers in read-only memory of the module, under the function's name: modules of
/// several functions are joined, and dealt out again, with what is named after each.
static Value globalList(OpBuilder &b, Location loc, DenseElementsAttr values) {
  Operation *parent = b.getInsertionBlock()->getParentOp();
  auto function = dyn_cast<func::FuncOp>(parent);
  if (!function)
    function = parent->getParentOfType<func::FuncOp>();
  auto module = function->getParentOfType<ModuleOp>();
  auto flat = values.reshape(cast<ShapedType>(values.getType()).clone({values.getNumElements()}));
  if (values.getElementType().isInteger(1)) {
    SmallVector<int8_t> bytes;
    for (bool value : values.getValues<bool>())
      bytes.push_back(value);
    flat = DenseElementsAttr::get(RankedTensorType::get(flat.getType().getShape(), b.getI8Type()),
                                  ArrayRef(bytes));
  }
  auto type = MemRefType::get(flat.getType().getShape(), flat.getElementType());
  std::string name;
  for (unsigned i = 0;; ++i) {
    name = (function.getSymName() + ".constant." + llvm::Twine(i)).str();
    auto other = module.lookupSymbol<memref::GlobalOp>(name);
    if (!other) {
      OpBuilder start = OpBuilder::atBlockBegin(module.getBody());
      memref::GlobalOp::create(start, loc, name, start.getStringAttr("private"), type, flat,
                               /*constant=*/true, /*alignment=*/IntegerAttr());
      break;
    }
    if (other.getInitialValue() == std::optional<Attribute>(flat))
      break;
  }
  return memref::GetGlobalOp::create(b, loc, type, name);
}

Value Body::constant(ConstantOp op, ArrayRef<Linear> index) {
  auto values = cast<DenseElementsAttr>(op.getValue());
  Type element = values.getElementType();
  if (values.isSplat())
    return number(element, values.getSplatValue<TypedAttr>(), false);
  entry.setInsertionPointToStart(entry.getInsertionBlock());
  Value list = globalList(entry, location, values);
  return load(list, element, indices.linearize(index, values.getType().getShape()));
}

Value Body::iota(IotaOp op, ArrayRef<Linear> index) {
  Type element = op.getType().getElementType();
  unsigned level = indices.levelOf(index);
  bool lanes = indices.varies(index);
  Value place = lanes ? vector(index[0], isWide(index[0])) : scalar(index[0]);
  OpBuilder &b = scopes[level].builder;
  Type wide = b.getI64Type();
  if (!lanes)
    place = arith::IndexCastOp::create(b, location, wide, place);
  Type from = getElementTypeOrSelf(place.getType());
  Type to = lanes ? Type(lanesOf(heldType(element))) : heldType(element);
  if (isa<FloatType>(element))
    return roundHeld(b, location, arith::SIToFPOp::create(b, location, to, place), element);
  unsigned have = from.getIntOrFloatBitWidth(), want = element.getIntOrFloatBitWidth();
  if (have == want)
    return place;
  if (have < want)
    return arith::ExtSIOp::create(b, location, to, place);
  return arith::TruncIOp::create(b, location, to, place);
}
