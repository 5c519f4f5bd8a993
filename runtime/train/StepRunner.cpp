// StepRunner: counts, micro-batches, update, in this order.

#include "runtime/train/StepRunner.h"

#include <fmt/format.h>

namespace napkin::runtime {

std::vector<NamedResult> numbersOf(const Program &program, const Function &function) {
  std::vector<NamedResult> numbers;
  if (auto loss = function.results.find("loss"); loss != function.results.end())
    numbers.push_back({"loss", loss->second, 0});
  constexpr std::string_view prefix = "metric ";
  for (const auto &[name, tensor] : function.results)
    if (name.starts_with(prefix))
      numbers.push_back({name.substr(prefix.size()), tensor, 0});
  return numbers;
}

std::vector<std::pair<int64_t, int64_t>> countsOf(const Program &program,
                                                  const Function &function) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (const auto &[name, tensor] : function.results)
    if (name.starts_with("count."))
      if (int64_t scalar = findTensor(program, name); scalar >= 0)
        pairs.emplace_back(tensor, scalar);
  return pairs;
}

Result<StepRunner> StepRunner::create(Session &session, Dataset &data, uint64_t seed) {
  const Program &program = session.program();
  StepRunner runner;
  runner.session = &session;
  runner.data = &data;
  runner.seed = seed;
  runner.microBatches = program.accumulate;
  runner.stepScalar = findTensor(program, "step");
  runner.prepare = session.functionIndex("prepare");
  runner.step = session.functionIndex("step");
  runner.counts = session.functionIndex("counts");
  runner.microFirst = session.functionIndex("micro_first");
  runner.microNext = session.functionIndex("micro_next");
  runner.update = session.functionIndex("update");
  bool whole = program.accumulate == 1;
  if (whole ? runner.step < 0 : runner.microFirst < 0 || runner.microNext < 0 || runner.update < 0)
    return Error{fmt::format("model '{}' has no training step; it needs a loss and an optimizer",
                             program.model)};
  int64_t last = whole ? runner.step : runner.update;
  runner.results = numbersOf(program, program.functions[whole ? runner.step : runner.microFirst]);
  if (!whole) {
    runner.laterResults = numbersOf(program, program.functions[runner.microNext]);
    if (runner.laterResults.size() != runner.results.size())
      return Error{"program: 'micro_first' and 'micro_next' return different metrics"};
  }
  const auto &ended = program.functions[last].results;
  if (auto found = ended.find("finite"); found != ended.end())
    runner.finiteTensor = found->second;
  if (auto found = ended.find("finite_gradients"); found != ended.end())
    runner.finiteGradientsTensor = found->second;
  if (auto found = ended.find("gradient_norm"); found != ended.end())
    runner.normTensor = found->second;
  if (auto found = ended.find("loss_scale"); found != ended.end())
    runner.scaleTensor = found->second;
  for (const Function &function : program.functions)
    for (const auto &[name, tensor] : function.results)
      runner.mayGather &= program.tensors[tensor].role != Role::input;
  if (runner.counts >= 0)
    for (auto [result, scalar] : countsOf(program, program.functions[runner.counts]))
      runner.countList.push_back({result, scalar, 0});
  return runner;
}

/// Fills the inputs, unless they hold this batch already.
Failure StepRunner::loadBatch(int64_t cursor) {
  if (loaded == std::pair(cursor, session->batchesPushed()))
    return std::nullopt;
  loaded.reset();
  if (Failure failure = data->load(*session, cursor))
    return failure;
  loaded = {cursor, session->batchesPushed()};
  return std::nullopt;
}

/// Runs a function to its end. While a device runs it, the host gathers the batch that comes next.
Failure StepRunner::runToEnd(int64_t function, std::optional<int64_t> nextCursor) {
  if (Failure failure = session->run(function))
    return failure;
  Device &device = session->device();
  // A batch that cannot be had is told when its turn comes: there may be no more steps.
  if (nextCursor && mayGather && device.runsAhead())
    static_cast<void>(loadBatch(*nextCursor));
  return device.settle();
}

Failure StepRunner::runCounts(int64_t number, int64_t cursor) {
  for (Count &count : countList)
    count.sum = 0;
  for (int64_t micro = 0; micro < microBatches; ++micro) {
    if (Failure failure = loadBatch(cursor + micro * data->batch()))
      return failure;
    session->setRandom(seed, static_cast<uint32_t>(number), static_cast<uint32_t>(micro));
    bool isLast = micro + 1 == microBatches;
    if (Failure failure = runToEnd(counts, cursor + (isLast ? 0 : micro + 1) * data->batch()))
      return failure;
    for (Count &count : countList)
      count.sum += session->scalar(count.result);
  }
  for (Count &count : countList)
    session->setScalar(count.scalar, count.sum / static_cast<double>(microBatches));
  return std::nullopt;
}

Failure StepRunner::run(int64_t number, int64_t &cursor) {
  if (stepScalar >= 0)
    session->setScalar(stepScalar, static_cast<double>(number));
  session->setRandom(seed, static_cast<uint32_t>(number), 0);
  if (prepare >= 0)
    if (Failure failure = session->run(prepare))
      return failure;
  if (!countList.empty())
    if (Failure failure = runCounts(number, cursor))
      return failure;
  for (NamedResult &result : results)
    result.value = 0;
  for (int64_t micro = 0; micro < microBatches; ++micro) {
    // With a single micro-batch the counts left the right one in place, if there were any.
    if (Failure failure = loadBatch(cursor + micro * data->batch()))
      return failure;
    session->setRandom(seed, static_cast<uint32_t>(number), static_cast<uint32_t>(micro));
    int64_t function = microBatches == 1 ? step : micro == 0 ? microFirst : microNext;
    if (Failure failure = runToEnd(function, cursor + (micro + 1) * data->batch()))
      return failure;
    const std::vector<NamedResult> &places = micro == 0 ? results : laterResults;
    for (size_t i = 0; i < results.size(); ++i)
      results[i].value += session->scalar(places[i].tensor) / static_cast<double>(microBatches);
  }
  if (microBatches > 1)
    if (Failure failure = runToEnd(update, std::nullopt))
      return failure;
  cursor += samplesPerStep();
  auto isTrue = [&](int64_t tensor) { return tensor < 0 || session->scalar(tensor) != 0; };
  wasFinite = isTrue(finiteTensor);
  gradientsWereFinite = isTrue(finiteGradientsTensor);
  if (normTensor >= 0)
    norm = session->scalar(normTensor);
  if (scaleTensor >= 0)
    scale = session->scalar(scaleTensor);
  return std::nullopt;
}

} // namespace napkin::runtime
