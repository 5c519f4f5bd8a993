// Status: errors as values, and exit statuses.

#ifndef NAPKIN_RUNTIME_STATUS_H
#define NAPKIN_RUNTIME_STATUS_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace napkin::runtime {

/// What a process says to its caller at the end.
enum class ExitStatus : int {
  done = 0,
  wrongInput = 1,       ///< a model, data file or checkpoint
  wrongUsage = 2,       ///< a flag
  infeasibleBudget = 3, ///< no plan fits
  machineFailure = 4,   ///< no memory, a full disk, an unreadable device
  auditFailed = 5,
  interrupted = 130,
};

/// One sentence, lower-case first letter, no full stop, naming the place and the remedy; and the
/// exit status that it leads to.
struct [[nodiscard]] Error {
  std::string message;
  ExitStatus status = ExitStatus::wrongInput;
};

/// An error, or nothing: success.
using Failure = std::optional<Error>;

/// A value, or an error.
template <typename T>
class [[nodiscard]] Result {
public:
  Result(T value) : content(std::move(value)) {}
  Result(Error error) : content(std::move(error)) {}

  /// True for a value.
  explicit operator bool() const { return std::holds_alternative<T>(content); }
  /// The value; only after a check.
  T &operator*() {
    assert(*this);
    return *std::get_if<T>(&content);
  }
  const T &operator*() const {
    assert(*this);
    return *std::get_if<T>(&content);
  }
  T *operator->() { return &**this; }
  const T *operator->() const { return &**this; }
  /// The error; only after a check.
  const Error &error() const {
    assert(!*this);
    return *std::get_if<Error>(&content);
  }

private:
  std::variant<T, Error> content;
};

} // namespace napkin::runtime

#endif
