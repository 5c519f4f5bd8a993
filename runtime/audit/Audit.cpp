// Audit: figures of a step, then its kernels.

#include "runtime/audit/Audit.h"

#include "runtime/audit/Resident.h"
#include "runtime/execute/Arena.h"
#include "runtime/files/Json.h"

#include <algorithm>
#include <fmt/format.h>

namespace napkin::runtime {

/// What a process takes beside the arena: stacks of its workers, a batch on its way, the log.
static constexpr double processSlack = 16 << 20;
/// What a GPU takes beside the plan: code, and what its driver keeps for graphs.
static constexpr double deviceSlack = 256 << 20;

bool AuditLine::isBroken() const {
  if (!measured.value || predicted <= 0)
    return false;
  return (most > 0 && *measured.value > most * predicted + slack) ||
         (least > 0 && *measured.value < least * predicted);
}

Audit::Audit(const AuditLimits &limits, LaunchCounter counts)
    : limits(limits), countLaunch(std::move(counts)), anonymousBefore(anonymousBytes()) {}

void Audit::begin(const Session &running, DevicePeaks peaks) {
  session = &running;
  profile.emplace(running.program(), std::move(peaks), running.workers());
  ran.resize(running.program().functions.size());
  countedBytes.resize(running.program().kernels.size());
}

void Audit::ended(const Function &function, int64_t index, const Launch &launch, int64_t beganAt,
                  int64_t endedAt) {
  ran[&function - session->program().functions.data()] = true;
  if (countLaunch && steps > 0)
    countedBytes[launch.kernel] += countLaunch();
  profile->ended(function, index, launch, beganAt, endedAt);
}

/// The larger of two figures; a reason stays.
static void keepLarger(Measured &most, const Measured &now) {
  if (!most.reason.empty())
    return;
  if (!now.value || !most.value || *now.value > *most.value)
    most = now;
}

/// `after` - `before`.
static Measured difference(const Measured &after, const Measured &before) {
  if (!after.value || !before.value)
    return {std::nullopt, after.value ? before.reason : after.reason};
  return {*after.value - *before.value, ""};
}

/// Adds `after` - `before`; a reason stays.
static void addDifference(Measured &sum, const Measured &after, const Measured &before) {
  Measured more = difference(after, before);
  if (!more.value || !sum.reason.empty())
    sum = {std::nullopt, sum.reason.empty() ? more.reason : sum.reason};
  else
    sum.value = sum.value.value_or(0) + *more.value;
}

void Audit::stepBegins() {
  flopsBefore = counters.flops();
  bytesBefore = counters.bytesFromMemory();
}

void Audit::stepEnded(int64_t nanoseconds) {
  profile->stepEnded(nanoseconds);
  if (steps > 0) {
    addDifference(flopsCounted, counters.flops(), flopsBefore);
    addDifference(bytesCounted, counters.bytesFromMemory(), bytesBefore);
  }
  keepLarger(growth, difference(anonymousBytes(), anonymousBefore));
  if (++steps > 1)
    return;
  // Later an evaluation may have used more of the arena than steps do.
  const Program &program = session->program();
  const Arena *memory = session->device().hostMemory();
  if (!memory) {
    deviceTaken = {static_cast<double>(session->device().bytesMeasured()), ""};
    return;
  }
  tensorsResident = residentBytes(memory->at(0), program.arenaBytes);
  scratchResident =
      residentBytes(memory->scratch(0), program.scratchBytesPerWorker * session->workers());
}

/// How far the arena reaches for what persists and for the functions that ran, `init` among them.
int64_t Audit::usedBytes() const {
  const Program &program = session->program();
  int64_t end = 0;
  auto reach = [&](const TensorInfo &tensor) { end = std::max(end, tensor.offset + tensor.bytes); };
  for (const TensorInfo &tensor : program.tensors)
    if (tensor.role != Role::temporary && tensor.role != Role::result)
      reach(tensor);
  for (size_t i = 0; i < program.functions.size(); ++i)
    if (ran[i] || program.functions[i].name == "init")
      for (const Launch &launch : program.functions[i].launches)
        for (int64_t result : launch.results)
          reach(program.tensors[result]);
  return std::min((end + arenaAlignment - 1) / arenaAlignment * arenaAlignment, program.arenaBytes);
}

void Audit::addMemory(std::vector<AuditLine> &lines) const {
  const Program &program = session->program();
  if (!session->device().hostMemory()) {
    AuditLine device{"memory of the device", static_cast<double>(session->device().bytesTaken()),
                     deviceTaken};
    device.most = limits.memory;
    device.slack = deviceSlack;
    device.isMemory = true;
    lines.push_back(device);
    return;
  }
  double scratch = static_cast<double>(program.scratchBytesPerWorker * session->workers());
  AuditLine tensors{"tensors resident", static_cast<double>(usedBytes()), tensorsResident};
  tensors.most = limits.memory;
  tensors.least = limits.memory > 0 ? 1 / limits.memory : 0;
  // A small page in a large one brings the large one.
  tensors.slack = static_cast<double>(largePage);
  tensors.isMemory = true;
  AuditLine scratches{fmt::format("scratch of {} worker{} resident", session->workers(),
                                  session->workers() == 1 ? "" : "s"),
                      scratch, scratchResident};
  scratches.most = limits.memory;
  scratches.isMemory = true;
  AuditLine process{"anonymous memory of the process, more than before",
                    static_cast<double>(program.arenaBytes) + scratch, growth};
  // Where another device is played, its records of what is written where come on top.
  process.most = countLaunch ? 0 : limits.memory;
  process.slack = processSlack;
  process.isMemory = true;
  lines.insert(lines.end(), {tensors, scratches, process});
}

std::vector<AuditLine> Audit::figures() const {
  std::vector<AuditLine> lines;
  addMemory(lines);
  auto counted = static_cast<double>(std::max<int64_t>(profile->countedSteps(), 1));
  KernelTimes all;
  for (const KernelTimes &row : profile->kernelTimes())
    all.add(row);
  auto perStep = [&](Measured measured) {
    if (measured.value)
      measured.value = *measured.value / counted;
    return measured;
  };
  AuditLine flops{"FLOPs", all.flops, perStep(flopsCounted)};
  // What a device other than the processor computes is in none of the processor's counters.
  bool isOfDevice = !session->device().hostMemory();
  if (countLaunch)
    flops.measured = {std::nullopt, "played arithmetic is not counted"};
  else if (isOfDevice)
    flops.measured = {std::nullopt, "the device's counters are not asked"};
  else if (session->program().tileRegisters || factorTypeOf(session->program()) == DType::bf16)
    flops.measured = {std::nullopt, "products of bf16 are not counted"};
  flops.most = limits.flops;
  flops.least = limits.flops > 0 ? 1 / limits.flops : 0;
  AuditLine bytes{"bytes, each once a launch", all.bytes, {}};
  if (countLaunch) {
    double sum = 0;
    for (double each : countedBytes)
      sum += each;
    bytes.measured = perStep({sum, ""});
    bytes.least = limits.bytes > 0 ? 1 / limits.bytes : 0;
  } else {
    bytes.name = "bytes from memory";
    bytes.measured = perStep(bytesCounted);
    if (isOfDevice)
      bytes.measured = {std::nullopt, "the device's counters are not asked"};
  }
  bytes.most = limits.bytes;
  AuditLine kernels{"time of the kernels over their floors", all.floor, {all.seconds, ""}};
  kernels.isTime = true;
  AuditLine step{
      "time of a step over its kernels' floors", all.floor, {profile->stepSeconds(), ""}};
  step.isTime = true;
  step.most = limits.time;
  AuditLine predicted{
      "time of a step by the machine's rates", all.predicted, {profile->stepSeconds(), ""}};
  predicted.isTime = true;
  predicted.most = limits.rates;
  predicted.least = limits.rates > 0 ? 1 / limits.rates : 0;
  lines.insert(lines.end(), {flops, bytes, kernels, step, predicted});
  return lines;
}

/// A figure in its unit; "-" for none.
static std::string inUnit(const AuditLine &line, std::optional<double> value) {
  if (!value || (line.predicted == 0 && line.isTime && *value == 0))
    return "-";
  if (line.isMemory)
    return fmt::format("{:.3f} MiB", *value / (1 << 20));
  if (line.isTime)
    return fmt::format("{:.3f} ms", *value * 1e3);
  return fmt::format("{:.0f}", *value);
}

/// "0.95 to 1.05", "to 1.05 + 16 MiB".
static std::string limitText(const AuditLine &line) {
  if (line.most == 0)
    return "none";
  std::string text = line.least > 0 ? fmt::format("{:.2f} to {:.2f}", line.least, line.most)
                                    : fmt::format("to {:.2f}", line.most);
  if (line.slack > 0)
    text += fmt::format(" + {:.0f} MiB", line.slack / (1 << 20));
  return text;
}

std::string Audit::text() const {
  if (profile->countedSteps() == 0)
    return "audit: the first step is left out, and no other ran\n";
  std::string text = fmt::format("{:<50}{:>18}{:>18} {:>7}  LIMIT\n", "AUDIT of a step",
                                 "PREDICTED", "MEASURED", "RATIO");
  for (const AuditLine &line : figures()) {
    bool isPredicted = line.predicted > 0;
    text += fmt::format("{:<50}{:>18}", line.name,
                        isPredicted ? inUnit(line, line.predicted) : std::string("-"));
    if (!line.measured.value) {
      text += fmt::format("  not measured: {}\n", line.measured.reason);
      continue;
    }
    text += fmt::format("{:>18} {:>7}  {}{}\n", inUnit(line, line.measured.value),
                        isPredicted ? fmt::format("{:.3f}", *line.measured.value / line.predicted)
                                    : "-",
                        limitText(line), line.isBroken() ? " FAIL" : "");
  }
  text += fmt::format("\n{:<40}{:>9}{:>11}{:>11}{:>11} {:>9}{:>13} {:>12}\n", "KERNEL", "launches",
                      "floor ms", "rates ms", "ms", "ms/floor", "bytes", "counted");
  const Program &program = session->program();
  auto counted = static_cast<double>(profile->countedSteps());
  KernelTimes all;
  double allCounted = 0;
  auto line = [&](std::string_view name, const KernelTimes &row, double bytes) {
    text += fmt::format("{:<40.40}{:>9.1f}{:>11}{:>11}{:>11.4f} {:>9}{:>13.0f} {:>12}\n", name,
                        row.launches, row.floor > 0 ? fmt::format("{:.4f}", row.floor * 1e3) : "-",
                        row.predicted > 0 ? fmt::format("{:.4f}", row.predicted * 1e3) : "-",
                        row.seconds * 1e3,
                        row.floor > 0 ? fmt::format("{:.2f}", row.seconds / row.floor) : "-",
                        row.bytes, countLaunch ? fmt::format("{:.0f}", bytes) : "-");
  };
  for (const KernelTimes &row : profile->kernelTimes()) {
    double bytes = countedBytes[row.kernel] / counted;
    line(program.kernels[row.kernel].name, row, bytes);
    all.add(row);
    allCounted += bytes;
  }
  line("= all kernels", all, allCounted);
  text += fmt::format("{} step{} on {} thread{}, the first left out{}\n", profile->countedSteps(),
                      profile->countedSteps() == 1 ? "" : "s", session->workers(),
                      session->workers() == 1 ? "" : "s",
                      all.floor > 0 || countLaunch
                          ? ""
                          : "; no floors, since this machine was not measured: run 'napkin "
                            "device'");
  return text;
}

std::string Audit::json() const {
  const Program &program = session->program();
  std::string text =
      fmt::format("{{\n  \"format\": \"napkin-audit\",\n  \"version\": 1,\n  \"model\": {},\n"
                  "  \"graph_hash\": {},\n  \"threads\": {},\n  \"steps\": {},\n  "
                  "\"step_seconds\": {},\n  \"figures\": [",
                  quoteJson(program.model), quoteJson(program.graphHash), session->workers(),
                  profile->countedSteps(), numberJson(profile->stepSeconds()));
  const char *comma = "";
  auto orNull = [](std::optional<double> value) {
    return value ? numberJson(*value) : std::string("null");
  };
  for (const AuditLine &line : figures()) {
    text += fmt::format(
        "{}\n    {{\"name\": {}, \"predicted\": {}, \"measured\": {}, "
        "\"least\": {}, \"most\": {}, \"slack\": {}, \"broken\": {}, \"not_measured\": {}}}",
        comma, quoteJson(line.name), numberJson(line.predicted), orNull(line.measured.value),
        numberJson(line.least), numberJson(line.most), numberJson(line.slack), line.isBroken(),
        line.measured.value ? "null" : quoteJson(line.measured.reason));
    comma = ",";
  }
  text += "\n  ],\n  \"kernels\": [";
  comma = "";
  auto counted = static_cast<double>(std::max<int64_t>(profile->countedSteps(), 1));
  for (const KernelTimes &row : profile->kernelTimes()) {
    text += fmt::format(
        "{}\n    {{\"name\": {}, \"launches\": {}, \"seconds\": {}, \"floor_seconds\": {}, "
        "\"predicted_seconds\": {}, \"flops\": {}, \"bytes\": {}, \"bytes_counted\": {}}}",
        comma, quoteJson(program.kernels[row.kernel].name), numberJson(row.launches),
        numberJson(row.seconds), row.floor > 0 ? numberJson(row.floor) : "null",
        row.predicted > 0 ? numberJson(row.predicted) : "null", numberJson(row.flops),
        numberJson(row.bytes),
        countLaunch ? numberJson(countedBytes[row.kernel] / counted) : "null");
    comma = ",";
  }
  text += "\n  ]\n}\n";
  return text;
}

Failure Audit::verdict() const {
  if (profile->countedSteps() == 0)
    return Error{"--audit leaves the first step out, and no other ran; give --steps 2 or more",
                 ExitStatus::auditFailed};
  for (const AuditLine &line : figures())
    if (line.isBroken())
      return Error{fmt::format("audit failed: {} is {}, predicted was {}, allowed are {} of it",
                               line.name, inUnit(line, line.measured.value),
                               inUnit(line, line.predicted), limitText(line)),
                   ExitStatus::auditFailed};
  return std::nullopt;
}

} // namespace napkin::runtime
