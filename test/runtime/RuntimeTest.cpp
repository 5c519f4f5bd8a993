// Numbers, draws, orders, files and sessions, part by part.

#include "runtime/Numbers.h"
#include "runtime/command/Flags.h"
#include "runtime/data/Permutation.h"
#include "runtime/device/Peaks.h"
#include "runtime/device/TileRegisters.h"
#include "runtime/execute/Profile.h"
#include "runtime/execute/Philox.h"
#include "runtime/files/Json.h"
#include "runtime/files/Npy.h"
#include "runtime/files/SafeTensors.h"
#include "test/Check.h"
#include "test/runtime/ToyPrograms.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

using namespace napkin::runtime;
using namespace napkin::test;

/// The known answers that the authors of Philox publish (Random123, kat_vectors).
static void testPhiloxKnownAnswers() {
  using Words = std::array<uint32_t, 4>;
  expect(philox({0, 0, 0, 0}, 0) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
         "philox of zeros");
  uint32_t ones = 0xffffffff;
  expect(philox({ones, ones, ones, ones}, ~uint64_t{0}) ==
             Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
         "philox of ones");
  expect(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822) ==
             Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1},
         "philox of pi");
}

static void testPermutationsAreOnto() {
  for (int64_t count : {1, 2, 3, 5, 16, 17, 1000, 65537}) {
    std::vector<bool> seen(static_cast<size_t>(count));
    Permutation order(count, 42, 3);
    for (int64_t i = 0; i < count; ++i) {
      int64_t at = order.at(i);
      expect(at >= 0 && at < count && !seen[at], fmt::format("permutation of {}", count));
      seen[at] = true;
    }
  }
  int64_t same = 0;
  for (int64_t i = 0; i < 1000; ++i)
    same += Permutation(1000, 42, 0).at(i) == Permutation(1000, 42, 1).at(i);
  expect(same < 20, "epochs have different orders");
  expect(Permutation(int64_t{1} << 60, 7, 0).at(5) < int64_t{1} << 60, "a large permutation");
}

static void testHalvesRoundTrip() {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    auto half = static_cast<uint16_t>(bits);
    float value = halfToFloat(half);
    if (!std::isnan(value))
      expect(floatToHalf(value) == half, fmt::format("f16 {:04x}", bits));
    float brain = bfloatToFloat(half);
    if (!std::isnan(brain))
      expect(floatToBfloat(brain) == half, fmt::format("bf16 {:04x}", bits));
  }
  expect(floatToHalf(1 + 0x1p-11F) == 0x3c00 && floatToHalf(1 + 0x1.8p-10F) == 0x3c02,
         "f16 rounds ties to even");
  expect(floatToHalf(65519) == 0x7bff && floatToHalf(65520) == 0x7c00, "f16 overflows to infinity");
  expect(floatToBfloat(1 + 0x1p-8F) == 0x3f80 && floatToBfloat(1 + 0x1.8p-7F) == 0x3f82,
         "bf16 rounds ties to even");
  expect(std::isnan(bfloatToFloat(floatToBfloat(std::nanf("")))), "bf16 keeps nan");
}

static void testSmallFloats() {
  std::byte bytes[] = {std::byte{0x7e}, std::byte{0x01}, std::byte{0x7b}, std::byte{0x97}};
  expect(loadElement(DType::f8e4m3, bytes, 0) == 448, "the largest e4m3");
  expect(loadElement(DType::f8e4m3, bytes, 1) == 0x1p-9, "the smallest e4m3");
  expect(loadElement(DType::f8e5m2, bytes, 2) == 57344, "the largest e5m2");
  expect(loadElement(DType::f4e2m1, bytes, 6) == 6 && loadElement(DType::f4e2m1, bytes, 7) == -0.5,
         "two e2m1 in a byte, the low half first");
}

static void testProgramText() {
  LoadedProgram mixed = linearProgram(4, 1);
  mixed.program.productFlops = {{DType::bf16, 1e12}, {DType::f32, 1}};
  for (const LoadedProgram &toy :
       {linearProgram(4, 1), linearProgram(2, 2), bigramProgram(), mixed}) {
    std::string text = printProgram(toy.program), error;
    std::optional<Program> again = parseProgram(text, error);
    expectText(error, "");
    expect(again && printProgram(*again) == text, "a program reads back as it was printed");
  }
}

/// Replaces the first occurrence of `from` in a printed program and returns what parsing says.
static std::string parseAfter(std::string_view from, std::string_view to) {
  std::string text = printProgram(linearProgram(4, 1).program), error;
  size_t at = text.find(from);
  if (at == std::string::npos)
    return fmt::format("the program has no {}", from);
  text.replace(at, from.size(), to);
  return parseProgram(text, error) ? "accepted" : error;
}

static void testWrongPrograms() {
  expectText(parseAfter("\"version\": 1", "\"version\": 2"),
             "program: its version is 2 and this runtime reads version 1");
  expectText(parseAfter("napkin-program", "another"),
             "program: its format is 'another' and 'napkin-program' is wanted");
  expectText(parseAfter("\"model\"", "\"modal\""), "program: 'model' is missing");
  expectText(parseAfter("\"steps\": 20", "\"steps\": \"20\""),
             "program: 'steps' is not a whole number");
  expectText(parseAfter("\"role\": \"input\"", "\"role\": \"guest\""),
             "program: 'role' is 'guest', which this runtime does not know");
  expectText(parseAfter("\"shape\": [4, 3]", "\"shape\": [4, 0]"),
             "program: tensor 'x' has an impossible shape");
  expectText(parseAfter("\"shape\": [4, 3]", "\"shape\": [4, 9223372036854775807]"),
             "program: tensor 'x' has an impossible shape");
  expectText(parseAfter("\"bytes\": 48", "\"bytes\": 44"),
             "program: tensor 'x' says 44 bytes and its shape needs 48");
  expectText(parseAfter("\"offset\": 256", "\"offset\": 100"),
             "program: tensor 'y' stands at offset 100, which is not a multiple of 256");
  expectText(parseAfter("\"offset\": 256", "\"offset\": 1048576"),
             "program: tensor 'y' reaches beyond the arena of 5632 bytes");
  expectText(parseAfter("\"name\": \"y\"", "\"name\": \"x\""), "program: tensor 'x' stands twice");
  expectText(parseAfter("\"kernel\": 0", "\"kernel\": 99"),
             "program: function 'init': kernel 99 does not exist");
  expectText(parseAfter("\"arguments\": [14]", "\"arguments\": [77]"),
             "program: function 'init': tensor 77 does not exist");
  expectText(parseAfter("\"tasks\": 1", "\"tasks\": 0"),
             "program: function 'init': kernel 'init' has 0 tasks");
  expectText(parseAfter("\"loss\": 16", "\"loss\": -1"),
             "program: function 'step': result 'loss' is no tensor");
  expectText(parseAfter("\"results\": {", "\"results\": 5, \"more\": {"),
             "program: 'results' is not an object");
  expectText(parseAfter("\"role\": \"input\"", "\"role\": \"input\", \"load\": [1]"),
             "program: 'load' is not an object");
  expectText(parseAfter("\"fixed_choices\": [", "\"fixed_choices\": [5, "),
             "program: 'fixed_choices' holds something that is not a pair of strings");
  for (const char *products : {"[5]", "[[\"f32\"]]", "[[\"f33\", 5]]", "[[\"f32\", \"5\"]]"})
    expectText(parseAfter("\"fixed_choices\"",
                          fmt::format("\"product_flops\": {}, \"fixed_choices\"", products)),
               "program: 'product_flops' holds something that is not a type and a number");
  expectText(parseAfter("{", "["), "program: missing a comma or ']' after an array element at byte 12");
}

/// A toy program whose input x[4, 3], taken for a parameter, is loaded from elsewhere.
static std::string checkLoad(const InitialSource &source) {
  Program program = linearProgram(4, 1).program;
  program.tensors[static_cast<size_t>(findTensor(program, "x"))].load = source;
  std::string text = printProgram(program), error;
  std::optional<Program> again = parseProgram(text, error);
  return again && printProgram(*again) != text ? "another program is read back" : error;
}

static void testLoadsOfPrograms() {
  expectText(checkLoad({}), "");
  expectText(checkLoad({{"a", "b"}, {6}, {3, 4}, {1, 0}}), "");
  std::string number = "program: tensor 'x' has 12 elements and is loaded from another number";
  expectText(checkLoad({{"a"}, {6}, {12}, {0}}), number);
  expectText(checkLoad({{"a"}, {12}, {3, 5}, {0, 1}}), number);
  expectText(checkLoad({{"a"}, {int64_t{1} << 62, 16}, {12}, {0}}), number);
  std::string order = "program: tensor 'x' is loaded in an impossible order of axes";
  expectText(checkLoad({{"a"}, {12}, {3, 4}, {0, 0}}), order);
  expectText(checkLoad({{"a"}, {12}, {3, 4}, {1}}), order);
  expectText(checkLoad({{"a"}, {12}, {3, 4}, {1, 2}}), order);
}

static void testArraysRoundTrip() {
  std::string header = npyHeader(FileType::i16, {7});
  Result<ArrayInfo> array =
      parseNpyHeader(header, "here", static_cast<int64_t>(header.size()) + 14);
  expect(array && array->type == FileType::i16 && array->shape == std::vector<int64_t>{7} &&
             array->offset % 64 == 0,
         "a .npy header reads back");
  std::vector<ArrayInfo> arrays(2);
  arrays[0].name = "a \"quoted\" name";
  arrays[0].shape = {2, 3};
  arrays[1].name = "empty";
  arrays[1].type = FileType::u8;
  arrays[1].shape = {0};
  std::string text = safeTensorsHeader(arrays);
  std::string path = "roundtrip.safetensors";
  Result<FileWriter> writer = FileWriter::create(path);
  expect(writer && !writer->write(text) && !writer->write(std::string(24, 'x')) &&
             !writer->finish(),
         "a file is written");
  Result<ArrayFile> file = openSafeTensors(path);
  expect(file && file->arrays.size() == 2 && file->find("a \"quoted\" name") &&
             file->find("a \"quoted\" name")->offset % 8 == 0,
         "a .safetensors header reads back");
}

static void testConversions() {
  expect(widens(FileType::u8, DType::f16) && widens(FileType::i16, DType::f32) &&
             !widens(FileType::i32, DType::f32) && widens(FileType::i32, DType::f64),
         "integers widen to floats that hold them");
  expect(!widens(FileType::f64, DType::f32) && widens(FileType::bf16, DType::f32) &&
             !widens(FileType::f16, DType::bf16) && !widens(FileType::f32, DType::i32),
         "floats widen to wider floats");
  int64_t ids[] = {1, -5, int64_t{1} << 31};
  int32_t narrow[3] = {};
  expect(convertElements(FileType::i64, reinterpret_cast<std::byte *>(ids), DType::i32,
                         reinterpret_cast<std::byte *>(narrow), 3) == 2 &&
             narrow[1] == -5,
         "an integer that does not fit is found");
}

static void testSessions() {
  LoadedProgram toy = linearProgram(2, 1);
  Result<std::unique_ptr<Session>> session = Session::create(toy, {2, true});
  expect(session && (*session)->workers() == 2, "a session with two workers");
  Session &run = **session;
  expect(run.device().bytesTaken() == toy.program.arenaBytes +
                                           2 * toy.program.scratchBytesPerWorker,
         "what is mapped is arena plus workers times scratch");
  float x[6] = {1, 2, 3, 4, 5, 6}, y[2] = {1, 2}, weight[3] = {0.5, 0.25, 0.125}, bias[1] = {1};
  expect(!run.setTensor("x", x, sizeof(x)) && !run.setTensor("y", y, sizeof(y)) &&
             !run.setTensor("weight", weight, sizeof(weight)) &&
             !run.setTensor("bias", bias, sizeof(bias)) && !run.run("predict"),
         "tensors are set by name");
  Result<std::vector<std::byte>> out = run.getResult("predict", "output prediction");
  float prediction[2] = {};
  expect(out && out->size() == sizeof(prediction), "a result is read by name");
  std::memcpy(prediction, out->data(), sizeof(prediction));
  expect(prediction[0] == 2.375F && prediction[1] == 5, "the kernel computed it");
  expectText(run.setTensor("z", x, 4)->message, "the program has no tensor 'z'");
  expectText(run.setTensor("x", x, 4)->message, "tensor 'x' has 24 bytes and 4 were given");
  expectText(run.run("fly")->message, "the program has no function 'fly'");
  expectText(run.getResult("step", "output").error().message,
             "function 'step' has no result 'output'");
  toy.program.tileRegisters = true;
  Result<std::unique_ptr<Session>> tiles = Session::create(toy);
  expect(tiles ? hasTileRegisters()
               : tiles.error().message.starts_with("the program's kernels use AMX tile registers"),
         "tile registers are asked for, or it is said that there are none");
  std::string problem;
  std::optional<Program> read = parseProgram(printProgram(toy.program), problem);
  expect(read && read->tileRegisters, "the need for tile registers is written and read");
  toy.kernels.pop_back();
  expectText(Session::create(toy).error().message,
             "program: it has 9 kernels and 8 were loaded");
}

/// What a kernel that would write zeros writes here, so that it shows whether it was called.
static void writeOnes(std::byte *const *o, std::byte *, int64_t, int64_t) { o[0][0] = std::byte{1}; }

static void testZerosOfInit() {
  TensorInfo before, state, after;
  before.name = "before", state.name = "state", after.name = "after";
  state.shape = {(1 << 18) + 300};
  before.role = state.role = after.role = Role::state;
  before.bytes = after.bytes = 4;
  state.bytes = 4 * ((1 << 18) + 300);
  before.offset = 4096, state.offset = 4096 + 256, after.offset = 4 * ((1 << 18) + 2048);
  LoadedProgram toy;
  toy.program.tensors = {before, state, after};
  toy.program.arenaBytes = after.offset + 256;
  toy.program.kernels = {{"fill", "fill", 0, 0, true}};
  toy.kernels = {writeOnes};
  Launch launch;
  launch.results = {1};
  toy.program.functions = {{"init", {launch}, {}}, {"step", {launch}, {}}};
  std::string problem;
  std::optional<Program> read = parseProgram(printProgram(toy.program), problem);
  expectText(problem, "");
  expect(read && read->kernels[0].zeros, "a kernel of zeros is written and read");
  Result<std::unique_ptr<Session>> session = Session::create(toy, {1, false});
  expect(bool(session), "a session");
  std::vector<std::byte> ones(state.bytes, std::byte{0xff});
  for (const TensorInfo *tensor : {&before, &state, &after})
    expect(!(*session)->setTensor(tensor->name, ones.data(), tensor->bytes), "bytes before zeros");
  expect(!(*session)->run("init"), "init runs");
  auto all = [&](const char *name, std::byte value) {
    Result<std::vector<std::byte>> bytes = (*session)->getTensor(name);
    return std::all_of(bytes->begin(), bytes->end(), [&](std::byte b) { return b == value; });
  };
  expect(all("state", std::byte{0}), "a large state is zero to its ends without a call");
  expect(all("before", std::byte{0xff}) && all("after", std::byte{0xff}),
         "its neighbours on the same pages stay");
  expect(!(*session)->run("step") && (*session)->getTensor("state")->front() == std::byte{1},
         "other functions call the kernel");
}

static void testNames() {
  std::string_view names[] = {"width", "height", "lr"};
  expect(nearestName("widht", names) == "width" && nearestName("hight", names) == "height" &&
             nearestName("depth", names).empty(),
         "the nearest name is near");
  expect(parseNumber("3e-4") == 3e-4 && parseNumber("50_257") == 50257 && !parseNumber("1x") &&
             !parseNumber(""),
         "numbers are read as the language writes them");
  expectText(quoteJson("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000a\"");
}

static void testJsonLimits() {
  std::string problem;
  expect(!parseJson("[" + std::string(8'000'000, ',') + "]", problem), "commas are no values");
  std::string zeros = "[0";
  for (int i = 0; i < 4'000'000; ++i)
    zeros += ",0";
  expect(!parseJson(zeros + "]", problem), "too many values");
  expectText(problem, "more than 4000000 values at byte 7999999");
  expect(!parseJson(std::string(65, '['), problem), "too deep");
  expectText(problem, "nested more than 64 deep at byte 64");
  std::optional<Json> numbers = parseJson("[1e400, 18446744073709551615, -1, 0.1, Infinity]", problem);
  expectText(problem, "number too big to be stored in double at byte 1");
  numbers = parseJson("[18446744073709551615, -1, 0.1, Infinity]", problem);
  expect(numbers && numbers->items[0].count == UINT64_MAX && !numbers->items[0].whole &&
             numbers->items[1].whole == -1 && !numbers->items[1].count &&
             numbers->items[2].number == 0.1 && std::isinf(numbers->items[3].number),
         "numbers keep their bits");
}

static void testDeviceFile() {
  DevicePeaks peaks;
  peaks.processor = processorName();
  peaks.matrices = {{DType::f32, 2, 5.25e11}, {DType::bf16, 1, 1e12}};
  peaks.copies = {{2, 1 << 20, 9e10}, {2, 1 << 29, 4e10}, {2, 1 << 16, 2e11}};
  expect(!writeDeviceFile("device/file.json", peaks), "a device file is written");
  Result<DevicePeaks> again = readDeviceFile("device/file.json");
  expect(again && again->matrixFlopsPerSecond(DType::f32, 2) == 5.25e11 &&
             again->matrixFlopsPerSecond(DType::f32, 3) == 0 &&
             again->processor == processorName(),
         "a device file reads back");
  expect(again->copyBytesPerSecond(2, 100) == 2e11 && again->copyBytesPerSecond(2, 65537) == 9e10 &&
             again->copyBytesPerSecond(2, 2e6) == 4e10 && again->copyBytesPerSecond(2, 1e12) == 4e10 &&
             again->copyBytesPerSecond(1, 100) == 0,
         "the smallest measured set that holds the bytes bounds a copy, else the largest");
  Result<double> copied = measureCopyBytesPerSecond(2, 1 << 20);
  expect(copied && *copied > 1e8, "a copy moves more than 100 MB a second");
  copied = measureCopyBytesPerSecond(3, 1000);
  expect(copied && *copied > 0, "parts of odd sets are whole lines");
  Result<double> refused = measureCopyBytesPerSecond(1, int64_t{1} << 60);
  expect(!refused && !refused.error().message.empty(), "a set beyond the memory is an error, not 0");
}

/// Products of several types take as long as each at its own peak.
static void testProductPeaks() {
  DevicePeaks peaks;
  peaks.matrices = {{DType::f32, 2, 1e12}, {DType::bf16, 2, 4e12}};
  Program program;
  program.policy = "mixed(bf16)";
  expect(peaks.productFlopsPerSecond(program, 2) == 4e12, "uncounted products are the policy's");
  program.productFlops = {{DType::bf16, 8e12}, {DType::f32, 2e12}};
  expect(peaks.productFlopsPerSecond(program, 2) == 2.5e12, "1e13 FLOPs take 4 s: 2 s each");
  program.productFlops.emplace_back(DType::f64, 1e12);
  expect(peaks.productFlopsPerSecond(program, 2) == 2.2e12, "a type without a peak is at f32's");
  expect(peaks.productFlopsPerSecond(program, 3) == 0, "no such threads, no peak");
}

/// The number after the `column`-th blank gap of the line that begins with `name`.
static double numberAt(const std::string &text, const std::string &name, int column) {
  size_t at = text.find("\n" + name);
  for (int i = 0; at != std::string::npos && i < column; ++i)
    at = text.find_first_not_of(' ', text.find(' ', at));
  return at == std::string::npos ? -1 : std::atof(text.c_str() + at);
}

static void testProfile() {
  Program program;
  TensorInfo wide, narrow;
  narrow.dtype = DType::bf16;
  program.tensors = {wide, narrow};
  program.kernels = {{"product", "product", 0}, {"add", "add", 0}};
  Launch product, add;
  product.flops = 4e9;
  product.arguments = {0, 1};
  add.kernel = 1;
  add.bytes = 2e6;
  add.arguments = {0};
  program.functions = {{"step", {product, add, add}, {}}};
  DevicePeaks peaks;
  peaks.matrices = {{DType::f32, 2, 1e12}, {DType::bf16, 2, 2e12}};
  peaks.copies = {{2, 1 << 29, 1e9}};
  expect(floorSeconds(program, product, peaks, 2) == 2e-3, "the narrowest float read gives the peak");
  expect(floorSeconds(program, add, peaks, 2) == 2e-3, "bytes over bandwidth bound an addition");
  expect(floorSeconds(program, add, peaks, 1) == 0, "no floor without a measurement");
  Launch rounding = product;
  rounding.arguments = {0};
  rounding.results = {1};
  expect(floorSeconds(program, rounding, peaks, 2) == 4e-3, "what is written narrower bounds nothing");

  // The first step takes a second a launch and does not count.
  Profile profile(program, peaks, 2);
  const Function &step = program.functions[0];
  for (int64_t slow : {1000, 1, 3}) {
    for (int64_t i = 0; i < 3; ++i)
      profile.ended(step, i, step.launches[i], 0, slow * 1'000'000);
    profile.stepEnded(slow * 4'000'000);
  }
  std::string text = profile.text();
  expect(numberAt(text, "add ", 1) == 2 && numberAt(text, "add ", 2) == 4 &&
             numberAt(text, "add ", 4) == 1 && numberAt(text, "add ", 5) == 4,
         "two launches of 2 ms in the mean");
  expect(numberAt(text, "product ", 2) == 2 && numberAt(text, "product ", 3) == 2000 &&
             numberAt(text, "product ", 6) == 1,
         "a product at its floor");
  expect(text.find("2 steps of 8.000 ms on 2 threads; floor 6.000 ms, 75.0 % of the roofline\n") !=
             std::string::npos,
         "the step beside the sum of the floors");
  expect(text.find("add ") < text.find("product "), "the longest first");
  expect(Profile(program, peaks, 2).text().find("no other ran") != std::string::npos,
         "nothing to say of the first step");
}

int main() {
  testProfile();
  testProductPeaks();
  testPhiloxKnownAnswers();
  testPermutationsAreOnto();
  testHalvesRoundTrip();
  testSmallFloats();
  testProgramText();
  testWrongPrograms();
  testLoadsOfPrograms();
  testArraysRoundTrip();
  testConversions();
  testSessions();
  testZerosOfInit();
  testNames();
  testJsonLimits();
  testDeviceFile();
  if (failures == 0)
    fmt::print("all hold\n");
  return failures != 0;
}
