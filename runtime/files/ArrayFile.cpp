// ArrayFile: element types and their conversion.

#include "runtime/files/ArrayFile.h"

#include "runtime/Numbers.h"
#include "runtime/files/Npy.h"
#include "runtime/files/Npz.h"
#include "runtime/files/SafeTensors.h"

#include <array>
#include <cstring>
#include <fmt/format.h>

namespace napkin::runtime {

namespace {
struct FileTypeRow {
  std::string_view name;
  int64_t bytes;
  bool isFloat;
  int exactBits; ///< of the values: integers without sign bit, mantissa of floats
};
} // namespace

static constexpr std::array<FileTypeRow, 13> fileTypes = {{{"bool", 1, false, 1},
                                                           {"u8", 1, false, 8},
                                                           {"i8", 1, false, 7},
                                                           {"u16", 2, false, 16},
                                                           {"i16", 2, false, 15},
                                                           {"u32", 4, false, 32},
                                                           {"i32", 4, false, 31},
                                                           {"u64", 8, false, 64},
                                                           {"i64", 8, false, 63},
                                                           {"f16", 2, true, 11},
                                                           {"bf16", 2, true, 8},
                                                           {"f32", 4, true, 24},
                                                           {"f64", 8, true, 53}}};

int64_t bytesOf(FileType type) { return fileTypes[static_cast<size_t>(type)].bytes; }

std::string_view nameOf(FileType type) { return fileTypes[static_cast<size_t>(type)].name; }

std::optional<FileType> fileTypeOf(DType dtype) {
  for (size_t i = 0; i < fileTypes.size(); ++i)
    if (fileTypes[i].name == nameOf(dtype))
      return static_cast<FileType>(i);
  return std::nullopt;
}

Error damagedFile(std::string_view place, std::string_view problem) {
  return {fmt::format("{}: {}; the file was cut short or damaged: copy it again, or write it anew",
                      place, problem)};
}

const ArrayInfo *ArrayFile::find(std::string_view name) const {
  for (const ArrayInfo &array : arrays)
    if (array.name == name)
      return &array;
  return nullptr;
}

Failure ArrayFile::read(const ArrayInfo &array, int64_t first, std::span<std::byte> out) const {
  if (!array.inflated)
    return file.read(array.offset + first, out);
  std::memcpy(out.data(), array.inflated->data() + array.offset + first, out.size());
  return std::nullopt;
}

bool isArrayFile(std::string_view path) {
  return path.ends_with(".npy") || path.ends_with(".npz") || path.ends_with(".safetensors");
}

Result<ArrayFile> openArrayFile(const std::string &path) {
  if (path.ends_with(".npz"))
    return openNpz(path);
  if (path.ends_with(".safetensors"))
    return openSafeTensors(path);
  return openNpy(path);
}

bool widens(FileType from, DType to) {
  const FileTypeRow &row = fileTypes[static_cast<size_t>(from)];
  std::optional<FileType> target = fileTypeOf(to);
  if (!target)
    return false;
  if (!isFloat(to))
    return !row.isFloat;
  // bf16 reaches as far as f32; f16 does not.
  if (from == FileType::bf16 && *target == FileType::f16)
    return false;
  if (from == FileType::f16 && *target == FileType::bf16)
    return false;
  return row.exactBits <= fileTypes[static_cast<size_t>(*target)].exactBits;
}

template <typename T> static T loadAs(const std::byte *data, int64_t index) {
  T value;
  std::memcpy(&value, data + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

/// Whole values; u64 beyond the range of i64 is told by `fits`.
static int64_t loadWhole(FileType type, const std::byte *data, int64_t i, bool &fits) {
  switch (type) {
  case FileType::boolean:
  case FileType::u8:
    return loadAs<uint8_t>(data, i);
  case FileType::i8:
    return loadAs<int8_t>(data, i);
  case FileType::u16:
    return loadAs<uint16_t>(data, i);
  case FileType::i16:
    return loadAs<int16_t>(data, i);
  case FileType::u32:
    return loadAs<uint32_t>(data, i);
  case FileType::i32:
    return loadAs<int32_t>(data, i);
  case FileType::u64:
    fits = loadAs<uint64_t>(data, i) <= INT64_MAX;
    return static_cast<int64_t>(loadAs<uint64_t>(data, i));
  default:
    return loadAs<int64_t>(data, i);
  }
}

static double loadReal(FileType type, const std::byte *data, int64_t i) {
  switch (type) {
  case FileType::f16:
    return halfToFloat(loadAs<uint16_t>(data, i));
  case FileType::bf16:
    return bfloatToFloat(loadAs<uint16_t>(data, i));
  case FileType::f32:
    return loadAs<float>(data, i);
  default:
    return loadAs<double>(data, i);
  }
}

/// True if an integer of type `to` holds `value`.
static bool holds(DType to, int64_t value) {
  if (to == DType::boolean)
    return value == 0 || value == 1;
  return to != DType::i32 || (value >= INT32_MIN && value <= INT32_MAX);
}

int64_t convertElements(FileType from, const std::byte *source, DType to, std::byte *target,
                        int64_t count) {
  if (fileTypeOf(to) == from && from != FileType::boolean) {
    std::memcpy(target, source, static_cast<size_t>(count * bytesOf(from)));
    return -1;
  }
  bool wholeSource = !fileTypes[static_cast<size_t>(from)].isFloat;
  for (int64_t i = 0; i < count; ++i) {
    if (!wholeSource) {
      storeElement(to, target, i, loadReal(from, source, i));
      continue;
    }
    bool fits = true;
    int64_t value = loadWhole(from, source, i, fits);
    if (isFloat(to)) {
      storeElement(to, target, i, static_cast<double>(value));
      continue;
    }
    if (!fits || !holds(to, value))
      return i;
    if (to == DType::i64)
      std::memcpy(target + i * 8, &value, 8);
    else
      storeElement(to, target, i, static_cast<double>(value));
  }
  return -1;
}

std::string printShape(const std::vector<int64_t> &shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

int64_t checkedArrayBytes(FileType type, const std::vector<int64_t> &shape) {
  int64_t bytes = bytesOf(type);
  for (int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes))
      return -1;
  return bytes;
}

} // namespace napkin::runtime
