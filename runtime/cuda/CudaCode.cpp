// CudaCode: a line of JSON that tells sizes and a checksum, then the parts one after the other.

#include "runtime/cuda/CudaCode.h"

#include "runtime/files/JsonReader.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace napkin::runtime {

static constexpr std::string_view formatName = "napkin cuda code";
static constexpr int64_t formatVersion = 3;

uint64_t checksumOf(std::string_view bytes, uint64_t hash) {
  for (char value : bytes)
    hash = (hash ^ static_cast<uint8_t>(value)) * 0x100000001b3;
  return hash;
}

bool isAskedFor(std::string_view architecture) {
  int number = 0;
  constexpr std::string_view prefix = "sm_";
  if (architecture.starts_with(prefix))
    architecture.remove_prefix(prefix.size());
  std::from_chars(architecture.data(), architecture.data() + architecture.size(), number);
  return number >= 80;
}

/// "12, 30": how many bytes each part has.
static std::string sizesOf(const std::vector<std::string> &parts) {
  std::string sizes;
  for (const std::string &part : parts)
    sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", part.size());
  return sizes;
}

std::string printCudaCode(const CudaCode &code) {
  std::string body;
  for (const std::string &text : code.texts)
    body += text;
  body += code.prelude;
  std::string kernels, images;
  for (const CudaKernelCode &kernel : code.kernels) {
    std::string grids;
    for (const CudaGridCode &grid : kernel.grids)
      grids += fmt::format("{}{{\"name\": {}, \"blocks\": {}, \"threads\": {}, \"shared\": {}}}",
                           grids.empty() ? "" : ", ", quoteJson(grid.name), grid.blocks,
                           grid.blockThreads, grid.sharedBytes);
    kernels += fmt::format("{}{{\"part\": {}, \"workspace\": {}, \"grids\": [{}]}}",
                           kernels.empty() ? "" : ", ", kernel.part, kernel.workspaceBytes, grids);
  }
  for (const CudaImage &image : code.images) {
    images += fmt::format("{}{{\"architecture\": {}, \"bytes\": [{}]}}", images.empty() ? "" : ", ",
                          quoteJson(image.architecture), sizesOf(image.cubins));
    for (const std::string &cubin : image.cubins)
      body += cubin;
  }
  std::string text =
      fmt::format("{{\"format\": {}, \"version\": {}, \"texts\": [{}], \"prelude\": {}, "
                  "\"checksum\": \"{:016x}\", \"kernels\": [{}], \"images\": [{}]}}\n",
                  quoteJson(formatName), formatVersion, sizesOf(code.texts), code.prelude.size(),
                  checksumOf(body), kernels, images);
  text += body;
  return text;
}

/// The lists of the header; sizes of the images' parts go to `sizes`.
static void readLists(JsonReader &reader, const Json &header, size_t parts, CudaCode &code,
                      std::vector<std::vector<int64_t>> &sizes) {
  if (const Json *list = reader.items(header, "kernels"))
    for (const Json &item : list->items) {
      CudaKernelCode kernel;
      reader.readCount(item, "part", kernel.part);
      if (static_cast<size_t>(kernel.part) >= parts)
        reader.fail(fmt::format("'part' is {} and there are {}", kernel.part, parts));
      reader.readCount(item, "workspace", kernel.workspaceBytes);
      if (const Json *grids = reader.items(item, "grids"))
        for (const Json &one : grids->items) {
          CudaGridCode grid;
          reader.read(one, "name", grid.name);
          reader.readCount(one, "blocks", grid.blocks);
          reader.readCount(one, "threads", grid.blockThreads);
          reader.readCount(one, "shared", grid.sharedBytes);
          kernel.grids.push_back(std::move(grid));
        }
      code.kernels.push_back(std::move(kernel));
    }
  if (const Json *list = reader.items(header, "images"))
    for (const Json &item : list->items) {
      CudaImage image;
      reader.read(item, "architecture", image.architecture);
      reader.read(item, "bytes", sizes.emplace_back());
      if (sizes.back().size() != parts)
        reader.fail(fmt::format("'bytes' has {} numbers for {} parts", sizes.back().size(), parts));
      code.images.push_back(std::move(image));
    }
}

Result<CudaCode> parseCudaCode(std::string_view bytes) {
  size_t end = std::min(bytes.find('\n'), bytes.size());
  std::string problem;
  std::optional<Json> header = parseJson(bytes.substr(0, end), problem);
  if (!header)
    return Error{fmt::format("its CUDA code has no header: {}", problem)};
  CudaCode code;
  JsonReader reader;
  int64_t preludeBytes = 0;
  std::string checksum;
  std::vector<int64_t> textSizes;
  std::vector<std::vector<int64_t>> sizes;
  if (reader.readHeader(*header, formatName, formatVersion)) {
    reader.read(*header, "texts", textSizes);
    reader.readCount(*header, "prelude", preludeBytes);
    reader.read(*header, "checksum", checksum);
    readLists(reader, *header, textSizes.size(), code, sizes);
  }
  if (!reader.error.empty())
    return Error{fmt::format("the header of its CUDA code is wrong: {}", reader.error)};

  std::string_view body = bytes.substr(std::min(bytes.size(), end + 1));
  std::string_view rest = body;
  bool isWhole = true;
  auto take = [&](int64_t size) {
    isWhole &= static_cast<uint64_t>(size) <= rest.size();
    std::string part(rest.substr(0, static_cast<size_t>(size)));
    rest.remove_prefix(part.size());
    return part;
  };
  for (int64_t bytes : textSizes)
    code.texts.push_back(take(bytes));
  code.prelude = take(preludeBytes);
  for (size_t i = 0; i < sizes.size(); ++i)
    for (int64_t bytes : sizes[i])
      code.images[i].cubins.push_back(take(bytes));
  if (!isWhole || !rest.empty())
    return Error{fmt::format("its CUDA code has {} bytes and its header tells of {}; it was cut",
                             body.size(), isWhole ? "fewer" : "more")};
  if (fmt::format("{:016x}", checksumOf(body)) != checksum)
    return Error{"the checksum of its CUDA code does not match; it was damaged"};
  return code;
}

} // namespace napkin::runtime
