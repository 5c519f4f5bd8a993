// Evaluation: the whole held-out set, in fixed order.

#ifndef NAPKIN_RUNTIME_TRAIN_EVALUATION_H
#define NAPKIN_RUNTIME_TRAIN_EVALUATION_H

#include "runtime/train/StepRunner.h"

namespace napkin::runtime {

/// Evaluates the model on a data set: its loss, metrics and outputs.
class Evaluation {
public:
  /// Opens the data that `evaluate` reads. Where the files lack some of it and `outputs` are
  /// wanted, `predict` is run in its place. Fails if the program has neither.
  static Result<Evaluation> create(Session &session, const DataOptions &options, uint64_t seed,
                                   bool outputs);

  /// Runs over all whole batches. `outputs`: a .safetensors file to write every output to, in the
  /// order of the samples; empty: none.
  Failure run(int64_t step, const std::string &outputs);

  /// Loss and metrics: means over the batches; averages are sum of totals over sum of counts.
  const std::vector<NamedResult> &numbers() const { return results; }
  /// Samples that fill no whole batch and are left out.
  int64_t leftOut() const { return data.samples() % data.batch(); }
  /// Samples that are evaluated.
  int64_t samples() const { return data.samples() - leftOut(); }

private:
  Evaluation(Session &session, Dataset data) : session(&session), data(std::move(data)) {}
  Failure runCounts();

  Session *session;
  Dataset data;
  uint64_t seed = 0;
  int64_t function = -1, counts = -1, prepare = -1, stepScalar = -1;
  std::vector<NamedResult> results;
  std::vector<std::pair<int64_t, int64_t>> countPairs;
};

} // namespace napkin::runtime

#endif
