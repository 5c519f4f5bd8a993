// JSON of rematerialization problems, read and written.
#include "tools/plan/RematerializationFile.h"

#include "runtime/files/JsonReader.h"

#include <algorithm>
#include <array>

using namespace nap::plan;
namespace planning = nap::planning;
using rt::Error, rt::Json, rt::JsonReader, rt::Result;

/// Sums of so many bytes or nanoseconds, a million times over, fit in 64 bits.
static constexpr int64_t kMost = int64_t(1) << 42;
static constexpr size_t kMostNodes = 1'000'000;

static Error fault(const Text &text, const std::string &sentence) {
  return {fmt::format("{}: {}", text.path, sentence)};
}

/// The first member that has no meaning here; empty if there is none.
template <size_t n>
static std::string unknownMember(const Json &object, const std::array<std::string_view, n> &known) {
  for (const std::string &name : object.names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      return fmt::format("there is no member {}; the members are {}",
                         quote(name), fmt::join(known, ", "));
  return "";
}

/// The object that a file holds; it says what it is to have where there is another value.
static Result<Json> readObject(const Text &text, std::string_view wanted) {
  std::string problem;
  std::optional<Json> json = rt::parseJson(text.content, problem);
  if (!json)
    return fault(text, fmt::format("is no JSON: {}", problem));
  if (!json->isObject())
    return fault(text, fmt::format("holds {}, and an object is wanted: {}",
                                   json->isList()      ? "a list"
                                   : json->isString()  ? "a string"
                                   : json->isNumber()  ? "a number"
                                   : json->isBoolean() ? "true or false"
                                                       : "null",
                                   wanted));
  return std::move(*json);
}

namespace {
/// Reads nodes and edges into a problem; `error` keeps the first fault.
struct Builder {
  RematFile file;
  JsonReader reader;
  std::vector<int64_t> stepOf;
  std::vector<bool> isGiven;

  void addNode(const Json &node, int64_t number);
  void addEdge(const Json &edge, int64_t number);
  void addRelations(const Json &node, int64_t number);
  int64_t readAmount(const Json &object, const char *name, bool needed);
};
} // namespace

int64_t Builder::readAmount(const Json &object, const char *name, bool needed) {
  int64_t amount = 0;
  reader.read(object, name, amount, needed);
  if (amount < 0 || amount > kMost)
    reader.fail(
        fmt::format("'{}' is {} and a whole number from 0 to {} is wanted", name, amount, kMost));
  return amount;
}

void Builder::addNode(const Json &node, int64_t number) {
  static constexpr std::array<std::string_view, 9> members = {
      "name",  "cost", "size",    "workspace", "recomputable",
      "given", "kept", "inPlace", "overwrites"};
  if (std::string unknown = unknownMember(node, members); !unknown.empty())
    return reader.fail(unknown);
  planning::RematProblem &problem = file.problem;
  std::string name;
  bool given = false, kept = false, recomputable = true;
  reader.read(node, "name", name, false);
  reader.read(node, "given", given, false);
  reader.read(node, "kept", kept, false);
  reader.read(node, "recomputable", recomputable, false);
  problem.timeline.sizes.push_back(readAmount(node, "size", true));
  if (kept)
    problem.timeline.kept.push_back(number);
  isGiven.push_back(given);
  stepOf.push_back(given ? -1 : int64_t(problem.costs.size()));
  if (given) {
    problem.timeline.given.push_back(number);
    return;
  }
  file.nodeOf.push_back(number);
  problem.timeline.steps.push_back({{}, {number}, {}});
  problem.costs.push_back(readAmount(node, "cost", true));
  problem.workspace.push_back(readAmount(node, "workspace", false));
  problem.recomputable.push_back(recomputable);
}

void Builder::addEdge(const Json &edge, int64_t number) {
  int64_t count = int64_t(stepOf.size());
  bool isPair =
      edge.isList() && edge.items.size() == 2 && edge.items[0].whole && edge.items[1].whole;
  if (!isPair)
    return reader.fail(fmt::format("edge {} is not a pair of node numbers", number));
  int64_t from = *edge.items[0].whole, to = *edge.items[1].whole;
  if (from < 0 || from >= count || to < 0 || to >= count)
    return reader.fail(
        fmt::format("edge {} is from {} to {} and there are {} nodes", number, from, to, count));
  if (from >= to)
    return reader.fail(
        fmt::format("edge {} is from {} to {}; nodes stand in an order in which they "
                    "may run",
                    number, from, to));
  if (isGiven[to])
    return reader.fail(fmt::format("edge {} ends at node {}, which is given", number, to));
  file.problem.timeline.steps[stepOf[to]].reads.push_back(from);
}

void Builder::addRelations(const Json &node, int64_t number) {
  std::vector<int64_t> inputs;
  reader.read(node, "inPlace", inputs, false);
  int64_t old = -1;
  reader.read(node, "overwrites", old, false);
  if (isGiven[number] && (!inputs.empty() || old != -1))
    return reader.fail("a given node writes nothing: leave 'inPlace' and 'overwrites' out");
  if (isGiven[number])
    return;
  planning::Step &step = file.problem.timeline.steps[stepOf[number]];
  for (int64_t input : inputs) {
    if (std::find(step.reads.begin(), step.reads.end(), input) == step.reads.end())
      return reader.fail(fmt::format("'inPlace' names {}, from which no edge comes", input));
    step.inPlace.push_back({input, number});
  }
  if (old == -1)
    return;
  if (old < 0 || old >= int64_t(isGiven.size()) || !isGiven[old])
    return reader.fail(fmt::format("'overwrites' is {}, and a given node is wanted", old));
  file.problem.overwrites.push_back({old, number});
}

Result<RematFile> nap::plan::readRematFile(const Text &text) {
  Result<Json> json = readObject(text, "{\"budget\": .., \"nodes\": [..], \"edges\": [..]}");
  if (!json)
    return json.error();
  static constexpr std::array<std::string_view, 5> members = {"budget", "resident", "order",
                                                              "nodes", "edges"};
  if (std::string unknown = unknownMember(*json, members); !unknown.empty())
    return fault(text, unknown);
  Builder builder;
  JsonReader &reader = builder.reader;
  const Json *nodes = reader.items(*json, "nodes");
  const Json *edges = reader.items(*json, "edges");
  builder.file.problem.residentBytes = builder.readAmount(*json, "resident", false);
  std::string order = "free";
  reader.read(*json, "order", order, false);
  if (order != "free" && order != "fixed")
    reader.fail(fmt::format("'order' is {} and free or fixed is wanted", quote(order)));
  builder.file.mayMove = order == "free";
  if (json->find("budget"))
    builder.file.budget = builder.readAmount(*json, "budget", true);
  if (!reader.error.empty())
    return fault(text, reader.error);
  if (nodes->items.size() > kMostNodes)
    return fault(text, fmt::format("{} nodes, more than {}", nodes->items.size(), kMostNodes));
  for (size_t number = 0; number < nodes->items.size(); ++number) {
    builder.addNode(nodes->items[number], int64_t(number));
    if (!reader.error.empty())
      return fault(text, fmt::format("node {}: {}", number, reader.error));
  }
  for (size_t number = 0; number < edges->items.size() && reader.error.empty(); ++number)
    builder.addEdge(edges->items[number], int64_t(number));
  if (!reader.error.empty())
    return fault(text, reader.error);
  for (size_t number = 0; number < nodes->items.size(); ++number) {
    builder.addRelations(nodes->items[number], int64_t(number));
    if (!reader.error.empty())
      return fault(text, fmt::format("node {}: {}", number, reader.error));
  }
  if (std::string wrong = planning::checkProblem(builder.file.problem); !wrong.empty())
    return fault(text, wrong);
  return std::move(builder.file);
}

std::string nap::plan::writeSchedule(const RematFile &file, const planning::Sequence &sequence) {
  std::string text = "{\"schedule\": [", line;
  for (size_t index = 0; index < sequence.size(); ++index) {
    std::string number =
        fmt::format("{}{}", file.nodeOf[sequence[index]], index + 1 < sequence.size() ? "," : "");
    if (line.size() + number.size() > 95) {
      text += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + number;
  }
  return text + line + "]}\n";
}

Result<planning::Sequence> nap::plan::readSchedule(const Text &text, const RematFile &file) {
  Result<Json> json = readObject(text, "{\"schedule\": [..]}");
  if (!json)
    return json.error();
  JsonReader reader;
  std::vector<int64_t> nodes;
  reader.read(*json, "schedule", nodes);
  if (!reader.error.empty())
    return fault(text, reader.error);
  std::vector<int64_t> stepOf(file.problem.timeline.sizes.size(), -1);
  for (size_t step = 0; step < file.nodeOf.size(); ++step)
    stepOf[file.nodeOf[step]] = int64_t(step);
  planning::Sequence sequence;
  for (int64_t node : nodes) {
    if (node < 0 || node >= int64_t(stepOf.size()) || stepOf[node] < 0)
      return fault(text,
                   fmt::format("runs node {}, and there is no such step in the problem", node));
    sequence.push_back(stepOf[node]);
  }
  return sequence;
}
