// Numbers as the report prints them. Printing rounds; storage never does.
#pragma once

#include "ir/Cost.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace nap {

/// A count with a decimal prefix: "2.334 T".
std::string scaled(double value);
/// The same in six columns at most: "2.334T", "19.8G", "412".
std::string shortScaled(double value);
/// Four figures, or all before the point: "0.250", "786.3", "5800".
std::string fourFigures(double value);
/// Bytes in MiB, the unit of memory in every text: 2^20. GB, as makers of devices count, is 1e9.
inline double inMiB(double bytes) { return bytes / (1 << 20); }
inline double inMiB(int64_t bytes) { return inMiB(double(bytes)); }
/// Four figures in six columns at most: of a million and more with a prefix, "3.433M".
std::string cell(double value);
/// Bytes in MiB as text of four figures.
std::string shortMiB(double bytes);
/// "-70%", "+1.2%", "x12.30" from one number to the next, in six columns at most; empty where that
/// rounds to nothing.
std::string change(double before, double now);
/// All digits.
std::string digits(Count count);
/// All digits in groups of three: "632,970,805,248".
std::string grouped(Count count);

/// How wide a report is.
inline constexpr size_t kReportColumns = 120;
/// The lines of `text` without blanks at their ends, longer ones than a report is wide continued,
/// after a blank where there is one, on lines of their own.
std::string inColumns(llvm::StringRef text);

} // namespace nap
