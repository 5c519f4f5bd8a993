// Npz: the zip file's central directory says where each member is.

#include "runtime/files/Npz.h"

#include "runtime/files/Npy.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#define ZLIB_CONST
#include <zlib.h>

namespace napkin::runtime {

namespace {
/// A member of the zip file.
struct Member {
  std::string name;
  int64_t method = 0;    ///< 0 stored, 8 deflate
  int64_t packed = 0;    ///< bytes in the file
  int64_t unpacked = 0;  ///< bytes of the content
  int64_t header = 0;    ///< offset of the local header
  uint32_t checksum = 0; ///< CRC-32 of the content
};
} // namespace

/// Inflated content of one file may take this much memory.
static constexpr int64_t inflatedLimit = int64_t{16} << 30;
/// A deflate stream expands by at most this factor (zlib's technical notes).
static constexpr int64_t largestRatio = 1032;

template <typename T> static int64_t wordAt(std::string_view data, size_t offset) {
  T value = 0;
  if (offset + sizeof(T) <= data.size())
    std::memcpy(&value, data.data() + offset, sizeof(T));
  return static_cast<int64_t>(value);
}

/// Sizes of 4 GiB and more stand in the extra field with id 1, in this order.
static void readZip64(std::string_view extra, Member &member) {
  for (size_t at = 0; at + 4 <= extra.size();) {
    auto size = static_cast<size_t>(wordAt<uint16_t>(extra, at + 2));
    size_t next = at + 4;
    if (wordAt<uint16_t>(extra, at) == 1)
      for (int64_t *field : {&member.unpacked, &member.packed, &member.header})
        if (*field == 0xFFFFFFFF) {
          *field = wordAt<uint64_t>(extra, next);
          next += 8;
        }
    at += 4 + size;
  }
}

static std::string readRange(const File &file, int64_t offset, int64_t bytes, Failure &failure) {
  std::string data(static_cast<size_t>(bytes), '\0');
  failure = file.read(offset, std::as_writable_bytes(std::span(data)));
  return data;
}

/// Where the central directory is, its size and entries.
struct Directory {
  int64_t offset = 0;
  int64_t bytes = 0;
  int64_t entries = 0;
};

static Result<Directory> findDirectory(const File &file) {
  constexpr int64_t endBytes = 22;
  int64_t tailBytes = std::min<int64_t>(file.size(), endBytes + 65535 + 20 + 56);
  Failure failure;
  std::string tail = readRange(file, file.size() - tailBytes, tailBytes, failure);
  if (failure)
    return *failure;
  size_t at = tail.rfind(std::string_view("PK\5\6", 4));
  if (at == std::string::npos || at + endBytes > tail.size())
    return damagedFile(file.path(),
                       fmt::format("has no zip directory at its end, offset {}", file.size()));
  Directory directory{wordAt<uint32_t>(tail, at + 16), wordAt<uint32_t>(tail, at + 12),
                      wordAt<uint16_t>(tail, at + 10)};
  if (directory.offset == 0xFFFFFFFF || directory.entries == 0xFFFF) {
    size_t wide = tail.rfind(std::string_view("PK\6\6", 4));
    if (wide != std::string::npos && wide + 56 <= tail.size())
      directory = {wordAt<uint64_t>(tail, wide + 48), wordAt<uint64_t>(tail, wide + 40),
                   wordAt<uint64_t>(tail, wide + 32)};
  }
  if (directory.offset < 0 || directory.bytes < 0 || directory.offset > file.size() ||
      directory.bytes > file.size() - directory.offset)
    return damagedFile(
        file.path(),
        fmt::format("its zip directory at offset {} reaches beyond the end", directory.offset));
  return directory;
}

static Result<std::vector<Member>> readMembers(const File &file) {
  Result<Directory> directory = findDirectory(file);
  if (!directory)
    return directory.error();
  Failure failure;
  std::string text = readRange(file, directory->offset, directory->bytes, failure);
  if (failure)
    return *failure;
  std::vector<Member> members;
  size_t at = 0;
  for (int64_t i = 0; i < directory->entries; ++i) {
    constexpr size_t fixed = 46;
    if (at + fixed > text.size() || wordAt<uint32_t>(text, at) != 0x02014b50)
      return damagedFile(file.path(),
                         fmt::format("entry {} of its zip directory at offset {} is broken", i,
                                     directory->offset + static_cast<int64_t>(at)));
    Member member;
    member.method = wordAt<uint16_t>(text, at + 10);
    member.checksum = static_cast<uint32_t>(wordAt<uint32_t>(text, at + 16));
    member.packed = wordAt<uint32_t>(text, at + 20);
    member.unpacked = wordAt<uint32_t>(text, at + 24);
    auto nameBytes = static_cast<size_t>(wordAt<uint16_t>(text, at + 28));
    auto extraBytes = static_cast<size_t>(wordAt<uint16_t>(text, at + 30));
    auto noteBytes = static_cast<size_t>(wordAt<uint16_t>(text, at + 32));
    member.header = wordAt<uint32_t>(text, at + 42);
    if (at + fixed + nameBytes + extraBytes + noteBytes > text.size())
      return damagedFile(file.path(),
                         fmt::format("entry {} of its zip directory reaches beyond it", i));
    member.name = text.substr(at + fixed, nameBytes);
    readZip64(std::string_view(text).substr(at + fixed + nameBytes, extraBytes), member);
    if (member.packed < 0 || member.unpacked < 0 || member.header < 0)
      return damagedFile(file.path(), fmt::format("member '{}' has impossible sizes", member.name));
    members.push_back(std::move(member));
    at += fixed + nameBytes + extraBytes + noteBytes;
  }
  return members;
}

/// The offset of a member's content in the file.
static Result<int64_t> contentOffset(const File &file, const Member &member) {
  constexpr int64_t fixed = 30;
  Failure failure;
  if (member.header > file.size() - fixed)
    return damagedFile(file.path(), fmt::format("member '{}' at offset {} lies beyond the end",
                                                member.name, member.header));
  std::string local = readRange(file, member.header, fixed, failure);
  if (failure)
    return *failure;
  if (wordAt<uint32_t>(local, 0) != 0x04034b50)
    return damagedFile(file.path(), fmt::format("member '{}' has no header at offset {}",
                                                member.name, member.header));
  int64_t offset =
      member.header + fixed + wordAt<uint16_t>(local, 26) + wordAt<uint16_t>(local, 28);
  if (offset > file.size() || member.packed > file.size() - offset)
    return damagedFile(file.path(), fmt::format("member '{}' reaches beyond the end, to offset {}",
                                                member.name, offset + member.packed));
  return offset;
}

/// Inflates a whole member and checks its checksum.
static Failure inflateMember(const File &file, const Member &member, int64_t offset,
                             std::vector<std::byte> &out) {
  Failure failure;
  std::string packed = readRange(file, offset, member.packed, failure);
  if (failure)
    return failure;
  out.resize(static_cast<size_t>(member.unpacked));
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return Error{fmt::format("{}: no memory to inflate '{}'", file.path(), member.name),
                 ExitStatus::machineFailure};
  // zlib counts in 32 bits, so both sides are handed over in pieces.
  constexpr int64_t piece = int64_t{1} << 30;
  int64_t given = 0;
  int64_t taken = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    if (stream.avail_in == 0) {
      stream.next_in = reinterpret_cast<const Bytef *>(packed.data()) + given;
      stream.avail_in = static_cast<uInt>(std::min(piece, member.packed - given));
      given += stream.avail_in;
    }
    stream.next_out = reinterpret_cast<Bytef *>(out.data()) + taken;
    stream.avail_out = static_cast<uInt>(std::min(piece, member.unpacked - taken));
    uInt room = stream.avail_out;
    status = inflate(&stream, Z_NO_FLUSH);
    taken += room - stream.avail_out;
  }
  inflateEnd(&stream);
  uLong sum = crc32(0, nullptr, 0);
  for (int64_t at = 0; at < taken; at += piece)
    sum = crc32(sum, reinterpret_cast<const Bytef *>(out.data()) + at,
                static_cast<uInt>(std::min(piece, taken - at)));
  if (status != Z_STREAM_END || taken != member.unpacked || sum != member.checksum)
    return damagedFile(
        file.path(), fmt::format("member '{}' at offset {} does not inflate to what its directory "
                                 "says",
                                 member.name, offset));
  return std::nullopt;
}

/// Opens one member as an array; `budget` is the memory left for inflating.
static Result<ArrayInfo> openMember(const File &file, const Member &member, int64_t &budget) {
  std::string place = fmt::format("{}: member '{}'", file.path(), member.name);
  Result<int64_t> offset = contentOffset(file, member);
  if (!offset)
    return offset.error();
  if (member.method != 0 && member.method != 8)
    return Error{fmt::format("{}: has compression method {}; stored and deflate are read", place,
                             member.method)};
  std::shared_ptr<std::vector<std::byte>> inflated;
  std::string head;
  if (member.method == 8) {
    if (member.unpacked > budget || member.unpacked / largestRatio > member.packed)
      return Error{fmt::format("{}: {} bytes that inflate to {} are not read", place, member.packed,
                               member.unpacked)};
    budget -= member.unpacked;
    inflated = std::make_shared<std::vector<std::byte>>();
    if (Failure failure = inflateMember(file, member, *offset, *inflated))
      return *failure;
    head.assign(reinterpret_cast<const char *>(inflated->data()),
                static_cast<size_t>(std::min(member.unpacked, npyHeaderLimit + 12)));
  } else {
    if (member.packed != member.unpacked)
      return damagedFile(place, "is stored and has two sizes");
    Failure failure;
    head = readRange(file, *offset, std::min(member.unpacked, npyHeaderLimit + 12), failure);
    if (failure)
      return *failure;
  }
  Result<ArrayInfo> array = parseNpyHeader(head, place, member.unpacked);
  if (!array)
    return array;
  array->name = member.name.substr(0, member.name.size() - 4);
  array->inflated = std::move(inflated);
  if (!array->inflated)
    array->offset += *offset;
  return array;
}

Result<ArrayFile> openNpz(const std::string &path) {
  Result<File> file = File::open(path);
  if (!file)
    return file.error();
  Result<std::vector<Member>> members = readMembers(*file);
  if (!members)
    return members.error();
  ArrayFile arrays{std::move(*file), {}};
  int64_t budget = inflatedLimit;
  for (const Member &member : *members) {
    if (!member.name.ends_with(".npy"))
      continue;
    Result<ArrayInfo> array = openMember(arrays.file, member, budget);
    if (!array)
      return array.error();
    arrays.arrays.push_back(std::move(*array));
  }
  return arrays;
}

} // namespace napkin::runtime
