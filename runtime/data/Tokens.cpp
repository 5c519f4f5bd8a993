// Tokens: windows over text and token files.

#include "runtime/data/Source.h"

#include "runtime/execute/Philox.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace napkin::runtime {

namespace {
/// A part of the token stream that stands in one file.
struct Shard {
  File file;
  int64_t headerBytes = 0;
  int64_t first = 0; ///< number of its first token in the stream
  int64_t count = 0; ///< tokens
};

class TokenWindows : public Source {
public:
  std::vector<Shard> shards;
  int64_t idBytes = 1;
  int64_t total = 0;
  int64_t tokens = -1;
  int64_t targets = -1;
  int64_t sequence = 0;
  int64_t limit = 0;
  uint64_t seed = 0;
  bool moving = false;
  std::vector<std::byte> staging;

  int64_t samples() const override {
    return moves() ? windows() - 1 : windows();
  }
  const std::string &path() const override { return shards[0].file.path(); }
  Failure gather(const Session &session, int64_t sample, int64_t count, uint32_t epoch,
                 int64_t row) override;

private:
  Failure gatherWindow(const Session &session, int64_t sample, uint32_t epoch, int64_t row);
  /// Ids that one window needs: the targets reach one further.
  int64_t idsNeeded() const { return sequence + (targets >= 0 ? 1 : 0); }
  int64_t windows() const { return (total - (idsNeeded() - sequence)) / sequence; }
  /// A moving window costs one window at the end, too much for a short file.
  bool moves() const { return moving && windows() >= 16; }
  Failure readIds(int64_t first, int64_t count);
  int64_t idAt(int64_t i) const {
    if (idBytes == 1)
      return static_cast<int64_t>(staging[static_cast<size_t>(i)]);
    uint16_t id = 0;
    std::memcpy(&id, staging.data() + i * 2, 2);
    return id;
  }
  Error outside(int64_t position, int64_t id) const;
};
} // namespace

Failure TokenWindows::readIds(int64_t first, int64_t count) {
  int64_t done = 0;
  for (const Shard &shard : shards) {
    int64_t at = first + done - shard.first;
    if (at < 0 || at >= shard.count || done == count)
      continue;
    int64_t here = std::min(count - done, shard.count - at);
    std::span<std::byte> out(staging.data() + done * idBytes, static_cast<size_t>(here * idBytes));
    if (Failure failure = shard.file.read(shard.headerBytes + at * idBytes, out))
      return failure;
    done += here;
  }
  return std::nullopt;
}

Error TokenWindows::outside(int64_t position, int64_t id) const {
  for (const Shard &shard : shards)
    if (position >= shard.first && position < shard.first + shard.count)
      return {fmt::format("{}: token {} at offset {} is outside the vocabulary of {}",
                          shard.file.path(), id,
                          shard.headerBytes + (position - shard.first) * idBytes, limit)};
  return {"a token is outside the vocabulary"};
}

/// Writes ids as i32 or i64.
static void storeId(DType dtype, std::byte *row, int64_t i, int64_t id) {
  if (dtype == DType::i64) {
    std::memcpy(row + i * 8, &id, 8);
    return;
  }
  auto narrow = static_cast<int32_t>(id);
  std::memcpy(row + i * 4, &narrow, 4);
}

Failure TokenWindows::gather(const Session &session, int64_t sample, int64_t count, uint32_t epoch,
                             int64_t row) {
  for (int64_t i = 0; i < count; ++i)
    if (Failure failure = gatherWindow(session, sample + i, epoch, row + i))
      return failure;
  return std::nullopt;
}

Failure TokenWindows::gatherWindow(const Session &session, int64_t sample, uint32_t epoch,
                                   int64_t row) {
  int64_t first = sample * sequence;
  if (moves())
    first += philox({epoch, 0, runtimeStep, 1}, seed)[0] % sequence;
  int64_t count = idsNeeded();
  if (Failure failure = readIds(first, count))
    return failure;
  const Program &program = session.program();
  for (int64_t input : {tokens, targets}) {
    if (input < 0)
      continue;
    DType dtype = program.tensors[input].dtype;
    std::byte *out = session.data(input) + row * sequence * bitsOf(dtype) / 8;
    int64_t shift = input == targets ? 1 : 0;
    for (int64_t i = 0; i < sequence; ++i) {
      int64_t id = idAt(i + shift);
      if (limit > 0 && id >= limit)
        return outside(first + i + shift, id);
      storeId(dtype, out, i, id);
    }
  }
  return std::nullopt;
}

/// Examines a .bin file: llm.c's header of 256 words, or none.
static Failure readBinaryHeader(Shard &shard) {
  const File &file = shard.file;
  constexpr int32_t magic = 20240520;
  constexpr int32_t wideMagic = 20240801;
  constexpr int64_t headerBytes = 1024;
  int32_t words[3] = {0, 0, 0};
  if (file.size() >= static_cast<int64_t>(sizeof(words)))
    if (Failure failure = file.read(0, std::as_writable_bytes(std::span(words))))
      return failure;
  if (words[0] == wideMagic)
    return Error{fmt::format("{}: has magic {} at offset 0, ids of 32 bits; ids of 16 bits (magic "
                             "{}) are read",
                             file.path(), wideMagic, magic)};
  if (words[0] != magic) {
    if (file.size() % 2 != 0)
      return Error{fmt::format("{}: has no header of llm.c and {} bytes, an odd number; ids have 2 "
                               "bytes each",
                               file.path(), file.size())};
    shard.count = file.size() / 2;
    return std::nullopt;
  }
  if (words[1] != 1)
    return Error{fmt::format("{}: has version {} at offset 4, and version 1 is read", file.path(),
                             words[1])};
  shard.headerBytes = headerBytes;
  shard.count = words[2];
  if (shard.count < 0 || headerBytes + 2 * shard.count != file.size())
    return Error{fmt::format("{}: its header at offset 8 says {} tokens, which is {} bytes, and it "
                             "has {}",
                             file.path(), shard.count, headerBytes + 2 * shard.count,
                             file.size())};
  return std::nullopt;
}

Result<std::unique_ptr<Source>> openTokens(const Program &program,
                                           const std::vector<std::string> &paths,
                                           TokenFormat format, int64_t tokens, int64_t targets,
                                           uint64_t seed, bool moving) {
  auto windows = std::make_unique<TokenWindows>();
  windows->idBytes = format == TokenFormat::bytes ? 1 : 2;
  windows->tokens = tokens;
  windows->targets = targets;
  windows->sequence = program.tensors[tokens].shape[1];
  windows->limit = program.tensors[tokens].idLimit;
  windows->seed = seed;
  windows->moving = moving;
  for (const std::string &path : paths) {
    Result<File> file = File::open(path);
    if (!file)
      return file.error();
    Shard shard{std::move(*file), 0, windows->total, 0};
    shard.count = shard.file.size();
    if (format == TokenFormat::binary)
      if (Failure failure = readBinaryHeader(shard))
        return *failure;
    windows->total += shard.count;
    windows->shards.push_back(std::move(shard));
  }
  int64_t needed = windows->sequence + (targets >= 0 ? 1 : 0);
  if (windows->total < needed)
    return Error{fmt::format("{}: has {} tokens and one window needs {}", paths[0], windows->total,
                             needed)};
  windows->staging.resize(static_cast<size_t>(needed * windows->idBytes));
  return std::unique_ptr<Source>(std::move(windows));
}

} // namespace napkin::runtime
