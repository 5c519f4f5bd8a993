// The code for CUDA as bytes, whole and damaged; the choice of an image.

#include "runtime/cuda/CudaModule.h"
#include "test/Check.h"

using namespace napkin::runtime;
using namespace napkin::test;

static CudaCode sample() {
  CudaCode code;
  code.texts = {"kernels\n", "more\n"};
  code.prelude = std::string("prelude with a \0 in it", 22);
  code.kernels = {{0, {{"gelu__x", 12, 128, 0}}, 0},
                  {1, {{"sum \"quoted\"", 1, 256, 65536}, {"second", 3, 32, 0}}, 4096}};
  code.images = {{"sm_80", {"first", "2"}}, {"sm_90a", {"", std::string("\x7f\0ELF", 5)}}};
  return code;
}

static void testWhole() {
  std::string bytes = printCudaCode(sample());
  Result<CudaCode> read = parseCudaCode(bytes);
  expect(bool(read), "code reads back");
  if (!read)
    return;
  expect(printCudaCode(*read) == bytes, "code reads back to the same bytes");
  expect(read->kernels[1].grids[0].sharedBytes == 65536 &&
             read->kernels[1].workspaceBytes == 4096 && read->kernels[1].part == 1 &&
             read->texts[1] == "more\n" && read->images[0].cubins[1] == "2" &&
             read->images[1].cubins[1].size() == 5,
         "what was written is read");
}

/// Every cut and every flipped bit is refused with a sentence, and none crashes.
static void testDamaged() {
  std::string bytes = printCudaCode(sample());
  for (size_t length = 0; length < bytes.size(); ++length)
    expect(!parseCudaCode(bytes.substr(0, length)), fmt::format("code cut to {} bytes", length));
  expect(!parseCudaCode(bytes + "x"), "code with a byte more");
  size_t header = bytes.find('\n');
  for (size_t at = header + 1; at < bytes.size(); ++at) {
    std::string flipped = bytes;
    flipped[at] ^= 1;
    Result<CudaCode> read = parseCudaCode(flipped);
    expect(!read, fmt::format("code with a flipped bit in byte {}", at));
    if (!read)
      expectText(read.error().message,
                 "the checksum of its CUDA code does not match; it was damaged");
  }
  auto refused = [](const std::string &text, const std::string &wanted) {
    Result<CudaCode> read = parseCudaCode(text);
    expectText(read ? "" : read.error().message, wanted);
  };
  refused("", "its CUDA code has no header: the document is empty at byte 0");
  refused("{}\n", "the header of its CUDA code is wrong: 'format' is missing");
  refused(bytes.substr(0, bytes.size() - 3),
          "its CUDA code has 43 bytes and its header tells of more; it was cut");
  std::string huge = bytes;
  huge.replace(huge.find("\"texts\": [8"), 11, "\"texts\": [9223372036854775807");
  refused(huge, "its CUDA code has 46 bytes and its header tells of more; it was cut");
  huge.replace(huge.find("[9223372036854775807"), 20, "[-9223372036854775808");
  refused(huge, "its CUDA code has 46 bytes and its header tells of more; it was cut");
  std::string fewer = bytes, beyond = bytes;
  fewer.replace(fewer.find("\"bytes\": [5, 1]"), 15, "\"bytes\": [6]");
  refused(fewer, "the header of its CUDA code is wrong: 'bytes' has 1 numbers for 2 parts");
  beyond.replace(beyond.find("\"part\": 1"), 9, "\"part\": 2");
  refused(beyond, "the header of its CUDA code is wrong: 'part' is 2 and there are 2");
}

static void testImages() {
  CudaCode code;
  for (const char *architecture : {"sm_80", "sm_86", "sm_90a", "sm_100", "sm_103f", "none"})
    code.images.push_back({architecture, {}});
  auto chosen = [&](int major, int minor) {
    const CudaImage *image = cuda::imageFor(code, major, minor);
    return image ? image->architecture : std::string("none fits");
  };
  expectText(chosen(8, 0), "sm_80");
  expectText(chosen(8, 6), "sm_86");
  expectText(chosen(8, 9), "sm_86");
  expectText(chosen(9, 0), "sm_90a");
  expectText(chosen(7, 5), "none fits");
  expectText(chosen(10, 1), "sm_100");
  expectText(chosen(10, 3), "sm_103f");
  expectText(chosen(12, 0), "none fits");
}

int main() {
  testWhole();
  testDamaged();
  testImages();
  return failures == 0 ? 0 : 1;
}
