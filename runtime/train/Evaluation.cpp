// Evaluation: counts over all batches, then every batch.

#include "runtime/train/Evaluation.h"

#include "runtime/execute/Philox.h"
#include "runtime/files/SafeTensors.h"

#include <fmt/format.h>

namespace napkin::runtime {

namespace {
/// Writes outputs batch by batch to their places in a .safetensors file.
class OutputWriter {
public:
  Failure open(const Program &program, const Function &function, const std::string &path,
               int64_t batches, int64_t batch);
  Failure write(const Session &session, int64_t number);
  Failure finish() { return writer->finish(); }

private:
  std::optional<FileWriter> writer;
  std::vector<ArrayInfo> arrays;
  std::vector<int64_t> tensors;
};
} // namespace

Failure OutputWriter::open(const Program &program, const Function &function,
                           const std::string &path, int64_t batches, int64_t batch) {
  constexpr std::string_view prefix = "output ";
  for (const auto &[name, index] : function.results) {
    if (!name.starts_with(prefix))
      continue;
    const TensorInfo &tensor = program.tensors[index];
    std::optional<FileType> type = fileTypeOf(tensor.dtype);
    if (!type)
      return Error{fmt::format("--outputs: '{}' is {}, which no file holds", name,
                               nameOf(tensor.dtype))};
    ArrayInfo array;
    array.name = name.substr(prefix.size());
    array.type = *type;
    array.shape = tensor.shape;
    // An output without a sample axis gets one entry a batch.
    if (!array.shape.empty() && array.shape[0] == batch)
      array.shape[0] *= batches;
    else
      array.shape.insert(array.shape.begin(), batches);
    arrays.push_back(std::move(array));
    tensors.push_back(index);
  }
  if (arrays.empty())
    return Error{fmt::format("--outputs: model '{}' names no output", program.model),
                 ExitStatus::wrongUsage};
  Result<FileWriter> created = FileWriter::create(path);
  if (!created)
    return created.error();
  writer.emplace(std::move(*created));
  return writer->write(safeTensorsHeader(arrays));
}

Failure OutputWriter::write(const Session &session, int64_t number) {
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (Failure failure = session.device().pull(tensors[i]))
      return failure;
    std::span<std::byte> content = session.bytes(tensors[i]);
    int64_t offset = arrays[i].offset + number * static_cast<int64_t>(content.size());
    if (Failure failure = writer->writeAt(offset, content))
      return failure;
  }
  return std::nullopt;
}

Result<Evaluation> Evaluation::create(Session &session, const DataOptions &options, uint64_t seed,
                                      bool outputs) {
  const Program &program = session.program();
  const Function *function = findFunction(program, "evaluate");
  const Function *predict = findFunction(program, "predict");
  if (!function && !(outputs && predict))
    return Error{fmt::format("model '{}' has no evaluation; if it was compiled with --train-only, "
                             "compile it without",
                             program.model)};
  DataOptions ordered = options;
  ordered.sequential = true;
  const Function *chosen = function ? function : predict;
  Result<Dataset> data = Dataset::open(program, ordered, inputsOf(program, *chosen));
  if (!data && outputs && predict && chosen != predict) {
    Result<Dataset> less = Dataset::open(program, ordered, inputsOf(program, *predict));
    if (less) {
      data = std::move(less);
      chosen = predict;
    }
  }
  if (!data)
    return data.error();
  Evaluation evaluation(session, std::move(*data));
  evaluation.seed = seed;
  evaluation.function = session.functionIndex(chosen->name);
  evaluation.prepare = session.functionIndex("prepare");
  evaluation.stepScalar = findTensor(program, "step");
  evaluation.results = numbersOf(program, *chosen);
  int64_t counts = session.functionIndex("evaluate_counts");
  if (counts >= 0 && chosen == function) {
    evaluation.countPairs = countsOf(program, program.functions[counts]);
    evaluation.counts = counts;
  }
  return evaluation;
}

Failure Evaluation::runCounts() {
  int64_t batches = data.samples() / data.batch();
  std::vector<double> sums(countPairs.size(), 0);
  for (int64_t number = 0; number < batches; ++number) {
    if (Failure failure = data.load(*session, number * data.batch()))
      return failure;
    session->setRandom(seed, runtimeStep, static_cast<uint32_t>(number));
    if (Failure failure = session->runToEnd(counts))
      return failure;
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] += session->scalar(countPairs[i].first);
  }
  for (size_t i = 0; i < sums.size(); ++i)
    session->setScalar(countPairs[i].second, sums[i] / static_cast<double>(batches));
  return std::nullopt;
}

Failure Evaluation::run(int64_t step, const std::string &outputs) {
  int64_t batches = data.samples() / data.batch();
  if (stepScalar >= 0)
    session->setScalar(stepScalar, static_cast<double>(step));
  session->setRandom(seed, runtimeStep, 0);
  if (prepare >= 0)
    if (Failure failure = session->run(prepare))
      return failure;
  if (!countPairs.empty())
    if (Failure failure = runCounts())
      return failure;
  OutputWriter writer;
  if (!outputs.empty())
    if (Failure failure = writer.open(session->program(), session->program().functions[function],
                                      outputs, batches, data.batch()))
      return failure;
  for (NamedResult &result : results)
    result.value = 0;
  for (int64_t number = 0; number < batches; ++number) {
    if (Failure failure = data.load(*session, number * data.batch()))
      return failure;
    session->setRandom(seed, runtimeStep, static_cast<uint32_t>(number));
    if (Failure failure = session->runToEnd(function))
      return failure;
    for (NamedResult &result : results)
      result.value += session->scalar(result.tensor);
    if (!outputs.empty())
      if (Failure failure = writer.write(*session, number))
        return failure;
  }
  for (NamedResult &result : results)
    result.value /= static_cast<double>(batches);
  return outputs.empty() ? std::nullopt : writer.finish();
}

} // namespace napkin::runtime
