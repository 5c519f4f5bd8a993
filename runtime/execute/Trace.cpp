// Trace: one complete event a launch.

#include "runtime/execute/Trace.h"

#include "runtime/files/File.h"
#include "runtime/files/Json.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace napkin::runtime {

static constexpr size_t eventLimit = 1 << 18;

TraceRecorder::TraceRecorder(const Program &program) : program(program) {
  events.reserve(eventLimit);
}

void TraceRecorder::ended(const Function &function, int64_t, const Launch &launch, int64_t beganAt,
                          int64_t endedAt) {
  if (events.size() == eventLimit) {
    ++dropped;
    return;
  }
  events.push_back({&function, &launch, beganAt, endedAt});
}

Failure TraceRecorder::write(const std::string &path) const {
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{{\"displayTimeUnit\": \"ns\", \"traceEvents\": [");
  int64_t origin = events.empty() ? 0 : events[0].beganAt;
  for (const Event &event : events) {
    double seconds = std::max(static_cast<double>(event.endedAt - event.beganAt) * 1e-9, 1e-9);
    fmt::format_to(out,
                   "{}\n{{\"name\": {}, \"cat\": {}, \"ph\": \"X\", \"pid\": 1, \"tid\": 1, "
                   "\"ts\": {:.3f}, \"dur\": {:.3f}, \"args\": {{\"line\": {}, \"tasks\": {}, "
                   "\"gflops\": {:.3f}, \"gbytes_per_second\": {:.3f}}}}}",
                   &event == events.data() ? "" : ",",
                   quoteJson(program.kernels[event.launch->kernel].name),
                   quoteJson(event.function->name),
                   static_cast<double>(event.beganAt - origin) * 1e-3, seconds * 1e6,
                   quoteJson(event.launch->where), event.launch->tasks,
                   event.launch->flops / seconds * 1e-9, event.launch->bytes / seconds * 1e-9);
  }
  fmt::format_to(out, "\n]}}\n");
  return writeFile(path, std::string_view(text.data(), text.size()));
}

} // namespace napkin::runtime
