//===- Source.h - Texts of model files, and places in them ----------------===//
//
// A Source is one text with a name; a Range is a half-open interval of its
// bytes. Everything the frontend says about a file is said through a Range.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace napkin {

/// A place as people count it, from 1. A column counts characters (UTF-8), not bytes.
struct LineColumn {
  unsigned line = 1;
  unsigned column = 1;
};

/// One text: a file, a file of the prelude, or a value of the command line. Lives as long as the
/// Sources that made it; never moves, so that string views into `text()` stay good.
class Source {
public:
  Source(unsigned id, std::string name, std::string text);
  Source(const Source &) = delete;
  Source &operator=(const Source &) = delete;

  /// The number of this source in its Sources, in the order of loading: errors are sorted by it.
  unsigned id() const { return number; }
  /// As the user wrote it ("models/gpt2.nap"), or "prelude/attention.nap".
  const std::string &name() const { return nameText; }
  std::string_view text() const { return content; }
  /// True for a file that ships inside the compiler.
  bool isPrelude() const { return nameText.starts_with("prelude/") && embedded; }
  void markEmbedded() { embedded = true; }

  /// Line and column of a byte offset; an offset past the end is the end.
  LineColumn position(uint32_t offset) const;
  /// The line of `position`, at a cost that does not grow with the line's length.
  unsigned line(uint32_t offset) const;
  /// The line's text without its line break. `line` counts from 1.
  std::string_view lineText(unsigned line) const;
  /// The offset of the first byte of a line. `line` counts from 1.
  uint32_t lineBegin(unsigned line) const;
  unsigned lineCount() const { return static_cast<unsigned>(lineStarts.size()); }

private:
  unsigned number;
  std::string nameText;
  std::string content;
  std::vector<uint32_t> lineStarts;
  bool embedded = false;
};

/// A half-open interval [begin, end) of a source's bytes. Without a source it is no place at all
/// (an error of the command line).
struct Range {
  const Source *source = nullptr;
  uint32_t begin = 0;
  uint32_t end = 0;

  bool isValid() const { return source != nullptr; }
  uint32_t size() const { return end - begin; }
  std::string_view text() const {
    return source ? source->text().substr(begin, end - begin) : std::string_view();
  }
  LineColumn position() const { return source ? source->position(begin) : LineColumn(); }
  /// The first `length` bytes of this range, from byte `from` on.
  Range sub(uint32_t from, uint32_t length) const {
    return {source, begin + from, begin + from + length};
  }
  bool operator==(const Range &other) const = default;
};

/// From the beginning of `first` to the end of `last`, both in one source.
inline Range join(Range first, Range last) { return {first.source, first.begin, last.end}; }

/// A file of the prelude as it is embedded in the compiler.
struct PreludeFile {
  std::string_view name; ///< "prelude/attention.nap"
  std::string_view text;
};

/// The files of the prelude, in the order of their names.
const std::vector<PreludeFile> &preludeFiles();

/// Owns every text of a compilation.
class Sources {
public:
  /// The largest file that is read, in bytes.
  static constexpr uint32_t maxBytes = 64u << 20;

  /// Adds a text under a name. `load` gives it for a path of that name, and reads no file.
  const Source &add(std::string name, std::string text);
  /// Reads a file. On failure the result is null and `reason` a sentence without a name:
  /// "no such file or directory", "a directory, not a file", "larger than 64 MiB".
  const Source *load(const std::string &path, std::string &reason);
  /// The paths that `load` read, in its order.
  const std::vector<std::string> &files() const { return loaded; }
  /// Adds every file of the prelude, and gives them in the order of preludeFiles(). Idempotent.
  const std::vector<const Source *> &loadPrelude();

private:
  std::vector<std::unique_ptr<Source>> all;
  std::vector<const Source *> prelude;
  std::vector<std::string> loaded;
};

} // namespace napkin
