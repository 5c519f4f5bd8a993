// ArrayFile: arrays inside .npy, .npz and .safetensors files.

#ifndef NAPKIN_RUNTIME_FILES_ARRAYFILE_H
#define NAPKIN_RUNTIME_FILES_ARRAYFILE_H

#include "runtime/Program.h"
#include "runtime/files/File.h"

#include <memory>

namespace napkin::runtime {

/// Element types of files: more integers than the language has.
enum class FileType : uint8_t {
  boolean, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64
};
/// Bytes of one element.
int64_t bytesOf(FileType type);
/// "u8", "f32", ...
std::string_view nameOf(FileType type);
/// The type that holds a tensor of `dtype` in a file; none for f8 and f4.
std::optional<FileType> fileTypeOf(DType dtype);

/// An array in a file: contiguous, row-major, little-endian.
struct ArrayInfo {
  std::string name;
  FileType type = FileType::f32;
  std::vector<int64_t> shape;
  int64_t offset = 0; ///< of its first byte, from the beginning of the file (or of `inflated`)
  int64_t bytes = 0;
  std::shared_ptr<std::vector<std::byte>> inflated; ///< the content, where the file has it
                                                    ///< compressed
};

/// A file and the arrays in it.
struct ArrayFile {
  File file;
  std::vector<ArrayInfo> arrays;

  /// The array of this name, or null.
  const ArrayInfo *find(std::string_view name) const;
  /// Copies a part of an array; `first` counts bytes of the array.
  Failure read(const ArrayInfo &array, int64_t first, std::span<std::byte> out) const;
};

/// What a reader says of a file whose bytes contradict each other: the place, what is wrong with
/// it, and what to do.
Error damagedFile(std::string_view place, std::string_view problem);

/// Opens a file by its ending: .npy (one array, called ""), .npz, .safetensors.
Result<ArrayFile> openArrayFile(const std::string &path);
/// True for those endings.
bool isArrayFile(std::string_view path);

/// True if every value of `from` is one of `to`, or, among integers, is checked one by one.
bool widens(FileType from, DType to);
/// Converts `count` elements. Returns the index of the first that `to` cannot hold, or -1. Floats
/// round to nearest even where `to` is narrower.
int64_t convertElements(FileType from, const std::byte *source, DType to, std::byte *target,
                        int64_t count);

/// "[2, 3]".
std::string printShape(const std::vector<int64_t> &shape);
/// Bytes of an array of this shape; -1 where a size is negative or the product does not fit.
int64_t checkedArrayBytes(FileType type, const std::vector<int64_t> &shape);

} // namespace napkin::runtime

#endif
