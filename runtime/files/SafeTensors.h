// SafeTensors: named arrays in a file, as published weights come.

#ifndef NAPKIN_RUNTIME_FILES_SAFETENSORS_H
#define NAPKIN_RUNTIME_FILES_SAFETENSORS_H

#include "runtime/files/ArrayFile.h"

namespace napkin::runtime {

/// Opens a file of the safetensors format: 8 bytes with the header's length (at most 100 MB), a
/// JSON header, then the arrays. Offsets must ascend without overlap and stay inside the file.
Result<ArrayFile> openSafeTensors(const std::string &path);

/// The length word and the header for these arrays, in this order, one after the other; padded
/// with blanks so that the first array is 8-byte aligned. Sets the arrays' offsets and bytes.
std::string safeTensorsHeader(std::vector<ArrayInfo> &arrays);

} // namespace napkin::runtime

#endif
