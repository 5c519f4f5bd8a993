// StepRunner: one training step, whole or in micro-batches.

#ifndef NAPKIN_RUNTIME_TRAIN_STEPRUNNER_H
#define NAPKIN_RUNTIME_TRAIN_STEPRUNNER_H

#include "runtime/data/Dataset.h"

namespace napkin::runtime {

/// A number that a function returns, by name.
struct NamedResult {
  std::string name;    ///< "loss", "accuracy"
  int64_t tensor = -1; ///< where it stands after the run
  double value = 0;    ///< of the last step: the mean over its micro-batches
};

/// The loss first, then the metrics, of a function.
std::vector<NamedResult> numbersOf(const Program &program, const Function &function);

/// Runs training steps. After construction nothing is allocated unless a step fails.
class StepRunner {
public:
  /// Fails if the program has no functions to train with.
  static Result<StepRunner> create(Session &session, Dataset &data, uint64_t seed);

  /// Runs step number `step` on the samples from `cursor` on; advances `cursor`. A failure is one
  /// of the data; nothing was updated then.
  Failure run(int64_t step, int64_t &cursor);

  /// Loss and metrics of the last step.
  const std::vector<NamedResult> &numbers() const { return results; }
  /// False if the program says that the last step changed nothing, since it was not finite.
  bool finite() const { return wasFinite; }
  /// False if the last step stored a part alone: a parameter and those whose gradients were final
  /// after its own kept their old versions, since this gradient was not finite.
  bool stoppedHalfway() const { return wasFinite && !gradientsWereFinite; }
  /// Global norm of the gradients of the last step; absent if the program does not return it.
  std::optional<double> gradientNorm() const { return norm; }
  /// What gradients of the next step are scaled by; absent if the program scales none.
  std::optional<double> lossScale() const { return scale; }
  /// Samples of one step.
  int64_t samplesPerStep() const { return data->batch() * microBatches; }
  /// Tokens of one step; 0 if this is no language model.
  int64_t tokensPerStep() const { return data->batchTokens() * microBatches; }

private:
  StepRunner() = default;
  Failure runCounts(int64_t step, int64_t cursor);
  Failure loadBatch(int64_t cursor);
  Failure runToEnd(int64_t function, std::optional<int64_t> nextCursor);

  Session *session = nullptr;
  Dataset *data = nullptr;
  uint64_t seed = 0;
  int64_t microBatches = 1;
  int64_t stepScalar = -1;
  int64_t prepare = -1, step = -1, counts = -1, microFirst = -1, microNext = -1, update = -1;
  /// For each count: where a micro-batch leaves it, where the mean goes, and the sum so far.
  struct Count {
    int64_t result, scalar;
    double sum;
  };
  std::vector<Count> countList;
  std::vector<NamedResult> results;
  std::vector<NamedResult> laterResults; ///< where `micro_next` leaves the same
  /// The batch that the inputs hold: its cursor, and how often inputs had been handed over then.
  std::optional<std::pair<int64_t, int64_t>> loaded;
  /// False where a result is an input, which the next batch would change.
  bool mayGather = true;
  int64_t finiteTensor = -1, finiteGradientsTensor = -1;
  int64_t normTensor = -1, scaleTensor = -1;
  bool wasFinite = true, gradientsWereFinite = true;
  std::optional<double> norm, scale;
};

/// Pairs each result "count.K" of `function` with the scalar "count.K".
std::vector<std::pair<int64_t, int64_t>> countsOf(const Program &program,
                                                  const Function &function);

} // namespace napkin::runtime

#endif
