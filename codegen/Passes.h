// The passes of codegen.
#pragma once

namespace nap {

/// Registers `nap-lower-kernels`.
void registerCodegenPasses();

} // namespace nap
