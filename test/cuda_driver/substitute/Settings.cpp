// Settings: one line of an environment variable.
#include "test/cuda_driver/substitute/Settings.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace substitute {

/// Takes what stands before the first `by` out of a text.
static std::string takePart(std::string &text, char by) {
  size_t at = text.find(by);
  std::string part = text.substr(0, at);
  text = at == std::string::npos ? "" : text.substr(at + 1);
  return part;
}

static Settings read() {
  Settings settings;
  const char *text = std::getenv("NAPKIN_SUBSTITUTE");
  std::string rest = text ? text : "";
  const std::pair<const char *, int *> numbers[] = {
      {"devices", &settings.devices},   {"architecture", &settings.architecture},
      {"newest", &settings.newest},     {"version", &settings.version},
      {"threads", &settings.threads},   {"shared-most", &settings.sharedMost},
      {"shared", &settings.shared},     {"no-compiler", &settings.noCompiler},
      {"library", &settings.library},   {"no-algorithm", &settings.noAlgorithm}};
  while (!rest.empty()) {
    std::string value = takePart(rest, ',');
    std::string name = takePart(value, '=');
    bool isKnown = true;
    if (name == "memory") {
      settings.memory = std::strtoull(value.c_str(), nullptr, 10);
    } else if (name == "used") {
      settings.used = std::strtoull(value.c_str(), nullptr, 10);
    } else if (name == "fail") {
      std::string function = takePart(value, ':');
      int64_t call = std::atoll(takePart(value, ':').c_str());
      settings.failing[function] = {call, std::atoi(value.c_str())};
    } else if (name == "fault") {
      settings.faulty = takePart(value, ':');
      settings.faultStatus = std::atoi(value.c_str());
    } else if (name == "from") {
      settings.faultFrom = std::atoll(value.c_str());
    } else if (name == "name") {
      settings.name = value;
    } else if (name == "log") {
      settings.log = value;
    } else {
      isKnown = false;
      for (auto [known, number] : numbers)
        if (name == known) {
          *number = std::atoi(value.c_str());
          isKnown = true;
        }
    }
    if (!isKnown)
      std::fprintf(stderr, "cuda-substitute: NAPKIN_SUBSTITUTE has no setting '%s'\n",
                   name.c_str());
  }
  return settings;
}

const Settings &Settings::get() {
  static const Settings one = read();
  return one;
}

} // namespace substitute
