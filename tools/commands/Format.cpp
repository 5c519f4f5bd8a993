// napkin fmt: the canonical layout of model files.
#include "frontend/syntax/Format.h"
#include "runtime/files/Console.h"
#include "tools/commands/Model.h"

using namespace nap;
namespace rt = napkin::runtime;

static constexpr FlagSpec kFormatFlags[] = {
    {"check", "", "change nothing; list the files whose layout is another one, and exit with 1"},
    {"help", "", "print this and end"},
};

ExitStatus nap::formatCommand(std::span<const std::string> arguments) {
  static constexpr std::string_view usage = "napkin fmt MODEL.nap ... [--check]";
  auto flags = rt::parseFlags(arguments, kFormatFlags);
  if (!flags)
    return fail(flags.error());
  if (flags->has("help")) {
    auto failure =
        rt::writeOutput(fmt::format("usage: {}\n\n{}", usage, rt::flagHelp(kFormatFlags)));
    return failure ? fail(*failure) : ExitStatus::done;
  }
  if (flags->positional.empty())
    return fail(fmt::format("a model file is wanted: {}", usage), ExitStatus::wrongUsage);

  napkin::Sources sources;
  napkin::Diagnostics diagnostics;
  std::string others;
  for (const std::string &path : flags->positional) {
    bool isChanged = false;
    if (napkin::formatFile(path, flags->has("check"), sources, diagnostics, isChanged) && isChanged)
      others += path + "\n";
  }
  rt::writeErrors(diagnostics.render());
  if (auto failure = flags->has("check") ? rt::writeOutput(others) : rt::Failure())
    return fail(*failure);
  bool isWrong = diagnostics.hasErrors() || (flags->has("check") && !others.empty());
  return isWrong ? ExitStatus::wrongInput : ExitStatus::done;
}
