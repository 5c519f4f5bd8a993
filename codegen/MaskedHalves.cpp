// Masked moves of bf16 in LLVM IR.
#include "codegen/MaskedHalves.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

static bool holdsHalves(Type *type) { return type->isVectorTy() && type->getScalarType()->isBFloatTy(); }

/// The same call on vectors of i16.
static void moveAsIntegers(IntrinsicInst *call) {
  IRBuilder<> builder(call);
  auto integers = [](Type *type) { return cast<VectorType>(type)->getWithNewType(Type::getInt16Ty(type->getContext())); };
  SmallVector<Value *> arguments;
  for (Value *argument : call->args()) {
    bool halves = holdsHalves(argument->getType());
    arguments.push_back(halves ? builder.CreateBitCast(argument, integers(argument->getType())) : argument);
  }
  Type *result = call->getType();
  Type *wanted = holdsHalves(result) ? integers(result) : result;
  // The overloaded types, in each intrinsic's order: the vector, then the pointer or vector of pointers.
  Type *vector = call->getIntrinsicID() == Intrinsic::masked_store ? arguments[0]->getType() : wanted;
  unsigned pointer = call->getIntrinsicID() == Intrinsic::masked_store ? 1 : 0;
  CallInst *moved = builder.CreateIntrinsic(call->getIntrinsicID(), {vector, arguments[pointer]->getType()}, arguments);
  moved->setAttributes(call->getAttributes());
  if (holdsHalves(result))
    call->replaceAllUsesWith(builder.CreateBitCast(moved, result));
  call->eraseFromParent();
}

void nap::moveHalvesAsIntegers(Module &module) {
  SmallVector<IntrinsicInst *> calls;
  for (Function &function : module)
    for (BasicBlock &block : function)
      for (Instruction &instruction : block) {
        auto *call = dyn_cast<IntrinsicInst>(&instruction);
        if (!call)
          continue;
        bool isLoad = call->getIntrinsicID() == Intrinsic::masked_load ||
                      call->getIntrinsicID() == Intrinsic::masked_gather;
        bool isStore = call->getIntrinsicID() == Intrinsic::masked_store;
        if ((isLoad && holdsHalves(call->getType())) ||
            (isStore && holdsHalves(call->getArgOperand(0)->getType())))
          calls.push_back(call);
      }
  for (IntrinsicInst *call : calls)
    moveAsIntegers(call);
}
