// JsonReader: members of JSON objects, with the first thing that is wrong.

#ifndef NAPKIN_RUNTIME_FILES_JSONREADER_H
#define NAPKIN_RUNTIME_FILES_JSONREADER_H

#include "runtime/files/Json.h"

#include <fmt/format.h>

namespace napkin::runtime {

/// Reads members of objects; what is absent or of another kind leaves `out` as it was and makes the
/// error, unless another came first. With `needed` false a member may be absent.
class JsonReader {
public:
  /// A clause without the file's name, "'step' is not a whole number from 0"; empty: all is well.
  std::string error;

  /// The member of this name, or null.
  const Json *field(const Json &object, const char *name, bool needed) {
    if (!object.isObject()) {
      fail(fmt::format("an object with '{}' is wanted", name));
      return nullptr;
    }
    if (const Json *found = object.find(name))
      return found;
    if (needed)
      fail(fmt::format("'{}' is missing", name));
    return nullptr;
  }

  void read(const Json &object, const char *name, std::string &out, bool needed = true) {
    if (const Json *value = field(object, name, needed)) {
      if (!value->isString())
        return fail(fmt::format("'{}' is not a string", name));
      out = value->string;
    }
  }

  void read(const Json &object, const char *name, int64_t &out, bool needed = true) {
    if (const Json *value = field(object, name, needed)) {
      if (!value->whole)
        return fail(fmt::format("'{}' is not a whole number", name));
      out = *value->whole;
    }
  }

  void read(const Json &object, const char *name, uint64_t &out, bool needed = true) {
    if (const Json *value = field(object, name, needed)) {
      if (!value->count)
        return fail(fmt::format("'{}' is not a whole number from 0", name));
      out = *value->count;
    }
  }

  void read(const Json &object, const char *name, double &out, bool needed = true) {
    if (const Json *value = field(object, name, needed)) {
      if (!value->isNumber())
        return fail(fmt::format("'{}' is not a number", name));
      out = value->number;
    }
  }

  void read(const Json &object, const char *name, bool &out, bool needed = true) {
    if (const Json *value = field(object, name, needed)) {
      if (!value->isBoolean())
        return fail(fmt::format("'{}' is not true or false", name));
      out = value->boolean;
    }
  }

  void read(const Json &object, const char *name, std::vector<int64_t> &out, bool needed = true) {
    if (const Json *list = items(object, name, needed))
      for (const Json &value : list->items) {
        if (!value.whole)
          return fail(fmt::format("'{}' holds something that is not a whole number", name));
        out.push_back(*value.whole);
      }
  }

  void read(const Json &object, const char *name, std::vector<std::string> &out,
            bool needed = true) {
    if (const Json *list = items(object, name, needed))
      for (const Json &value : list->items) {
        if (!value.isString())
          return fail(fmt::format("'{}' holds something that is not a string", name));
        out.push_back(value.string);
      }
  }

  /// A whole number from 0.
  void readCount(const Json &object, const char *name, int64_t &out) {
    const Json *value = field(object, name, true);
    if (!value)
      return;
    if (!value->whole || *value->whole < 0)
      return fail(fmt::format("'{}' is not a whole number from 0", name));
    out = *value->whole;
  }

  /// The list named `name`, or null.
  const Json *items(const Json &object, const char *name, bool needed = true) {
    const Json *value = field(object, name, needed);
    if (!value)
      return nullptr;
    if (!value->isList()) {
      fail(fmt::format("'{}' is not a list", name));
      return nullptr;
    }
    return value;
  }

  /// The object named `name`, or null.
  const Json *object(const Json &object, const char *name, bool needed = true) {
    const Json *value = field(object, name, needed);
    if (!value)
      return nullptr;
    if (!value->isObject()) {
      fail(fmt::format("'{}' is not an object", name));
      return nullptr;
    }
    return value;
  }

  /// Checks the members 'format' and 'version' that begin each of our files; false after an error.
  bool readHeader(const Json &object, std::string_view format, int64_t version) {
    std::string foundFormat;
    read(object, "format", foundFormat);
    if (error.empty() && foundFormat != format)
      fail(fmt::format("its format is '{}' and '{}' is wanted", foundFormat, format));
    int64_t foundVersion = 0;
    read(object, "version", foundVersion);
    if (error.empty() && foundVersion != version)
      fail(fmt::format("its version is {} and this runtime reads version {}", foundVersion,
                       version));
    return error.empty();
  }

  /// Keeps the first error.
  void fail(std::string message) {
    if (error.empty())
      error = std::move(message);
  }
};

} // namespace napkin::runtime

#endif
