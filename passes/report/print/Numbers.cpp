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

std::string nap::cell(double value) {
  return std::abs(value) < 999999.5 ? fourFigures(value) : shortScaled(value);
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
  // Only more can be more than all: bytes and times are never below 0.
  if (percent >= 999.5)
    return now / before < 9999.5 ? fmt::format("x{:.4g}", now / before)
                                 : fmt::format("x{:.0e}", now / before);
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

std::string nap::inColumns(llvm::StringRef text) {
  std::string lines;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    text = rest;
    line = line.rtrim();
    // What goes on stands a little to the right of where the line begins.
    std::string indent = line.take_while([](char c) { return c == ' '; }).str() + "    ";
    if (indent.size() > kReportColumns / 2)
      indent = "    ";
    for (std::string begin; !line.empty(); begin = indent) {
      size_t room = kReportColumns - begin.size(), end = line.size();
      if (end > room) {
        size_t blank = line.take_front(room + 1).rfind(' ');
        // A word that is longer than a line is cut.
        bool isWord = blank == llvm::StringRef::npos || line.take_front(blank).trim().empty();
        end = isWord ? room : blank;
      }
      lines += begin + line.take_front(end).rtrim().str();
      line = line.drop_front(end).ltrim();
      if (!line.empty())
        lines += '\n';
    }
    lines += '\n';
  }
  return lines;
}
