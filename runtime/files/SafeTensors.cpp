// SafeTensors: header out of JSON, and back.

#include "runtime/files/SafeTensors.h"

#include "runtime/files/Json.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <tuple>

namespace napkin::runtime {

/// The format's names of the types, in the order of `FileType`.
static constexpr std::array<std::string_view, 13> typeNames = {
    "BOOL", "U8", "I8", "U16", "I16", "U32", "I32", "U64", "I64", "F16", "BF16", "F32", "F64"};

static constexpr int64_t headerLimit = 100'000'000;

/// Reads one entry of the header.
static Result<ArrayInfo> readEntry(const std::string &path, const std::string &name,
                                   const Json &entry) {
  auto damaged = [&](std::string_view problem) {
    return damagedFile(path, fmt::format("tensor '{}' {}", name, problem));
  };
  ArrayInfo array;
  array.name = name;
  const Json *type = entry.find("dtype");
  const Json *shape = entry.find("shape");
  const Json *offsets = entry.find("data_offsets");
  if (!type || !type->isString() || !shape || !shape->isList() || !offsets || !offsets->isList() ||
      offsets->items.size() != 2 || !offsets->items[0].whole || !offsets->items[1].whole)
    return damaged("has no 'dtype', 'shape' and 'data_offsets'");
  auto found = std::find(typeNames.begin(), typeNames.end(), type->string);
  if (found == typeNames.end())
    return Error{fmt::format("{}: tensor '{}' has dtype {}, and those read are {}", path, name,
                             type->string, fmt::join(typeNames, ", "))};
  array.type = static_cast<FileType>(found - typeNames.begin());
  for (const Json &size : shape->items) {
    if (!size.whole || *size.whole < 0)
      return damaged("has a shape that is not whole numbers");
    array.shape.push_back(*size.whole);
  }
  array.offset = *offsets->items[0].whole;
  int64_t wanted = checkedArrayBytes(array.type, array.shape);
  if (__builtin_sub_overflow(*offsets->items[1].whole, array.offset, &array.bytes) ||
      array.bytes != wanted)
    return damaged(fmt::format("has offsets {} to {} and its shape {} of {} wants {} bytes",
                               array.offset, *offsets->items[1].whole, printShape(array.shape),
                               type->string, wanted));
  return array;
}

Result<ArrayFile> openSafeTensors(const std::string &path) {
  Result<File> file = File::open(path);
  if (!file)
    return file.error();
  auto failed = [&](std::string_view problem) { return damagedFile(path, problem); };
  uint64_t length = 0;
  if (file->size() < 8)
    return failed(fmt::format("ends at offset {}, inside the length of its header", file->size()));
  if (Failure failure = file->read(0, std::as_writable_bytes(std::span(&length, 1))))
    return *failure;
  if (length > headerLimit)
    return Error{
        fmt::format("{}: has a header of {} bytes at offset 0, and at most {} are read; it "
                    "is no safetensors file",
                    path, length, headerLimit)};
  auto headerBytes = static_cast<int64_t>(length);
  if (headerBytes > file->size() - 8)
    return failed(
        fmt::format("ends at offset {}, inside its header of {} bytes", file->size(), headerBytes));
  std::string text(length, '\0');
  if (Failure failure = file->read(8, std::as_writable_bytes(std::span(text))))
    return *failure;
  std::string problem;
  std::optional<Json> header = parseJson(text, problem);
  if (!header)
    return failed(fmt::format("the header at offset 8 is not JSON: {}", problem));
  if (!header->isObject())
    return failed("the header at offset 8 is not a JSON object");

  ArrayFile result{std::move(*file), {}};
  for (size_t i = 0; i < header->items.size(); ++i) {
    if (header->names[i] == "__metadata__")
      continue;
    Result<ArrayInfo> array = readEntry(path, header->names[i], header->items[i]);
    if (!array)
      return array.error();
    result.arrays.push_back(std::move(*array));
  }
  std::sort(result.arrays.begin(), result.arrays.end(), [](const ArrayInfo &a, const ArrayInfo &b) {
    return std::tie(a.offset, a.bytes, a.name) < std::tie(b.offset, b.bytes, b.name);
  });
  int64_t begin = 8 + headerBytes;
  int64_t end = 0;
  for (ArrayInfo &array : result.arrays) {
    if (array.offset < end)
      return failed(fmt::format("tensor '{}' overlaps the one before it at offset {}", array.name,
                                array.offset));
    end = array.offset + array.bytes;
    if (end > result.file.size() - begin)
      return failed(fmt::format("ends at offset {} and tensor '{}' reaches to offset {}",
                                result.file.size(), array.name, begin + end));
    array.offset += begin;
  }
  std::vector<std::string_view> names;
  for (const ArrayInfo &array : result.arrays)
    names.push_back(array.name);
  std::sort(names.begin(), names.end());
  if (auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end())
    return failed(fmt::format("tensor '{}' stands twice", *twice));
  return result;
}

std::string safeTensorsHeader(std::vector<ArrayInfo> &arrays) {
  std::string json = R"({"__metadata__":{"format":"pt"})";
  int64_t end = 0;
  for (ArrayInfo &array : arrays) {
    array.bytes = checkedArrayBytes(array.type, array.shape);
    array.offset = end;
    end += array.bytes;
    json += fmt::format(R"(,{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                        quoteJson(array.name), typeNames[static_cast<size_t>(array.type)],
                        fmt::join(array.shape, ","), array.offset, end);
  }
  json += '}';
  json.append((8 - json.size() % 8) % 8, ' ');
  uint64_t length = json.size();
  std::string header(8, '\0');
  std::memcpy(header.data(), &length, 8);
  header += json;
  for (ArrayInfo &array : arrays)
    array.offset += static_cast<int64_t>(header.size());
  return header;
}

} // namespace napkin::runtime
