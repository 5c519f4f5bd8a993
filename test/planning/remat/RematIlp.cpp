// Checkmate's integer programme, written for CBC.
#include "test/planning/remat/RematIlp.h"

#include <coin/Cbc_C_Interface.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

using namespace nap::planning;
using namespace napkin::test;

namespace {
/// A programme, column by column and row by row.
struct Programme {
  Cbc_Model *model = Cbc_newModel();
  ~Programme() { Cbc_deleteModel(model); }

  int column(double low, double high, double price, bool isInteger) {
    Cbc_addCol(model, "", low, high, price, isInteger, 0, nullptr, nullptr);
    return columns++;
  }
  /// sum <= bound.
  void row(const std::map<int, double> &sum, double bound) {
    std::vector<int> where;
    std::vector<double> what;
    for (auto [column, factor] : sum) {
      where.push_back(column);
      what.push_back(factor);
    }
    Cbc_addRow(model, "", int(where.size()), where.data(), what.data(), 'L', bound);
  }
  int columns = 0;
};
} // namespace

IlpAnswer napkin::test::solveByIlp(const RematProblem &problem, int64_t budget, int64_t nodes,
                                   int64_t known) {
  const Timeline &timeline = problem.timeline;
  int n = int(timeline.steps.size());
  std::vector<int> writerOf(timeline.sizes.size(), -1);
  std::vector<std::vector<int>> inputs(n), readers(n);
  std::vector<double> bytes(n);
  double resident = double(problem.residentBytes), largest = 1, time = 0;
  for (int64_t tensor : timeline.given)
    resident += double(timeline.sizes[tensor]);
  for (int k = 0; k < n; ++k) {
    writerOf[timeline.steps[k].writes[0]] = k;
    bytes[k] = double(timeline.sizes[timeline.steps[k].writes[0]]);
    largest = std::max(largest, bytes[k]);
    time += double(problem.costs[k]);
    for (int64_t read : timeline.steps[k].reads)
      if (int from = writerOf[read];
          from >= 0 && std::find(inputs[k].begin(), inputs[k].end(), from) == inputs[k].end()) {
        inputs[k].push_back(from);
        readers[from].push_back(k);
      }
  }
  std::vector<bool> isKept(n, false);
  for (int64_t tensor : timeline.kept)
    if (writerOf[tensor] >= 0)
      isKept[writerOf[tensor]] = true;

  // Bytes and times are scaled to the order of one.
  double byteScale = 1 / largest, timeScale = 1000 / time;
  Programme programme;
  std::vector<std::vector<int>> R(n), S(n + 1);
  for (int t = 0; t < n; ++t)
    for (int i = 0; i <= t; ++i) {
      double least = i == t ? 1 : 0, most = i == t || problem.recomputable[i] ? 1 : 0;
      R[t].push_back(programme.column(least, most, double(problem.costs[i]) * timeScale, true));
    }
  for (int t = 0; t <= n; ++t)
    for (int i = 0; i < t; ++i)
      S[t].push_back(programme.column(t == n && isKept[i], t == n ? isKept[i] : 1, 0, true));
  for (int t = 0; t < n; ++t)
    for (int i = 0; i <= t; ++i)
      for (int from : inputs[i]) {
        std::map<int, double> row{{R[t][i], 1}, {R[t][from], -1}};
        if (from < t)
          row[S[t][from]] = -1;
        programme.row(row, 0);
      }
  for (int t = 1; t <= n; ++t)
    for (int i = 0; i < t; ++i) {
      std::map<int, double> row{{S[t][i], 1}, {R[t - 1][i], -1}};
      if (i < t - 1)
        row[S[t - 1][i]] = -1;
      programme.row(row, 0);
    }
  // Live bytes while step k of stage t runs, as a sum over columns: held ones, those that have run,
  // less those that have ended.
  double limit = (double(budget) - resident) * byteScale;
  for (int t = 0; t < n; ++t) {
    std::map<int, double> live;
    for (int i = 0; i < t; ++i)
      live[S[t][i]] = bytes[i] * byteScale;
    int before = programme.column(0, limit, 0, false);
    live[before] = -1;
    programme.row(live, 0);
    for (int k = 0; k <= t; ++k) {
      int here = programme.column(0, limit, 0, false);
      programme.row({{before, 1}, {R[t][k], bytes[k] * byteScale}, {here, -1}}, 0);
      if (problem.workspace[k] > 0)
        programme.row({{here, 1}, {R[t][k], double(problem.workspace[k]) * byteScale}}, limit);
      int behind = programme.column(0, limit, 0, false);
      std::map<int, double> ended{{here, 1}, {behind, -1}};
      std::vector<int> used = inputs[k];
      used.push_back(k);
      for (int i : used) {
        int ends = programme.column(0, 1, 0, true);
        ended[ends] = -bytes[i] * byteScale;
        // It ends only if k runs, it is not held, and no later step of the stage reads it.
        programme.row({{ends, 1}, {R[t][k], -1}}, 0);
        programme.row({{ends, 1}, {i <= t ? S[t + 1][i] : here, 1}}, 1);
        for (int reader : readers[i])
          if (reader > k && reader <= t)
            programme.row({{ends, 1}, {R[t][reader], 1}}, 1);
      }
      programme.row(ended, 0);
      before = behind;
    }
  }
  Cbc_setParameter(programme.model, "logLevel", "0");
  Cbc_setParameter(programme.model, "threads", "0");
  Cbc_setMaximumNodes(programme.model, int(nodes));
  if (known >= 0)
    Cbc_setCutoff(programme.model, (double(known) + 0.5) * timeScale);
  Cbc_solve(programme.model);
  IlpAnswer answer;
  answer.bound = Cbc_getBestPossibleObjValue(programme.model) / timeScale;
  answer.isInfeasible = Cbc_isProvenInfeasible(programme.model);
  answer.isProven = Cbc_isProvenOptimal(programme.model);
  if (answer.isProven)
    answer.time = int64_t(std::llround(Cbc_getObjValue(programme.model) / timeScale));
  return answer;
}
