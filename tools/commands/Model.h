// What the commands that take a model file share.
#pragma once

#include "frontend/Frontend.h"
#include "runtime/Status.h"
#include "runtime/command/Flags.h"
#include "runtime/cuda/CudaCode.h"
#include "tools/Compiler.h"

#include "mlir/IR/MLIRContext.h"

#include <span>
#include <string>
#include <vector>

namespace nap {

using napkin::runtime::ExitStatus;
using napkin::runtime::FlagSpec;
using napkin::runtime::ParsedFlags;

/// Writes `napkin: error: SENTENCE` to standard error; the status goes through.
ExitStatus fail(const napkin::runtime::Error &error);
ExitStatus fail(std::string sentence, ExitStatus status = ExitStatus::wrongInput);

/// Parses a command's flags; after an error, which is printed, nothing comes back. `--help` prints
/// `usage` and the table. `status` is what to exit with when nothing comes back. Exactly
/// `positionals` arguments that are no flags are wanted; `wanted` is what a missing one is called.
std::optional<ParsedFlags> parseCommand(std::span<const std::string> arguments,
                                        std::vector<FlagSpec> known, llvm::StringRef usage,
                                        size_t positionals, ExitStatus &status,
                                        llvm::StringRef wanted = "a model file");

/// A model being compiled: the context, what was read, and the module.
class Model {
public:
  /// One that `isQuiet` prints nothing of what is wrong with the model or its plan.
  explicit Model(bool isQuiet = false);

  /// Reads the model file that the flags name and makes its graph. Prints every error. A target
  /// other than the CPU is one unless `takesCuda`.
  ExitStatus read(const ParsedFlags &flags, bool takesCuda = false);
  /// Leaves out what only a program that runs needs, the hash of the graph, and verifying after
  /// each pass what no one compiles; before `read`.
  void onlyReport() {
    wantsHash = false;
    pipeline.verifiesEach = false;
  }
  /// Runs the passes.
  ExitStatus plan(const PassCallback &afterPass = {});
  /// Drops the functions of a planned model that evaluate or compute outputs, and kernels that they
  /// alone launch: no code is made for them. What stays keeps its places.
  void leaveOutEvaluation();
  /// Makes what the runtime knows of a planned model.
  ExitStatus makeProgram(CompiledProgram &compiled);
  /// Whether products that cuBLASLt can make go to it, on a GPU.
  bool givesProductsAway() const { return productsToLibrary; }
  /// Makes the CUDA text of a planned model, and code for each architecture of the target.
  ExitStatus makeCudaCode(std::shared_ptr<const napkin::runtime::CudaCode> &code);
  /// Makes machine code.
  ExitStatus makeObjects(CompiledProgram &compiled);

  /// What the chosen plan takes, beside the budget and what is proven: a line; empty where neither
  /// a strategy nor a budget was asked for.
  std::string planLine();

  /// Prints the table of `times` if `--timing` was given.
  void printTimes();

  /// The phases so far.
  napkin::runtime::PhaseTimes times;

  /// The files that `read` read, the model's own first.
  const std::vector<std::string> &files() const { return sources.files(); }
  mlir::ModuleOp module() { return *graph; }
  /// The hash of the graph; empty where it is left out.
  const std::string &hash() const { return graphHash; }
  /// What was asked of the pipeline.
  const PipelineOptions &options() const { return pipeline; }
  const TargetMachineOptions &target() const { return machine; }
  /// "sm_90" and others; empty for the CPU alone.
  const std::vector<std::string> &cudaArchitectures() const { return architectures; }
  /// Whether code of the host is wanted.
  bool isForHost() const { return wantsHost; }

private:
  /// Prints what passes say, in the form of the frontend's errors.
  void printDiagnostic(mlir::Diagnostic &diagnostic);

  mlir::MLIRContext context;
  napkin::Sources sources;
  TargetMachineOptions machine;
  PipelineOptions pipeline;
  mlir::OwningOpRef<mlir::ModuleOp> graph;
  std::string graphHash;
  std::vector<std::string> architectures;
  bool wantsHost = true, productsToLibrary = false;
  bool wantsTimes = false, isQuiet = false;
  bool wantsHash = true;
};

/// The switch that `Model::printTimes` obeys; `napkin train` has the runtime's.
inline constexpr FlagSpec kTimingFlag = {"timing", "",
                                         "print the seconds of each phase on standard error"};

/// The flags that `Model::read` takes, beside those of the runtime's `compileFlags`.
std::span<const FlagSpec> modelFlags();

// The commands. Arguments come without the command's name.
ExitStatus trainCommand(std::span<const std::string> arguments);
ExitStatus compileCommand(std::span<const std::string> arguments);
ExitStatus reportCommand(std::span<const std::string> arguments);
ExitStatus planCommand(std::span<const std::string> arguments);
ExitStatus checkCommand(std::span<const std::string> arguments);
ExitStatus deviceCommand(std::span<const std::string> arguments);
ExitStatus mathCommand(std::span<const std::string> arguments);
ExitStatus formatCommand(std::span<const std::string> arguments);

} // namespace nap
