// A dual point where scaling makes none: coefficients without a price, or with a sign and no price.
//
// The conjugate of the penalty is then infinite unless the gradient of such a coefficient vanishes (or has the right
// sign), which no factor t in front of the slopes brings about. So the slopes are bent along a Newton step D of the
// coefficients that are wrong, theta' = theta + loss'' (X D), which makes their gradients zero to rounding. What is
// left, e, is charged to the gap as |e| (|w + D| + 10 |D|): proof.hpp says why. Columns are centred by their means
// under the curvatures, so the bent slopes still sum to zero. The curvatures are the loss's own, not those that the
// solver keeps above zero: a slope on a flat stretch of the loss must stay where it is, on the border of what the
// conjugate allows.
//
// Cost: two products with those columns for each step of conjugate gradients, and one reading of X.
#pragma once
#include <algorithm>
#include <cmath>

#include "core/solvers/conjugate_gradients.hpp"
#include "core/solvers/coordinate/duality.hpp"

namespace tutelage::coordinate {

class Repair {
 public:
  /// At the scores z.
  Repair(const ColumnProducts& x, SmoothPart& smooth, const Gradients& gradients, const AnyPenalty& penalty,
         const Vector& z, const Watch& watch)
      : x_(x),
        smooth_(smooth),
        gradients_(gradients),
        penalty_(penalty),
        curvatures_(smooth.true_curvatures(z)),
        watch_(watch) {}

  /// The dual value of the bent slopes; -infinity where bending does not help (a loss that is straight here).
  double dual(const Vector& w) {
    Vector bent = smooth_.slopes, g(w.size(), 0.0), step, start;
    std::vector<char> moves(w.size(), 0);
    read(smooth_.slopes, g);
    const Vector before = g;
    Indices js;
    for (int attempt = 0; attempt < 6; ++attempt) {
      bool grown = false;
      for (const Index j : gradients_.eligible()) {
        if (moves[at(j)] || !penalty_.pinned(j, x_.columns(), -g[at(j)])) continue;
        moves[at(j)] = grown = true;
      }
      if (attempt > 0 && !grown) break;
      js.clear();
      start.clear();
      for (const Index j : gradients_.eligible()) {
        if (!moves[at(j)]) continue;
        js.push_back(j);
        start.push_back(before[at(j)]);
      }
      bent = bend(js, start, step);
      read(bent, g);
    }
    double charge = 0, over = 0, from = 0;  // in the units of the columns
    for (std::size_t t = 0; t < js.size(); ++t) {
      const std::size_t j = at(js[t]);
      charge += std::abs(g[j]) * (std::abs(w[j] + step[t]) + 10 * std::abs(step[t]));
      over += g[j] * g[j] / gradients_.squares[j];
      from += start[t] * start[t] / gradients_.squares[j];
    }
    // Of a gradient that was rounding already, rounding is left.
    const bool negligible = charge > 0 && charge <= 1e-10 * std::abs(smooth_.value());
    if (!negligible && !(std::sqrt(over) <= 1e-6 * std::sqrt(from))) return -infinity;
    Vector v(w.size(), 0.0);
    for (const Index j : gradients_.eligible()) v[at(j)] = moves[at(j)] ? 0.0 : -g[at(j)];
    return dual_value(smooth_, penalty_, bent, v) - charge;
  }

 private:
  void read(const Vector& slopes, Vector& g) const {
    const Indices& js = gradients_.eligible();
    Vector values(js.size());
    x_.dots(js.data(), static_cast<Index>(js.size()), gradients_.shift(), slopes.data(), values.data());
    for (std::size_t t = 0; t < js.size(); ++t) g[at(js[t])] = values[t];
  }

  /// The slopes after a Newton step of the columns js, whose gradients are given.
  Vector bend(const Indices& js, Vector gradients, Vector& step) const {
    const Index count = static_cast<Index>(js.size());
    const Vector& c = curvatures_;
    Vector shift(gradients_.shift() ? gradients_.squares.size() : 0), sums(js.size());
    double total = 0;
    for (const double curvature : c) total += curvature;
    if (!shift.empty()) {
      x_.sums(js.data(), count, c.data(), sums.data());
      for (std::size_t t = 0; t < js.size(); ++t) shift[at(js[t])] = total > 0 ? sums[t] / total : 0;
    }
    const double* by = shift.empty() ? nullptr : shift.data();
    const auto along = [&](const Vector& v, Vector& z) {
      z.assign(c.size(), 0.0);
      x_.add(js.data(), count, by, v.data(), z.data());
      for (std::size_t i = 0; i < c.size(); ++i) z[i] *= c[i];
    };
    Vector z;
    step.assign(js.size(), 0.0);
    const auto apply = [&](const Vector& v, Vector& out) {
      along(v, z);
      out.resize(js.size());
      x_.dots(js.data(), count, by, z.data(), out.data());
    };
    const auto precondition = [&](Vector& v) {
      for (std::size_t t = 0; t < v.size(); ++t) v[t] /= gradients_.squares[at(js[t])];
    };
    for (double& g : gradients) g = -g;
    conjugate_gradients(gradients, step, apply, precondition, 1e-14 * norm(gradients), 100,
                        [this] { return watch_.late(); });
    along(step, z);
    for (std::size_t i = 0; i < z.size(); ++i) z[i] += smooth_.slopes[i];
    return z;
  }

  const ColumnProducts& x_;
  SmoothPart& smooth_;
  const Gradients& gradients_;
  const AnyPenalty& penalty_;
  const Vector curvatures_;
  const Watch& watch_;
};

}  // namespace tutelage::coordinate
