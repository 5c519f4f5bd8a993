// CSV of buffers: read with every fault named.
#include "tools/plan/AllocationFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

using namespace nap::plan;
using rt::Error, rt::Result;

static std::string_view trim(std::string_view text) {
  size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

static std::vector<std::string_view> splitFields(std::string_view line) {
  std::vector<std::string_view> fields;
  for (size_t begin = 0;;) {
    size_t comma = line.find(',', begin);
    fields.push_back(trim(line.substr(begin, comma - begin)));
    if (comma == std::string_view::npos)
      return fields;
    begin = comma + 1;
  }
}

namespace {
/// A table with a header, row by row.
class Rows {
public:
  /// `columns`: every one that may stand in the file, the first `wanted` of which must.
  Rows(const Text &text, std::vector<std::string_view> columns, size_t wanted)
      : path(text.path), rest(text.content), columns(std::move(columns)), wanted(wanted) {}

  /// Reads the first line.
  rt::Failure readHeader() {
    // A byte order mark, as spreadsheets write it.
    if (rest.starts_with("\xef\xbb\xbf"))
      rest.remove_prefix(3);
    std::string header =
        fmt::format("{}", fmt::join(columns.begin(), columns.begin() + wanted, ","));
    if (!nextLine())
      return Error{fmt::format("{}: is empty; its first line is to be {}", path, header)};
    places.assign(columns.size(), -1);
    std::vector<std::string_view> titles = splitFields(line);
    for (size_t field = 0; field < titles.size(); ++field) {
      auto column = std::find(columns.begin(), columns.end(), titles[field]);
      if (column == columns.end())
        return fault(fmt::format("there is no column {}; the columns are {}", quote(titles[field]),
                                 fmt::join(columns, ", ")));
      int64_t &place = places[column - columns.begin()];
      if (place >= 0)
        return fault(fmt::format("column {} stands twice; leave one out", *column));
      place = int64_t(field);
    }
    for (size_t column = 0; column < wanted; ++column)
      if (places[column] < 0)
        return fault(fmt::format("column {} is missing; the first line is to be {}",
                                 columns[column], header));
    width = titles.size();
    return std::nullopt;
  }

  /// Goes to the next row that is not blank; false at the end.
  Result<bool> next() {
    if (!nextLine())
      return false;
    fields = splitFields(line);
    if (fields.size() != width)
      return fault(fmt::format("{} fields where the first line has {}; the file may be cut",
                               fields.size(), width));
    return true;
  }

  bool has(size_t column) const { return places[column] >= 0; }
  std::string_view text(size_t column) const { return fields[places[column]]; }

  /// The whole number in a column.
  Result<int64_t> whole(size_t column, int64_t least, int64_t most) const {
    std::string_view field = text(column);
    int64_t value = 0;
    auto [end, problem] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (problem == std::errc() && end == field.data() + field.size() && value >= least &&
        value <= most)
      return value;
    return fault(fmt::format("{} is {} and a whole number from {} to {} is wanted", columns[column],
                             quote(field), least, most));
  }

  Error fault(std::string_view sentence) const {
    return {fmt::format("{}: line {}: {}", path, number, sentence)};
  }

private:
  bool nextLine() {
    while (!rest.empty()) {
      size_t end = std::min(rest.find('\n'), rest.size());
      line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      ++number;
      if (!trim(line).empty())
        return true;
    }
    return false;
  }

  const std::string &path;
  std::string_view rest, line;
  std::vector<std::string_view> columns, fields;
  size_t wanted, width = 0;
  /// For each column its place in a row, -1 where it is absent.
  std::vector<int64_t> places;
  int64_t number = 0;
};
} // namespace

Result<AllocationProblem> nap::plan::readAllocation(const Text &text) {
  Rows rows(text, {"id", "lower", "upper", "size"}, 4);
  if (rt::Failure failure = rows.readHeader())
    return *failure;
  AllocationProblem problem;
  std::map<std::string, size_t, std::less<>> numbers;
  int64_t total = 0;
  for (;;) {
    Result<bool> more = rows.next();
    if (!more)
      return more.error();
    if (!*more)
      return problem;
    std::string id(rows.text(0));
    if (id.empty())
      return rows.fault("a buffer has no id; give each one its own");
    auto [first, isNew] = numbers.try_emplace(id, problem.ids.size());
    if (!isNew)
      return rows.fault(fmt::format("id {} is taken by buffer {} of this file; ids are to differ",
                                    quote(id), first->second + 1));
    Result<int64_t> lower = rows.whole(1, -kMostBytes, kMostBytes),
                    upper = rows.whole(2, -kMostBytes, kMostBytes),
                    size = rows.whole(3, 0, kMostBytes);
    for (const Result<int64_t> *number : {&lower, &upper, &size})
      if (!*number)
        return number->error();
    if (*lower >= *upper)
      return rows.fault(fmt::format("buffer {} lives from {} to {}, and upper is to be above lower",
                                    quote(id), *lower, *upper));
    if (*size > kMostBytes - total)
      return rows.fault(fmt::format("the sizes up to here exceed {} bytes together; write them in "
                                    "a larger unit",
                                    kMostBytes));
    total += *size;
    problem.ids.push_back(std::move(id));
    problem.intervals.push_back({*lower, *upper, *size});
  }
}

Result<std::vector<int64_t>> nap::plan::readOffsets(const Text &text,
                                                    const AllocationProblem &problem) {
  Rows rows(text, {"id", "offset", "lower", "upper", "size"}, 2);
  if (rt::Failure failure = rows.readHeader())
    return *failure;
  std::map<std::string, size_t, std::less<>> numbers;
  for (size_t buffer = 0; buffer < problem.ids.size(); ++buffer)
    numbers.emplace(problem.ids[buffer], buffer);
  std::vector<int64_t> offsets(problem.ids.size(), -1);
  for (;;) {
    Result<bool> more = rows.next();
    if (!more)
      return more.error();
    if (!*more)
      break;
    std::string_view id = rows.text(0);
    auto found = numbers.find(id);
    if (found == numbers.end())
      return rows.fault(fmt::format("the problem has no buffer {}", quote(id)));
    size_t buffer = found->second;
    if (offsets[buffer] >= 0)
      return rows.fault(fmt::format("buffer {} is placed twice; leave one row out", quote(id)));
    const planning::Interval &interval = problem.intervals[buffer];
    const int64_t wanted[] = {interval.lower, interval.upper, interval.size};
    constexpr std::string_view names[] = {"lower", "upper", "size"};
    for (size_t k = 0; k < 3; ++k) {
      if (!rows.has(k + 2))
        continue;
      Result<int64_t> value = rows.whole(k + 2, -kMostBytes, kMostBytes);
      if (!value)
        return value.error();
      if (*value != wanted[k])
        return rows.fault(fmt::format("buffer {} has {} {} here and {} in the problem; is this the "
                                      "solution of another?",
                                      quote(id), names[k], *value, wanted[k]));
    }
    Result<int64_t> offset = rows.whole(1, 0, kMostBytes);
    if (!offset)
      return offset.error();
    offsets[buffer] = *offset;
  }
  for (size_t buffer = 0; buffer < offsets.size(); ++buffer)
    if (offsets[buffer] < 0)
      return Error{fmt::format("{}: buffer {} has no row; the file may be cut", text.path,
                               quote(problem.ids[buffer]))};
  return offsets;
}

std::string nap::plan::writeSolution(const AllocationProblem &problem,
                                     const std::vector<int64_t> &offsets) {
  std::string text = "id,lower,upper,size,offset\n";
  for (size_t buffer = 0; buffer < offsets.size(); ++buffer) {
    const planning::Interval &interval = problem.intervals[buffer];
    text += fmt::format("{},{},{},{},{}\n", problem.ids[buffer], interval.lower, interval.upper,
                        interval.size, offsets[buffer]);
  }
  return text;
}
