// Numbers as the report prints them. Printing rounds; storage never does.
#pragma once

#include "ir/Cost.h"

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
/// Bytes in MiB as text of four figures.
std::string shortMiB(double bytes);
/// "-70%", "+1.2%" from one number to the next; empty where that rounds to nothing.
std::string change(double before, double now);
/// All digits.
std::string digits(Count count);
/// All digits in groups of three: "632,970,805,248".
std::string grouped(Count count);

} // namespace nap
