// Calls: one counter a function.
#include "test/cuda_driver/substitute/Calls.h"

#include "test/cuda_driver/substitute/Machine.h"
#include "test/cuda_driver/substitute/Settings.h"

#include <cstdio>
#include <fmt/format.h>

namespace substitute {

static std::map<std::string, int64_t> calls;

int countCall(const std::string &name) {
  int64_t call = ++calls[name];
  auto failing = Settings::get().failing.find(name);
  bool fails = failing != Settings::get().failing.end() && failing->second.call == call;
  return fails ? failing->second.status : 0;
}

void writeCalls() {
  const std::string &log = Settings::get().log;
  if (log.empty())
    return;
  if (FILE *file = std::fopen(log.c_str(), "w")) {
    for (const auto &[name, count] : calls)
      fmt::print(file, "{} {}\n", name, count);
    std::fclose(file);
  }
}

int misuse(const std::string &sentence, int status) {
  Machine::get().fault(sentence);
  return status;
}

} // namespace substitute
