// Names in CUDA text.
#include "codegen/cuda/printer/CudaPrinter.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace nap;

std::string nap::cudaValueName(llvm::StringRef text) {
  static const llvm::StringSet<> reserved = {
      "auto",     "bool",      "break",     "case",      "char",    "class",     "const",
      "continue", "default",   "delete",    "do",        "double",  "else",      "enum",
      "extern",   "false",     "float",     "for",       "goto",    "if",        "inline",
      "int",      "long",      "new",       "not",       "or",      "and",       "xor",
      "register", "return",    "short",     "signed",    "sizeof",  "static",    "struct",
      "switch",   "template",  "this",      "true",      "typedef", "union",     "unsigned",
      "void",     "volatile",  "while",     "u8",        "u16",     "u32",       "u64",
      "i64",      "bf16",      "maximum",   "minimum",   "fused",   "floor_div", "high_word",
      "bits_of",  "bf16_of",   "float_of",  "double_of", "to_f32",  "to_bf16",   "expm1",
      "log1p",    "exp",       "log",       "sqrt",      "sin",     "cos",       "tanh",
      "erf",      "block_sum", "block_max", "block_min", "pow",     "floor",     "ceil",
      "abs",      "asked",     "f16",       "f16_of",    "to_f16"};
  std::string name;
  for (char c : text)
    name += llvm::isAlnum(c) ? c : '_';
  if (name.empty() || llvm::isDigit(name.front()))
    name = "_" + name;
  return reserved.contains(name) ? name + "_" : name;
}

std::string nap::cudaKernelName(llvm::StringRef kernel) {
  auto [what, where] = kernel.split('.');
  return cudaValueName((what + "__" + (where.empty() ? "kernel" : where)).str());
}
