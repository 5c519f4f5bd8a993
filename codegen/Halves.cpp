// Narrow elements in memory, in LLVM IR.
#include "codegen/Halves.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <optional>

using namespace llvm;

static bool holdsHalves(Type *type) {
  return type->getScalarType()->isBFloatTy() || type->getScalarType()->isHalfTy();
}

/// The type with i16 in place of bf16 or f16.
static Type *asIntegers(Type *type) {
  Type *integer = Type::getInt16Ty(type->getContext());
  auto *vector = dyn_cast<VectorType>(type);
  return vector ? vector->getWithNewType(integer) : integer;
}

/// The same masked call on vectors of i16.
static void moveMasked(IntrinsicInst *call) {
  IRBuilder<> builder(call);
  SmallVector<Value *> arguments;
  for (Value *argument : call->args()) {
    bool halves = holdsHalves(argument->getType());
    arguments.push_back(halves ? builder.CreateBitCast(argument, asIntegers(argument->getType()))
                               : argument);
  }
  // Overloaded types: the vector, then the pointer or the vector of pointers.
  bool stores = call->getIntrinsicID() == Intrinsic::masked_store;
  Type *vector = stores ? arguments[0]->getType() : asIntegers(call->getType());
  CallInst *moved = builder.CreateIntrinsic(call->getIntrinsicID(),
                                            {vector, arguments[stores ? 1 : 0]->getType()}, arguments);
  moved->setAttributes(call->getAttributes());
  if (!stores)
    call->replaceAllUsesWith(builder.CreateBitCast(moved, call->getType()));
  call->eraseFromParent();
}

static void moveLoad(LoadInst *load) {
  IRBuilder<> builder(load);
  LoadInst *moved = builder.CreateAlignedLoad(asIntegers(load->getType()), load->getPointerOperand(),
                                              load->getAlign());
  load->replaceAllUsesWith(builder.CreateBitCast(moved, load->getType()));
  load->eraseFromParent();
}

static void moveStore(StoreInst *store) {
  IRBuilder<> builder(store);
  Value *value = store->getValueOperand();
  builder.CreateAlignedStore(builder.CreateBitCast(value, asIntegers(value->getType())),
                             store->getPointerOperand(), store->getAlign());
  store->eraseFromParent();
}

/// Whether the call is a masked load, gather or store of bf16 or f16.
static bool movesHalvesMasked(IntrinsicInst *call) {
  switch (call->getIntrinsicID()) {
  case Intrinsic::masked_load:
  case Intrinsic::masked_gather:
    return holdsHalves(call->getType());
  case Intrinsic::masked_store:
    return holdsHalves(call->getArgOperand(0)->getType());
  default:
    return false;
  }
}

void nap::moveHalvesAsIntegers(Module &module) {
  SmallVector<Instruction *> found;
  for (Function &function : module)
    for (BasicBlock &block : function)
      for (Instruction &instruction : block)
        found.push_back(&instruction);
  for (Instruction *instruction : found) {
    auto *call = dyn_cast<IntrinsicInst>(instruction);
    auto *load = dyn_cast<LoadInst>(instruction);
    auto *store = dyn_cast<StoreInst>(instruction);
    if (call && movesHalvesMasked(call))
      moveMasked(call);
    else if (load && holdsHalves(load->getType()))
      moveLoad(load);
    else if (store && holdsHalves(store->getValueOperand()->getType()))
      moveStore(store);
  }
}

/// The only lane of a constant mask; none where more or fewer are set, or the mask is known only at run time.
static std::optional<unsigned> onlyLane(Value *mask) {
  auto *constant = dyn_cast<Constant>(mask);
  auto *type = dyn_cast<FixedVectorType>(mask->getType());
  if (!constant || !type)
    return std::nullopt;
  std::optional<unsigned> lane;
  for (unsigned i = 0; i < type->getNumElements(); ++i) {
    Constant *bit = constant->getAggregateElement(i);
    if (!bit || !isa<ConstantInt>(bit))
      return std::nullopt;
    if (bit->isNullValue())
      continue;
    if (lane)
      return std::nullopt;
    lane = i;
  }
  return lane;
}

void nap::storeSingleLanes(Module &module) {
  SmallVector<std::pair<IntrinsicInst *, unsigned>> found;
  for (Function &function : module)
    for (BasicBlock &block : function)
      for (Instruction &instruction : block)
        if (auto *call = dyn_cast<IntrinsicInst>(&instruction);
            call && call->getIntrinsicID() == Intrinsic::masked_store)
          if (auto lane = onlyLane(call->getArgOperand(call->arg_size() - 1)))
            found.push_back({call, *lane});
  for (auto [call, lane] : found) {
    IRBuilder<> builder(call);
    Value *element = builder.CreateExtractElement(call->getArgOperand(0), uint64_t(lane));
    Value *place = builder.CreateConstGEP1_64(element->getType(), call->getArgOperand(1), lane);
    builder.CreateAlignedStore(element, place, Align(1));
    call->eraseFromParent();
  }
}
