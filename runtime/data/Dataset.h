// Dataset: data files bound to the inputs of a program.

#ifndef NAPKIN_RUNTIME_DATA_DATASET_H
#define NAPKIN_RUNTIME_DATA_DATASET_H

#include "runtime/data/Source.h"

namespace napkin::runtime {

/// One `--data` value: FILE or INPUT=FILE.
struct DataFile {
  std::string input; ///< empty: the file's own names decide
  std::string path;  ///< may be a shell pattern
};

/// How data files are read, and in which order.
struct DataOptions {
  std::vector<DataFile> files;
  std::string format = "auto"; ///< "auto" by the ending, "bytes", "tokens"
  bool sequential = false;     ///< samples in the file's order
  uint64_t seed = 0;           ///< of the order
};

/// Feeds batches. Sample number c (from 0, over all epochs) is place c % samples of epoch
/// c / samples, whose order is a permutation by (seed, epoch).
class Dataset {
public:
  /// Opens and checks all files; `inputs` are the tensors that must be fed. Without inputs and
  /// files it is an empty batch of one sample.
  static Result<Dataset> open(const Program &program, const DataOptions &options,
                              const std::vector<int64_t> &inputs);

  /// Samples of one epoch.
  int64_t samples() const { return sampleCount; }
  /// Samples of one batch.
  int64_t batch() const { return batchSize; }
  /// Tokens of one batch; 0 if this is no language model.
  int64_t batchTokens() const { return tokenCount; }
  /// Fills all inputs with the samples [cursor, cursor + batch).
  Failure load(Session &session, int64_t cursor);

private:
  std::vector<std::unique_ptr<Source>> sources;
  std::vector<int64_t> inputs; ///< that the sources fill
  int64_t sampleCount = 0;
  int64_t batchSize = 1;
  int64_t tokenCount = 0;
  uint64_t seed = 0;
  bool sequential = false;
};

/// The inputs that the launches of `function` read, in the order of the program.
std::vector<int64_t> inputsOf(const Program &program, const Function &function);

} // namespace napkin::runtime

#endif
