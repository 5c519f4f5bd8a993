// Npy: one NumPy array in a file.

#ifndef NAPKIN_RUNTIME_FILES_NPY_H
#define NAPKIN_RUNTIME_FILES_NPY_H

#include "runtime/files/ArrayFile.h"

namespace napkin::runtime {

/// Opens a .npy file, versions 1 to 3 of the format (NumPy, "NEP 1"); no pickles.
Result<ArrayFile> openNpy(const std::string &path);

/// Parses the beginning of a .npy file. `head` holds at least its header; `place` is named in
/// errors; `total` is the size of the whole file. The array's offset counts from the beginning of
/// `head`.
Result<ArrayInfo> parseNpyHeader(std::string_view head, const std::string &place, int64_t total);

/// The largest header that is read.
inline constexpr int64_t npyHeaderLimit = 65536;

/// The header of version 1.0 for such an array, padded to a multiple of 64 bytes.
std::string npyHeader(FileType type, const std::vector<int64_t> &shape);

} // namespace napkin::runtime

#endif
