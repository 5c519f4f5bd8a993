// napkin check: names and shapes of a model file.
#include "runtime/files/Console.h"
#include "tools/commands/Model.h"

using namespace nap;
namespace rt = napkin::runtime;

ExitStatus nap::checkCommand(std::span<const std::string> arguments) {
  if (llvm::is_contained(arguments, "--list-errors")) {
    auto failure = rt::writeOutput(napkin::listErrors());
    return failure ? fail(*failure) : ExitStatus::done;
  }
  std::vector<FlagSpec> known(rt::compileFlags().begin(), rt::compileFlags().end());
  known.insert(known.end(), modelFlags().begin(), modelFlags().end());
  known.push_back(kTimingFlag);
  known.push_back({"list-errors", "", "print every kind of error and end"});
  ExitStatus status;
  auto flags = parseCommand(arguments, known, "napkin check MODEL.nap [flags]", 1, status);
  if (!flags)
    return status;
  Model model;
  status = model.read(*flags);
  model.printTimes();
  return status;
}
