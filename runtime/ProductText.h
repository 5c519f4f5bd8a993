// Products of a GPU's library, and their algorithms, as JSON text.

#ifndef NAPKIN_RUNTIME_PRODUCTTEXT_H
#define NAPKIN_RUNTIME_PRODUCTTEXT_H

#include "runtime/Program.h"
#include "runtime/files/JsonReader.h"

namespace napkin::runtime {

/// Bytes of an algorithm as the library hands it over.
inline constexpr size_t algorithmBytes = 64;

/// One line.
std::string printProduct(const LibraryProduct &product);
/// Reads what `printProduct` wrote; what is wrong goes to the reader.
LibraryProduct readProduct(JsonReader &reader, const Json &object);
/// A clause about what is wrong with a launch of a kernel that is a product: its tensors' types, or
/// places beyond them; empty if nothing is.
std::string checkProduct(const Program &program, const Launch &launch,
                         const LibraryProduct &product);

/// What the library is told of a call, in words: equal for calls that may have one algorithm.
std::string describeProduct(const LibraryProduct &product);
/// The largest power of two, 256 at most, that a matrix's first element lies at a multiple of.
int64_t alignmentOf(const LibraryProduct::Matrix &matrix, DType dtype);

/// An object over several lines, of which all but the first are indented by `indent` blanks.
std::string printPins(const ProductPins &pins, int indent);
/// Reads what `printPins` wrote.
ProductPins readPins(JsonReader &reader, const Json &object);

} // namespace napkin::runtime

#endif
