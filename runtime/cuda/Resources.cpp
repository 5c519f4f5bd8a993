// Reads what ptxas -v says:
//
//   ptxas info    : Compiling entry function 'gelu__x' for 'sm_90'
//   ptxas info    : Function properties for gelu__x
//       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 32 registers, used 1 barriers, 64 bytes smem

#include "runtime/cuda/Resources.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <string_view>

namespace napkin::runtime {

/// The number that ends before `what` in the line; 0: there is none.
static int64_t numberBefore(std::string_view line, std::string_view what) {
  size_t end = line.find(what);
  if (end == std::string_view::npos)
    return 0;
  size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9')
    --begin;
  int64_t number = 0;
  std::from_chars(line.data() + begin, line.data() + end, number);
  return number;
}

std::vector<KernelResources> readResources(const CudaBinary &binary) {
  std::vector<KernelResources> kernels;
  std::string_view rest = binary.log;
  constexpr std::string_view head = "Compiling entry function '";
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (size_t at = line.find(head); at != std::string_view::npos) {
      std::string_view name = line.substr(at + head.size());
      kernels.push_back({std::string(name.substr(0, name.find('\''))), 0, 0, 0});
    }
    if (kernels.empty())
      continue;
    KernelResources &own = kernels.back();
    own.registers = std::max(own.registers, numberBefore(line, " registers"));
    own.spillBytes = std::max(own.spillBytes, numberBefore(line, " bytes spill stores"));
    own.sharedBytes = std::max(own.sharedBytes, numberBefore(line, " bytes smem"));
  }
  return kernels;
}

std::string resourceTable(std::vector<KernelResources> kernels) {
  std::sort(kernels.begin(), kernels.end(),
            [](const auto &x, const auto &y) { return x.name < y.name; });
  size_t width = 6;
  for (const KernelResources &kernel : kernels)
    width = std::max(width, kernel.name.size());
  std::string text = fmt::format("{:{}}  {:>9}  {:>11}  {:>12}\n", "kernel", width, "registers",
                                 "spill bytes", "shared bytes");
  for (const KernelResources &kernel : kernels)
    text += fmt::format("{:{}}  {:>9}  {:>11}  {:>12}\n", kernel.name, width, kernel.registers,
                        kernel.spillBytes, kernel.sharedBytes);
  return text;
}

} // namespace napkin::runtime
