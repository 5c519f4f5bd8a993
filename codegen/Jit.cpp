// Loads compiled kernels with ORC.
#include "codegen/Jit.h"

#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

using namespace nap;

Jit::Jit(std::unique_ptr<llvm::orc::LLJIT> jit) : jit(std::move(jit)) {}
Jit::Jit(Jit &&) = default;
Jit::~Jit() = default;

llvm::Expected<Jit> Jit::load(std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects) {
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  // memcpy, memset and, for f64, the C library's mathematics.
  auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*process));
  for (auto &object : objects)
    if (llvm::Error error = (*jit)->addObjectFile(std::move(object)))
      return error;
  return Jit(std::move(*jit));
}

llvm::Expected<napkin::runtime::KernelFunction> Jit::lookup(llvm::StringRef symbol) {
  auto address = jit->lookup(symbol);
  if (!address)
    return address.takeError();
  return address->toPtr<napkin::runtime::KernelFunction>();
}
