// A separable penalty as the coordinate loops see it: prox, value and slopes of one coefficient, inlined where the
// penalty is one of ours and through AnyPenalty where it is a user's.
#pragma once
#include <vector>

#include "core/penalties.hpp"

namespace tutelage::coordinate {

/// What the descent on a piecewise smooth penalty needs of one coefficient beside prox and value.
struct Piece {
  bool smooth = false;   // false at a kink or on the border of the domain
  double slope = 0;      // of the penalty at w
  double curvature = 0;  // change of the slope with w
};

template <class P, bool each>
class ScalarTerm {
 public:
  explicit ScalarTerm(const SeparableOf<P, each>& penalty)
      : penalty_(&penalty),
        first_(penalty.scalar(0)),
        weights_(penalty.weights().empty() ? nullptr : penalty.weights().data()),
        count_(static_cast<Index>(penalty.weights().size())) {}

  static constexpr bool has_pieces = requires(const P p) { p.subdifferential(1.0); };

  double prox(Index j, double v, double step) const {
    if (!weights_) return scalar(j).prox(v, step);
    const double by = weight(j);
    return by == 0 ? v : scalar(j).prox(v, by * step);
  }
  double value(Index j, double w) const {
    const double by = weight(j);
    return by == 0 ? 0 : by * scalar(j).value(w);
  }
  /// The curvature is a difference of slopes: exact up to rounding for a penalty of quadratic pieces.
  Piece piece(Index j, double w) const {
    const double by = weight(j);
    if (by == 0) return {.smooth = true};
    if constexpr (has_pieces) {
      const double h = w == 0 ? 0x1p-20 : w * 0x1p-20;
      const Interval here = scalar(j).subdifferential(w);
      const Interval near = scalar(j).subdifferential(w + h);
      if (here.low != here.high || near.low != near.high) return {};
      return {.smooth = true, .slope = by * here.low, .curvature = by * (near.low - here.low) / h};
    }
    return {};
  }

 private:
  const P& scalar(Index j) const {
    if constexpr (each) return penalty_->scalar(j);
    return first_;  // a copy of its own: its parameters may stay in registers
  }
  double weight(Index j) const { return weights_ ? weights_[j < count_ ? j : j % count_] : 1.0; }

  const SeparableOf<P, each>* penalty_;
  P first_;
  const double* weights_;
  Index count_;
};

class ErasedTerm {
 public:
  explicit ErasedTerm(const AnyPenalty& penalty) : penalty_(&penalty) {}
  static constexpr bool has_pieces = false;
  double prox(Index j, double v, double step) const { return penalty_->prox_one(j, v, step); }
  double value(Index j, double w) const { return penalty_->value_one(j, w); }
  Piece piece(Index, double) const { return {}; }

 private:
  const AnyPenalty* penalty_;
};

/// Calls body(term) with the term of this penalty.
template <class Body>
void with_term(const AnyPenalty& penalty, Body&& body) {
  bool found = false;
  const auto try_one = [&]<class P, bool each>(const SeparableOf<P, each>* separable) {
    if (!separable) return;
    found = true;
    body(ScalarTerm<P, each>(*separable));
  };
  for_each<SeparablePenalties>([&](auto member) {
    using P = decltype(member);
    if (!found) try_one(dynamic_cast<const SeparableOf<P, false>*>(&penalty));
    if constexpr (std::is_same_v<P, Box>) {
      if (!found) try_one(dynamic_cast<const SeparableOf<P, true>*>(&penalty));
    }
  });
  if (!found) body(ErasedTerm(penalty));
}

}  // namespace tutelage::coordinate
