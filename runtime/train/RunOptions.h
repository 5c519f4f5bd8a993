// RunOptions: what a run is asked to do.

#ifndef NAPKIN_RUNTIME_TRAIN_RUNOPTIONS_H
#define NAPKIN_RUNTIME_TRAIN_RUNOPTIONS_H

#include "runtime/audit/AuditLimits.h"
#include "runtime/command/PhaseTimes.h"
#include "runtime/data/Dataset.h"
#include "runtime/device/Peaks.h"

#include <optional>

namespace napkin::runtime {

/// The flags of a run, read and checked one by one. Empty strings and zeros: not given.
struct RunOptions {
  DataOptions data;     ///< --data, --data-format, --data-order
  DataOptions evalData; ///< --eval-data, in the files' order
  std::optional<int64_t> steps;
  std::optional<uint64_t> seed;
  int threads = 0;
  std::string log;          ///< --log: JSON lines
  std::string save;         ///< --save: the folder of checkpoints
  int64_t saveEvery = 0;    ///< steps; 0: at the end alone
  int64_t keep = 0;         ///< newest checkpoints to keep; 0: all
  std::string resume;       ///< --resume: a folder of checkpoints, or one of them
  std::string init;         ///< --init: a .safetensors file
  std::string load;         ///< --load: weights for evaluating and sampling without training
  int64_t evalEvery = 0;    ///< steps; 0: at the end alone
  std::string outputs;      ///< --outputs: a .safetensors file
  int64_t sample = 0;       ///< --sample: how many
  std::string prompt;
  double temperature = 1;
  int64_t sampleLength = 0; ///< ids of one sample; 0: the model's sequence length
  bool checkNan = false;
  std::string trace;        ///< --trace: a file for Perfetto
  bool profile = false;     ///< --profile: a table of kernels at the end
  bool audit = false;       ///< --audit: a table of predicted and measured figures at the end
  AuditLimits auditLimits;  ///< --audit-limit
  std::string auditFile;    ///< --audit-file: the same as JSON
  LaunchCounter countLaunch; ///< of the device that plays kernels; null: they run here
  std::string device = "cpu"; ///< or cuda-host, cuda, cuda:N
  std::string algorithms;     ///< --algorithms: a file of those of the library's products
  DevicePeaks devicePeaks;    ///< of a device that is not this host; empty: unknown
  bool quiet = false;
  bool timing = false;      ///< --timing: a table on standard error after the first step
  PhaseTimes times;         ///< what went before the run
  std::vector<std::string> modelFiles; ///< what was compiled for this run; never written over
  /// -D of run-time scalars, in order.
  std::vector<std::pair<std::string, double>> definitions;
};

/// The number in "cuda" or "cuda:N", 0 if there is none; nothing for what is no GPU.
std::optional<int> cudaOrdinal(std::string_view device);

} // namespace napkin::runtime

#endif
