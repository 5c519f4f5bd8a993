// Updates right behind the gradients that they read.
#include "passes/step/MoveUpdates.h"

#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>

using namespace mlir;
using namespace nap;

namespace {
/// Where ops may stand: behind which of those up to `last`, by number.
class Places {
public:
  Places(Operation *last, Value loss);
  void findEarliest();
  void waitForReaders(ArrayRef<StoredVersion> stored);
  void move();

private:
  int64_t placeOf(Value value) const;

  /// The ops up to `last`, and those behind.
  SmallVector<Operation *> before, updates;
  llvm::DenseMap<Operation *, int64_t> places;
  int64_t first = 0;
};
} // namespace

Places::Places(Operation *last, Value loss) {
  bool isBehind = false;
  for (Operation &op : *last->getBlock()) {
    if (!isBehind)
      places[&op] = int64_t(before.size());
    (isBehind ? updates : before).push_back(&op);
    isBehind |= &op == last;
  }
  first = std::max<int64_t>(placeOf(loss), 0);
}

/// -1 for arguments.
int64_t Places::placeOf(Value value) const {
  Operation *op = value.getDefiningOp();
  return op ? places.lookup(op) : -1;
}

void Places::findEarliest() {
  for (Operation *op : updates) {
    int64_t place = first;
    for (Value operand : op->getOperands())
      place = std::max(place, placeOf(operand));
    places[op] = place;
  }
}

/// Lets the ops that make a parameter's next versions wait for the readers of all its old ones, but
/// those among the updates, which keep their place before them.
void Places::waitForReaders(ArrayRef<StoredVersion> stored) {
  llvm::DenseMap<Attribute, int64_t> lastOf;
  llvm::DenseSet<Operation *> own(updates.begin(), updates.end());
  for (const StoredVersion &version : stored) {
    int64_t &place = lastOf.try_emplace(version.parameter, first).first->second;
    place = std::max(place, placeOf(version.next));
    for (Operation *reader : version.old.getUsers())
      if (!own.contains(reader) && places.contains(reader))
        place = std::max(place, places.lookup(reader));
  }
  for (const StoredVersion &version : stored)
    if (Operation *op = version.next.getDefiningOp(); op && own.contains(op))
      places[op] = lastOf.lookup(version.parameter);
}

void Places::move() {
  std::vector<SmallVector<Operation *>> behind(before.size());
  for (Operation *op : updates)
    behind[places.lookup(op)].push_back(op);
  for (auto [place, ops] : llvm::zip(before, behind)) {
    Operation *after = place;
    for (Operation *op : ops) {
      op->moveAfter(after);
      after = op;
    }
  }
}

void nap::moveUpdates(Operation *last, Value loss, ArrayRef<StoredVersion> stored) {
  Places places(last, loss);
  places.findEarliest();
  places.waitForReaders(stored);
  places.move();
}
