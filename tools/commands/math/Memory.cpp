// napkin math memory and size: bytes that follow from a model's sizes.
//
// Each list of activations names what it keeps, so that two lists can be told apart: Korthikanti
// et al.'s 34 s b h and the course's 16 B T d count different sets.
#include "tools/commands/math/Memory.h"

#include "passes/report/device/Device.h"
#include "passes/report/print/Numbers.h"
#include "tools/commands/math/ElementTypes.h"

#include "llvm/ADT/StringExtras.h"

using namespace nap;

double nap::elementBytes(Numbers &numbers, llvm::StringRef otherwise) {
  std::string type = numbers.has("dtype") ? *numbers.flags.find("dtype") : otherwise.str();
  const ElementType *known = findElementType(type);
  if (known && llvm::is_contained(kPeakInputs, type))
    return double(known->bits) / 8;
  numbers.fail(fmt::format("--dtype={}: the types are {}", type,
                           llvm::join(llvm::ArrayRef(kPeakInputs), ", ")));
  return 1;
}

double nap::bytesPerParameter(Numbers &numbers) {
  if (numbers.has("bytes-per-parameter"))
    return numbers.need("bytes-per-parameter");
  auto pick = [&](std::string_view flag, std::string usual,
                  llvm::ArrayRef<std::pair<llvm::StringLiteral, double>> known) {
    std::string name = numbers.has(flag) ? *numbers.flags.find(flag) : std::move(usual);
    for (auto [each, value] : known)
      if (each == name)
        return value;
    std::string names;
    for (auto [each, value] : known)
      names += (names.empty() ? "" : ", ") + each.str();
    numbers.fail(fmt::format("--{}={}: wanted one of {}", flag, name, names));
    return 0.0;
  };
  // Numbers of f32 that an optimizer keeps of each parameter.
  double kept = pick(
      "optimizer", "adamw",
      {{"sgd", 0}, {"momentum", 1}, {"adagrad", 1}, {"rmsprop", 1}, {"adam", 2}, {"adamw", 2}});
  // The weight, its copy for products, its gradient.
  double rest = pick("precision", "f32",
                     {{"f32", 4 + 4},
                      {"mixed(bf16)", 4 + 2 + 4},
                      {"mixed(f16)", 4 + 2 + 4},
                      {"pure(bf16)", 2 + 2}});
  return rest + 4 * kept;
}

/// Of so many bytes a parameter those of one device, where --sharded-bytes of them are split over
/// --devices (Rajbhandari et al. 2020, figure 1).
static double bytesOfOneDevice(Numbers &numbers, double each) {
  if (!numbers.has("sharded-bytes"))
    return each;
  double split = numbers.get("sharded-bytes", 0);
  if (split > each)
    numbers.fail(fmt::format("--sharded-bytes={:g}: a parameter has {:g} bytes; wanted at most as "
                             "many",
                             split, each));
  if (!numbers.has("devices"))
    numbers.fail("--devices is wanted, over which --sharded-bytes are split");
  return each - split + split / numbers.positive("devices", 1);
}

namespace {

/// Something that a list keeps: its bytes in one layer, or of the whole model.
struct Kept {
  std::string name;
  double bytes;
  bool isOfLayer = true;
};

/// What the lists are made from.
struct Sizes {
  double layers, width, heads, context, batch, vocab;
  double tokens() const { return batch * context; }
  /// Of attention's probabilities, one each.
  double scores() const { return batch * heads * context * context; }
};

} // namespace

static Sizes readSizes(Numbers &numbers) {
  Sizes sizes;
  sizes.layers = numbers.positive("layers", 1);
  sizes.width = numbers.need("width");
  sizes.heads = numbers.positive("heads", 1);
  sizes.context = numbers.positive("context", 1);
  sizes.batch = numbers.positive("batch", 1);
  sizes.vocab = numbers.get("vocab", 0);
  numbers.checkHeads(sizes.width, sizes.heads, "heads that do");
  return sizes;
}

/// Korthikanti et al. 2022, section 4: 16-bit tensors, dropout's masks of one byte, layers over t
/// devices (equations 2 to 4), attention computed again (equation 6), or whole layers. Beside
/// layers: section 4.3.
static std::vector<Kept> korthikanti(Numbers &numbers, const Sizes &s) {
  double t = numbers.positive("tensor-parallel", 1);
  double rest = numbers.has("sequence-parallel") ? t : 1;
  std::string again = numbers.has("recompute") ? *numbers.flags.find("recompute") : "none";
  if (again != "none" && again != "selective" && again != "full")
    numbers.fail(fmt::format("--recompute={}: wanted none, selective or full", again));
  double sbh = s.tokens() * s.width, hidden = s.tokens() * numbers.positive("ffn", 4 * s.width);
  std::vector<Kept> kept = {{"the layer's input, of its first norm", 2 * sbh / rest}};
  if (again != "full") {
    kept.insert(
        kept.end(),
        {{"input of Q, K and V", 2 * sbh / rest}, {"Q and K", 4 * sbh / t}, {"V", 2 * sbh / t}});
    if (again == "none")
      kept.insert(kept.end(), {{"probabilities", 2 * s.scores() / t},
                               {"the mask of their dropout", s.scores() / t},
                               {"probabilities after dropout", 2 * s.scores() / t}});
    kept.insert(kept.end(), {{"input of the projection", 2 * sbh / t},
                             {"the mask of its dropout", sbh / rest},
                             {"input of the second norm", 2 * sbh / rest},
                             {"input of the first product", 2 * sbh / rest},
                             {"input of GELU", 2 * hidden / t},
                             {"input of the second product", 2 * hidden / t},
                             {"the mask of its dropout", sbh / rest}});
  }
  if (s.vocab > 0)
    kept.insert(kept.end(), {{"the mask of the embedding's dropout", sbh / rest, false},
                             {"input of the last norm", 2 * sbh / rest, false},
                             {"input of the head", 2 * sbh / rest, false},
                             {"logits in f32", 4 * s.tokens() * s.vocab / t, false}});
  return kept;
}

/// llm.c, train_gpt2.cu, fill_in_activation_sizes, with cuDNN's attention. `recompute` 1 makes GELU
/// again, 2 norms too, 3 the first product too.
static std::vector<Kept> llmC(Numbers &numbers, const Sizes &s) {
  double again = numbers.get("recompute", 1), e = elementBytes(numbers), f32 = 4;
  if (again != 0 && again != 1 && again != 2 && again != 3)
    numbers.fail(fmt::format("--recompute={:g}: by llm.c wanted 0, 1, 2 or 3", again));
  double btc = s.tokens() * s.width * e, bt = s.tokens() * f32;
  std::vector<Kept> kept;
  auto layer = [&](const char *name, double bytes) { kept.push_back({name, bytes}); };
  auto once = [&](const char *name, double bytes) { kept.push_back({name, bytes, false}); };
  if (again < 2)
    layer("both norms' results", 2 * btc);
  layer("both norms' means and deviations", 4 * bt);
  layer("Q, K and V", 3 * btc);
  layer("attention's result", btc);
  layer("its sums of a row", s.heads * bt);
  layer("both residuals", 2 * btc);
  if (again < 3)
    layer("the first product's result", 4 * btc);
  else
    once("the first product's result, of one layer", 4 * btc);
  if (again < 1)
    layer("GELU's result", 4 * btc);
  else
    once("GELU's result, of one layer", 4 * btc);
  once("embeddings", btc);
  once("the last norm's result, mean and deviation", btc + 2 * bt);
  once("losses", bt);
  once("logits", s.tokens() * std::max(s.vocab, 3 * s.width) * e);
  once("scratch of 4 C and of C", 5 * btc);
  return kept;
}

/// Stanford CS336, assignment 1: every result that is named in its list, in f32.
static std::vector<Kept> course(Numbers &numbers, const Sizes &s) {
  double e = elementBytes(numbers, "f32"), btd = s.tokens() * s.width * e;
  std::vector<Kept> kept = {{"both norms", 2 * btd},
                            {"Q, K and V", 3 * btd},
                            {"scores", s.scores() * e},
                            {"probabilities", s.scores() * e},
                            {"weighted values", btd},
                            {"projection", btd},
                            {"first product, its activation, second product", 9 * btd}};
  if (s.vocab > 0)
    kept.insert(kept.end(),
                {{"last norm", btd, false},
                 {"logits and their probabilities", 2 * s.tokens() * s.vocab * e, false}});
  return kept;
}

/// The course's second lecture: each layer's result, B D L of them.
static std::vector<Kept> lecture(Numbers &numbers, const Sizes &s) {
  return {{"each layer's result", s.tokens() * s.width * elementBytes(numbers)}};
}

std::string nap::memoryText(Numbers &numbers) {
  using List = std::vector<Kept> (*)(Numbers &, const Sizes &);
  static constexpr std::pair<llvm::StringLiteral, List> lists[] = {
      {"korthikanti", korthikanti}, {"llm.c", llmC}, {"a1", course}, {"lecture", lecture}};
  std::string name = numbers.has("preset") ? *numbers.flags.find("preset") : "korthikanti";
  std::string text;
  auto line = [&](const std::string &what, double bytes) {
    text += fmt::format("  {:<46}{:>24}{:>16.3f}{:>14.4f}\n", what, grouped(numbers.count(bytes)),
                        inMiB(bytes), bytes / 1e9);
  };
  double all = 0;
  // What is asked of parameters alone needs no list.
  if (numbers.has("width")) {
    const auto *list = llvm::find_if(lists, [&](auto &each) { return each.first == name; });
    if (list == std::end(lists)) {
      numbers.fail(fmt::format("--preset={}: the lists are korthikanti, llm.c, a1, lecture", name));
      return text;
    }
    Sizes sizes = readSizes(numbers);
    text +=
        fmt::format("{:<48}{:>24}{:>16}{:>14}\n", "ACTIVATIONS by " + name, "bytes", "MiB", "GB");
    double layer = 0, once = 0;
    std::vector<Kept> kept = list->second(numbers, sizes);
    for (const Kept &each : kept) {
      line(each.name + (each.isOfLayer ? "" : " (once)"), each.bytes);
      (each.isOfLayer ? layer : once) += each.bytes;
    }
    all = layer * sizes.layers + once;
    line("= a layer", layer);
    if (once > 0)
      line("= once", once);
    line(fmt::format("= activations of {:.0f} layer{}", sizes.layers, sizes.layers == 1 ? "" : "s"),
         all);
  }
  if (numbers.has("parameters")) {
    double count = numbers.need("parameters"), each = bytesPerParameter(numbers);
    each = bytesOfOneDevice(numbers, each);
    line(fmt::format("state, {:.6g} bytes a parameter", each), count * each);
    all += count * each;
  } else if (!numbers.has("width")) {
    numbers.fail("--parameters or --width is wanted");
  }
  line("= together", all);
  return text;
}

std::string nap::sizeText(Numbers &numbers) {
  Count elements = numbers.count(numbers.need("elements"));
  std::string text =
      fmt::format("{:<10}{:>18}{:>28}{:>16}\n", "type", "bits an element", "bytes", "MiB");
  for (const ElementType &type : kElementTypes) {
    Count bytes = type.bytes(elements);
    text += fmt::format("{:<10}{:>18.4f} {:>27} {:>15.3f}\n", type.name.str(), type.bitsEach(),
                        grouped(bytes), inMiB(double(bytes)));
  }
  return text;
}
