// Command: flags, definitions, run.

#include "runtime/command/Command.h"

#include "runtime/files/Console.h"

#include <fmt/format.h>

namespace napkin::runtime {

Failure readDefinitions(const Program &program, const ParsedFlags &flags, RunOptions &options) {
  for (const auto &[key, text] : flags.definitions) {
    for (const auto &[choice, value] : program.fixedChoices)
      if (choice == key)
        return Error{
            fmt::format("-D {}={}: '{}' is {}, fixed when this was compiled; compile again "
                        "with -D {}={}",
                        key, text, key, value, key, text),
            ExitStatus::wrongUsage};
    int64_t index = findTensor(program, key);
    bool settable = index >= 0 && program.tensors[index].role == Role::scalar &&
                    program.tensors[index].settable;
    if (!settable) {
      std::vector<std::string_view> names;
      for (const TensorInfo &tensor : program.tensors)
        if (tensor.role == Role::scalar && tensor.settable)
          names.push_back(tensor.name);
      std::string_view nearest = nearestName(key, names);
      std::string hint = !nearest.empty() ? fmt::format("did you mean '{}'?", nearest)
                         : names.empty()  ? "it has none that can be set"
                                          : fmt::format("it has {}", fmt::join(names, ", "));
      return Error{fmt::format("-D {}={}: model '{}' has no '{}'; {}", key, text, program.model,
                               key, hint),
                   ExitStatus::wrongUsage};
    }
    std::optional<double> number = parseNumber(text);
    if (!number)
      return Error{fmt::format("-D {}={}: a number is wanted", key, text), ExitStatus::wrongUsage};
    options.definitions.emplace_back(key, *number);
  }
  return std::nullopt;
}

/// What `--help` says before and after the table.
static std::string printHelp(const Program &program, std::string_view name) {
  std::string out = fmt::format("usage: {} --data FILE [flags]\n\n", name);
  out +=
      fmt::format("trains model '{}', compiled for {} in {}, {} bytes and {} for each worker\n\n",
                  program.model, program.target, program.policy, program.arenaBytes,
                  program.scratchBytesPerWorker);
  out += flagHelp(runFlags());
  std::string scalars;
  for (const TensorInfo &tensor : program.tensors)
    if (tensor.role == Role::scalar && tensor.settable)
      scalars += fmt::format("  {:<26} default {}\n", fmt::format("-D {}=X", tensor.name),
                             tensor.value);
  out += scalars;
  std::string inputs;
  for (const TensorInfo &tensor : program.tensors)
    if (tensor.role == Role::input) {
      inputs += fmt::format("  {} : {}[", tensor.name, nameOf(tensor.dtype));
      for (size_t i = 0; i < tensor.shape.size(); ++i)
        inputs += fmt::format("{}{}{}", i ? ", " : "",
                              i < tensor.axes.size() && !tensor.axes[i].empty()
                                  ? tensor.axes[i] + " = "
                                  : "",
                              tensor.shape[i]);
      inputs += "]\n";
    }
  if (!inputs.empty())
    out += "\ninputs\n" + inputs;
  out += "\nexit status: 0 done, 1 wrong input, 2 wrong usage, 3 infeasible budget, 4 machine "
         "failure, 5 audit failed, 130 interrupted\n";
  return out;
}

ExitStatus runCommand(const LoadedProgram &loaded, std::span<const std::string> arguments,
                      std::string_view name) {
  auto fail = [&](const Error &error) {
    writeErrors(fmt::format("{}: error: {}\n", name, error.message));
    return error.status;
  };
  std::vector<FlagSpec> known(runFlags().begin(), runFlags().end());
  known.insert(known.end(), compileFlags().begin(), compileFlags().end());
  Result<ParsedFlags> flags = parseFlags(arguments, known);
  if (!flags)
    return fail(flags.error());
  for (const auto &[flag, value] : flags->flags)
    for (const FlagSpec &fixed : compileFlags())
      if (flag == fixed.name)
        return fail({fmt::format("--{} is fixed when a model is compiled; compile again with "
                                 "--{}{}{}",
                                 flag, flag, value.empty() ? "" : " ", value),
                     ExitStatus::wrongUsage});
  if (!flags->positional.empty())
    return fail({fmt::format("'{}' is not a flag; data is given with --data {}",
                             flags->positional[0], flags->positional[0]),
                 ExitStatus::wrongUsage});
  std::string text;
  if (flags->has("help"))
    text = printHelp(loaded.program, name);
  else if (flags->has("program"))
    text = printProgram(loaded.program);
  if (!text.empty()) {
    if (Failure failure = writeOutput(text))
      return fail(*failure);
    return ExitStatus::done;
  }
  Result<RunOptions> options = readRunOptions(*flags);
  if (!options)
    return fail(options.error());
  if (!flags->has("device") && loaded.cuda && loaded.kernels.empty())
    options->device = "cuda";
  if (options->device == "cuda-host")
    return fail(Error{fmt::format("--device={}: an executable has no emulator; 'napkin train' has "
                                  "this device",
                                  options->device),
                      ExitStatus::wrongUsage});
  if (Failure failure = readDefinitions(loaded.program, *flags, *options))
    return fail(*failure);
  return runProgram(loaded, *options, name);
}

} // namespace napkin::runtime
