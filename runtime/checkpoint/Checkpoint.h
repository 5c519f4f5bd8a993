// Checkpoint: all that a run needs to go on, in a folder.

#ifndef NAPKIN_RUNTIME_CHECKPOINT_CHECKPOINT_H
#define NAPKIN_RUNTIME_CHECKPOINT_CHECKPOINT_H

#include "runtime/execute/Session.h"
#include "runtime/files/File.h"

namespace napkin::runtime {

/// Where a run stands between two steps; `trainer.json`.
struct TrainerState {
  int64_t step = 0;    ///< updates finished
  int64_t cursor = 0;  ///< samples consumed
  int64_t skipped = 0; ///< steps that were not finite
  int64_t steps = 0;   ///< planned updates
  uint64_t seed = 0;
  /// Run-time scalars that `-D` may set, with their values.
  std::vector<std::pair<std::string, double>> scalars;
};

/// Makes the folder of checkpoints, so that one that cannot be is known before the first step.
/// Fails if it holds a later step than `lastStep`: that would be taken for this run's newest.
Result<FolderLock> prepareCheckpoints(const std::string &folder, int64_t lastStep);

/// Writes DIR/step-00001000/ with `model.safetensors` (parameters, buffers),
/// `optimizer.safetensors`
/// (states) and `trainer.json`: to a temporary folder, flushed, then renamed. Afterwards removes
/// all but itself and the newest, `keep` in all (0: keeps all). Returns the folder.
Result<std::string> saveCheckpoint(const Session &session, const std::string &folder,
                                   const TrainerState &state, int64_t keep);

/// The newest complete checkpoint in `path`, or `path` itself if it is one.
Result<std::string> findCheckpoint(const std::string &path);

/// The newest checkpoint in `folder` itself and in each folder inside it, where this program wrote
/// it.
std::vector<std::string> checkpointsOf(const Program &program, const std::string &folder);

/// Reads `trainer.json`; fails if it was written by another graph, unless `anyGraph`.
Result<TrainerState> readTrainerState(const Program &program, const std::string &checkpoint,
                                      bool anyGraph);

/// Fills parameters, buffers and states; everything must be there, and nothing else.
Failure loadCheckpoint(Session &session, const std::string &checkpoint);

/// Fills parameters and buffers from `model.safetensors` of a checkpoint, or from the file itself.
Failure loadModel(Session &session, const std::string &path);

/// `--init`: fills parameters and buffers by name, or from where the model file's `load` says.
/// Every
/// parameter must be in the file with its shape; buffers may be missing. Tensors that the model
/// does not have are told in `notes`, as is rounding to a narrower type.
Failure loadInitial(Session &session, const std::string &path, std::vector<std::string> &notes);

} // namespace napkin::runtime

#endif
