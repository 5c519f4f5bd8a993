// Einsum patterns: reading them, their cheapest pairwise order.
#pragma once

#include "ir/Ops.h"

#include <string>
#include <vector>

namespace nap {

/// The groups of letters of a pattern such as "bsd,vd->bsv".
struct EinsumPattern {
  /// One group an operand, one letter an axis.
  std::vector<std::string> operands;
  /// The result's letters.
  std::string result;

  /// The pattern as text.
  std::string text() const;
};

/// Reads `text`; nothing if it is not groups of letters, "->" and a group.
std::optional<EinsumPattern> parseEinsum(llvm::StringRef text);

/// One step of a pairwise order: contracts two of the tensors at hand into a new one, appended to
/// them. The tensors at hand are the operands, then the steps' results.
struct EinsumStep {
  /// Which tensors, the lower number first; equal where one tensor alone is summed.
  size_t lhs, rhs;
  /// What the step computes of them, one group of letters a tensor.
  EinsumPattern pattern;
  /// Whether it contracts, that is, sums over a letter that both have: multiply-adds; otherwise
  /// it multiplies element by element, or sums one tensor over its own letters.
  bool contracts;
  /// How many additions and multiplications it makes.
  Count work;
};

/// The steps that make `pattern` of tensors whose letters have `sizes` (by letter). First each
/// operand is summed over the letters that nothing else has; then pairs are contracted in the order
/// of least work, found over all subsets (Pfeifer, Haegeman and Verstraete 2014), the first found
/// at ties; more than 12 operands are contracted from the left.
std::vector<EinsumStep> planEinsum(const EinsumPattern &pattern,
                                   llvm::ArrayRef<int64_t> sizes);

/// The sizes of an op's letters, by letter.
llvm::SmallVector<int64_t> letterSizes(EinsumOp op);

} // namespace nap
