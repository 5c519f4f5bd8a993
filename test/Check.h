// Check: what the C++ test programs say.

#ifndef NAPKIN_TEST_CHECK_H
#define NAPKIN_TEST_CHECK_H

#include <fmt/format.h>

#include <string>

namespace napkin::test {

/// Checks so far that did not hold; a test program ends with 1 unless it is 0.
inline int failures = 0;

/// Prints what does not hold.
inline void expect(bool holds, const std::string &what) {
  if (holds)
    return;
  fmt::print("FAILED: {}\n", what);
  ++failures;
}

/// Expects the same text, to the letter.
inline void expectText(const std::string &said, const std::string &wanted) {
  expect(said == wanted, fmt::format("'{}' is said and '{}' is wanted", said, wanted));
}

} // namespace napkin::test

#endif
