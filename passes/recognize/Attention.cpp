// Attention, found in the ops that compute it.
//
//   product = einsum(p, v)        p = [dropout] e / sum(e)       e = exp(x - max(x))
//   x = masks and factors of einsum(q, k), views and casts between
//
// The way is walked up from the product to the scores. Then letters are followed down from the
// scores, as atoms that views regroup, so that every axis on the way is known by what it stands
// for: shared by queries and keys (batches and key heads), of queries alone (heads that share a key
// head, and the query), of keys alone. A mask must be a band: query i sees keys i + from, ..., i +
// to.
#include "passes/recognize/Attention.h"

#include "ir/Einsum.h"
#include "ir/Views.h"
#include "ir/attention/Attention.h"
#include "ir/ops/Build.h"
#include "passes/recognize/Way.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nap;
using llvm::StringRef;

namespace {

/// Letters of the scores' product, each of more than one element.
using Atoms = SmallVector<char>;
/// The atoms of each axis of a tensor, outermost first.
using Axes = SmallVector<Atoms>;

/// One attention: what is known of it, and the new op.
class Matcher {
public:
  explicit Matcher(Way &way) : way(way) {}
  /// The op, or null with way.miss set.
  AttentionOp build();

private:
  bool sortLetters();
  bool followWay();
  bool takeMask(const Mask &mask, const Axes &axes);
  bool checkDraw(const Axes &axes);
  bool checkReaders();
  bool sortValues();
  Value arrange(OpBuilder &builder, Value value, StringRef letters, StringRef order,
                ArrayRef<int64_t> shape);
  int64_t sizeOf(const Atoms &atoms) const;
  bool miss(const llvm::Twine &why) {
    way.miss = why.str();
    return false;
  }

  Way &way;
  std::string queryLetters, keyLetters, scoreLetters;
  unsigned queryOperand = 0;
  /// By kind: shared, of queries alone (`row` is the query, the others heads), of keys, contracted.
  Atoms shared, heads, keys, contracted;
  char row = 0;
  /// Whether a mask said which letter the query is.
  bool isRowKnown = false;
  int64_t sizes[128] = {};
  std::optional<int64_t> from, to;
  Axes probabilityAxes;
  /// Letters of the product by operand; the values' letters that the probabilities lack.
  std::string productLetters, valueLetters, resultLetters, ownLetters;
  /// The values' letters in the order shared, keys, own.
  std::string valueOrder;
};

} // namespace

//===-- Letters
//--------------------------------------------------------------------------------===//

int64_t Matcher::sizeOf(const Atoms &atoms) const {
  int64_t size = 1;
  for (char atom : atoms)
    size *= sizes[size_t(atom)];
  return size;
}

/// The axes of `op`'s result, given those of what it reads on the way; nothing where a view tears
/// an atom.
static std::optional<Axes> throughOp(Operation *op, const Axes &axes, const int64_t *sizes) {
  Axes result;
  if (auto permute = dyn_cast<PermuteOp>(op)) {
    for (int64_t axis : permute.getOrder())
      result.push_back(axes[axis]);
    return result;
  }
  auto reshape = dyn_cast<ReshapeOp>(op);
  if (!reshape)
    return axes;
  Atoms left;
  for (const Atoms &atoms : axes)
    left.append(atoms);
  size_t next = 0;
  for (int64_t size : reshape.getType().getShape()) {
    Atoms &atoms = result.emplace_back();
    for (int64_t have = 1; have < size;) {
      if (next == left.size())
        return std::nullopt;
      atoms.push_back(left[next]);
      have *= sizes[size_t(left[next++])];
      if (have > size)
        return std::nullopt;
    }
  }
  return result;
}

/// Sorts the letters of the scores' product; the keys' letters are those that the softmax goes
/// along.
bool Matcher::sortLetters() {
  EinsumPattern pattern = *parseEinsum(way.scores.getPattern());
  SmallVector<int64_t> all = letterSizes(way.scores);
  for (size_t letter = 0; letter < 128; ++letter)
    sizes[letter] = all[letter];
  scoreLetters = pattern.result;
  auto has = [](StringRef text, char letter) { return text.contains(letter); };
  // Down to the softmax, to learn which letters its axis is.
  Axes axes;
  for (char letter : scoreLetters)
    axes.push_back(sizes[size_t(letter)] > 1 ? Atoms{letter} : Atoms{});
  Value value = way.scores.getResult();
  for (Operation *op : llvm::reverse(way.ops)) {
    if (value == way.logits)
      break;
    auto next = throughOp(op, axes, sizes);
    if (!next)
      return miss("the scores' axes are regrouped on the way to the softmax");
    axes = *next;
    value = op->getResult(0);
  }
  keys = axes[way.axis];
  if (keys.empty())
    return miss("there is one key alone");
  queryOperand = has(pattern.operands[0], keys[0]) ? 1 : 0;
  queryLetters = pattern.operands[queryOperand];
  keyLetters = pattern.operands[1 - queryOperand];
  Atoms rows;
  for (char letter : scoreLetters) {
    if (sizes[size_t(letter)] == 1)
      continue;
    bool ofQuery = has(queryLetters, letter), ofKey = has(keyLetters, letter);
    if (ofQuery && ofKey)
      shared.push_back(letter);
    else if (ofQuery)
      rows.push_back(letter);
    else if (!llvm::is_contained(keys, letter))
      return miss("the softmax does not go along all that keys alone have");
  }
  for (char letter : keys)
    if (has(queryLetters, letter))
      return miss("the softmax goes along an axis that queries have");
  for (char letter : queryLetters)
    if (sizes[size_t(letter)] > 1 && !has(scoreLetters, letter)) {
      if (!has(keyLetters, letter))
        return miss("queries are summed over an axis that keys lack");
      contracted.push_back(letter);
    }
  for (char letter : keyLetters)
    if (sizes[size_t(letter)] > 1 && !has(scoreLetters, letter) && !has(queryLetters, letter))
      return miss("keys are summed over an axis that queries lack");
  // The query is the last, unless masks speak of another.
  heads = rows;
  row = rows.empty() ? 0 : rows.back();
  return true;
}

/// Narrows the band to what one mask leaves visible.
bool Matcher::takeMask(const Mask &mask, const Axes &axes) {
  if (!mask.bounds)
    return miss("what hides scores is more than positions: a mask that depends on data, or a bias");
  for (const PositionBound &bound : *mask.bounds) {
    int64_t ofRow = 0, ofKey = 0;
    for (auto [atoms, coefficient] : llvm::zip_equal(axes, bound.coefficients)) {
      if (coefficient == 0 || atoms.empty())
        continue;
      if (atoms.size() != 1)
        return miss("a mask speaks of several axes as one");
      if (llvm::is_contained(keys, atoms[0]) && keys.size() == 1) {
        ofKey = coefficient;
      } else if (llvm::is_contained(heads, atoms[0]) && (!isRowKnown || row == atoms[0])) {
        row = atoms[0];
        isRowKnown = true;
        ofRow = coefficient;
      } else {
        return miss("a mask is no band of queries and keys");
      }
    }
    if (ofRow == 0 && ofKey == 0 && bound.constant >= 0)
      continue;
    if (ofRow != -ofKey || ofKey == 0)
      return miss("a mask is no band of queries and keys");
    if (ofKey < 0) // key <= query + constant / -ofKey
      to = std::min(to.value_or(INT64_MAX), llvm::divideFloorSigned(bound.constant, -ofKey));
    else
      from = std::max(from.value_or(INT64_MIN), -llvm::divideFloorSigned(bound.constant, ofKey));
  }
  return true;
}

/// The draws must be numbered as those of a mask [.., heads, queries, keys].
bool Matcher::checkDraw(const Axes &axes) {
  Atoms found, wanted(shared);
  for (const Atoms &atoms : axes)
    found.append(atoms);
  for (char letter : heads)
    if (letter != row)
      wanted.push_back(letter);
  if (row)
    wanted.push_back(row);
  wanted.append(keys);
  if (found != wanted)
    return miss("dropout draws its numbers in another order than heads, queries, keys");
  Type sums = accumulatorType(getElementTypeOrSelf(way.product.getType()));
  if (getElementTypeOrSelf(way.draw.getType()) != sums)
    return miss("dropout draws numbers of another type than the scores have");
  return true;
}

/// Follows the letters from the scores to the product.
bool Matcher::followWay() {
  Axes axes;
  for (char letter : scoreLetters)
    axes.push_back(sizes[size_t(letter)] > 1 ? Atoms{letter} : Atoms{});
  Axes atDraw;
  for (Operation *op : llvm::reverse(way.ops)) {
    auto next = throughOp(op, axes, sizes);
    if (!next)
      return miss("the scores' axes are regrouped on the way");
    axes = *next;
    for (const Mask &mask : way.masks)
      if (mask.op == op && !takeMask(mask, axes))
        return false;
    if (way.draw && isa<SelectOp>(op) && op->getOperand(0).getDefiningOp() &&
        llvm::is_contained(way.draw->getUsers(), op->getOperand(0).getDefiningOp()))
      atDraw = axes;
  }
  probabilityAxes = axes;
  return !way.draw || checkDraw(atDraw);
}

/// Nothing outside may read what lies between scores and product.
bool Matcher::checkReaders() {
  llvm::SmallPtrSet<Operation *, 32> inside(way.ops.begin(), way.ops.end());
  inside.insert(way.beside.begin(), way.beside.end());
  inside.insert(way.product);
  auto isReadOutside = [&](Operation *op) {
    return llvm::any_of(op->getUsers(), [&](Operation *user) { return !inside.contains(user); });
  };
  if (isReadOutside(way.scores))
    return miss("the scores are read elsewhere too");
  for (Operation *op : way.ops)
    if (isReadOutside(op))
      return miss(llvm::Twine("what ") + op->getName().stripDialect() +
                  " makes of the scores is read elsewhere too");
  for (Operation *op : way.beside)
    if (isa<ReduceOp, RandomUniformOp>(op) && isReadOutside(op))
      return miss("the softmax's maximum or sum, or the draw, is read elsewhere too");
  return true;
}

/// Sorts the letters of the product with the values.
bool Matcher::sortValues() {
  EinsumPattern pattern = *parseEinsum(way.product.getPattern());
  productLetters = pattern.operands[way.probabilities];
  valueLetters = pattern.operands[1 - way.probabilities];
  resultLetters = pattern.result;
  SmallVector<int64_t> all = letterSizes(way.product);
  Atoms sharedOrder, keyOrder;
  std::string sharedLetters, keyOwn;
  for (auto [letter, atoms] : llvm::zip_equal(productLetters, probabilityAxes)) {
    if (atoms.empty())
      continue;
    bool ofValues = StringRef(valueLetters).contains(letter),
         ofResult = StringRef(resultLetters).contains(letter);
    bool areKeys = llvm::all_of(atoms, [&](char atom) { return llvm::is_contained(keys, atom); });
    bool areShared =
        llvm::all_of(atoms, [&](char atom) { return llvm::is_contained(shared, atom); });
    bool areRows = llvm::all_of(atoms, [&](char atom) { return llvm::is_contained(heads, atom); });
    if (areKeys && ofValues && !ofResult) {
      keyOrder.append(atoms);
      keyOwn += letter;
    } else if (areShared && ofValues && ofResult) {
      sharedOrder.append(atoms);
      sharedLetters += letter;
    } else if (!(areRows && !ofValues && ofResult)) {
      return miss("values do not have the axes of keys");
    }
  }
  if (keyOrder != keys || sharedOrder != shared)
    return miss("values have the axes of keys in another order");
  for (char letter : valueLetters) {
    bool isOwn = !StringRef(productLetters).contains(letter);
    if (isOwn && !StringRef(resultLetters).contains(letter))
      return miss("values are summed over an axis of their own");
    if (isOwn)
      ownLetters += letter;
  }
  valueOrder = sharedLetters + keyOwn + ownLetters;
  return true;
}

//===-- The new op
//-----------------------------------------------------------------------------===//

/// `value`, whose axes are `letters`, with the axes in the order of `order` (others have one
/// element), as `shape`.
Value Matcher::arrange(OpBuilder &builder, Value value, StringRef letters, StringRef order,
                       ArrayRef<int64_t> shape) {
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> places, sizesNow;
  for (char letter : order)
    places.push_back(letters.find(letter));
  for (size_t axis = 0; axis < letters.size(); ++axis)
    if (!llvm::is_contained(places, int64_t(axis)))
      places.push_back(axis);
  for (int64_t place : places)
    sizesNow.push_back(type.getDimSize(place));
  Location loc = way.product.getLoc();
  if (!llvm::is_sorted(places))
    value = PermuteOp::create(builder, loc, withShape(type, sizesNow), value, places);
  RankedTensorType wanted = withShape(type, shape);
  return value.getType() == wanted ? value
                                   : ReshapeOp::create(builder, loc, wanted, value).getResult();
}

/// The text of atoms.
static std::string text(const Atoms &atoms) { return std::string(atoms.begin(), atoms.end()); }

AttentionOp Matcher::build() {
  if (!sortLetters() || !followWay() || !checkReaders() || !sortValues())
    return {};
  Atoms others;
  for (char letter : heads)
    if (letter != row)
      others.push_back(letter);
  Atoms lead(shared.begin(), shared.empty() ? shared.end() : std::prev(shared.end()));
  int64_t groups = shared.empty() ? 1 : sizes[size_t(shared.back())];
  int64_t queries = row ? sizes[size_t(row)] : 1, keyCount = sizeOf(keys);
  AttentionShape shape;
  shape.queries = queries;
  shape.keys = keyCount;
  shape.from = from;
  shape.to = to;
  for (int64_t i = 0; i < queries; ++i)
    if (shape.firstKey(i) >= shape.lastKey(i)) {
      miss("query " + llvm::Twine(i) + " sees no key");
      return {};
    }
  // A bound that hides nothing is none.
  if (from && *from + queries - 1 <= 0)
    from.reset();
  if (to && *to >= keyCount - 1)
    to.reset();

  OpBuilder builder(way.product);
  Location loc = way.product.getLoc();
  SmallVector<int64_t> leadSizes;
  for (char letter : lead)
    leadSizes.push_back(sizes[size_t(letter)]);
  auto shaped = [&](ArrayRef<int64_t> last) {
    SmallVector<int64_t> all(leadSizes);
    llvm::append_range(all, last);
    return all;
  };
  int64_t headCount = groups * sizeOf(others), valueSize = 1;
  SmallVector<int64_t> productSizes = letterSizes(way.product);
  for (char letter : ownLetters)
    valueSize *= productSizes[letter];
  std::string rowText = row ? std::string(1, row) : "";
  // A factor of the queries is one of the scores.
  Value q = way.scores.getFactors()[queryOperand], k = way.scores.getFactors()[1 - queryOperand];
  Value v = way.product.getFactors()[1 - way.probabilities];
  if (auto scaled = q.getDefiningOp<MulOp>())
    if (std::optional<double> factor = splatNumber(scaled.getRhs()); factor && *factor > 0) {
      way.scale *= *factor;
      q = scaled.getLhs();
    }
  Type element = getElementTypeOrSelf(q.getType());
  for (Value other : {k, v, Value(way.product.getResult())})
    if (getElementTypeOrSelf(other.getType()) != element) {
      miss("queries, keys, values and the result have different element types");
      return {};
    }
  q = arrange(builder, q, queryLetters, text(shared) + text(others) + rowText + text(contracted),
              shaped({headCount, queries, sizeOf(contracted)}));
  k = arrange(builder, k, keyLetters, text(shared) + text(keys) + text(contracted),
              shaped({groups, keyCount, sizeOf(contracted)}));
  v = arrange(builder, v, valueLetters, valueOrder, shaped({groups, keyCount, valueSize}));
  auto number = [&](std::optional<int64_t> value) {
    return value ? builder.getI64IntegerAttr(*value) : IntegerAttr();
  };
  auto outType = RankedTensorType::get(shaped({headCount, queries, valueSize}), element);
  auto lseType = RankedTensorType::get(shaped({headCount, queries}), accumulatorType(element));
  auto attention = AttentionOp::create(
      builder, loc, TypeRange{outType, lseType}, q, k, v, way.draw ? way.draw.getKey() : Value(),
      builder.getF64FloatAttr(way.scale), number(from), number(to),
      builder.getF64FloatAttr(way.rate), way.draw ? way.draw.getSiteAttr() : IntegerAttr());

  // Out to the product's result: its letters are atoms of the probabilities' axes, and the values'
  // own.
  SmallVector<int64_t> split, order, moved;
  std::string have = text(shared) + text(others) + rowText;
  for (char letter : have)
    split.push_back(sizes[size_t(letter)]);
  for (char letter : ownLetters)
    split.push_back(productSizes[letter]);
  for (char letter : resultLetters) {
    if (size_t own = ownLetters.find(letter); own != std::string::npos) {
      order.push_back(have.size() + own);
      continue;
    }
    for (char atom : probabilityAxes[StringRef(productLetters).find(letter)])
      order.push_back(have.find(atom));
  }
  Value out = attention.getOut();
  out = ReshapeOp::create(builder, loc, withShape(outType, split), out);
  if (!llvm::is_sorted(order)) {
    for (int64_t place : order)
      moved.push_back(split[place]);
    out = PermuteOp::create(builder, loc, withShape(outType, moved), out, order);
  }
  out = ReshapeOp::create(builder, loc, way.product.getType(), out);
  way.product.getResult().replaceAllUsesWith(out);
  return attention;
}

AttentionFinding nap::recognizeAttention(EinsumOp product) {
  if (product.getFactors().size() != 2)
    return {};
  for (unsigned operand : {0u, 1u}) {
    Way way;
    way.product = product;
    way.probabilities = operand;
    if (!climbSoftmax(way) || !climbScores(way))
      continue;
    AttentionOp attention = Matcher(way).build();
    if (!attention)
      return {{}, way.miss};
    return {attention, ""};
  }
  return {};
}
