// Declarations, averages, and kernels.
#ifndef NAPKIN_IR_OPS_STRUCTURE
#define NAPKIN_IR_OPS_STRUCTURE

include "ir/ops/Base.td"

def DeclareOp : Nap_Structure<"declare", [Symbol]> {
  let summary = "a tensor that lives between functions, is fed, or is set by the runtime";
  let description = [{
    C1: a state, gradient or working copy names the parameter it belongs to (`of`), others do not. C2: a scalar has no axes
    and alone may have a `value`, its default. C3: random is tensor<4xi32>. C4: `axes`, if there, has one name
    an axis ("" where the model file gives none).
  }];
  let arguments = (ins RoleAttr:$role, SymbolNameAttr:$sym_name, OptionalAttr<FlatSymbolRefAttr>:$of,
                       OptionalAttr<F64Attr>:$value, TypeAttrOf<NapTensor>:$type, OptionalAttr<StrArrayAttr>:$axes);
  let assemblyFormat = "$role $sym_name (`of` $of^)? (`=` $value^)? attr-dict `:` $type";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() { return ::llvm::cast<::mlir::RankedTensorType>(getType()); }
  }];
}

def AverageOp : Nap_Pure<"average", !listconcat([SameOperandsAndResultType], HasAdjoint)> {
  let summary = "total / the mean of count over the step's micro-batches (in evaluation: over all batches)";
  let description = [{
    C1: all are 0-d, of one float type. Count is a constant for the gradient. `index` numbers the averages of one
    function from 0.
  }];
  let arguments = (ins NapFloatTensor:$total, NapFloatTensor:$count, I64Attr:$index);
  let results = (outs NapFloatTensor:$result);
  let assemblyFormat = "$total `,` $count `index` $index attr-dict `:` type($total)";
  let hasVerifier = 1;
}

def KernelOp : Nap_Structure<"kernel", [IsolatedFromAbove, Pure, SingleBlock]> {
  let summary = "a region of the graph that becomes one launch";
  let description = [{
    Its inputs and outputs are the only tensors of the region that exist in memory, contiguous and row-major.
    C1: the block's arguments have the types of the inputs. C2: the region ends in a yield of the outputs' types.
    C3: the region fits its class (docs/architecture.md). C4: each of its ops has a cost rule. `name` says what it
    does and where. Later passes add attributes.
  }];
  let arguments = (ins KernelClassAttr:$kernel_class, StrAttr:$name, Variadic<NapTensor>:$inputs);
  let results = (outs Variadic<NapTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $kernel_class $name `(` $inputs `)` attr-dict-with-keyword `:` functional-type($inputs, $outputs) $body
  }];
  let hasVerifier = 1;
}

def KernelDefOp : Nap_Structure<"kernel_def", [IsolatedFromAbove, Symbol, SingleBlock]> {
  let summary = "a kernel that one or more launches share; its block arguments are the inputs, its yield the outputs";
  let arguments = (ins KernelClassAttr:$kernel_class, SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$kernel_class $sym_name attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def LaunchOp : Nap_Structure<"launch", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "one execution of a kernel_def";
  let description = [{ C1: the kernel exists. C2: the types of inputs and outputs are those of its arguments and its yield. }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<NapTensor>:$inputs);
  let results = (outs Variadic<NapTensor>:$outputs);
  let assemblyFormat = "$kernel `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)";
}

def YieldOp : Nap_Structure<"yield", [Pure, Terminator]> {
  let summary = "what a kernel stores";
  let arguments = (ins Variadic<NapTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif
