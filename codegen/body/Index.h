// Index arithmetic with known ranges.
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <compare>
#include <cstdint>
#include <deque>

namespace nap {

/// Integers lo, ..., hi, both included.
struct IndexRange {
  int64_t lo = 0, hi = 0;

  static IndexRange below(int64_t extent) { return {0, extent - 1}; }
  bool within(IndexRange other) const { return lo >= other.lo && hi <= other.hi; }
};

/// constant + sum of coefficient * atom. Atoms rise strictly and no coefficient is 0, so equal
/// forms compare equal.
struct Linear {
  int64_t constant = 0;
  llvm::SmallVector<std::pair<unsigned, int64_t>, 4> terms;

  Linear() = default;
  Linear(int64_t constant) : constant(constant) {}
  /// The atom itself.
  static Linear of(unsigned atom);

  bool isConstant() const { return terms.empty(); }
  /// How often the atom is in the form.
  int64_t coefficientOf(unsigned atom) const;

  Linear operator+(const Linear &other) const;
  Linear operator-(const Linear &other) const { return *this + other * -1; }
  Linear operator*(int64_t factor) const;
  bool operator==(const Linear &other) const {
    return constant == other.constant && terms == other.terms;
  }
  bool operator<(const Linear &other) const;
};

/// One letter of index arithmetic.
struct Atom {
  enum Kind {
    counter,  ///< a loop's induction variable
    lane,     ///< the place in a vector: 0, ..., kLanes - 1
    dynamic,  ///< a number that is read or computed at run time
    quotient, ///< numerator / divisor, rounded down
  };
  Kind kind = counter;
  IndexRange range;
  /// The loop level at which it is known.
  unsigned level = 0;
  /// Whether it differs from lane to lane.
  bool varies = false;
  /// Counter and uniform dynamic: of type index; varying dynamic: a vector of i64. Quotient: null
  /// until its code exists.
  mlir::Value value;
  /// Lane: which lanes take part (a vector of i1), or null for all.
  mlir::Value mask;
  /// Varying dynamic: the lane atom it varies with.
  unsigned laneAtom = 0;
  /// Quotient.
  Linear numerator;
  int64_t divisor = 1;
};

/// The atoms of one function, and arithmetic that knows their ranges.
class IndexSpace {
public:
  unsigned add(Atom atom);
  Atom &operator[](unsigned atom) { return atoms[atom]; }
  const Atom &operator[](unsigned atom) const { return atoms[atom]; }

  /// The numbers that the form can be; may be wider than the truth.
  IndexRange rangeOf(const Linear &form) const;
  /// form / divisor rounded down, simplified by ranges.
  Linear floorDiv(const Linear &form, int64_t divisor);
  /// form - divisor * floorDiv(form, divisor).
  Linear remainder(const Linear &form, int64_t divisor);

  /// The row-major place of an index.
  Linear linearize(llvm::ArrayRef<Linear> index, llvm::ArrayRef<int64_t> shape) const;
  /// The inverse of linearize.
  llvm::SmallVector<Linear> delinearize(const Linear &place, llvm::ArrayRef<int64_t> shape);

  /// The deepest loop level on which any form depends.
  unsigned levelOf(llvm::ArrayRef<Linear> forms) const;
  /// Whether any form differs from lane to lane.
  bool varies(llvm::ArrayRef<Linear> forms) const;
  /// The lane atom below a varying form; it has one.
  unsigned laneOf(llvm::ArrayRef<Linear> forms) const;

private:
  std::deque<Atom> atoms;
};

} // namespace nap
