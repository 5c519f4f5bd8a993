//===- Prelude.cpp - The embedded files of the prelude --------------------===//

#include "frontend/Source.h"

namespace napkin {

const std::vector<PreludeFile> &preludeFiles() {
  static const std::vector<PreludeFile> files = {
#include "frontend/Prelude.inc"
  };
  return files;
}

} // namespace napkin
