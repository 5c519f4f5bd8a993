// Executor: launch after launch, watched or not.

#include "runtime/execute/Executor.h"

#include "runtime/Numbers.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <span>

namespace napkin::runtime {

int64_t nowNanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Executor::Executor(const LoadedProgram &loaded, Arena memory, int threads, bool poison)
    : loaded(loaded), arena(std::move(memory)), pool(threads, arena), poison(poison) {
  if (poison)
    arena.poison();
  const Program &program = loaded.program;
  operands.resize(program.functions.size());
  for (size_t i = 0; i < program.functions.size(); ++i)
    for (const Launch &launch : program.functions[i].launches) {
      for (const std::vector<int64_t> *list : {&launch.arguments, &launch.results})
        for (int64_t index : *list)
          operands[i].push_back(arena.at(program.tensors[index].offset));
      if (!launch.sites.empty())
        operands[i].push_back(
            const_cast<std::byte *>(std::as_bytes(std::span(launch.sites)).data()));
    }
}

/// True for a launch that takes less time than waking the other workers does, a microsecond or two.
static bool isTiny(const Launch &launch) {
  constexpr double flopsPerByteTime = 4;
  constexpr double tinyBytes = 16384;
  return launch.bytes + launch.flops / flopsPerByteTime < tinyBytes;
}

/// True for launches that make large tensors zero.
static bool isZeroOfPages(const Program &program, const Launch &launch) {
  constexpr int64_t leastBytes = 1 << 20;
  return program.kernels[launch.kernel].zeros &&
         std::ranges::all_of(launch.results, [&](int64_t tensor) {
           return program.tensors[tensor].bytes >= leastBytes;
         });
}

Failure Executor::run(int64_t function) {
  const Program &program = loaded.program;
  const Function &body = program.functions[function];
  std::byte *const *next = operands[function].data();
  // Of most states the pages were never touched before "init" makes them zero.
  bool touchesFirst = !poison && body.name == "init";
  for (const Launch &launch : body.launches) {
    int64_t beganAt = observer ? nowNanoseconds() : 0;
    // Poisoned runs look for faults, so there even the tiniest launch is cut and shared.
    if (touchesFirst && isZeroOfPages(program, launch))
      for (int64_t tensor : launch.results)
        zeroBytes(arena.at(program.tensors[tensor].offset), program.tensors[tensor].bytes);
    else if (!poison && isTiny(launch))
      loaded.kernels[launch.kernel](next, arena.scratch(0), 0, launch.tasks);
    else
      pool.run(loaded.kernels[launch.kernel], next, launch.tasks);
    if (observer)
      observer->ended(body, &launch - body.launches.data(), launch, beganAt, nowNanoseconds());
    next += launch.arguments.size() + launch.results.size() + !launch.sites.empty();
    if (poison)
      for (int64_t index : launch.dies)
        poisonBytes(arena.at(program.tensors[index].offset), program.tensors[index].bytes);
  }
  return std::nullopt;
}

void NanFinder::ended(const Function &function, int64_t index, const Launch &launch, int64_t,
                      int64_t) {
  if (!nan.empty())
    return;
  for (int64_t result : launch.results) {
    const TensorInfo &tensor = program.tensors[result];
    if (!isFloat(tensor.dtype))
      continue;
    // A device that fails tells it at the end of the function.
    if (device.pull(result))
      return;
    const std::byte *data = device.data(result);
    int64_t elements = elementsOf(tensor.shape);
    for (int64_t i = 0; i < elements; ++i) {
      double value = loadElement(tensor.dtype, data, i);
      if (std::isfinite(value))
        continue;
      std::string &place = std::isnan(value) ? nan : infinity;
      if (place.empty())
        place = fmt::format("launch {} of '{}', kernel '{}', wrote {} at element {} of '{}'{}{}",
                            index, function.name, program.kernels[launch.kernel].name,
                            std::isnan(value) ? "nan" : "infinity", i, tensor.name,
                            launch.where.empty() ? "" : ", line ", launch.where);
      if (!nan.empty())
        return;
    }
  }
}

void NanFinder::clear() {
  nan.clear();
  infinity.clear();
}

} // namespace napkin::runtime
