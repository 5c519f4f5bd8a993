// napkin: the command for people.
#include "runtime/files/Console.h"
#include "tools/commands/Model.h"

#include "llvm/Support/InitLLVM.h"

#include <fmt/format.h>

using namespace nap;
namespace rt = napkin::runtime;

namespace {
struct Command {
  llvm::StringRef name, help;
  ExitStatus (*run)(std::span<const std::string>);
};
} // namespace

static constexpr Command kCommands[] = {
    {"train", "compile a model file in memory and train it", trainCommand},
    {"compile", "write a training executable, or a stage on the way", compileCommand},
    {"report", "what the model costs: work, bytes and memory after each pass", reportCommand},
    {"plan", "what each checkpointing strategy and memory budget takes and costs", planCommand},
    {"check", "names and shapes; exit status for editors and hooks", checkCommand},
    {"fmt", "the canonical layout of model files", formatCommand},
    {"math", "napkin math: how long, how large, which bound, without a model file", mathCommand},
    {"device", "what this machine has; measures and stores its peaks", deviceCommand},
};

static std::string usage() {
  std::string text = "usage: napkin COMMAND MODEL.nap [flags]\n\n";
  for (const Command &command : kCommands)
    text += fmt::format("  {:<10} {}\n", command.name.str(), command.help.str());
  return text + "\nnapkin COMMAND --help lists a command's flags\n";
}

int main(int argc, char **argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    auto failure = rt::writeOutput(usage());
    return static_cast<int>(failure         ? fail(*failure)
                            : words.empty() ? ExitStatus::wrongUsage
                                            : ExitStatus::done);
  }
  std::vector<std::string_view> names;
  for (const Command &command : kCommands) {
    if (words[0] == command.name)
      return static_cast<int>(command.run(std::span(words).subspan(1)));
    names.push_back(command.name);
  }
  std::string_view near = rt::nearestName(words[0], names);
  return static_cast<int>(fail(
      near.empty() ? fmt::format("there is no command '{}'; the commands are {}", words[0],
                                 fmt::join(names, ", "))
                   : fmt::format("there is no command '{}'; did you mean '{}'?", words[0], near),
      ExitStatus::wrongUsage));
}
