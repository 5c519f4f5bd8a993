// Json: reading JSON from untrusted files, without recursion.

#ifndef NAPKIN_RUNTIME_FILES_JSON_H
#define NAPKIN_RUNTIME_FILES_JSON_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace napkin::runtime {

/// A JSON value. An object's items stand in the file's order.
struct Json {
  enum class Kind : uint8_t { null, boolean, number, string, list, object };
  Kind kind = Kind::null;
  bool boolean = false;
  double number = 0;             ///< every number
  std::optional<int64_t> whole;  ///< a number written without fraction that fits in 64 bits with
                                 ///< sign
  std::optional<uint64_t> count; ///< a number written without fraction, at least 0
  std::string string;
  std::vector<Json> items;        ///< of a list or an object
  std::vector<std::string> names; ///< of an object's items

  bool isString() const { return kind == Kind::string; }
  bool isNumber() const { return kind == Kind::number; }
  bool isBoolean() const { return kind == Kind::boolean; }
  bool isList() const { return kind == Kind::list; }
  bool isObject() const { return kind == Kind::object; }
  /// The first item of this name; null if there is none, or if this is no object.
  const Json *find(std::string_view name) const;
};

/// Parses `text`; nesting at most 64 deep, at most 4 million values, numbers to full precision,
/// `Infinity` and `NaN` accepted. On failure returns nothing, and `problem` is a clause ("... at
/// byte 12").
std::optional<Json> parseJson(std::string_view text, std::string &problem);

/// `text` as a JSON string with its quotes; control characters are escaped.
std::string quoteJson(std::string_view text);

/// A number that reads back to the same bits, `Infinity` and `NaN` included.
std::string numberJson(double value);

} // namespace napkin::runtime

#endif
