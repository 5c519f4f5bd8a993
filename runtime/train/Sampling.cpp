// Sampling: as many samples at a time as the batch has rows.

#include "runtime/train/Sampling.h"

#include "runtime/Numbers.h"
#include "runtime/data/Dataset.h"
#include "runtime/execute/Philox.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace napkin::runtime {

namespace {
/// The parts of a language model that sampling needs.
struct LanguageModel {
  int64_t function = -1, prepare = -1;
  int64_t tokens = -1, logits = -1;
  int64_t batch = 0, sequence = 0, vocabulary = 0;
};
} // namespace

static Result<LanguageModel> findLanguageModel(const Session &session) {
  const Program &program = session.program();
  for (std::string_view name : {"predict", "evaluate"}) {
    const Function *function = findFunction(program, name);
    if (!function || !function->results.contains("output logits"))
      continue;
    LanguageModel model;
    model.function = session.functionIndex(name);
    model.prepare = session.functionIndex("prepare");
    model.tokens = findTensor(program, "tokens");
    model.logits = function->results.at("output logits");
    const TensorInfo &logits = program.tensors[model.logits];
    if (model.tokens < 0)
      break;
    const TensorInfo &tokens = program.tensors[model.tokens];
    bool fits = tokens.role == Role::input && tokens.dtype == DType::i32 &&
                tokens.shape.size() == 2 && logits.shape.size() == 3 &&
                isFloat(logits.dtype) && logits.shape[0] == tokens.shape[0] &&
                logits.shape[1] == tokens.shape[1];
    if (!fits)
      break;
    model.batch = tokens.shape[0];
    model.sequence = tokens.shape[1];
    model.vocabulary = logits.shape[2];
    return model;
  }
  return Error{fmt::format("--sample: model '{}' has no output logits : [batch, seq, vocab] for an "
                           "input tokens : i32[batch, seq]",
                           program.model),
               ExitStatus::wrongUsage};
}

/// One id by the weights exp((logit - top) / temperature), or the likeliest.
static int64_t chooseId(DType dtype, const std::byte *logits, int64_t vocabulary,
                        double temperature, double uniform) {
  int64_t best = 0;
  double top = -HUGE_VAL;
  for (int64_t id = 0; id < vocabulary; ++id)
    if (double value = loadElement(dtype, logits, id); value > top) {
      top = value;
      best = id;
    }
  if (temperature <= 0)
    return best;
  auto weight = [&](int64_t id) {
    return std::exp((loadElement(dtype, logits, id) - top) / temperature);
  };
  double sum = 0;
  for (int64_t id = 0; id < vocabulary; ++id)
    sum += weight(id);
  double left = uniform * sum;
  for (int64_t id = 0; id < vocabulary; ++id) {
    left -= weight(id);
    if (left < 0)
      return id;
  }
  return best;
}

/// Puts the last ids of a row where the model reads them; returns the place of the last one.
static int64_t placeIds(const LanguageModel &model, const std::vector<int32_t> &ids,
                        std::byte *row) {
  auto count = static_cast<int64_t>(ids.size());
  int64_t shown = std::min(count, model.sequence);
  std::memset(row, 0, static_cast<size_t>(model.sequence * 4));
  std::memcpy(row, ids.data() + (count - shown), static_cast<size_t>(shown * 4));
  return shown - 1;
}

static std::string printSample(const std::vector<int32_t> &ids, bool text) {
  std::string out;
  if (!text)
    return fmt::format("{}", fmt::join(ids, " "));
  for (size_t i = 1; i < ids.size(); ++i)
    out += static_cast<char>(ids[i]);
  return out;
}

Result<std::vector<std::string>> sampleText(Session &session, const SamplingOptions &options) {
  Result<LanguageModel> found = findLanguageModel(session);
  if (!found)
    return found.error();
  const LanguageModel &model = *found;
  bool text = model.vocabulary <= 256;
  std::vector<int32_t> start;
  if (text) {
    start.push_back('\n');
    for (char c : options.prompt)
      start.push_back(static_cast<unsigned char>(c));
  } else {
    if (!options.prompt.empty())
      return Error{"--prompt: this model's tokens are not bytes, so a prompt has no ids",
                   ExitStatus::wrongUsage};
    start.push_back(0);
  }
  for (int32_t id : start)
    if (id >= model.vocabulary)
      return Error{fmt::format("--prompt: byte {} is outside the vocabulary of {}", id,
                               model.vocabulary),
                   ExitStatus::wrongUsage};
  const TensorInfo &logits = session.program().tensors[model.logits];
  int64_t length = options.length > 0 ? options.length : model.sequence;
  if (int64_t scalar = findTensor(session.program(), "step"); scalar >= 0)
    session.setScalar(scalar, static_cast<double>(options.step));
  session.setRandom(options.seed, runtimeStep, 0);
  if (model.prepare >= 0)
    if (Failure failure = session.run(model.prepare))
      return *failure;

  std::vector<std::string> lines;
  for (int64_t first = 0; first < options.count; first += model.batch) {
    int64_t rows = std::min(model.batch, options.count - first);
    std::vector<std::vector<int32_t>> ids(static_cast<size_t>(rows), start);
    std::vector<bool> done(static_cast<size_t>(rows), false);
    for (int64_t made = 0; made < length; ++made) {
      std::vector<int64_t> last(static_cast<size_t>(rows));
      std::memset(session.data(model.tokens), 0, session.bytes(model.tokens).size());
      for (int64_t row = 0; row < rows; ++row)
        last[row] =
            placeIds(model, ids[row], session.data(model.tokens) + row * model.sequence * 4);
      if (Failure failure = session.pushInputs(std::span(&model.tokens, 1)))
        return *failure;
      if (Failure failure = session.run(model.function))
        return *failure;
      if (Failure failure = session.device().pull(model.logits))
        return *failure;
      for (int64_t row = 0; row < rows; ++row) {
        if (done[row])
          continue;
        int64_t at = (row * model.sequence + last[row]) * model.vocabulary;
        uint32_t word = philox({static_cast<uint32_t>(made), static_cast<uint32_t>(first + row),
                                runtimeStep, 2},
                               options.seed)[0];
        int64_t id =
            chooseId(logits.dtype, session.data(model.logits) + at * bitsOf(logits.dtype) / 8,
                     model.vocabulary, options.temperature, (word >> 8) * 0x1p-24);
        done[row] = text && id == '\n';
        if (!done[row])
          ids[row].push_back(static_cast<int32_t>(id));
      }
      if (std::find(done.begin(), done.end(), false) == done.end())
        break;
    }
    for (const std::vector<int32_t> &row : ids)
      lines.push_back(printSample(row, text));
  }
  return lines;
}

} // namespace napkin::runtime
