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

std::optional<Multiprocessor> multiprocessorOf(std::string_view architecture) {
  struct Row {
    std::string_view architecture;
    int64_t warps, blocks, sharedKilobytes;
  };
  static constexpr Row rows[] = {{"sm_70", 64, 32, 96},   {"sm_75", 32, 16, 64},
                                 {"sm_80", 64, 32, 164},  {"sm_86", 48, 16, 100},
                                 {"sm_89", 48, 24, 100},  {"sm_90", 64, 32, 228},
                                 {"sm_100", 64, 32, 228}, {"sm_120", 48, 24, 100}};
  // Variants of one architecture, sm_90a, have its limits.
  std::string_view plain = architecture;
  if (!plain.empty() && (plain.back() == 'a' || plain.back() == 'f'))
    plain.remove_suffix(1);
  for (const Row &row : rows)
    if (row.architecture == plain) {
      bool isOld = plain == "sm_70" || plain == "sm_75";
      return Multiprocessor{row.warps, row.blocks, row.sharedKilobytes * 1024, isOld ? 0 : 1024,
                            isOld ? 256 : 128};
    }
  return std::nullopt;
}

static int64_t roundUp(int64_t x, int64_t unit) { return (x + unit - 1) / unit * unit; }

int64_t blocksAtOnce(const KernelResources &kernel, const Multiprocessor &multiprocessor) {
  constexpr int64_t lanes = 32, parts = 4, registersOfPart = 65536 / parts, registerUnit = 256;
  int64_t warps = (kernel.threads + lanes - 1) / lanes;
  if (warps == 0)
    return 0;
  int64_t blocks = std::min(multiprocessor.blocks, multiprocessor.warps / warps);
  if (int64_t registers = roundUp(kernel.registers * lanes, registerUnit))
    blocks = std::min(blocks, registersOfPart / registers * parts / warps);
  if (int64_t bytes =
          roundUp(kernel.sharedBytes + multiprocessor.reservedBytes, multiprocessor.sharedUnit))
    blocks = std::min(blocks, multiprocessor.sharedBytes / bytes);
  return blocks;
}

std::string resourceTable(std::vector<KernelResources> kernels, std::string_view architecture) {
  std::sort(kernels.begin(), kernels.end(),
            [](const auto &x, const auto &y) { return x.name < y.name; });
  size_t width = 6;
  for (const KernelResources &kernel : kernels)
    width = std::max(width, kernel.name.size());
  std::optional<Multiprocessor> multiprocessor = multiprocessorOf(architecture);
  std::string text = fmt::format("{:{}}  {:>9}  {:>11}  {:>12}", "kernel", width, "registers",
                                 "spill bytes", "shared bytes");
  text += multiprocessor
              ? fmt::format("  {:>7}  {:>8}  {:>9}\n", "threads", "warps/SM", "occupancy")
              : "\n";
  for (const KernelResources &kernel : kernels) {
    text += fmt::format("{:{}}  {:>9}  {:>11}  {:>12}", kernel.name, width, kernel.registers,
                        kernel.spillBytes, kernel.sharedBytes);
    if (multiprocessor) {
      int64_t warps = blocksAtOnce(kernel, *multiprocessor) * ((kernel.threads + 31) / 32);
      text += fmt::format("  {:>7}  {:>8}  {:>7} %", kernel.threads, warps,
                          100 * warps / multiprocessor->warps);
    }
    text += "\n";
  }
  return text;
}

} // namespace napkin::runtime
