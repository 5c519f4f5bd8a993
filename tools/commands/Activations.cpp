// napkin report --activations: one forward pass of the initialised model, measured.
#include "tools/commands/Activations.h"

#include "codegen/BuildProgram.h"
#include "passes/report/activations/Activations.h"
#include "runtime/Numbers.h"
#include "runtime/data/Dataset.h"
#include "runtime/execute/Philox.h"
#include "runtime/execute/Session.h"
#include "runtime/files/Console.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

using namespace nap;
namespace rt = napkin::runtime;

/// A normal number of one draw (Box and Muller 1958).
static double normal(const std::array<uint32_t, 4> &words) {
  double radius = std::sqrt(-2 * std::log((words[0] + 1.0) * 0x1p-32));
  return radius * std::cos(2 * std::numbers::pi * words[1] * 0x1p-32);
}

/// Fills an input that no data is given for: numbers from a standard normal, ids evenly from those
/// that there are, bools evenly.
static void drawInput(const rt::Session &session, int64_t index, uint64_t seed) {
  const rt::TensorInfo &tensor = session.program().tensors[index];
  int64_t elements = rt::elementsOf(tensor.shape);
  // Integers that index no table may be anything: 0 and 1 are taken for marks or counts.
  int64_t limit = tensor.dtype == rt::DType::boolean || tensor.idLimit == 0 ? 2 : tensor.idLimit;
  for (int64_t i = 0; i < elements; ++i) {
    auto words =
        rt::philox({uint32_t(i), uint32_t(i >> 32), rt::runtimeStep, uint32_t(index)}, seed);
    double value =
        rt::isFloat(tensor.dtype) ? normal(words) : std::floor(words[0] * 0x1p-32 * double(limit));
    rt::storeElement(tensor.dtype, session.data(index), i, value);
  }
}

/// Reads --data, or draws the inputs; a sentence on what was done, or nothing after an error.
static std::optional<std::string> feed(rt::Session &session, const rt::DataOptions &options,
                                       ExitStatus &status) {
  const rt::Program &program = session.program();
  std::vector<int64_t> inputs = rt::inputsOf(program, *rt::findFunction(program, "predict"));
  if (options.files.empty()) {
    for (int64_t input : inputs)
      drawInput(session, input, options.seed);
    return "drawn inputs (numbers standard normal, ids even; --data reads others)";
  }
  auto data = rt::Dataset::open(program, options, inputs);
  rt::Failure failure = data ? data->load(session, 0) : rt::Failure(data.error());
  if (!failure)
    return "the first batch of the data";
  status = fail(*failure);
  return std::nullopt;
}

ExitStatus nap::reportActivations(const ParsedFlags &flags) {
  // The data flags mean what they mean in a run.
  auto options = rt::readRunOptions(flags);
  if (!options)
    return fail(options.error());
  Model model;
  ExitStatus status = model.read(flags);
  if (status != ExitStatus::done)
    return status;
  uint64_t seed = 0;
  if (auto planned = model.module()->getAttrOfType<mlir::IntegerAttr>("nap.seed"))
    seed = uint64_t(planned.getInt());
  std::vector<Activation> activations = measureActivations(model.module());
  if (activations.empty())
    return fail(
        "--activations: the model computes nothing of its inputs that one layer hands to another");
  CompiledProgram compiled;
  if ((status = model.plan()) != ExitStatus::done ||
      (status = model.makeProgram(compiled)) != ExitStatus::done ||
      (status = model.makeObjects(compiled)) != ExitStatus::done)
    return status;
  auto program = loadProgram(std::move(compiled));
  if (!program)
    return fail(llvm::toString(program.takeError()), ExitStatus::machineFailure);
  auto session = rt::Session::create(program->loaded, {options->threads, false});
  if (!session)
    return fail(session.error());
  rt::Session &run = **session;
  run.setRandom(seed, rt::initStep, 0);
  if (auto failure = run.run("init"))
    return fail(*failure);
  options->data.seed = seed;
  auto inputs = feed(run, options->data, status);
  if (!inputs)
    return status;
  run.setRandom(seed, 0, 0);
  if (int64_t prepare = run.functionIndex("prepare"); prepare >= 0)
    if (auto failure = run.run(prepare))
      return fail(*failure);
  if (auto failure = run.run("predict"))
    return fail(*failure);

  const rt::Function &predict = *rt::findFunction(run.program(), "predict");
  std::string text =
      fmt::format("ACTIVATIONS of {} at step 0, seed {}, {}\n", run.program().model, seed, *inputs);
  text += fmt::format("{:<40}{:<24}{:>13}{:>13}{:>13}  {}\n", "LAYER", "TENSOR", "MEAN",
                      "DEVIATION", "LARGEST", "LINE");
  for (auto [k, activation] : llvm::enumerate(activations)) {
    text += fmt::format("{:<40.40}{:<24.24}", activation.layer, activation.type);
    for (const char *figure : kActivationFigures) {
      int64_t tensor = predict.results.at(fmt::format("output {}.{}", k, figure));
      text += fmt::format("{:>13}", fmt::format("{:.5g}", run.scalar(tensor)));
    }
    text += fmt::format("  {}\n", describeLocation(activation.place));
  }
  model.printTimes();
  auto failure = rt::writeOutput(text);
  return failure ? fail(*failure) : ExitStatus::done;
}
