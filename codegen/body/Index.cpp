// Index arithmetic with known ranges.
#include "codegen/body/Index.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace nap;

Linear Linear::of(unsigned atom) {
  Linear form;
  form.terms.push_back({atom, 1});
  return form;
}

int64_t Linear::coefficientOf(unsigned atom) const {
  for (auto [other, coefficient] : terms)
    if (other == atom)
      return coefficient;
  return 0;
}

Linear Linear::operator+(const Linear &other) const {
  Linear sum(constant + other.constant);
  auto left = terms.begin();
  auto right = other.terms.begin();
  while (left != terms.end() || right != other.terms.end()) {
    if (right == other.terms.end() || (left != terms.end() && left->first < right->first)) {
      sum.terms.push_back(*left++);
    } else if (left == terms.end() || right->first < left->first) {
      sum.terms.push_back(*right++);
    } else {
      if (int64_t coefficient = left->second + right->second)
        sum.terms.push_back({left->first, coefficient});
      ++left;
      ++right;
    }
  }
  return sum;
}

Linear Linear::operator*(int64_t factor) const {
  Linear product(constant * factor);
  if (factor != 0)
    for (auto [atom, coefficient] : terms)
      product.terms.push_back({atom, coefficient * factor});
  return product;
}

bool Linear::operator<(const Linear &other) const {
  if (constant != other.constant)
    return constant < other.constant;
  return std::lexicographical_compare(terms.begin(), terms.end(), other.terms.begin(),
                                      other.terms.end());
}

/// numerator / divisor rounded down; the divisor is positive.
static int64_t floorOf(int64_t numerator, int64_t divisor) {
  int64_t quotient = numerator / divisor;
  return quotient - (numerator % divisor < 0);
}

unsigned IndexSpace::add(Atom atom) {
  atoms.push_back(std::move(atom));
  return atoms.size() - 1;
}

IndexRange IndexSpace::rangeOf(const Linear &form) const {
  IndexRange range{form.constant, form.constant};
  for (auto [atom, coefficient] : form.terms) {
    IndexRange of = atoms[atom].range;
    range.lo += coefficient * (coefficient > 0 ? of.lo : of.hi);
    range.hi += coefficient * (coefficient > 0 ? of.hi : of.lo);
  }
  // k * x - k * c * (x / c) is k * (x mod c): within 0 .. k * (c - 1).
  for (auto [atom, coefficient] : form.terms) {
    const Atom &quotient = atoms[atom];
    if (quotient.kind != Atom::quotient || coefficient >= 0 || coefficient % quotient.divisor)
      continue;
    int64_t k = -coefficient / quotient.divisor;
    Linear rest = form - quotient.numerator * k - Linear::of(atom) * coefficient;
    if (rest.terms.size() >= form.terms.size())
      continue;
    IndexRange others = rangeOf(rest);
    range.lo = std::max(range.lo, others.lo);
    range.hi = std::min(range.hi, others.hi + k * (quotient.divisor - 1));
  }
  return range;
}

Linear IndexSpace::floorDiv(const Linear &form, int64_t divisor) {
  if (divisor == 1)
    return form;
  // Whole multiples leave the quotient.
  Linear whole(floorOf(form.constant, divisor)), rest(form.constant - whole.constant * divisor);
  for (auto [atom, coefficient] : form.terms) {
    bool divides = coefficient % divisor == 0;
    (divides ? whole : rest).terms.push_back({atom, divides ? coefficient / divisor : coefficient});
  }
  IndexRange range = rangeOf(rest);
  if (floorOf(range.lo, divisor) == floorOf(range.hi, divisor))
    return whole + floorOf(range.lo, divisor);

  // (a * g + r) / (g * d) is a / d where 0 <= r < g.
  llvm::SmallVector<int64_t> divisors;
  for (auto [atom, coefficient] : rest.terms)
    if (int64_t g = std::gcd(coefficient, divisor); g > 1)
      divisors.push_back(g);
  llvm::sort(divisors, std::greater<>());
  for (int64_t g : divisors) {
    Linear multiples(floorOf(rest.constant, g)), small(rest.constant - multiples.constant * g);
    for (auto [atom, coefficient] : rest.terms) {
      bool divides = coefficient % g == 0;
      (divides ? multiples : small)
          .terms.push_back({atom, divides ? coefficient / g : coefficient});
    }
    if (rangeOf(small).within(IndexRange::below(g)))
      return whole + floorDiv(multiples, divisor / g);
  }

  // (x / a) / b is x / (a * b).
  if (rest.constant == 0 && rest.terms.size() == 1 && rest.terms[0].second == 1 &&
      atoms[rest.terms[0].first].kind == Atom::quotient) {
    const Atom &inner = atoms[rest.terms[0].first];
    Linear numerator = inner.numerator;
    return whole + floorDiv(numerator, inner.divisor * divisor);
  }

  for (unsigned i = 0; i < atoms.size(); ++i)
    if (atoms[i].kind == Atom::quotient && atoms[i].divisor == divisor &&
        atoms[i].numerator == rest)
      return whole + Linear::of(i);
  Atom quotient;
  quotient.kind = Atom::quotient;
  quotient.range = {floorOf(range.lo, divisor), floorOf(range.hi, divisor)};
  quotient.level = levelOf(rest);
  quotient.varies = varies(rest);
  quotient.numerator = rest;
  quotient.divisor = divisor;
  return whole + Linear::of(add(std::move(quotient)));
}

Linear IndexSpace::remainder(const Linear &form, int64_t divisor) {
  return form - floorDiv(form, divisor) * divisor;
}

Linear IndexSpace::linearize(llvm::ArrayRef<Linear> index, llvm::ArrayRef<int64_t> shape) const {
  Linear place;
  for (auto [i, extent] : llvm::zip_equal(index, shape))
    place = place * extent + i;
  return place;
}

llvm::SmallVector<Linear> IndexSpace::delinearize(const Linear &place,
                                                  llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<Linear> index(shape.size());
  Linear rest = place;
  for (size_t i = shape.size(); i-- > 0;) {
    Linear quotient = i == 0 ? Linear() : floorDiv(rest, shape[i]);
    index[i] = rest - quotient * shape[i];
    rest = quotient;
  }
  return index;
}

unsigned IndexSpace::levelOf(llvm::ArrayRef<Linear> forms) const {
  unsigned level = 0;
  for (const Linear &form : forms)
    for (auto [atom, coefficient] : form.terms)
      level = std::max(level, atoms[atom].level);
  return level;
}

bool IndexSpace::varies(llvm::ArrayRef<Linear> forms) const {
  return llvm::any_of(forms, [&](const Linear &form) {
    return llvm::any_of(form.terms, [&](auto term) { return atoms[term.first].varies; });
  });
}

unsigned IndexSpace::laneOf(llvm::ArrayRef<Linear> forms) const {
  for (const Linear &form : forms)
    for (auto [atom, coefficient] : form.terms) {
      if (atoms[atom].kind == Atom::lane)
        return atom;
      if (!atoms[atom].varies)
        continue;
      return atoms[atom].kind == Atom::quotient ? laneOf(atoms[atom].numerator)
                                                : atoms[atom].laneAtom;
    }
  llvm_unreachable("a form that varies has a lane");
}
