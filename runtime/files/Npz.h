// Npz: several NumPy arrays in a zip file.

#ifndef NAPKIN_RUNTIME_FILES_NPZ_H
#define NAPKIN_RUNTIME_FILES_NPZ_H

#include "runtime/files/ArrayFile.h"

namespace napkin::runtime {

/// Opens what numpy.savez and savez_compressed write. Stored members are read in place; compressed
/// ones are inflated into memory, at most 16 GiB together, after their sizes are checked.
Result<ArrayFile> openNpz(const std::string &path);

} // namespace napkin::runtime

#endif
