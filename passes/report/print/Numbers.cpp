// Numbers as the report prints them.
#include "passes/report/print/Numbers.h"

#include <fmt/format.h>

#include <cmath>

using namespace nap;

static constexpr const char *kPrefixes[] = {"", "k", "M", "G", "T", "P", "E", "Z", "Y"};

/// Divides by 1000 until it is below that in print; how often.
static size_t normalise(double &value) {
  size_t step = 0;
  for (; std::abs(value) >= 999.9995 && step + 1 < std::size(kPrefixes); ++step)
    value /= 1000;
  return step;
}

std::string nap::scaled(double value) {
  size_t step = normalise(value);
  return step == 0 ? fmt::format("{:.0f}", value)
                   : fmt::format("{:.3f} {}", value, kPrefixes[step]);
}

std::string nap::fourFigures(double value) {
  double size = std::abs(value);
  return fmt::format("{:.{}f}", value,
                     size < 9.9995   ? 3
                     : size < 99.995 ? 2
                     : size < 999.95 ? 1
                                     : 0);
}

std::string nap::shortScaled(double value) {
  size_t step = normalise(value);
  return step == 0 ? fmt::format("{:.0f}", value) : fourFigures(value) + kPrefixes[step];
}

std::string nap::shortMiB(double bytes) { return fourFigures(bytes / (1 << 20)); }

std::string nap::change(double before, double now) {
  if (before == now)
    return "";
  if (before == 0)
    return "new";
  double percent = 100 * (now - before) / before;
  if (std::abs(percent) < 0.05)
    return "";
  return fmt::format("{:+.{}f}%", percent, std::abs(percent) < 9.95 ? 1 : 0);
}

std::string nap::digits(Count count) {
  bool isNegative = count < 0;
  auto rest = isNegative ? -(unsigned __int128)count : (unsigned __int128)count;
  std::string text;
  do {
    text.insert(text.begin(), char('0' + int(rest % 10)));
    rest /= 10;
  } while (rest);
  return isNegative ? "-" + text : text;
}

std::string nap::grouped(Count count) {
  std::string text = digits(count);
  for (int64_t place = int64_t(text.size()) - 3; place > (count < 0 ? 1 : 0); place -= 3)
    text.insert(size_t(place), ",");
  return text;
}
