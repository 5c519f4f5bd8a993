// Executable: payload and trailer at the end of the file.

#include "runtime/image/Executable.h"

#include "runtime/files/File.h"

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
  uint64_t checksum;     ///< FNV-1a of both
};
} // namespace

static constexpr std::array<char, 16> trailerMagic = {'n', 'a', 'p', 'k', 'i', 'n', '-', 'i',
                                                      'm', 'a', 'g', 'e', '-', '0', '0', '1'};

/// FNV-1a, 64 bits (Fowler, Noll, Vo): finds accidents, not attacks.
static uint64_t checksumOf(std::span<const std::byte> data, uint64_t hash) {
  for (std::byte value : data)
    hash = (hash ^ static_cast<uint64_t>(value)) * 0x100000001b3;
  return hash;
}

static constexpr uint64_t checksumStart = 0xcbf29ce484222325;

Failure writeExecutable(const std::string &path, const std::string &runtimeBinaryPath,
                        std::span<const std::byte> sharedObject, const Program &program) {
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
  Trailer trailer{trailerMagic, binary->size(), sharedObject.size(), text.size(), 0};
  trailer.checksum = checksumOf(std::as_bytes(std::span(text)),
                                checksumOf(sharedObject, checksumStart));
  std::span<const std::byte> parts[] = {std::as_bytes(std::span(*binary)), sharedObject,
                                        std::as_bytes(std::span(text)),
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
  if (trailer.objectOffset > size || trailer.objectBytes > size - trailer.objectOffset ||
      trailer.programBytes != size - trailer.objectOffset - trailer.objectBytes)
    return failed(
        fmt::format("its trailer at offset {} does not fit its size; it was damaged", size));
  std::vector<std::byte> object(trailer.objectBytes);
  std::string text(trailer.programBytes, '\0');
  auto objectOffset = static_cast<int64_t>(trailer.objectOffset);
  if (Failure failure = file->read(objectOffset, object))
    return *failure;
  if (Failure failure = file->read(objectOffset + static_cast<int64_t>(trailer.objectBytes),
                                   std::as_writable_bytes(std::span(text))))
    return *failure;
  if (checksumOf(std::as_bytes(std::span(text)), checksumOf(object, checksumStart)) !=
      trailer.checksum)
    return failed("its checksum does not match its content; it was damaged");
  std::string problem;
  std::optional<Program> program = parseProgram(text, problem);
  if (!program)
    return failed(problem);
  Result<SharedObject> code = SharedObject::load(object);
  if (!code)
    return Error{fmt::format("{}: {}", path, code.error().message), code.error().status};
  std::vector<KernelFunction> kernels;
  for (const KernelInfo &kernel : program->kernels) {
    void *address = code->find(kernel.symbol);
    if (!address)
      return failed(fmt::format("kernel '{}' has no code '{}'", kernel.name, kernel.symbol));
    kernels.push_back(reinterpret_cast<KernelFunction>(address));
  }
  return std::make_unique<LoadedImage>(
      LoadedImage{{std::move(*program), std::move(kernels)}, std::move(*code)});
}

std::string ownPath() {
  auto address = getauxval(AT_EXECFN);
  return address ? reinterpret_cast<const char *>(address) : "";
}

} // namespace napkin::runtime
