// What a model's forward graph tells of its size, and what rules of thumb make of that.
#include "passes/report/Facts.h"

#include "ir/Einsum.h"
#include "ir/Views.h"
#include "ir/attention/Attention.h"
#include "passes/MemoryModel.h"
#include "passes/Report.h"
#include "passes/report/Names.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace nap;

/// What a value is a view or a conversion of.
static Value sourceOf(Value value) {
  while (Operation *maker = value.getDefiningOp()) {
    if (!isView(maker) && !isa<CastOp, StopGradientOp>(maker))
      break;
    value = maker->getOperand(0);
  }
  return value;
}

/// "h.3.mlp.c_fc.weight" -> "h.N.mlp.c_fc".
static std::string partName(StringRef parameter) {
  parameter.consume_back(".weight");
  std::string name;
  for (StringRef piece : llvm::split(parameter, '.')) {
    unsigned number;
    name += (name.empty() ? "" : ".") + (piece.getAsInteger(10, number) ? piece.str() : "N");
  }
  return name;
}

namespace {

/// Goes through @forward once.
struct Reader {
  ModuleOp module;
  func::FuncOp forward;
  int64_t times;
  ModelFacts facts;
  llvm::MapVector<StringAttr, ModelFlops> parts;
  /// Parameters that are multiplied or looked up.
  DenseSet<Value> multiplied, lookedUp;
  DeclaredTensors declared;
  SymbolTable symbols;

  Reader(ModuleOp module, func::FuncOp forward, int64_t times)
      : module(module), forward(forward), times(times), declared(module), symbols(module) {}

  /// The parameter behind a value; null for any other value.
  DeclareOp parameterOf(Value value) {
    auto argument = dyn_cast<BlockArgument>(sourceOf(value));
    if (!argument)
      return {};
    DeclareOp declare = declared.find(forward.getArgAttrDict(argument.getArgNumber()));
    return declare && declare.getRole() == Role::parameter ? declare : DeclareOp();
  }
  void addPart(StringRef name, const ModelFlops &flops) {
    parts[StringAttr::get(module.getContext(), name)].add(flops, times);
  }
  void readEinsum(EinsumOp einsum);
  void readAttention(AttentionOp attention);
  void read();
};

} // namespace

/// The product of the sizes of the result's letters that an operand lacks.
static Count rowsBeside(EinsumOp einsum, unsigned operand) {
  EinsumPattern pattern = *parseEinsum(einsum.getPattern());
  SmallVector<int64_t> sizes = letterSizes(einsum);
  Count rows = 1;
  for (char letter : pattern.result)
    if (!StringRef(pattern.operands[operand]).contains(letter))
      rows *= sizes[letter];
  return rows;
}

void Reader::readEinsum(EinsumOp einsum) {
  ModelFlops flops = modelFlopsOf(einsum, symbols);
  if (flops.exact == 0)
    return;
  StringRef name = "products of activations";
  std::string own;
  for (OpOperand &operand : einsum->getOpOperands())
    if (DeclareOp parameter = parameterOf(operand.get())) {
      name = own = partName(parameter.getSymName());
      multiplied.insert(sourceOf(operand.get()));
      Count rows = rowsBeside(einsum, operand.getOperandNumber()) * times;
      facts.tokens = std::max(facts.tokens, rows);
      facts.fewestRows = facts.fewestRows > 0 ? std::min(facts.fewestRows, rows) : rows;
      facts.head = flops.exact * times;
      facts.headTensor = einsum.getType();
      facts.headType = typeText(facts.headTensor);
      facts.headBytes = bytesOf(facts.headTensor);
    }
  addPart(name, flops);
}

void Reader::readAttention(AttentionOp attention) {
  ModelFlops flops = modelFlopsOf(attention, symbols);
  AttentionShape shape = attentionShape(attention);
  auto share = [&](int64_t size) {
    ModelFlops part;
    for (auto [name, count] : kModelCounts)
      part.*count = flops.*count / (shape.keySize + shape.valueSize) * size;
    return part;
  };
  addPart("attention scores", share(shape.keySize));
  addPart("attention values", share(shape.valueSize));
  facts.attention.add(flops, times);
  facts.scores += Count(shape.lead) * shape.heads * shape.queries * shape.keys * times;
}

void Reader::read() {
  for (Operation &op : forward.getOps()) {
    if (auto einsum = dyn_cast<EinsumOp>(op))
      readEinsum(einsum);
    if (auto attention = dyn_cast<AttentionOp>(op))
      readAttention(attention);
    if (auto embed = dyn_cast<EmbedOp>(op)) {
      lookedUp.insert(sourceOf(embed.getTable()));
      if (facts.tokens == 0)
        facts.tokens = Count(embed.getIds().getType().getNumElements()) * times;
    }
  }
  for (BlockArgument argument : forward.getArguments()) {
    DeclareOp parameter = parameterOf(argument);
    if (!parameter)
      continue;
    int64_t elements = parameter.getTensorType().getNumElements();
    bool isMatrix = parameter.getTensorType().getRank() > 1;
    if (!multiplied.contains(argument) && lookedUp.contains(argument))
      facts.lookedUp += elements;
    if (!multiplied.contains(argument) && !lookedUp.contains(argument) && isMatrix)
      facts.positions += elements;
  }
  for (auto declare : module.getOps<DeclareOp>())
    if (declare.getRole() == Role::parameter)
      facts.parameters += declare.getTensorType().getNumElements();
  if (auto update = module.lookupSymbol<func::FuncOp>("update"); update && !update.isExternal())
    for (Operation &op : update.getOps())
      facts.update.add(modelFlopsOf(&op, symbols));
  for (auto &[name, flops] : parts) {
    facts.forward.add(flops);
    facts.parts.push_back({name.str(), flops});
  }
}

ModelFacts nap::factsOf(ModuleOp module) {
  auto forward = module.lookupSymbol<func::FuncOp>("forward");
  if (!forward || forward.isExternal())
    return {};
  auto accumulate = module->getAttrOfType<IntegerAttr>("nap.accumulate");
  Reader reader(module, forward, accumulate ? accumulate.getInt() : 1);
  reader.read();
  return std::move(reader.facts);
}

std::optional<ModelFacts> nap::factsOf(const TransformerSizes &s) {
  double heads = s.heads * s.headSize;
  // Weights, biases and norms of GPT-2; Narayanan et al. 2021, equation 1, has the same without the
  // last norm.
  double parameters = s.layers * (4 * s.width * heads + 2 * s.width * s.ffn + 9 * s.width + s.ffn) +
                      (s.vocab + s.context) * s.width;
  if (s.parameters > 0)
    parameters = s.parameters;
  double linears = s.layers * (8 * s.width * heads + 4 * s.width * s.ffn);
  double attention = 4 * s.layers * heads, head = 2 * s.vocab * s.width;
  double scores = s.layers * s.heads * s.context;
  // A preset takes a few times as much as is checked here.
  constexpr double mostParameters = 0x1p63, mostFlops = 0x1p120;
  double flops =
      (linears + attention * s.context + head + scores + parameters) * std::max(s.tokens, 1.0);
  bool isCountable = parameters < mostParameters && s.context * s.width < mostParameters &&
                     flops < mostFlops && s.tokens < mostFlops;
  if (!isCountable)
    return std::nullopt;
  ModelFacts facts;
  facts.parameters = int64_t(parameters);
  facts.tokens = Count(s.tokens);
  facts.attention.dense = Count(attention) * Count(s.context) * facts.tokens;
  facts.attention.exact = facts.attention.half = facts.attention.dense / 2;
  facts.attention.masked = facts.attention.dense;
  facts.head = Count(head) * facts.tokens;
  facts.scores = Count(scores) * facts.tokens;
  facts.forward.dense = Count(linears) * facts.tokens + facts.attention.dense + facts.head;
  facts.positions = int64_t(s.context * s.width);
  return facts;
}

std::string nap::stepParts(const ModelFacts &facts) {
  return facts.update.exact > 0 ? "forward + backward + update" : "forward + backward";
}

//===------------------------------------------------------------------------------------------===//
// Presets
//===------------------------------------------------------------------------------------------===//

/// Products of blocks of a transformer: all but attention and the head.
static Count linears(const ModelFacts &f) { return f.forward.dense - f.attention.dense - f.head; }

llvm::ArrayRef<Preset> nap::presets() {
  using Facts = const ModelFacts &;
  static const std::vector<Preset> all = {
      // Kaplan et al. 2020; Brown et al. 2020, table D.1.
      {"gpt3_d1", "6 N D", [](Facts f) { return 6 * Count(f.parameters) * f.tokens; }},
      // Chowdhery et al. 2022, appendix B.
      {"palm", "(6 N + 12 L H Q T) D",
       [](Facts f) { return 6 * Count(f.parameters) * f.tokens + 3 * f.attention.dense; }, false,
       &ModelFlops::dense},
      {"nanogpt", "(6 (N - positions) + 12 L H Q T) D",
       [](Facts f) {
         return 6 * Count(f.parameters - f.positions) * f.tokens + 3 * f.attention.dense;
       },
       false, &ModelFlops::dense},
      {"llm.c", "(6 N + 6 L C T) D",
       [](Facts f) { return 6 * Count(f.parameters) * f.tokens + 3 * f.attention.half; }, false,
       &ModelFlops::half},
      {"torchtitan", "(6 (N - looked up) + 12 L H Q T) D",
       [](Facts f) {
         return 6 * Count(f.parameters - f.lookedUp) * f.tokens + 3 * f.attention.dense;
       },
       false, &ModelFlops::dense},
      // Narayanan et al. 2021, equation 2: every block computed again.
      {"megatron21", "4 (linears + attention, dense) + 3 head",
       [](Facts f) { return 4 * (linears(f) + f.attention.dense) + 3 * f.head; }},
      {"megatron_now", "3 (linears + attention, half + head)",
       [](Facts f) { return 3 * (linears(f) + f.attention.half + f.head); }, false,
       &ModelFlops::half},
      // Korthikanti et al. 2022, appendix A: the model's, and with attention computed again.
      {"korthikanti", "3 forward, dense", [](Facts f) { return 3 * f.forward.dense; }, false,
       &ModelFlops::dense},
      {"korthikanti_selective", "3 (forward + attention), dense",
       [](Facts f) { return 3 * (f.forward.dense + f.attention.dense); }},
      // Hoffmann et al. 2022, appendix F, as it makes table A4.
      {"chinchilla_a4", "3 (linears + attention, dense + 3 a score)",
       [](Facts f) { return 3 * (linears(f) + f.attention.dense + 3 * f.scores); }},
      {"cs336", "3 forward, dense + 15 N",
       [](Facts f) { return 3 * f.forward.dense + 15 * Count(f.parameters); }},
      // torch.utils.flop_counter: a flash kernel's backward is 2.5 times its forward.
      {"torch", "3 (forward - attention) + 3.5 attention, dense",
       [](Facts f) {
         return 3 * (f.forward.dense - f.attention.dense) + f.attention.dense * 7 / 2;
       }},
      {"mac", "forward, dense, in multiply-accumulates",
       [](Facts f) { return f.forward.dense / 2; }},
      // What exact leaves out of a convolution: the whole kernel at each place.
      {"padded", "exact + taps outside of the image",
       [](Facts f) { return f.written.exact + f.written.padded; }, true},
      // hlo_cost_analysis: a comparison and a conversion are one too, functions none; an outer
      // product is a contraction over one term.
      {"xla", "exact + vec + cmp + cvt, outer products twice",
       [](Facts f) { return f.written.exact + f.beside + f.outer; }, true},
  };
  return all;
}

const Preset *nap::findPreset(StringRef name) {
  const Preset *found =
      llvm::find_if(presets(), [&](const Preset &known) { return known.name == name; });
  return found == presets().end() ? nullptr : found;
}

std::string nap::presetNames() {
  return llvm::join(llvm::map_range(presets(), [](const Preset &known) { return known.name; }),
                    ", ");
}
