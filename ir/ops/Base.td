// Classes that the op families share.
#ifndef NAPKIN_IR_OPS_BASE
#define NAPKIN_IR_OPS_BASE

include "ir/Dialect.td"
include "ir/Interfaces.td"

class Nap_Op<string mnemonic, list<Trait> traits = []> : Op<NapDialect, mnemonic, traits>;

/// A pure op with a cost rule.
class Nap_Pure<string mnemonic, list<Trait> traits = []>
    : Nap_Op<mnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<Costed>], traits)>;

defvar HasAdjoint = [DeclareOpInterfaceMethods<Differentiable>];

#endif
