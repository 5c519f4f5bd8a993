// Pins: a JSON file, of which the cache has one a kind of device.

#include "runtime/cuda/products/Pins.h"

#include "runtime/ProductText.h"
#include "runtime/cuda/CudaCode.h"
#include "runtime/cuda/products/CublasLt.h"
#include "runtime/files/File.h"

#include <fmt/format.h>

namespace napkin::runtime {

static constexpr std::string_view formatName = "napkin product algorithms";
static constexpr int64_t formatVersion = 1;

Result<ProductPins> readPinsFile(const std::string &path) {
  constexpr int64_t mostBytes = int64_t(64) << 20;
  Result<std::string> text = readWholeFile(path, mostBytes);
  if (!text)
    return text.error();
  std::string problem;
  std::optional<Json> document = parseJson(*text, problem);
  if (!document)
    return Error{fmt::format("{}: {}", path, problem)};
  JsonReader reader;
  ProductPins pins;
  if (reader.readHeader(*document, formatName, formatVersion))
    if (const Json *object = reader.object(*document, "pins"))
      pins = readPins(reader, *object);
  if (!reader.error.empty())
    return Error{fmt::format("{}: {}", path, reader.error)};
  return pins;
}

static std::string printFile(const ProductPins &pins) {
  return fmt::format("{{\n  \"format\": {},\n  \"version\": {},\n  \"pins\": {}\n}}\n",
                     quoteJson(formatName), formatVersion, printPins(pins, 2));
}

std::string placeOf(const ProductPins &pins) {
  return fmt::format("{} on {}", cublaslt::versionText(pins.library), pins.device);
}

Result<PinStore> PinStore::open(const Program &program, int64_t library, const std::string &device,
                                const ProductOptions &options) {
  PinStore store;
  ProductPins here{library, device, {}};
  auto fits = [&](const ProductPins &pins) {
    return pins.library == library && pins.device == device;
  };
  auto refused = [&](const ProductPins &pins, std::string_view remedy) {
    return Error{fmt::format("{}: its products have algorithms of {} and this is {}, where they "
                             "would be others; {}",
                             store.from, placeOf(pins), placeOf(here), remedy)};
  };
  if (!options.file.empty()) {
    store.kind = Kind::file;
    store.from = store.path = options.file;
    store.pins = here;
    if (!isFile(options.file)) {
      if (Failure failure = checkWritable(options.file))
        return *failure;
      return store;
    }
    Result<ProductPins> read = readPinsFile(options.file);
    if (!read)
      return read.error();
    if (!fits(*read))
      return refused(*read, "name another file after --algorithms, or remove this one");
    store.pins = std::move(*read);
    return store;
  }
  if (program.pins) {
    store.kind = Kind::program;
    store.from = "the program";
    if (!fits(*program.pins))
      return refused(*program.pins, "compile again without --algorithms, or give the run "
                                    "--algorithms with a file of its own");
    store.pins = *program.pins;
    return store;
  }
  store.from = "the cache";
  store.pins = here;
  std::string folder = cacheFolder();
  if (folder.empty())
    return store;
  store.path = fmt::format("{}/products/{:016x}.json", folder, checksumOf(device));
  Result<ProductPins> kept =
      isFile(store.path) ? readPinsFile(store.path) : Result<ProductPins>(Error{});
  if (!kept || kept->device != device)
    return store;
  if (fits(*kept))
    store.pins = std::move(*kept);
  else if (options.note)
    options.note(fmt::format("products had algorithms of {} before, and are given others for {}: "
                             "sums may differ in their last bits",
                             placeOf(*kept), cublaslt::versionText(library)));
  return store;
}

const std::string *PinStore::find(const std::string &call) const {
  auto found = pins.algorithms.find(call);
  return found == pins.algorithms.end() ? nullptr : &found->second;
}

void PinStore::keep(const std::string &call, std::string digits) {
  pins.algorithms[call] = std::move(digits);
  isChanged = true;
}

Failure PinStore::save() const {
  if (!isChanged || path.empty())
    return std::nullopt;
  std::string text = printFile(pins);
  if (kind == Kind::file)
    return writeWholeFile(path, text);
  if (!makeFolders(path.substr(0, path.rfind('/'))))
    static_cast<void>(writeWholeFile(path, text));
  return std::nullopt;
}

} // namespace napkin::runtime
