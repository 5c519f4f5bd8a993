// File: reading exact ranges, writing so that a kill leaves no half.

#ifndef NAPKIN_RUNTIME_FILES_FILE_H
#define NAPKIN_RUNTIME_FILES_FILE_H

#include "runtime/Status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace napkin::runtime {

/// A file open for reading. Every read is checked, so a file that is cut while it is open is an
/// error and never a fault.
class File {
public:
  /// Opens a regular file.
  static Result<File> open(const std::string &path);
  File(File &&other) noexcept;
  File &operator=(File &&) = delete;
  ~File();

  const std::string &path() const { return name; }
  /// Bytes when it was opened.
  int64_t size() const { return bytes; }
  /// Fills `out` from `offset` on; fails where the file ends before. Allocates only on failure.
  Failure read(int64_t offset, std::span<std::byte> out) const;

private:
  File() = default;
  std::string name;
  int descriptor = -1;
  int64_t bytes = 0;
};

/// The whole content of a file of at most `limit` bytes.
Result<std::string> readWholeFile(const std::string &path, int64_t limit);

/// A file being written; nothing is complete before `finish`.
class FileWriter {
public:
  /// Creates or empties `path`; `executable` sets mode 0755 in place of 0644 (both less the umask).
  static Result<FileWriter> create(const std::string &path, bool executable = false);
  /// Opens a file to write at its end; creates it where it is missing.
  static Result<FileWriter> append(const std::string &path);
  FileWriter(FileWriter &&other) noexcept;
  FileWriter &operator=(FileWriter &&) = delete;
  ~FileWriter();

  /// Appends.
  Failure write(std::span<const std::byte> data);
  Failure write(std::string_view text);
  /// Writes at `offset`, which may lie beyond the end.
  Failure writeAt(int64_t offset, std::span<const std::byte> data);
  /// Flushes to the disk and closes.
  Failure finish();

private:
  FileWriter() = default;
  std::string name;
  int descriptor = -1;
};

/// Writes a file from its parts, one after the other, flushed to the disk. A failure may leave half
/// of it.
Failure writeFile(const std::string &path, std::span<const std::span<const std::byte>> parts,
                  bool executable = false);
Failure writeFile(const std::string &path, std::string_view text);
/// The same beside `path`, which is replaced when all is written: after a failure it is as it was.
/// Where `path` is no regular file (a pipe, /dev/null) it is written as it is.
Failure writeWholeFile(const std::string &path, std::span<const std::span<const std::byte>> parts,
                       bool executable = false);
Failure writeWholeFile(const std::string &path, std::string_view text);

/// Flushes the names in a folder to the disk.
Failure syncFolder(const std::string &path);
/// Makes a folder and those above it where they are missing.
Failure makeFolders(const std::string &path);
/// Names in a folder, sorted; without "." and "..".
Result<std::vector<std::string>> listFolder(const std::string &path);
/// Removes a folder with the plain files in it; nothing below is followed.
Failure removeFolder(const std::string &path);
/// Renames atomically.
Failure renamePath(const std::string &from, const std::string &to);
/// Gives a finished folder its name; one that has it already is replaced at once and removed.
Failure putInPlace(const std::string &from, const std::string &to);

/// Held by the one run that writes into a folder, to its end, however it ends.
class FolderLock {
public:
  /// Fails where another process holds it.
  static Result<FolderLock> take(const std::string &path);
  FolderLock(FolderLock &&other) noexcept;
  FolderLock &operator=(FolderLock &&) = delete;
  ~FolderLock();

private:
  FolderLock() = default;
  int descriptor = -1;
};

/// True if both paths lead to one file.
bool isSameFile(const std::string &a, const std::string &b);
/// The same, also where the file is yet to be made. False of what is no regular file, such as
/// /dev/null.
bool isSamePlace(const std::string &a, const std::string &b);
/// An error if a file cannot be written, found by opening it; it is left as it was.
Failure checkWritable(const std::string &path);
/// An error if a folder cannot be made, found by making it; what was not there is removed again.
Failure checkFolder(const std::string &path);
/// True if `path` is a folder.
bool isFolder(const std::string &path);
/// True if `path` is a regular file.
bool isFile(const std::string &path);
/// The paths that match a shell pattern, sorted; `path` itself if it holds no pattern.
std::vector<std::string> expandPattern(const std::string &path);
/// The folder napkin in XDG_CACHE_HOME or ~/.cache, which may not be there yet; empty if there is
/// neither.
std::string cacheFolder();
/// "error text of errno", as a clause.
std::string systemProblem();

} // namespace napkin::runtime

#endif
