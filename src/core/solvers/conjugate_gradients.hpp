// Conjugate gradients (Hestenes and Stiefel 1952), preconditioned: a linear system whose matrix is known by its
// products.
#pragma once
#include <cmath>

#include "core/risk.hpp"

namespace tutelage {

/// Adds to `step` what solves A step = residual, from step = 0, until small(residual, residual' M^-1 residual), `most`
/// products are made or enough() says so; `residual` is left as it then is. apply(v, out) is out = A v, precondition(v)
/// makes M^-1 v in place, M roughly A. A direction without curvature ends the search; if it is the first, it is the
/// answer when `take_flat`. Tells how many products were made.
template <class Apply, class Precondition, class Small, class Enough>
int conjugate_gradients_until(Vector& residual, Vector& step, Apply&& apply, Precondition&& precondition, Small&& small,
                              int most, Enough&& enough, bool take_flat = false) {
  Vector search, product;
  double before = 0;
  int made = 0;
  while (made < most) {
    Vector solved(residual);
    precondition(solved);
    const double now = dot(residual, solved);
    if (small(residual, now)) break;
    if (made == 0) {
      search = std::move(solved);
    } else {
      for (std::size_t i = 0; i < search.size(); ++i) search[i] = solved[i] + now / before * search[i];
    }
    before = now;
    apply(search, product);
    const double curved = dot(search, product);
    if (!(curved > 1e-16 * dot(search, search))) {
      if (made == 0 && take_flat) step = search;
      break;
    }
    ++made;
    for (std::size_t i = 0; i < step.size(); ++i) {
      step[i] += now / curved * search[i];
      residual[i] -= now / curved * product[i];
    }
    if (enough()) break;
  }
  return made;
}

/// The same until norm(residual) <= goal.
template <class Apply, class Precondition, class Enough>
int conjugate_gradients(Vector& residual, Vector& step, Apply&& apply, Precondition&& precondition, double goal,
                        int most, Enough&& enough, bool take_flat = false) {
  return conjugate_gradients_until(
      residual, step, apply, precondition, [=](const Vector& left, double) { return norm(left) <= goal; }, most, enough,
      take_flat);
}

}  // namespace tutelage
