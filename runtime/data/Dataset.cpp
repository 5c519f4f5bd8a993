// Dataset: which file feeds which input.

#include "runtime/data/Dataset.h"

#include "runtime/data/Permutation.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace napkin::runtime {

std::vector<int64_t> inputsOf(const Program &program, const Function &function) {
  std::vector<int64_t> inputs;
  for (size_t i = 0; i < program.tensors.size(); ++i)
    if (program.tensors[i].role == Role::input)
      inputs.push_back(static_cast<int64_t>(i));
  std::set<int64_t> found;
  // Rows of an input are a tensor of their own that lies in it.
  auto add = [&](int64_t index) {
    int64_t offset = program.tensors[index].offset;
    for (int64_t input : inputs) {
      const TensorInfo &whole = program.tensors[input];
      if (offset >= whole.offset && offset < whole.offset + whole.bytes)
        found.insert(input);
    }
  };
  for (const Launch &launch : function.launches)
    for (int64_t index : launch.arguments)
      add(index);
  for (const auto &[name, index] : function.results)
    add(index);
  return {found.begin(), found.end()};
}

/// "'tokens' and 'targets'".
static std::string quotedNames(const Program &program, const std::vector<int64_t> &inputs) {
  std::string out;
  for (size_t i = 0; i < inputs.size(); ++i)
    out += fmt::format("{}'{}'",
                       i == 0                   ? ""
                       : i + 1 == inputs.size() ? " and "
                                                : ", ",
                       program.tensors[inputs[i]].name);
  return out;
}

/// The position in `inputs` of the input with this name, or -1.
static int64_t inputNamed(const Program &program, const std::vector<int64_t> &inputs,
                          std::string_view name) {
  for (int64_t input : inputs)
    if (program.tensors[input].name == name)
      return input;
  return -1;
}

/// A language model's inputs: `tokens`, and `targets` or -1.
struct LanguageInputs {
  int64_t tokens = -1;
  int64_t targets = -1;
};

static bool isIdMatrix(const TensorInfo &tensor) {
  return tensor.shape.size() == 2 && (tensor.dtype == DType::i32 || tensor.dtype == DType::i64);
}

/// Finds them among the inputs; a text or token file feeds nothing else.
static Result<LanguageInputs> findLanguageInputs(const Program &program,
                                                 const std::vector<int64_t> &inputs,
                                                 const std::string &path) {
  LanguageInputs language{inputNamed(program, inputs, "tokens"),
                          inputNamed(program, inputs, "targets")};
  size_t known = (language.tokens >= 0 ? 1 : 0) + (language.targets >= 0 ? 1 : 0);
  bool fits = language.tokens >= 0 && known == inputs.size() &&
              isIdMatrix(program.tensors[language.tokens]) &&
              (language.targets < 0 ||
               (isIdMatrix(program.tensors[language.targets]) &&
                program.tensors[language.tokens].shape == program.tensors[language.targets].shape));
  if (!fits)
    return Error{
        fmt::format("{}: text and token files feed inputs tokens, targets : i32[batch, "
                    "seq], and this model has {}; give arrays by name, --data NAME=FILE.npy",
                    path, quotedNames(program, inputs))};
  return language;
}

/// The last part of a path without its ending.
static std::string stemOf(const std::string &path) {
  size_t slash = path.rfind('/');
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  return name.substr(0, name.rfind('.'));
}

/// Binds the arrays of one file; each binding is pushed to `sources` and its input to `fed`.
static Failure bindArrays(const Program &program, const DataFile &file,
                          const std::vector<int64_t> &inputs,
                          std::vector<std::unique_ptr<Source>> &sources,
                          std::vector<int64_t> &fed) {
  Result<ArrayFile> opened = openArrayFile(file.path);
  if (!opened)
    return opened.error();
  auto shared = std::make_shared<ArrayFile>(std::move(*opened));
  auto bind = [&](const ArrayInfo &array, int64_t input) -> Failure {
    if (std::find(fed.begin(), fed.end(), input) != fed.end())
      return Error{
          fmt::format("{}: input '{}' is fed twice", file.path, program.tensors[input].name)};
    Result<std::unique_ptr<Source>> column = openColumn(program, shared, array, input);
    if (!column)
      return column.error();
    sources.push_back(std::move(*column));
    fed.push_back(input);
    return std::nullopt;
  };
  bool single = file.path.ends_with(".npy");
  if (!file.input.empty()) {
    int64_t input = inputNamed(program, inputs, file.input);
    if (input < 0)
      return Error{fmt::format("--data {}={}: the inputs are {}", file.input, file.path,
                               quotedNames(program, inputs)),
                   ExitStatus::wrongUsage};
    const ArrayInfo *array =
        single || shared->arrays.size() == 1 ? &shared->arrays[0] : shared->find(file.input);
    if (!array)
      return Error{fmt::format("{}: has no array '{}'", file.path, file.input)};
    return bind(*array, input);
  }
  if (single) {
    int64_t input = inputs.size() == 1 ? inputs[0] : inputNamed(program, inputs, stemOf(file.path));
    if (input < 0)
      return Error{fmt::format("{}: say which input it feeds, --data NAME={}; the inputs are {}",
                               file.path, file.path, quotedNames(program, inputs)),
                   ExitStatus::wrongUsage};
    return bind(shared->arrays[0], input);
  }
  for (const ArrayInfo &array : shared->arrays)
    if (int64_t input = inputNamed(program, inputs, array.name); input >= 0)
      if (Failure failure = bind(array, input))
        return failure;
  return std::nullopt;
}

/// Each file that the given ones name, their shell patterns expanded.
static Result<std::vector<DataFile>> expandFiles(const std::vector<DataFile> &given) {
  std::vector<DataFile> files;
  for (const DataFile &file : given) {
    std::vector<std::string> found = expandPattern(file.path);
    if (found.empty())
      return Error{fmt::format("{}: matches no file", file.path)};
    for (std::string &path : found) {
      if (isFolder(path))
        return Error{fmt::format("{}: is a folder; name its files, with a pattern such as '{}/*'",
                                 path, path)};
      files.push_back({file.input, std::move(path)});
    }
  }
  return files;
}

/// Opens the text or token files of a language model.
static Failure bindTokens(const Program &program, const DataOptions &options,
                          const std::vector<int64_t> &inputs,
                          std::vector<std::unique_ptr<Source>> &sources) {
  Result<std::vector<DataFile>> files = expandFiles(options.files);
  if (!files)
    return files.error();
  std::vector<std::string> paths;
  for (const DataFile &file : *files) {
    if (!file.input.empty() && file.input != "tokens")
      return Error{fmt::format("--data {}={}: a text or token file feeds 'tokens' and 'targets'; "
                               "leave the name out",
                               file.input, file.path),
                   ExitStatus::wrongUsage};
    paths.push_back(file.path);
  }
  Result<LanguageInputs> language = findLanguageInputs(program, inputs, paths[0]);
  if (!language)
    return language.error();
  auto isBinary = [&](const std::string &path) {
    return options.format == "tokens" || (options.format == "auto" && path.ends_with(".bin"));
  };
  for (const std::string &path : paths) {
    if (options.format == "auto" && isArrayFile(path))
      return Error{fmt::format("{}: arrays and text cannot be mixed with {}", path, paths[0]),
                   ExitStatus::wrongUsage};
    if (isBinary(path) != isBinary(paths[0]))
      return Error{fmt::format("{}: text and token files cannot be mixed with {}", path, paths[0]),
                   ExitStatus::wrongUsage};
  }
  TokenFormat format = isBinary(paths[0]) ? TokenFormat::binary : TokenFormat::bytes;
  Result<std::unique_ptr<Source>> source =
      openTokens(program, paths, format, language->tokens, language->targets, options.seed,
                 !options.sequential);
  if (!source)
    return source.error();
  sources.push_back(std::move(*source));
  return std::nullopt;
}

Result<Dataset> Dataset::open(const Program &program, const DataOptions &options,
                              const std::vector<int64_t> &inputs) {
  Dataset dataset;
  dataset.seed = options.seed;
  dataset.sequential = options.sequential;
  if (inputs.empty() && options.files.empty()) {
    dataset.sampleCount = 1;
    return dataset;
  }
  if (inputs.empty())
    return Error{"this model reads no inputs, so it needs no data; leave --data out",
                 ExitStatus::wrongUsage};
  if (options.files.empty())
    return Error{fmt::format("no data: give --data FILE for {}", quotedNames(program, inputs)),
                 ExitStatus::wrongUsage};
  for (int64_t input : inputs)
    if (program.tensors[input].shape.empty() ||
        program.tensors[input].shape[0] != program.tensors[inputs[0]].shape[0])
      return Error{fmt::format("inputs '{}' and '{}' differ in their first axis, the sample",
                               program.tensors[inputs[0]].name, program.tensors[input].name)};
  dataset.batchSize = program.tensors[inputs[0]].shape[0];
  dataset.inputs = inputs;

  bool arrays = options.format == "auto" && isArrayFile(options.files[0].path);
  if (!arrays) {
    if (Failure failure = bindTokens(program, options, inputs, dataset.sources))
      return *failure;
    dataset.tokenCount = dataset.batchSize * program.tensors[inputs[0]].shape[1];
  } else {
    std::vector<int64_t> fed;
    Result<std::vector<DataFile>> files = expandFiles(options.files);
    if (!files)
      return files.error();
    for (const DataFile &file : *files) {
      if (!isArrayFile(file.path))
        return Error{fmt::format("{}: arrays and text cannot be mixed with {}", file.path,
                                 options.files[0].path),
                     ExitStatus::wrongUsage};
      if (Failure failure = bindArrays(program, file, inputs, dataset.sources, fed))
        return *failure;
    }
    for (int64_t input : inputs)
      if (std::find(fed.begin(), fed.end(), input) == fed.end())
        return Error{fmt::format("no data for input '{}'; give --data {}=FILE",
                                 program.tensors[input].name, program.tensors[input].name),
                     ExitStatus::wrongUsage};
  }
  const Source &first = *dataset.sources[0];
  for (const std::unique_ptr<Source> &source : dataset.sources)
    if (source->samples() != first.samples())
      return Error{fmt::format("{}: has {} samples and {} has {}", source->path(),
                               source->samples(), first.path(), first.samples())};
  dataset.sampleCount = first.samples();
  if (dataset.sampleCount < dataset.batchSize)
    return Error{fmt::format("{}: has {} samples and one batch needs {}; compile with a smaller "
                             "first axis",
                             first.path(), dataset.sampleCount, dataset.batchSize)};
  return dataset;
}

Failure Dataset::load(Session &session, int64_t cursor) {
  for (int64_t row = 0; row < batchSize;) {
    int64_t place = (cursor + row) % sampleCount, run = 1;
    auto epoch = static_cast<uint32_t>((cursor + row) / sampleCount);
    int64_t sample = place;
    if (sequential)
      run = std::min(batchSize - row, sampleCount - place);
    else
      sample = Permutation(sampleCount, seed, epoch).at(place);
    for (const std::unique_ptr<Source> &source : sources)
      if (Failure failure = source->gather(session, sample, run, epoch, row))
        return failure;
    row += run;
  }
  return session.pushInputs(inputs);
}

} // namespace napkin::runtime
