// Source: samples from files, one at a time, into the rows of inputs.

#ifndef NAPKIN_RUNTIME_DATA_SOURCE_H
#define NAPKIN_RUNTIME_DATA_SOURCE_H

#include "runtime/execute/Session.h"
#include "runtime/files/ArrayFile.h"

#include <memory>

namespace napkin::runtime {

/// Something that feeds one or more inputs.
class Source {
public:
  virtual ~Source() = default;
  /// Samples of one epoch.
  virtual int64_t samples() const = 0;
  /// The (first) file, for errors.
  virtual const std::string &path() const = 0;
  /// Writes `count` samples that follow each other into rows from `row` on of each input that this
  /// source feeds; `epoch` moves windows.
  /// Values are checked here: ids against the vocabulary, integers against the input's type.
  /// Allocates only on failure.
  virtual Failure gather(const Session &session, int64_t sample, int64_t count, uint32_t epoch,
                         int64_t row) = 0;
};

/// How a token file is read.
enum class TokenFormat : uint8_t {
  bytes,  ///< every byte is a token
  binary, ///< .bin: llm.c's shards (magic 20240520) or plain uint16
};

/// Windows of text or token files: `tokens` gets ids [w, w + seq), `targets` the ids one further
/// on. `paths` are shards, one after the other. `targets` is -1 where the model has none. With
/// `moving` windows begin elsewhere in every epoch; otherwise window k begins at k * seq.
Result<std::unique_ptr<Source>> openTokens(const Program &program,
                                           const std::vector<std::string> &paths,
                                           TokenFormat format, int64_t tokens, int64_t targets,
                                           uint64_t seed, bool moving);

/// The array `array` of `file` feeds the input `input`, sample by sample.
Result<std::unique_ptr<Source>> openColumn(const Program &program, std::shared_ptr<ArrayFile> file,
                                           const ArrayInfo &array, int64_t input);

} // namespace napkin::runtime

#endif
