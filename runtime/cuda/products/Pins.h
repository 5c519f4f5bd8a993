// Pins: where the algorithms of a program's products are kept from run to run.

#ifndef NAPKIN_RUNTIME_CUDA_PRODUCTS_PINS_H
#define NAPKIN_RUNTIME_CUDA_PRODUCTS_PINS_H

#include "runtime/Program.h"
#include "runtime/Status.h"

#include <functional>

namespace napkin::runtime {

/// How a run comes by the algorithms of its products.
struct ProductOptions {
  std::string file; ///< --algorithms; empty: the program's own, else the cache's
  std::function<void(const std::string &)> note; ///< takes a sentence for people; may be null
};

/// Reads a file of algorithms; on failure the error names it.
Result<ProductPins> readPinsFile(const std::string &path);

/// "cuBLASLt 13.1.0 on NVIDIA H200 sm_90".
std::string placeOf(const ProductPins &pins);

/// The algorithms of a run. They hold for one version of the library on one kind of device:
///
///   from                  of another version or device   without one of the products
///   --algorithms FILE     refused                        chosen, and added to FILE
///   the program           refused                        refused
///   the cache             chosen anew, with a note       chosen, and added
class PinStore {
public:
  static Result<PinStore> open(const Program &program, int64_t library, const std::string &device,
                               const ProductOptions &options);

  /// The algorithm of a call, as digits; null where it is to be chosen.
  const std::string *find(const std::string &call) const;
  /// Whether a call that has none may be given one.
  bool mayChoose() const { return kind != Kind::program; }
  /// Whether one that the library refuses may be replaced.
  bool mayReplace() const { return kind == Kind::cache; }
  void keep(const std::string &call, std::string digits);
  /// Writes what was added. What the cache cannot take is not kept, and nothing fails.
  Failure save() const;
  /// "the program", or the file's name.
  const std::string &origin() const { return from; }

private:
  enum class Kind : uint8_t { file, program, cache };
  Kind kind = Kind::cache;
  std::string from, path; ///< `path` is empty where nothing is kept
  ProductPins pins;
  bool isChanged = false;
};

} // namespace napkin::runtime

#endif
