// A dual point where scaling makes none: coefficients without a price, or with a sign and no price.
//
// The conjugate of the penalty is then infinite unless the gradient of such a coefficient vanishes (or has the right
// sign), which no factor t in front of the slopes brings about. So the slopes are bent along a Newton step D of the
// coefficients that are wrong, theta' = theta + loss'' (X D), which makes their gradients zero to rounding. What is
// left, e, is charged to the gap as |e| |w|. Columns are centred by their means under the curvatures, so the bent
// slopes still sum to zero.
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
  Repair(const ColumnProducts& x, SmoothPart& smooth, const Gradients& gradients, const AnyPenalty& penalty)
      : x_(x), smooth_(smooth), gradients_(gradients), penalty_(penalty) {}

  /// The dual value of the bent slopes; -infinity where bending does not help (a loss that is straight here).
  double dual(const Vector& w) {
    Vector bent = smooth_.slopes, g(w.size(), 0.0), left, start;
    std::vector<char> moves(w.size(), 0);
    read(smooth_.slopes, g);
    const Vector before = g;
    Indices js;
    for (int attempt = 0; attempt < 6; ++attempt) {
      bool grown = false;
      for (const Index j : gradients_.eligible()) {
        if (moves[at(j)] || !penalty_.pinned(j, -g[at(j)])) continue;
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
      bent = bend(js, start);
      read(bent, g);
    }
    double charge = 0, over = 0;
    for (const Index j : js) {
      charge += std::abs(g[at(j)] * w[at(j)]);
      over += g[at(j)] * g[at(j)];
    }
    if (!(std::sqrt(over) <= 1e-3 * norm(start))) return -infinity;
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
  Vector bend(const Indices& js, Vector gradients) const {
    const Index count = static_cast<Index>(js.size());
    const Vector& c = smooth_.curvatures;
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
    Vector z, step(js.size(), 0.0);
    const auto apply = [&](const Vector& v, Vector& out) {
      along(v, z);
      out.resize(js.size());
      x_.dots(js.data(), count, by, z.data(), out.data());
    };
    const auto precondition = [&](Vector& v) {
      for (std::size_t t = 0; t < v.size(); ++t) v[t] /= gradients_.squares[at(js[t])];
    };
    for (double& g : gradients) g = -g;
    conjugate_gradients(gradients, step, apply, precondition, 1e-14 * norm(gradients), 100, [] { return false; });
    along(step, z);
    for (std::size_t i = 0; i < z.size(); ++i) z[i] += smooth_.slopes[i];
    return z;
  }

  const ColumnProducts& x_;
  SmoothPart& smooth_;
  const Gradients& gradients_;
  const AnyPenalty& penalty_;
};

}  // namespace tutelage::coordinate
