// Npy: the header is a Python dictionary of three known keys.

#include "runtime/files/Npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>

namespace napkin::runtime {

namespace {
/// NumPy's name of a type without byte order.
struct NpyTypeRow {
  std::string_view code;
  FileType type;
};

/// Reads the header's few tokens; `good` is false after the first that does not fit.
class HeaderReader {
public:
  explicit HeaderReader(std::string_view text) : text(text) {}
  bool good = true;

  bool next(char wanted) {
    blanks();
    if (!text.empty() && text[0] == wanted) {
      text.remove_prefix(1);
      return true;
    }
    return false;
  }
  void need(char wanted) { good = good && next(wanted); }

  std::string_view quoted() {
    blanks();
    if (text.empty() || (text[0] != '\'' && text[0] != '"')) {
      good = false;
      return "";
    }
    size_t end = text.find(text[0], 1);
    if (end == std::string_view::npos) {
      good = false;
      return "";
    }
    std::string_view inside = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    return inside;
  }

  bool word(std::string_view wanted) {
    blanks();
    if (!text.starts_with(wanted))
      return false;
    text.remove_prefix(wanted.size());
    return true;
  }

  int64_t number() {
    blanks();
    int64_t value = 0;
    auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc()) {
      good = false;
      return 0;
    }
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    // Python 2 wrote long integers with an L.
    if (!text.empty() && text[0] == 'L')
      text.remove_prefix(1);
    return value;
  }

private:
  void blanks() {
    while (!text.empty() && (text[0] == ' ' || text[0] == '\n' || text[0] == '\t'))
      text.remove_prefix(1);
  }
  std::string_view text;
};
} // namespace

static constexpr std::array<NpyTypeRow, 12> npyTypes = {{{"b1", FileType::boolean},
                                                         {"u1", FileType::u8},
                                                         {"i1", FileType::i8},
                                                         {"u2", FileType::u16},
                                                         {"i2", FileType::i16},
                                                         {"u4", FileType::u32},
                                                         {"i4", FileType::i32},
                                                         {"u8", FileType::u64},
                                                         {"i8", FileType::i64},
                                                         {"f2", FileType::f16},
                                                         {"f4", FileType::f32},
                                                         {"f8", FileType::f64}}};

/// The type of a NumPy description such as "<f4"; a sentence's end in `problem` otherwise.
static std::optional<FileType> parseDescription(std::string_view text, std::string &problem) {
  if (text.size() == 3 && text[0] == '>' && text[1] != 'b' && text[2] != '1') {
    problem = fmt::format("its dtype '{}' is big-endian; write it little-endian", text);
    return std::nullopt;
  }
  if (text.find('O') != std::string_view::npos) {
    problem = "it holds Python objects (a pickle), which are not read; save it as numbers";
    return std::nullopt;
  }
  for (const NpyTypeRow &row : npyTypes)
    if (text.size() == 3 && text.substr(1) == row.code)
      return row.type;
  problem = fmt::format("its dtype '{}' is not bool, an integer or a float up to 64 bits", text);
  return std::nullopt;
}

/// The tuple after 'shape'.
static std::vector<int64_t> parseTuple(HeaderReader &reader) {
  std::vector<int64_t> shape;
  reader.need('(');
  while (reader.good && !reader.next(')')) {
    shape.push_back(reader.number());
    if (!reader.next(',')) {
      reader.need(')');
      break;
    }
  }
  return shape;
}

static Error headerError(const std::string &place, std::string_view problem) {
  return {fmt::format("{}: {}", place, problem)};
}

Result<ArrayInfo> parseNpyHeader(std::string_view head, const std::string &place, int64_t total) {
  if (!head.starts_with("\x93NUMPY"))
    return damagedFile(place, "does not begin with NumPy's magic at offset 0");
  if (head.size() < 12)
    return damagedFile(place, fmt::format("ends at offset {}, inside the header", head.size()));
  int version = static_cast<unsigned char>(head[6]);
  if (version < 1 || version > 3)
    return headerError(place, fmt::format("has version {} of the format at offset 6, and 1 to 3 "
                                          "are read",
                                          version));
  auto byteAt = [&](size_t i) { return static_cast<int64_t>(static_cast<unsigned char>(head[i])); };
  int64_t start = version == 1 ? 10 : 12;
  int64_t length = byteAt(8) | byteAt(9) << 8;
  if (version > 1)
    length |= byteAt(10) << 16 | byteAt(11) << 24;
  if (length > npyHeaderLimit)
    return headerError(place, fmt::format("has a header of {} bytes at offset 8, and at most {} "
                                          "are read",
                                          length, npyHeaderLimit));
  if (start + length > static_cast<int64_t>(head.size()))
    return damagedFile(place, fmt::format("ends at offset {}, inside the header of {} bytes",
                                          head.size(), length));
  HeaderReader reader(head.substr(static_cast<size_t>(start), static_cast<size_t>(length)));
  ArrayInfo array;
  std::string_view description;
  bool fortran = false;
  int seen = 0;
  reader.need('{');
  while (reader.good && !reader.next('}')) {
    std::string_view key = reader.quoted();
    reader.need(':');
    ++seen;
    if (key == "descr" && reader.next('['))
      return headerError(place, "it is a structured array; save each field as its own array");
    if (key == "descr")
      description = reader.quoted();
    else if (key == "fortran_order" && reader.word("True"))
      fortran = true;
    else if (key == "shape")
      array.shape = parseTuple(reader);
    else if (key != "fortran_order" || !reader.word("False"))
      reader.good = false;
    if (!reader.next(',')) {
      reader.need('}');
      break;
    }
  }
  if (!reader.good || seen != 3 || description.empty())
    return damagedFile(place, fmt::format("its header at offset {} is not a dictionary of 'descr', "
                                          "'fortran_order' and 'shape'",
                                          start));
  std::string problem;
  std::optional<FileType> type = parseDescription(description, problem);
  if (!type)
    return headerError(place, problem);
  if (fortran && array.shape.size() > 1)
    return headerError(place, "it is in Fortran order; save numpy.ascontiguousarray of it");
  array.type = *type;
  array.offset = start + length;
  array.bytes = checkedArrayBytes(array.type, array.shape);
  if (array.bytes < 0)
    return damagedFile(place, fmt::format("its shape {} is impossible", printShape(array.shape)));
  if (array.bytes > total - array.offset)
    return damagedFile(
        place, fmt::format("ends at offset {} and its shape {} of {} wants {}", total,
                           printShape(array.shape), nameOf(array.type),
                           fmt::format("{} bytes from offset {}", array.bytes, array.offset)));
  return array;
}

Result<ArrayFile> openNpy(const std::string &path) {
  Result<File> file = File::open(path);
  if (!file)
    return file.error();
  std::string head(static_cast<size_t>(std::min(file->size(), npyHeaderLimit + 12)), '\0');
  if (Failure failure = file->read(0, std::as_writable_bytes(std::span(head))))
    return *failure;
  Result<ArrayInfo> array = parseNpyHeader(head, path, file->size());
  if (!array)
    return array.error();
  ArrayFile arrays{std::move(*file), {}};
  arrays.arrays.push_back(std::move(*array));
  return arrays;
}

std::string npyHeader(FileType type, const std::vector<int64_t> &shape) {
  std::string_view code;
  for (const NpyTypeRow &row : npyTypes)
    if (row.type == type)
      code = row.code;
  std::string dictionary = fmt::format(
      "{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}",
      bytesOf(type) == 1 ? '|' : '<', code, fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  size_t whole = (10 + dictionary.size() + 1 + 63) / 64 * 64;
  dictionary.append(whole - 10 - dictionary.size() - 1, ' ');
  dictionary += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dictionary.size() & 255);
  header += static_cast<char>(dictionary.size() >> 8);
  return header + dictionary;
}

} // namespace napkin::runtime
