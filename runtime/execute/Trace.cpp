// Trace: a process a step, with a track of what was measured, one of what was predicted, and the
// memory in use.

#include "runtime/execute/Trace.h"

#include "runtime/device/Rates.h"
#include "runtime/execute/Profile.h"
#include "runtime/files/File.h"
#include "runtime/files/Json.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <set>

namespace napkin::runtime {

static constexpr size_t eventLimit = 1 << 18;

/// Threads of a process in the file.
static constexpr int measuredTrack = 1, predictedTrack = 2;

/// A processor of round figures, as the compiler's decisions take it (docs/accounting.md, Time at
/// the roof): 1 TFLOP/s of f32, 2 of bf16, 50 GB/s.
static DevicePeaks referencePeaks(int threads) {
  DevicePeaks peaks;
  peaks.matrices = {
      {DType::f64, threads, 5e11}, {DType::f32, threads, 1e12}, {DType::bf16, threads, 2e12}};
  peaks.copies = {{threads, int64_t{1} << 40, 5e10}};
  return peaks;
}

TraceRecorder::TraceRecorder(const Program &program, DevicePeaks measured, int threads)
    : program(program), peaks(std::move(measured)), threads(threads) {
  events.reserve(eventLimit);
  steps.reserve(eventLimit);
  isReference = peaks.matrixFlopsPerSecond(DType::f32, threads) == 0 ||
                peaks.copyBytesPerSecond(threads, 1) == 0;
  if (isReference)
    peaks = referencePeaks(threads);
}

void TraceRecorder::ended(const Function &function, int64_t, const Launch &launch, int64_t beganAt,
                          int64_t endedAt) {
  isFull |= events.size() == eventLimit;
  if (isFull)
    ++dropped;
  else
    events.push_back({&function, &launch, beganAt, endedAt});
}

void TraceRecorder::stepBegins(int64_t number) {
  isFull |= steps.size() == eventLimit;
  if (!isFull)
    steps.push_back({number, events.size(), events.size(), nowNanoseconds(), 0});
  isInStep = !isFull;
}

void TraceRecorder::stepEnded() {
  if (!isInStep)
    return;
  isInStep = false;
  Step &step = steps.back();
  step.last = events.size();
  step.endedAt = nowNanoseconds();
  if (!isFull)
    return;
  // Of a step that did not fit as a whole nothing is shown: its sums would be wrong.
  dropped += static_cast<int64_t>(step.last - step.first);
  events.resize(step.first);
  steps.pop_back();
}

/// Text of the file: events, times counted from the first in microseconds to the nanosecond.
class TraceRecorder::Writer {
public:
  explicit Writer(int64_t origin) : origin(origin) {}
  fmt::memory_buffer text;

  template <typename... Arguments>
  void event(fmt::format_string<Arguments...> format, Arguments &&...arguments) {
    auto out = std::back_inserter(text);
    fmt::format_to(out, "{}\n{{", text.size() ? "," : "");
    fmt::format_to(out, format, std::forward<Arguments>(arguments)...);
    fmt::format_to(out, "}}");
  }
  void name(const char *what, int64_t process, int track, std::string_view name) {
    event(R"("name": "{}", "ph": "M", "pid": {}, "tid": {}, "args": {{"name": {}}})", what, process,
          track, quoteJson(name));
  }
  /// Microseconds with three digits, of a moment.
  std::string moment(int64_t at) const { return micro(at - origin); }
  static std::string micro(int64_t nanoseconds) {
    return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
  }

private:
  int64_t origin;
};

/// How many bytes lie in any of the places, each from a first byte up to another.
static int64_t bytesIn(std::vector<std::pair<int64_t, int64_t>> places) {
  std::sort(places.begin(), places.end());
  int64_t sum = 0, end = 0;
  for (auto [first, last] : places) {
    sum += std::max<int64_t>(0, last - std::max(first, end));
    end = std::max(end, last);
  }
  return sum;
}

/// The bytes in use during each launch of a function, those that persist among them.
static std::vector<int64_t> usedBytes(const Program &program, const Function &function) {
  std::set<int64_t> persistent;
  for (size_t i = 0; i < program.tensors.size(); ++i)
    if (program.tensors[i].role != Role::temporary && program.tensors[i].role != Role::result)
      persistent.insert(static_cast<int64_t>(i));
  std::set<int64_t> live = persistent;
  std::vector<int64_t> used;
  for (const Launch &launch : function.launches) {
    live.insert(launch.results.begin(), launch.results.end());
    std::vector<std::pair<int64_t, int64_t>> places;
    for (int64_t index : live) {
      const TensorInfo &tensor = program.tensors[index];
      places.emplace_back(tensor.offset, tensor.offset + tensor.bytes);
    }
    used.push_back(bytesIn(std::move(places)));
    for (int64_t dead : launch.dies) {
      const TensorInfo &whole = program.tensors[dead];
      // The parts of a join end with it; what the launch itself wrote there does not.
      std::erase_if(live, [&](int64_t index) {
        int64_t offset = program.tensors[index].offset;
        bool isNew = index != dead && std::ranges::count(launch.results, index) > 0;
        return offset >= whole.offset && offset < whole.offset + whole.bytes && !isNew &&
               !persistent.contains(index);
      });
    }
  }
  return used;
}

void TraceRecorder::writeStep(Writer &out, const Step &step, UsedBytes &used) const {
  int64_t process = step.number + 1;
  std::string name = fmt::format("step {}", step.number);
  out.name("process_name", process, 0, name);
  out.name("thread_name", process, measuredTrack, "measured");
  out.name("thread_name", process, predictedTrack,
           isReference ? "predicted, of a reference processor: 'napkin device' measures this one"
                       : "predicted, at the roof of this machine");
  int64_t predictedAt = step.beganAt;
  for (size_t i = step.first; i < step.last; ++i) {
    const Event &event = events[i];
    const Launch &launch = *event.launch;
    std::vector<int64_t> &memory = used[event.function];
    if (memory.empty())
      memory = usedBytes(program, *event.function);
    std::string kernel = quoteJson(program.kernels[launch.kernel].name);
    std::string function = quoteJson(event.function->name);
    double seconds = std::max(static_cast<double>(event.endedAt - event.beganAt) * 1e-9, 1e-9);
    double rates = predictedSeconds(workOf(program, launch), peaks, threads);
    double roof = floorSeconds(program, launch, peaks, threads);
    int64_t predicted = std::llround((rates > 0 ? rates : roof) * 1e9);
    out.event(R"("name": {}, "cat": {}, "ph": "X", "pid": {}, "tid": {}, "ts": {}, "dur": {}, )"
              R"("args": {{"line": {}, "tasks": {}, "predicted_us": {}, "gflops": {:.3f}, )"
              R"("gbytes_per_second": {:.3f}}})",
              kernel, function, process, measuredTrack, out.moment(event.beganAt),
              Writer::micro(event.endedAt - event.beganAt), quoteJson(launch.where), launch.tasks,
              Writer::micro(predicted), launch.flops / seconds * 1e-9,
              launch.bytes / seconds * 1e-9);
    out.event(R"("name": {}, "cat": {}, "ph": "X", "pid": {}, "tid": {}, "ts": {}, "dur": {}, )"
              R"("args": {{"line": {}, "flops": {:.0f}, "bytes": {:.0f}}})",
              kernel, function, process, predictedTrack, out.moment(predictedAt),
              Writer::micro(predicted), quoteJson(launch.where), launch.flops, launch.bytes);
    out.event(R"("name": "memory", "ph": "C", "pid": {}, "ts": {}, "args": {{"live bytes": {}}})",
              process, out.moment(event.beganAt),
              memory[&launch - event.function->launches.data()]);
    predictedAt += predicted;
  }
  auto whole = [&](int track, int64_t nanoseconds) {
    out.event(R"("name": "{}", "cat": "whole step", "ph": "X", "pid": {}, "tid": {}, "ts": {}, )"
              R"("dur": {}, "args": {{}})",
              name, process, track, out.moment(step.beganAt), Writer::micro(nanoseconds));
  };
  whole(measuredTrack, step.endedAt - step.beganAt);
  whole(predictedTrack, predictedAt - step.beganAt);
}

Failure TraceRecorder::write(const std::string &path) const {
  int64_t origin = events.empty() ? 0 : events[0].beganAt;
  if (!steps.empty() && (events.empty() || steps[0].beganAt < origin))
    origin = steps[0].beganAt;
  Writer out(origin);
  out.name("process_name", 0, 0, "beside the steps");
  out.name("thread_name", 0, measuredTrack, "measured");
  UsedBytes used;
  size_t at = 0;
  auto writeBeside = [&](size_t end) {
    for (; at < end; ++at) {
      const Event &event = events[at];
      out.event(R"("name": {}, "cat": {}, "ph": "X", "pid": 0, "tid": {}, "ts": {}, "dur": {}, )"
                R"("args": {{"line": {}}})",
                quoteJson(program.kernels[event.launch->kernel].name),
                quoteJson(event.function->name), measuredTrack, out.moment(event.beganAt),
                Writer::micro(event.endedAt - event.beganAt), quoteJson(event.launch->where));
    }
  };
  for (const Step &step : steps) {
    writeBeside(step.first);
    writeStep(out, step, used);
    at = step.last;
  }
  writeBeside(events.size());
  std::string text = fmt::format(
      "{{\"displayTimeUnit\": \"ns\", \"otherData\": {{\"model\": {}, \"arena_bytes\": {}, "
      "\"threads\": {}}}, \"traceEvents\": [{}\n]}}\n",
      quoteJson(program.model), program.arenaBytes, threads,
      std::string_view(out.text.data(), out.text.size()));
  return writeFile(path, text);
}

} // namespace napkin::runtime
