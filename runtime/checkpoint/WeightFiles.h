// WeightFiles: what loading weights by any rule has in common.

#ifndef NAPKIN_RUNTIME_CHECKPOINT_WEIGHTFILES_H
#define NAPKIN_RUNTIME_CHECKPOINT_WEIGHTFILES_H

#include "runtime/files/ArrayFile.h"

namespace napkin::runtime {

/// Indices of the tensors that have one of the roles, in order.
std::vector<int64_t> tensorsWith(const Program &program, const std::vector<Role> &roles);

/// How a file's names and shapes differ from those of the program.
struct Differences {
  std::vector<std::string> missing; ///< "'wte.weight'": in the program alone
  std::vector<std::string> extra;   ///< in the file alone
  std::vector<std::string> shapes;  ///< "'w' is [2, 3] in the file and [3, 2] in the model"
  std::vector<std::string> types;   ///< values that the program's type cannot hold exactly
};

/// At most five items, then how many more: lists stay readable for models of any size.
std::string printSome(const std::vector<std::string> &items);
/// All that is wrong but types, in one sentence; empty if nothing is.
std::string printDifferences(const Differences &differences);

/// Notes an array whose type holds values that `tensor` does not.
void compareTypes(const ArrayInfo &array, const TensorInfo &tensor, Differences &differences);
/// Notes the arrays of the file that are none of `names`.
void findExtra(const ArrayFile &file, std::vector<std::string_view> names,
               Differences &differences);

/// Reads a whole array as elements of `dtype`, in pieces.
Failure readArray(const ArrayFile &file, const ArrayInfo &array, DType dtype, std::byte *out);

} // namespace napkin::runtime

#endif
