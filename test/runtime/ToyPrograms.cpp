// ToyPrograms: kernels by hand. Operands stand in the order of the launches below.

#include "test/runtime/ToyPrograms.h"

#include "runtime/execute/Philox.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace napkin::runtime {

namespace {
/// Builds a program: tensors one after the other in the arena.
class Builder {
public:
  LoadedProgram loaded;

  int64_t tensor(std::string name, Role role, DType dtype, std::vector<int64_t> shape) {
    TensorInfo info;
    info.name = std::move(name);
    info.role = role;
    info.dtype = dtype;
    info.shape = std::move(shape);
    info.bytes = bytesOf(dtype, info.shape);
    info.offset = loaded.program.arenaBytes;
    info.where = "toy.nap:" + std::to_string(loaded.program.tensors.size() + 1);
    loaded.program.arenaBytes +=
        (info.bytes + arenaAlignment - 1) / arenaAlignment * arenaAlignment;
    loaded.program.tensors.push_back(std::move(info));
    return static_cast<int64_t>(loaded.program.tensors.size()) - 1;
  }
  int64_t scalar(std::string name, double value, bool settable) {
    int64_t index = tensor(std::move(name), Role::scalar, DType::f32, {});
    loaded.program.tensors[index].value = value;
    loaded.program.tensors[index].settable = settable;
    return index;
  }
  int64_t kernel(std::string name, KernelFunction function) {
    loaded.program.kernels.push_back({name, name, 0});
    loaded.kernels.push_back(function);
    return static_cast<int64_t>(loaded.kernels.size()) - 1;
  }
  static Launch launch(int64_t kernel, std::vector<int64_t> arguments,
                       std::vector<int64_t> results, int64_t tasks = 1) {
    Launch call;
    call.kernel = kernel;
    call.arguments = std::move(arguments);
    call.results = std::move(results);
    call.tasks = tasks;
    // So much that the executor hands it to all workers.
    call.bytes = 1e6;
    call.where = "toy.nap:" + std::to_string(10 + kernel);
    return call;
  }
};
} // namespace

template <typename T>
static T *as(std::byte *data) {
  return reinterpret_cast<T *>(data);
}

static constexpr int64_t features = 3;

//===----------------------------------------------------------------------===//
// Linear regression
//===----------------------------------------------------------------------===//

/// rng -> weight, bias, two momenta: weights uniform in [-1, 1).
static void linearInit(std::byte *const *o, std::byte *, int64_t, int64_t) {
  const auto *rng = as<uint32_t>(o[0]);
  uint64_t seed = rng[0] | static_cast<uint64_t>(rng[1]) << 32;
  std::array<uint32_t, 4> words = philox({0, 0, rng[2], 7}, seed);
  for (int64_t i = 0; i < features; ++i)
    as<float>(o[1])[i] = static_cast<float>((words[i] >> 8) * 0x1p-23 - 1);
  as<float>(o[2])[0] = 0;
  std::memset(o[3], 0, 4 * features);
  std::memset(o[4], 0, 4);
}

/// x, weight, bias -> prediction: one row a task.
static void linearPredict(std::byte *const *o, std::byte *, int64_t first, int64_t last) {
  for (int64_t row = first; row < last; ++row) {
    float sum = as<float>(o[2])[0];
    for (int64_t i = 0; i < features; ++i)
      sum += as<float>(o[0])[row * features + i] * as<float>(o[1])[i];
    as<float>(o[3])[row] = sum;
  }
}

/// y, prediction, size (i32, rows) -> loss (sum of squares), largest error.
static void linearLoss(std::byte *const *o, std::byte *, int64_t, int64_t) {
  int32_t rows = as<int32_t>(o[2])[0];
  float sum = 0, largest = 0;
  for (int32_t row = 0; row < rows; ++row) {
    float error = as<float>(o[1])[row] - as<float>(o[0])[row];
    sum += error * error;
    largest = std::max(largest, std::fabs(error));
  }
  as<float>(o[3])[0] = sum;
  as<float>(o[4])[0] = largest;
}

/// loss, divisor -> loss divided by it, in place.
static void linearDivide(std::byte *const *o, std::byte *, int64_t, int64_t) {
  as<float>(o[2])[0] = as<float>(o[0])[0] / as<float>(o[1])[0];
}

/// x, y, prediction, divisor, size -> gradients of weight and bias, stored.
static void linearGradient(std::byte *const *o, std::byte *, int64_t, int64_t) {
  int32_t rows = as<int32_t>(o[4])[0];
  float gradient[features + 1] = {};
  for (int32_t row = 0; row < rows; ++row) {
    float error = 2 * (as<float>(o[2])[row] - as<float>(o[1])[row]) / as<float>(o[3])[0];
    for (int64_t i = 0; i < features; ++i)
      gradient[i] += error * as<float>(o[0])[row * features + i];
    gradient[features] += error;
  }
  std::memcpy(o[5], gradient, 4 * features);
  std::memcpy(o[6], gradient + features, 4);
}

/// The same, added to what is there.
static void linearGradientAdd(std::byte *const *o, std::byte *scratch, int64_t first,
                              int64_t last) {
  float before[features + 1];
  std::memcpy(before, o[5], 4 * features);
  std::memcpy(before + features, o[6], 4);
  linearGradient(o, scratch, first, last);
  for (int64_t i = 0; i < features; ++i)
    as<float>(o[5])[i] += before[i];
  as<float>(o[6])[0] += before[features];
}

/// weight, bias, momenta, gradients, lr, decay, divisor -> new weight, bias, momenta, finite, norm.
/// A step whose gradients are not finite keeps everything.
static void linearUpdate(std::byte *const *o, std::byte *, int64_t, int64_t) {
  float lr = as<float>(o[6])[0], decay = as<float>(o[7])[0], parts = as<float>(o[8])[0];
  float squares = 0;
  for (int64_t i = 0; i < features; ++i)
    squares += as<float>(o[4])[i] * as<float>(o[4])[i];
  squares += as<float>(o[5])[0] * as<float>(o[5])[0];
  bool finite = std::isfinite(squares);
  as<uint8_t>(o[13])[0] = finite;
  as<float>(o[14])[0] = std::sqrt(squares) / parts;
  auto update = [&](int operand, int64_t i) {
    float momentum = decay * as<float>(o[operand + 2])[i] + as<float>(o[operand + 4])[i] / parts;
    if (!finite)
      return;
    as<float>(o[operand + 11])[i] = momentum;
    as<float>(o[operand + 9])[i] = as<float>(o[operand])[i] - lr * momentum;
  };
  for (int64_t i = 0; i < features; ++i)
    update(0, i);
  update(1, 0);
}

/// size (i32) -> count, as f32.
static void linearCount(std::byte *const *o, std::byte *, int64_t, int64_t) {
  as<float>(o[1])[0] = static_cast<float>(as<int32_t>(o[0])[0]);
}

/// The number of rows, from y's place: written once by `init` too, since no scalar may be i32.
template <int rows>
static void writeRows(std::byte *const *o, std::byte *, int64_t, int64_t) {
  as<int32_t>(o[0])[0] = rows;
}

static KernelFunction rowsKernel(int64_t rows) {
  switch (rows) {
  case 1: return writeRows<1>;
  case 2: return writeRows<2>;
  case 4: return writeRows<4>;
  default: return writeRows<8>;
  }
}

LoadedProgram linearProgram(int64_t batch, int64_t accumulate) {
  Builder b;
  Program &program = b.loaded.program;
  program.model = "linear";
  program.graphHash = "00c0ffee";
  program.target = "cpu:toy";
  program.accumulate = accumulate;
  program.plannedSteps = 20;
  program.modelFlopsPerStep = static_cast<double>(6 * features * batch * accumulate);
  program.fixedChoices = {{"width", "3"}, {"batch", std::to_string(batch)}};
  int64_t x = b.tensor("x", Role::input, DType::f32, {batch, features});
  int64_t y = b.tensor("y", Role::input, DType::f32, {batch});
  program.tensors[x].axes = {"batch", "width"};
  program.tensors[y].axes = {"batch"};
  int64_t weight = b.tensor("weight", Role::parameter, DType::f32, {features});
  int64_t bias = b.tensor("bias", Role::parameter, DType::f32, {1});
  int64_t weightM = b.tensor("weight#m", Role::state, DType::f32, {features});
  int64_t biasM = b.tensor("bias#m", Role::state, DType::f32, {1});
  int64_t weightG = b.tensor("weight#grad", Role::gradient, DType::f32, {features});
  int64_t biasG = b.tensor("bias#grad", Role::gradient, DType::f32, {1});
  int64_t lr = b.scalar("lr", 0.05, true);
  int64_t decay = b.scalar("decay", 0.5, true);
  b.scalar("step", 0, false);
  b.scalar("steps", 0, false);
  int64_t count = b.scalar("count.0", 1, false);
  int64_t parts = b.scalar("parts", static_cast<double>(accumulate), false);
  int64_t rng = b.tensor("rng", Role::random, DType::i32, {4});
  int64_t prediction = b.tensor("prediction", Role::result, DType::f32, {batch});
  int64_t loss = b.tensor("loss", Role::result, DType::f32, {});
  int64_t largest = b.tensor("largest", Role::result, DType::f32, {});
  int64_t finite = b.tensor("finite", Role::result, DType::boolean, {});
  int64_t norm = b.tensor("norm", Role::result, DType::f32, {});
  int64_t rows = b.tensor("rows", Role::buffer, DType::i32, {});
  int64_t countOut = b.tensor("count", Role::result, DType::f32, {});

  int64_t init = b.kernel("init", linearInit);
  int64_t setRows = b.kernel("rows", rowsKernel(batch));
  int64_t predict = b.kernel("predict", linearPredict);
  int64_t lossKernel = b.kernel("squares", linearLoss);
  int64_t divide = b.kernel("divide", linearDivide);
  int64_t gradient = b.kernel("gradient", linearGradient);
  int64_t gradientAdd = b.kernel("gradient_add", linearGradientAdd);
  int64_t update = b.kernel("momentum", linearUpdate);
  int64_t countKernel = b.kernel("count", linearCount);

  std::vector<Launch> forward = {
      Builder::launch(predict, {x, weight, bias}, {prediction}, batch),
      Builder::launch(lossKernel, {y, prediction, rows}, {loss, largest}),
      Builder::launch(divide, {loss, count}, {loss})};
  auto withGradient = [&](int64_t kernel) {
    std::vector<Launch> launches = forward;
    launches.push_back(
        Builder::launch(kernel, {x, y, prediction, count, rows}, {weightG, biasG}));
    return launches;
  };
  Launch updating = Builder::launch(
      update, {weight, bias, weightM, biasM, weightG, biasG, lr, decay, parts},
      {weight, bias, weightM, biasM, finite, norm});
  std::map<std::string, int64_t> numbers = {{"loss", loss}, {"metric largest", largest}};
  std::map<std::string, int64_t> ended = {{"finite", finite}, {"gradient_norm", norm}};
  std::vector<Launch> counting = {Builder::launch(countKernel, {rows}, {countOut})};

  program.functions.push_back(
      {"init",
       {Builder::launch(init, {rng}, {weight, bias, weightM, biasM}),
        Builder::launch(setRows, {}, {rows})},
       {}});
  if (accumulate == 1) {
    // The division by the count happens inside a whole step.
    std::vector<Launch> launches = {Builder::launch(countKernel, {rows}, {count})};
    for (const Launch &launch : withGradient(gradient))
      launches.push_back(launch);
    launches.push_back(updating);
    std::map<std::string, int64_t> all = numbers;
    all.insert(ended.begin(), ended.end());
    program.functions.push_back({"step", launches, all});
  } else {
    program.functions.push_back({"counts", counting, {{"count.0", countOut}}});
    program.functions.push_back({"micro_first", withGradient(gradient), numbers});
    program.functions.push_back({"micro_next", withGradient(gradientAdd), numbers});
    program.functions.push_back({"update", {updating}, ended});
  }
  program.functions.push_back({"evaluate_counts", counting, {{"count.0", countOut}}});
  std::map<std::string, int64_t> evaluated = numbers;
  evaluated["output prediction"] = prediction;
  program.functions.push_back({"evaluate", forward, evaluated});
  program.functions.push_back({"predict", {forward[0]}, {{"output prediction", prediction}}});
  return b.loaded;
}

//===----------------------------------------------------------------------===//
// Bigram language model
//===----------------------------------------------------------------------===//

static constexpr int64_t vocabulary = 256;
static constexpr int64_t positions = 2 * 8;

/// -> table of zeros.
static void bigramInit(std::byte *const *o, std::byte *, int64_t, int64_t) {
  std::memset(o[0], 0, vocabulary * vocabulary * 4);
}

/// tokens, table -> logits: one position a task.
static void bigramLogits(std::byte *const *o, std::byte *, int64_t first, int64_t last) {
  for (int64_t i = first; i < last; ++i)
    std::memcpy(as<float>(o[2]) + i * vocabulary,
                as<float>(o[1]) + as<int32_t>(o[0])[i] * vocabulary, vocabulary * 4);
}

/// logits, targets -> mean loss; the logits become their gradients if there is a third operand.
static float crossEntropy(float *logits, const int32_t *targets, bool gradient) {
  double sum = 0;
  for (int64_t i = 0; i < positions; ++i) {
    float *row = logits + i * vocabulary;
    double total = 0;
    float top = *std::max_element(row, row + vocabulary);
    for (int64_t j = 0; j < vocabulary; ++j)
      total += std::exp(static_cast<double>(row[j] - top));
    sum += std::log(total) + top - row[targets[i]];
    if (!gradient)
      continue;
    for (int64_t j = 0; j < vocabulary; ++j)
      row[j] = static_cast<float>((std::exp(static_cast<double>(row[j] - top)) / total -
                                   (j == targets[i])) /
                                  positions);
  }
  return static_cast<float>(sum / positions);
}

static void bigramLoss(std::byte *const *o, std::byte *, int64_t, int64_t) {
  as<float>(o[2])[0] = crossEntropy(as<float>(o[0]), as<int32_t>(o[1]), false);
}

/// logits, targets, tokens, table, lr -> loss, table.
static void bigramStep(std::byte *const *o, std::byte *, int64_t, int64_t) {
  as<float>(o[5])[0] = crossEntropy(as<float>(o[0]), as<int32_t>(o[1]), true);
  for (int64_t i = 0; i < positions; ++i)
    for (int64_t j = 0; j < vocabulary; ++j)
      as<float>(o[6])[as<int32_t>(o[2])[i] * vocabulary + j] -=
          as<float>(o[4])[0] * as<float>(o[0])[i * vocabulary + j];
}

LoadedProgram bigramProgram() {
  Builder b;
  Program &program = b.loaded.program;
  program.model = "bigram";
  program.graphHash = "b16a";
  program.target = "cpu:toy";
  program.plannedSteps = 2000;
  int64_t tokens = b.tensor("tokens", Role::input, DType::i32, {2, 8});
  int64_t targets = b.tensor("targets", Role::input, DType::i32, {2, 8});
  program.tensors[tokens].idLimit = vocabulary;
  int64_t table = b.tensor("table", Role::parameter, DType::f32, {vocabulary, vocabulary});
  int64_t lr = b.scalar("lr", 20, true);
  b.scalar("step", 0, false);
  int64_t logits = b.tensor("logits", Role::result, DType::f32, {2, 8, vocabulary});
  int64_t loss = b.tensor("loss", Role::result, DType::f32, {});
  int64_t init = b.kernel("zeros", bigramInit);
  int64_t gather = b.kernel("embed", bigramLogits);
  int64_t lossKernel = b.kernel("cross_entropy", bigramLoss);
  int64_t step = b.kernel("descend", bigramStep);
  Launch reading = Builder::launch(gather, {tokens, table}, {logits}, positions);
  program.functions.push_back({"init", {Builder::launch(init, {}, {table})}, {}});
  program.functions.push_back(
      {"step",
       {reading, Builder::launch(step, {logits, targets, tokens, table, lr}, {loss, table})},
       {{"loss", loss}}});
  program.functions.push_back({"evaluate",
                               {reading, Builder::launch(lossKernel, {logits, targets}, {loss})},
                               {{"loss", loss}, {"output logits", logits}}});
  program.functions.push_back({"predict", {reading}, {{"output logits", logits}}});
  return b.loaded;
}

} // namespace napkin::runtime
