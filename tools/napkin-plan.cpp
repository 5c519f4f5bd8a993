// napkin-plan: planning problems from files, without a model.
#include "runtime/command/Flags.h"
#include "runtime/files/Console.h"
#include "runtime/files/File.h"
#include "tools/plan/Problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

using namespace nap::plan;
using rt::Error, rt::ExitStatus, rt::Failure, rt::FlagSpec, rt::Result;

static constexpr std::array<FlagSpec, 5> kFlags = {{
    {"memory", "BYTES",
     "the budget, such as 8GiB, in place of the file's; exit status 3 beyond it"},
    {"solution", "FILE", "write the solution to FILE, - for standard output; one problem only"},
    {"check", "FILE", "check FILE as a solution of the problem, solve nothing"},
    {"work", "N", "limit of the search, in its own steps; default: seconds' worth"},
    {"help", "", "print this and end"},
}};

/// A problem file may have this many bytes.
static constexpr int64_t kFileLimit = int64_t(1) << 30;

static ExitStatus fail(const Error &error) {
  rt::writeErrors(fmt::format("napkin-plan: error: {}\n", error.message));
  return error.status;
}

static Error usage(std::string message) { return {std::move(message), ExitStatus::wrongUsage}; }

static std::string help() {
  return fmt::format("usage: napkin-plan PROBLEM... [flags]\n\n"
                     "places buffers (CSV: id,lower,upper,size) or schedules rematerialization "
                     "(JSON);\nprints value, bound and gap of each problem, and the solution where "
                     "there is one\n\n{}"
                     "\nexit status: 0 done, 1 wrong input, 2 wrong usage, 3 infeasible budget, "
                     "4 machine failure\n",
                     rt::flagHelp(kFlags));
}

static Result<Options> readOptions(const rt::ParsedFlags &flags) {
  Options options;
  if (const std::string *text = flags.find("memory")) {
    options.memoryBytes = rt::parseBytes(*text);
    if (!options.memoryBytes)
      return usage(
          fmt::format("--memory is '{}' and bytes are wanted, such as 1048576 or 8GiB", *text));
  }
  if (const std::string *text = flags.find("work")) {
    constexpr int64_t most = int64_t(1) << 53;
    options.workLimit = rt::parseWhole(*text, 0, most);
    if (!options.workLimit)
      return usage(
          fmt::format("--work is '{}' and a whole number from 0 to {} is wanted", *text, most));
  }
  return options;
}

/// A value of JSON begins with a bracket, a quote, a digit or a sign, or is one of three words. The
/// first line of CSV, names of columns, begins with none of them.
static bool isJson(const Text &text) {
  size_t first = text.content.find_first_not_of(" \t\r\n");
  if (first == std::string::npos)
    return false;
  std::string_view content = std::string_view(text.content).substr(first);
  return std::string_view("{[\"-0123456789").find(content[0]) != std::string_view::npos ||
         content.starts_with("null") || content.starts_with("true") ||
         content.starts_with("false");
}

static Result<Text> readText(const std::string &path) {
  Result<std::string> content = rt::readWholeFile(path, kFileLimit);
  if (!content)
    return content.error();
  return Text{path, std::move(*content)};
}

/// Rows of equal titles under one header, in aligned columns: the first to the left, others right.
static std::string printTable(const std::vector<std::vector<Cell>> &rows) {
  std::string text;
  for (size_t begin = 0; begin < rows.size();) {
    auto isAlike = [&](const std::vector<Cell> &row) {
      return std::equal(row.begin(), row.end(), rows[begin].begin(), rows[begin].end(),
                        [](const Cell &a, const Cell &b) { return a.title == b.title; });
    };
    size_t end = begin;
    std::vector<size_t> widths(rows[begin].size());
    for (; end < rows.size() && isAlike(rows[end]); ++end)
      for (size_t i = 0; i < widths.size(); ++i)
        widths[i] = std::max({widths[i], rows[end][i].title.size(), rows[end][i].value.size()});
    auto print = [&](const std::vector<Cell> &row, std::string Cell::*member) {
      for (size_t i = 0; i < row.size(); ++i)
        text += i == 0 ? fmt::format("{:<{}}", row[i].*member, widths[i])
                       : fmt::format("  {:>{}}", row[i].*member, widths[i]);
      text += '\n';
    };
    print(rows[begin], &Cell::title);
    for (; begin < end; ++begin)
      print(rows[begin], &Cell::value);
  }
  return text;
}

static Failure checkSolution(const std::string &problemPath, const std::string &solutionPath,
                             const Options &options) {
  Result<Text> problem = readText(problemPath), solution = readText(solutionPath);
  for (const Result<Text> *text : {&problem, &solution})
    if (!*text)
      return text->error();
  Result<std::string> verdict = isJson(*problem)
                                    ? checkRematerialization(*problem, *solution, options)
                                    : checkAllocation(*problem, *solution, options);
  if (!verdict)
    return verdict.error();
  return rt::writeOutput(*verdict + "\n");
}

/// Solves every problem; the table and the solution go where the flags say. The first budget that
/// is not met is the failure, after everything is printed.
static Failure solve(const std::vector<std::string> &paths, const std::string *solutionPath,
                     const Options &options) {
  std::vector<std::vector<Cell>> rows;
  std::string solution;
  Failure shortfall;
  for (const std::string &path : paths) {
    Result<Text> problem = readText(path);
    if (!problem)
      return problem.error();
    std::clock_t begin = std::clock();
    Result<Outcome> outcome = isJson(*problem) ? solveRematerialization(*problem, options)
                                               : solveAllocation(*problem, options);
    if (!outcome)
      return outcome.error();
    double seconds = double(std::clock() - begin) / CLOCKS_PER_SEC;
    outcome->row.push_back({"SECONDS", fmt::format("{:.3f}", seconds)});
    rows.push_back(std::move(outcome->row));
    solution = std::move(outcome->solution);
    if (!shortfall)
      shortfall = outcome->shortfall;
  }
  std::string table = printTable(rows);
  if (!solutionPath) {
    if (paths.size() == 1)
      table += "\n" + solution;
    if (Failure failure = rt::writeOutput(table))
      return failure;
    return shortfall;
  }
  bool isOutput = *solutionPath == "-";
  if (isOutput)
    rt::writeErrors(table);
  if (Failure failure =
          isOutput ? rt::writeOutput(solution) : rt::writeWholeFile(*solutionPath, solution))
    return failure;
  if (!isOutput)
    if (Failure failure = rt::writeOutput(table))
      return failure;
  return shortfall;
}

/// Everything but the words of the command line and the exit status.
static Failure run(const std::vector<std::string> &words) {
  Result<rt::ParsedFlags> flags = rt::parseFlags(words, kFlags);
  if (!flags)
    return flags.error();
  if (flags->has("help"))
    return rt::writeOutput(help());
  if (!flags->definitions.empty())
    return usage("-D is for models; a problem file has no scalars");
  Result<Options> options = readOptions(*flags);
  if (!options)
    return options.error();
  const std::vector<std::string> &paths = flags->positional;
  if (paths.empty())
    return usage("no problem file; --help says how to call");
  const std::string *solution = flags->find("solution"), *check = flags->find("check");
  if (solution && check)
    return usage("--check solves nothing; leave --solution out");
  if ((solution || check) && paths.size() > 1)
    return usage(fmt::format("--{} is about one problem, and {} are given",
                             solution ? "solution" : "check", paths.size()));
  if (solution && rt::isSameFile(*solution, paths[0]))
    return usage(fmt::format("--solution {}: is the problem; name another file", *solution));
  return check ? checkSolution(paths[0], *check, *options) : solve(paths, solution, *options);
}

int main(int argc, char **argv) {
  Failure failure = run(std::vector<std::string>(argv + 1, argv + argc));
  return static_cast<int>(failure ? fail(*failure) : ExitStatus::done);
}
