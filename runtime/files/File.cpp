// File: POSIX calls, each checked.

#include "runtime/files/File.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <glob.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace napkin::runtime {

std::string systemProblem() {
  std::string text = std::strerror(errno);
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z')
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

/// An error about a path, from errno.
static Error pathError(const std::string &path, std::string_view what, ExitStatus status) {
  return {fmt::format("{}: {}: {}", path, what, systemProblem()), status};
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Result<File> File::open(const std::string &path) {
  File file;
  file.name = path;
  // A pipe that nobody writes is refused below and not waited for.
  file.descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file.descriptor < 0)
    return pathError(path, "cannot be opened", ExitStatus::wrongInput);
  struct stat info {};
  if (fstat(file.descriptor, &info) != 0)
    return pathError(path, "cannot be examined", ExitStatus::wrongInput);
  if (!S_ISREG(info.st_mode))
    return Error{fmt::format("{}: is not a regular file", path)};
  file.bytes = info.st_size;
  return file;
}

File::File(File &&other) noexcept
    : name(std::move(other.name)), descriptor(std::exchange(other.descriptor, -1)),
      bytes(other.bytes) {}

File::~File() {
  if (descriptor >= 0)
    close(descriptor);
}

Failure File::read(int64_t offset, std::span<std::byte> out) const {
  size_t done = 0;
  while (done < out.size()) {
    ssize_t got = pread(descriptor, out.data() + done, out.size() - done,
                        static_cast<off_t>(offset + static_cast<int64_t>(done)));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return pathError(name, fmt::format("cannot be read at offset {}", offset),
                       ExitStatus::machineFailure);
    if (got == 0)
      return Error{fmt::format("{}: ends at offset {} and {} bytes at offset {} are wanted; the "
                               "file was cut short",
                               name, offset + static_cast<int64_t>(done), out.size(), offset)};
    done += static_cast<size_t>(got);
  }
  return std::nullopt;
}

Result<std::string> readWholeFile(const std::string &path, int64_t limit) {
  Result<File> file = File::open(path);
  if (!file)
    return file.error();
  if (file->size() > limit)
    return Error{
        fmt::format("{}: has {} bytes and at most {} are read", path, file->size(), limit)};
  std::string text(static_cast<size_t>(file->size()), '\0');
  if (Failure failure = file->read(0, std::as_writable_bytes(std::span(text))))
    return *failure;
  return text;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

Result<FileWriter> FileWriter::create(const std::string &path, bool executable) {
  FileWriter writer;
  writer.name = path;
  writer.descriptor =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, executable ? 0777 : 0666);
  if (writer.descriptor < 0)
    return pathError(path, "cannot be written", ExitStatus::machineFailure);
  return writer;
}

Result<FileWriter> FileWriter::append(const std::string &path) {
  FileWriter writer;
  writer.name = path;
  writer.descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (writer.descriptor < 0)
    return pathError(path, "cannot be written", ExitStatus::machineFailure);
  return writer;
}

FileWriter::FileWriter(FileWriter &&other) noexcept
    : name(std::move(other.name)), descriptor(std::exchange(other.descriptor, -1)) {}

FileWriter::~FileWriter() {
  if (descriptor >= 0)
    close(descriptor);
}

Failure FileWriter::write(std::span<const std::byte> data) {
  while (!data.empty()) {
    ssize_t put = ::write(descriptor, data.data(), data.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return pathError(name, "cannot be written", ExitStatus::machineFailure);
    data = data.subspan(static_cast<size_t>(put));
  }
  return std::nullopt;
}

Failure FileWriter::write(std::string_view text) {
  return write(std::as_bytes(std::span(text.data(), text.size())));
}

Failure FileWriter::writeAt(int64_t offset, std::span<const std::byte> data) {
  while (!data.empty()) {
    ssize_t put = pwrite(descriptor, data.data(), data.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return pathError(name, "cannot be written", ExitStatus::machineFailure);
    data = data.subspan(static_cast<size_t>(put));
    offset += put;
  }
  return std::nullopt;
}

Failure FileWriter::finish() {
  // Pipes and terminals have nothing to flush.
  if (fsync(descriptor) != 0 && errno != EINVAL && errno != ENOTSUP)
    return pathError(name, "cannot be flushed to the disk", ExitStatus::machineFailure);
  int closing = std::exchange(descriptor, -1);
  if (close(closing) != 0)
    return pathError(name, "cannot be closed", ExitStatus::machineFailure);
  return std::nullopt;
}

Failure writeFile(const std::string &path, std::span<const std::span<const std::byte>> parts,
                  bool executable) {
  Result<FileWriter> writer = FileWriter::create(path, executable);
  if (!writer)
    return writer.error();
  for (std::span<const std::byte> part : parts)
    if (Failure failure = writer->write(part))
      return failure;
  return writer->finish();
}

Failure writeFile(const std::string &path, std::string_view text) {
  std::span<const std::byte> part = std::as_bytes(std::span(text));
  return writeFile(path, std::span(&part, 1));
}

Failure writeWholeFile(const std::string &path, std::span<const std::span<const std::byte>> parts,
                       bool executable) {
  if (access(path.c_str(), F_OK) == 0 && !isFile(path))
    return writeFile(path, parts, executable);
  // A link stays one: what it leads to is replaced.
  std::string place = path;
  if (char *real = realpath(path.c_str(), nullptr)) {
    place = real;
    std::free(real);
  }
  std::string temporary = place + ".new";
  Failure failure = writeFile(temporary, parts, executable);
  if (!failure && rename(temporary.c_str(), place.c_str()) != 0)
    failure = pathError(path, "cannot be written", ExitStatus::machineFailure);
  if (!failure)
    return std::nullopt;
  // Half a file is of no use, least of all on a full disk.
  unlink(temporary.c_str());
  if (failure->message.starts_with(temporary))
    failure->message.replace(0, temporary.size(), path);
  return failure;
}

Failure writeWholeFile(const std::string &path, std::string_view text) {
  std::span<const std::byte> part = std::as_bytes(std::span(text));
  return writeWholeFile(path, std::span(&part, 1));
}

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

Failure syncFolder(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return pathError(path, "cannot be opened", ExitStatus::machineFailure);
  bool failed = fsync(descriptor) != 0 && errno != EINVAL;
  Failure failure;
  if (failed)
    failure = pathError(path, "cannot be flushed to the disk", ExitStatus::machineFailure);
  close(descriptor);
  return failure;
}

Failure makeFolders(const std::string &path) {
  for (size_t at = 1; at <= path.size(); ++at) {
    if (at < path.size() && path[at] != '/')
      continue;
    std::string part = path.substr(0, at);
    if (mkdir(part.c_str(), 0777) != 0 && errno != EEXIST)
      return pathError(part, "cannot be made", ExitStatus::machineFailure);
  }
  if (!isFolder(path))
    return Error{fmt::format("{}: is not a folder", path)};
  return std::nullopt;
}

Result<std::vector<std::string>> listFolder(const std::string &path) {
  DIR *folder = opendir(path.c_str());
  if (!folder)
    return pathError(path, "cannot be listed", ExitStatus::wrongInput);
  std::vector<std::string> names;
  while (dirent *entry = readdir(folder)) {
    std::string_view name = entry->d_name;
    if (name != "." && name != "..")
      names.emplace_back(name);
  }
  closedir(folder);
  std::sort(names.begin(), names.end());
  return names;
}

Failure removeFolder(const std::string &path) {
  Result<std::vector<std::string>> names = listFolder(path);
  if (!names)
    return names.error();
  for (const std::string &name : *names)
    if (unlink((path + "/" + name).c_str()) != 0)
      return pathError(path + "/" + name, "cannot be removed", ExitStatus::machineFailure);
  if (rmdir(path.c_str()) != 0)
    return pathError(path, "cannot be removed", ExitStatus::machineFailure);
  return std::nullopt;
}

Failure renamePath(const std::string &from, const std::string &to) {
  if (rename(from.c_str(), to.c_str()) != 0)
    return pathError(from, fmt::format("cannot be renamed to {}", to), ExitStatus::machineFailure);
  return std::nullopt;
}

Failure putInPlace(const std::string &from, const std::string &to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0)
    return removeFolder(from);
  if (!isFolder(to))
    return renamePath(from, to);
  // File systems that cannot exchange: the old folder stays whole under another name meanwhile.
  std::string replaced = from + ".replaced";
  if (Failure failure = renamePath(to, replaced))
    return failure;
  if (Failure failure = renamePath(from, to))
    return failure;
  return removeFolder(replaced);
}

Result<FolderLock> FolderLock::take(const std::string &path) {
  FolderLock lock;
  lock.descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock.descriptor < 0)
    return pathError(path, "cannot be opened", ExitStatus::machineFailure);
  // File systems without locks go without.
  if (flock(lock.descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return Error{fmt::format(
        "{}: another run saves there; save into another folder, or wait for it", path)};
  return lock;
}

FolderLock::FolderLock(FolderLock &&other) noexcept
    : descriptor(std::exchange(other.descriptor, -1)) {}

FolderLock::~FolderLock() {
  if (descriptor >= 0)
    close(descriptor);
}

bool isSameFile(const std::string &a, const std::string &b) {
  struct stat first {}, second {};
  return stat(a.c_str(), &first) == 0 && stat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/// The folder of a path, "." if it names none; and the name in it.
static std::pair<std::string, std::string_view> splitPath(std::string_view path) {
  size_t slash = path.rfind('/');
  if (slash == std::string_view::npos)
    return {".", path};
  return {std::string(path.substr(0, std::max<size_t>(slash, 1))), path.substr(slash + 1)};
}

bool isSamePlace(const std::string &a, const std::string &b) {
  struct stat info {};
  if (stat(a.c_str(), &info) == 0)
    return S_ISREG(info.st_mode) && isSameFile(a, b);
  auto [folderOfA, nameOfA] = splitPath(a);
  auto [folderOfB, nameOfB] = splitPath(b);
  return nameOfA == nameOfB && isSameFile(folderOfA, folderOfB);
}

Failure checkFolder(const std::string &path) {
  // The folders that are not there yet, the deepest last.
  std::vector<std::string> made;
  for (size_t at = 1; at <= path.size(); ++at)
    if (at == path.size() || path[at] == '/')
      if (std::string part = path.substr(0, at); access(part.c_str(), F_OK) != 0)
        made.push_back(part);
  Failure failure = makeFolders(path);
  if (!failure && access(path.c_str(), W_OK) != 0)
    failure = pathError(path, "cannot be written", ExitStatus::machineFailure);
  for (auto part = made.rbegin(); part != made.rend(); ++part)
    rmdir(part->c_str());
  return failure;
}

Failure checkWritable(const std::string &path) {
  bool exists = access(path.c_str(), F_OK) == 0;
  int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (descriptor < 0)
    return pathError(path, "cannot be written", ExitStatus::machineFailure);
  close(descriptor);
  if (!exists)
    unlink(path.c_str());
  return std::nullopt;
}

bool isFolder(const std::string &path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool isFile(const std::string &path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

std::string cacheFolder() {
  if (const char *cache = std::getenv("XDG_CACHE_HOME"); cache && *cache)
    return std::string(cache) + "/napkin";
  const char *home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.cache/napkin" : "";
}

std::vector<std::string> expandPattern(const std::string &path) {
  if (path.find_first_of("*?[") == std::string::npos || isFile(path))
    return {path};
  glob_t found{};
  std::vector<std::string> paths;
  if (glob(path.c_str(), 0, nullptr, &found) == 0)
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return paths;
}

} // namespace napkin::runtime
