// What an audited run measured of a step, for a report of the same model.
#include "tools/commands/report/Measured.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <fmt/format.h>

using namespace nap;

/// The error that `file` is wrong in this way.
static llvm::Error wrong(const std::string &path, const std::string &what) {
  return llvm::createStringError(fmt::format("{}: {}", path, what));
}

llvm::Expected<MeasuredStep> nap::readMeasured(const std::string &path, llvm::StringRef graphHash) {
  auto text = llvm::MemoryBuffer::getFile(path);
  if (!text)
    return wrong(path, "cannot be read: " + text.getError().message());
  auto json = llvm::json::parse((*text)->getBuffer());
  if (!json)
    return wrong(path, "is no JSON: " + llvm::toString(json.takeError()));
  const llvm::json::Object *audit = json->getAsObject();
  if (!audit || audit->getString("format") != "napkin-audit" || audit->getInteger("version") != 1)
    return wrong(path,
                 "is not what --audit-file writes, wanted format \"napkin-audit\", version 1");
  if (audit->getString("graph_hash") != graphHash)
    return wrong(
        path, fmt::format("is of a run of graph {}, this one is {}; give the model and the "
                          "flags of that run",
                          audit->getString("graph_hash").value_or("none").str(), graphHash.str()));
  MeasuredStep measured;
  measured.seconds = audit->getNumber("step_seconds").value_or(0);
  measured.steps = audit->getInteger("steps").value_or(0);
  const llvm::json::Array *figures = audit->getArray("figures");
  if (!(measured.seconds > 0) || !figures)
    return wrong(path, "counts no step; give the run --steps 2 or more");
  measured.whyNoBytes = "the audit has no such figure";
  for (const llvm::json::Value &each : *figures) {
    const llvm::json::Object *figure = each.getAsObject();
    llvm::StringRef name = figure ? figure->getString("name").value_or("") : "";
    if (!name.starts_with("bytes"))
      continue;
    measured.bytesName = name.str();
    if (auto bytes = figure->getNumber("measured"))
      measured.bytes = *bytes;
    measured.whyNoBytes = figure->getString("not_measured").value_or("").str();
  }
  return measured;
}
