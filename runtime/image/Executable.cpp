// Executable: payload and trailer at the end of the file.

#include "runtime/image/Executable.h"

#include "runtime/cuda/CudaCode.h"
#include "runtime/files/File.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <sys/auxv.h>

namespace napkin::runtime {

namespace {
/// The last bytes of an executable.
struct Trailer {
  std::array<char, 16> magic;
  uint64_t objectOffset; ///< of the shared object, from the beginning of the file
  uint64_t objectBytes;
  uint64_t programBytes; ///< of the program's text, which follows it
  uint64_t cudaBytes;    ///< of the code for CUDA, which follows that
  uint64_t checksum;     ///< FNV-1a of all three
};
} // namespace

static constexpr std::array<char, 16> trailerMagic = {'n', 'a', 'p', 'k', 'i', 'n', '-', 'i',
                                                      'm', 'a', 'g', 'e', '-', '0', '0', '2'};

/// Of the parts of an executable that follow the runtime.
static uint64_t checksumOfParts(std::span<const std::byte> object, std::string_view text,
                                std::string_view cuda) {
  std::string_view code(reinterpret_cast<const char *>(object.data()), object.size());
  return checksumOf(cuda, checksumOf(text, checksumOf(code)));
}

Failure writeExecutable(const std::string &path, const std::string &runtimeBinaryPath,
                        std::span<const std::byte> sharedObject, const Program &program,
                        const CudaCode *cuda) {
  constexpr int64_t runtimeLimit = 1 << 30;
  Result<std::string> binary = readWholeFile(runtimeBinaryPath, runtimeLimit);
  if (!binary)
    return Error{
        fmt::format("{}; an executable begins with a copy of it: it is built and installed "
                    "beside napkin",
                    binary.error().message),
        ExitStatus::machineFailure};
  // The shared object begins on a page of its own, as debuggers and file tools expect.
  constexpr size_t page = 4096;
  binary->resize((binary->size() + page - 1) / page * page);
  std::string text = printProgram(program);
  std::string code = cuda ? printCudaCode(*cuda) : "";
  Trailer trailer{trailerMagic, binary->size(), sharedObject.size(), text.size(), code.size(),
                  checksumOfParts(sharedObject, text, code)};
  std::span<const std::byte> parts[] = {std::as_bytes(std::span(*binary)), sharedObject,
                                        std::as_bytes(std::span(text)),
                                        std::as_bytes(std::span(code)),
                                        std::as_bytes(std::span(&trailer, 1))};
  constexpr bool executable = true;
  return writeWholeFile(path, parts, executable);
}

Result<std::unique_ptr<LoadedImage>> loadExecutable(const std::string &path) {
  Result<File> file = File::open(path);
  if (!file)
    return file.error();
  auto failed = [&](std::string_view problem) {
    return Error{fmt::format("{}: {}", path, problem)};
  };
  constexpr auto trailerBytes = static_cast<int64_t>(sizeof(Trailer));
  Trailer trailer{};
  if (file->size() >= trailerBytes)
    if (Failure failure = file->read(file->size() - trailerBytes,
                                     std::as_writable_bytes(std::span(&trailer, 1))))
      return *failure;
  if (trailer.magic != trailerMagic)
    return failed("carries no program; 'napkin compile MODEL.nap -o FILE' makes an executable");
  auto size = static_cast<uint64_t>(file->size() - trailerBytes);
  uint64_t left = size;
  bool fits = true;
  for (uint64_t part : {trailer.objectOffset, trailer.objectBytes, trailer.programBytes,
                        trailer.cudaBytes}) {
    fits &= part <= left;
    left -= std::min(part, left);
  }
  if (!fits || left != 0)
    return failed(
        fmt::format("its trailer at offset {} does not fit its size; it was damaged", size));
  std::vector<std::byte> object(trailer.objectBytes);
  std::string text(trailer.programBytes, '\0'), cuda(trailer.cudaBytes, '\0');
  auto objectOffset = static_cast<int64_t>(trailer.objectOffset);
  if (Failure failure = file->read(objectOffset, object))
    return *failure;
  auto textOffset = objectOffset + static_cast<int64_t>(trailer.objectBytes);
  if (Failure failure = file->read(textOffset, std::as_writable_bytes(std::span(text))))
    return *failure;
  if (Failure failure = file->read(textOffset + static_cast<int64_t>(trailer.programBytes),
                                   std::as_writable_bytes(std::span(cuda))))
    return *failure;
  if (checksumOfParts(object, text, cuda) != trailer.checksum)
    return failed("its checksum does not match its content; it was damaged");
  std::string problem;
  std::optional<Program> program = parseProgram(text, problem);
  if (!program)
    return failed(problem);
  auto image = std::make_unique<LoadedImage>();
  if (!cuda.empty()) {
    Result<CudaCode> parsed = parseCudaCode(cuda);
    if (!parsed)
      return failed(parsed.error().message);
    image->loaded.cuda = std::make_shared<const CudaCode>(std::move(*parsed));
  }
  image->loaded.program = std::move(*program);
  if (object.empty() && image->loaded.cuda)
    return image;
  Result<SharedObject> code = SharedObject::load(object);
  if (!code)
    return Error{fmt::format("{}: {}", path, code.error().message), code.error().status};
  for (const KernelInfo &kernel : image->loaded.program.kernels) {
    void *address = code->find(kernel.symbol);
    if (!address)
      return failed(fmt::format("kernel '{}' has no code '{}'", kernel.name, kernel.symbol));
    image->loaded.kernels.push_back(reinterpret_cast<KernelFunction>(address));
  }
  image->code.emplace(std::move(*code));
  return image;
}

std::string ownPath() {
  auto address = getauxval(AT_EXECFN);
  return address ? reinterpret_cast<const char *>(address) : "";
}

} // namespace napkin::runtime
