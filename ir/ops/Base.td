// Classes that the op families share.
#ifndef NAPKIN_IR_OPS_BASE
#define NAPKIN_IR_OPS_BASE

include "ir/Dialect.td"
include "ir/Interfaces.td"

/// Declares, holds or calls: what it costs is what others count.
class Nap_Structure<string mnemonic, list<Trait> traits = []> : Op<NapDialect, mnemonic, traits>;

/// Computes, in a function or a kernel: the verifier wants a cost rule (ir/CountsWork.h).
def CountsWork : NativeOpTrait<"CountsWork"> { let cppNamespace = "::nap"; }
class Nap_Op<string mnemonic, list<Trait> traits = []>
    : Op<NapDialect, mnemonic, !listconcat([CountsWork], traits)>;

/// A pure op with a cost rule.
class Nap_Pure<string mnemonic, list<Trait> traits = []>
    : Nap_Op<mnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<Costed>], traits)>;

defvar HasAdjoint = [DeclareOpInterfaceMethods<Differentiable>];

#endif
