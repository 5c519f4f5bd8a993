// Checkpoint: saving and finding.

#include "runtime/checkpoint/Checkpoint.h"

#include "runtime/checkpoint/WeightFiles.h"
#include "runtime/files/JsonReader.h"
#include "runtime/files/SafeTensors.h"

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>

namespace napkin::runtime {

static constexpr std::string_view formatName = "napkin-trainer";
static constexpr int64_t formatVersion = 1;
static constexpr std::string_view stepPrefix = "step-";
/// Of folders that are being written or removed; what a kill leaves of them is removed later.
static constexpr std::string_view writingPrefix = ".writing-";
static constexpr std::string_view removingPrefix = ".removing-";

//===----------------------------------------------------------------------===//
// Saving
//===----------------------------------------------------------------------===//

/// Writes the tensors of the given roles, sorted by name.
static Failure saveTensors(const Session &session, const std::vector<Role> &roles,
                           const std::string &path) {
  const Program &program = session.program();
  std::vector<int64_t> chosen = tensorsWith(program, roles);
  std::sort(chosen.begin(), chosen.end(), [&](int64_t a, int64_t b) {
    return program.tensors[a].name < program.tensors[b].name;
  });
  std::vector<ArrayInfo> arrays;
  for (int64_t index : chosen) {
    const TensorInfo &tensor = program.tensors[index];
    std::optional<FileType> type = fileTypeOf(tensor.dtype);
    if (!type)
      return Error{fmt::format("{}: tensor '{}' is {}, which no safetensors type holds", path,
                               tensor.name, nameOf(tensor.dtype))};
    ArrayInfo array;
    array.name = tensor.name;
    array.type = *type;
    array.shape = tensor.shape;
    arrays.push_back(std::move(array));
  }
  std::string header = safeTensorsHeader(arrays);
  std::vector<std::span<const std::byte>> parts = {std::as_bytes(std::span(header))};
  for (int64_t index : chosen) {
    if (Failure failure = session.device().pull(index))
      return failure;
    parts.push_back(session.bytes(index));
  }
  return writeFile(path, parts);
}

static std::string printTrainerState(const Program &program, const TrainerState &state) {
  std::string scalars;
  for (const auto &[name, value] : state.scalars)
    scalars += fmt::format("{}{}: {}", scalars.empty() ? "" : ", ", quoteJson(name),
                           numberJson(value));
  return fmt::format("{{\n  \"format\": \"{}\",\n  \"version\": {},\n  \"model\": {},\n"
                     "  \"graph_hash\": {},\n  \"precision\": {},\n  \"step\": {},\n"
                     "  \"steps\": {},\n  \"seed\": {},\n  \"cursor\": {},\n  \"skipped\": {},\n"
                     "  \"scalars\": {{{}}}\n}}\n",
                     formatName, formatVersion, quoteJson(program.model),
                     quoteJson(program.graphHash), quoteJson(program.policy), state.step,
                     state.steps, state.seed, state.cursor, state.skipped, scalars);
}

static Failure saveFiles(const Session &session, const std::string &folder,
                         const TrainerState &state) {
  if (Failure failure =
          saveTensors(session, {Role::parameter, Role::buffer}, folder + "/model.safetensors"))
    return failure;
  if (Failure failure = saveTensors(session, {Role::state}, folder + "/optimizer.safetensors"))
    return failure;
  std::string text = printTrainerState(session.program(), state);
  if (Failure failure = writeFile(folder + "/trainer.json", text))
    return failure;
  return syncFolder(folder);
}

/// True for names that `saveCheckpoint` gives.
static bool isCheckpointName(std::string_view name) {
  if (!name.starts_with(stepPrefix) || name.size() < stepPrefix.size() + 8)
    return false;
  return name.substr(stepPrefix.size()).find_first_not_of("0123456789") == std::string_view::npos;
}

/// Checkpoints in a folder, oldest first.
static std::vector<std::string> checkpointsIn(const std::string &folder) {
  std::vector<std::string> found;
  if (Result<std::vector<std::string>> names = listFolder(folder))
    for (const std::string &name : *names)
      if (isCheckpointName(name) && isFile(folder + "/" + name + "/trainer.json"))
        found.push_back(name);
  std::sort(found.begin(), found.end(), [](const std::string &a, const std::string &b) {
    return std::pair(a.size(), a) < std::pair(b.size(), b);
  });
  return found;
}

Result<FolderLock> prepareCheckpoints(const std::string &folder, int64_t lastStep) {
  if (Failure failure = makeFolders(folder))
    return *failure;
  Result<FolderLock> lock = FolderLock::take(folder);
  if (!lock)
    return lock;
  if (access(folder.c_str(), W_OK) != 0)
    return Error{fmt::format("{}: cannot be written", folder), ExitStatus::machineFailure};
  // What a run that was killed left half done.
  if (Result<std::vector<std::string>> names = listFolder(folder))
    for (const std::string &name : *names)
      if (name.starts_with(writingPrefix) || name.starts_with(removingPrefix))
        if (Failure failure = removeFolder(folder + "/" + name))
          return *failure;
  std::vector<std::string> all = checkpointsIn(folder);
  std::string last = fmt::format("{}{:08}", stepPrefix, lastStep);
  if (all.empty() || std::pair(all.back().size(), all.back()) <= std::pair(last.size(), last))
    return lock;
  return Error{
      fmt::format("{}: holds {}, which is later than step {} where this run ends; save into "
                  "another folder, or go on from there with --resume and more --steps",
                  folder, all.back(), lastStep)};
}

Result<std::string> saveCheckpoint(const Session &session, const std::string &folder,
                                   const TrainerState &state, int64_t keep) {
  if (Failure failure = makeFolders(folder))
    return *failure;
  std::string final = fmt::format("{}/{}{:08}", folder, stepPrefix, state.step);
  std::string temporary =
      fmt::format("{}/{}{}{:08}", folder, writingPrefix, stepPrefix, state.step);
  if (isFolder(temporary))
    if (Failure failure = removeFolder(temporary))
      return *failure;
  if (Failure failure = makeFolders(temporary))
    return *failure;
  if (Failure failure = saveFiles(session, temporary, state)) {
    // What is not whole is of no use, and the disk may be full of it.
    (void)removeFolder(temporary);
    return *failure;
  }
  if (Failure failure = putInPlace(temporary, final))
    return *failure;
  if (Failure failure = syncFolder(folder))
    return *failure;
  std::vector<std::string> all = checkpointsIn(folder);
  // This run's own is never the one to go, whatever another left in the folder.
  std::erase(all, final.substr(folder.size() + 1));
  for (size_t i = 0; keep > 0 && i + static_cast<size_t>(keep) - 1 < all.size(); ++i) {
    // Under another name first: a checkpoint that lacks a file would look like one.
    std::string removed = fmt::format("{}/{}{}", folder, removingPrefix, all[i]);
    if (Failure failure = renamePath(folder + "/" + all[i], removed))
      return *failure;
    if (Failure failure = removeFolder(removed))
      return *failure;
  }
  return final;
}

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

Result<std::string> findCheckpoint(const std::string &path) {
  if (!isFolder(path))
    return Error{
        fmt::format("{}: is not a folder; a checkpoint is a folder that --save made", path)};
  if (isFile(path + "/trainer.json"))
    return path;
  std::vector<std::string> all = checkpointsIn(path);
  if (all.empty())
    return Error{
        fmt::format("{}: holds no complete checkpoint (step-NNNNNNNN/trainer.json)", path)};
  return path + "/" + all.back();
}

Result<TrainerState> readTrainerState(const Program &program, const std::string &checkpoint,
                                      bool anyGraph) {
  std::string path = checkpoint + "/trainer.json";
  Result<std::string> text = readWholeFile(path, 1 << 20);
  if (!text)
    return text.error();
  std::string problem;
  std::optional<Json> json = parseJson(*text, problem);
  if (!json)
    return Error{fmt::format("{}: is not JSON: {}", path, problem)};
  JsonReader reader;
  TrainerState state;
  std::string hash;
  if (reader.readHeader(*json, formatName, formatVersion)) {
    reader.readCount(*json, "step", state.step);
    reader.readCount(*json, "steps", state.steps);
    reader.readCount(*json, "cursor", state.cursor);
    reader.readCount(*json, "skipped", state.skipped);
    reader.read(*json, "seed", state.seed);
    reader.read(*json, "graph_hash", hash);
    const Json *scalars = reader.object(*json, "scalars");
    for (size_t i = 0; scalars && i < scalars->names.size(); ++i)
      reader.read(*scalars, scalars->names[i].c_str(),
                  state.scalars.emplace_back(scalars->names[i], 0).second);
  }
  if (!reader.error.empty())
    return Error{fmt::format("{}: {}", path, reader.error)};
  if (!anyGraph && hash != program.graphHash)
    return Error{fmt::format("{}: was written by another graph ({}, and this is {}); to begin with "
                             "its weights use --init {}/model.safetensors",
                             path, hash, program.graphHash, checkpoint)};
  return state;
}

std::vector<std::string> checkpointsOf(const Program &program, const std::string &folder) {
  std::vector<std::string> found;
  auto addNewest = [&](const std::string &path) {
    std::vector<std::string> all = checkpointsIn(path);
    std::string newest = all.empty() ? "" : path + "/" + all.back();
    if (!all.empty() && readTrainerState(program, newest, false))
      found.push_back(newest);
  };
  addNewest(folder);
  if (Result<std::vector<std::string>> names = listFolder(folder))
    for (const std::string &name : *names)
      addNewest(folder == "." ? name : folder + "/" + name);
  return found;
}

} // namespace napkin::runtime
