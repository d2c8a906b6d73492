// The certificate of a fit by coordinates: a dual point from the slopes, and the gap it proves.
//
// With theta_i the slope of the loss at the present score (sum_i s_i theta_i = 0 by the exact intercept) and g = X' s
// theta / S, every t in [0, 1] with the penalty's conjugate finite at -t g gives a dual value
//
//     dual(t) = -(1 / S) sum_i s_i conjugate(y_i, t theta_i) - penalty*(-t g)  <=  minimum.
//
// t theta stays in the domain of the loss's conjugate, which is convex and holds 0. A screened coefficient has |g_j|
// inside the slopes of the penalty at zero, where penalty* is its value at zero: g_j = 0 may stand for it. The largest
// dual value met so far is kept, for it stays a lower bound.
#pragma once
#include <algorithm>
#include <cmath>

#include "core/solvers/certificate.hpp"
#include "core/solvers/coordinate/gradients.hpp"

namespace tutelage::coordinate {

/// What certify() remembers while the penalty stays the same.
struct DualState {
  double best = -infinity;
  double violation_scale = 0;  // largest violation at zero coefficients, for problems without a dual
  double worst_violation = 0;  // at the last call
  bool exists = false;         // loss and penalty are convex and have conjugates
  bool centred = true;         // the slopes sum to zero, or need not
};

/// The largest loss_part(t) - penalty*(t v) over t in [0, 1], nearly: the loss alone would like `wish`. Where penalty*
/// is a bound the best t is known; otherwise a golden section looks for it, since t = 1 asks too much far from the
/// solution.
template <class LossPart>
double best_dual(const AnyPenalty& penalty, const Vector& v, LossPart&& loss_part, double wish) {
  const Index d = static_cast<Index>(v.size());
  const double most = penalty.dual_scale(v.data(), 1, d);
  Vector scaled(v.size());
  const auto dual = [&](double t) {
    for (std::size_t j = 0; j < v.size(); ++j) scaled[j] = t * v[j];
    return loss_part(t) - penalty.conjugate(scaled.data(), 1, d);
  };
  if (most < 1) return dual(std::clamp(wish, 0.0, most));
  double best = dual(1.0);
  constexpr double golden = 0.6180339887498949;
  double low = 0, high = 1;
  double left = high - golden * (high - low), right = low + golden * (high - low);
  double at_left = dual(left), at_right = dual(right);
  for (int step = 0; step < 12; ++step) {
    if (best > at_left && best > at_right) break;  // t = 1 is best, or nearly
    best = std::max({best, at_left, at_right});
    if (at_left < at_right) {
      low = left;
      left = right;
      at_left = at_right;
      right = low + golden * (high - low);
      at_right = dual(right);
    } else {
      high = right;
      right = left;
      at_right = at_left;
      left = high - golden * (high - low);
      at_left = dual(left);
    }
  }
  return std::max({best, at_left, at_right});
}

/// The dual value for the gradients v = -g, at a good t.
inline double dual_value(SmoothPart& smooth, const AnyPenalty& penalty, const Vector& slopes, const Vector& v) {
  if (!smooth.facts().quadratic) return best_dual(penalty, v, [&](double t) { return smooth.dual(slopes, t); }, 1.0);
  const auto [along, square] = smooth.quadratic_dual(slopes);
  return best_dual(
      penalty, v, [=](double t) { return along * t - square * t * t / 2; }, square > 0 ? along / square : 1.0);
}

/// Fills primal, dual and gap. `fresh` are the columns whose gradient is known.
inline void certify(SmoothPart& smooth, const Gradients& gradients, const CoordinateLoops& loops,
                    const AnyPenalty& penalty, const Vector& w, const Indices& fresh, DualState& state,
                    Certificate& certificate) {
  const Index d = static_cast<Index>(w.size());
  certificate.primal = smooth.value() + penalty.value(w.data(), 1, d);
  Vector violations(fresh.size());
  loops.violations(fresh.data(), static_cast<Index>(fresh.size()), w.data(), gradients.g.data(),
                   gradients.lipschitz.data(), violations.data());
  state.worst_violation = violations.empty() ? 0 : *std::max_element(violations.begin(), violations.end());
  if (!state.exists) {
    certificate.measure = Measure::stationarity;
    certificate.dual = -infinity;
    if (state.violation_scale == 0) state.violation_scale = state.worst_violation;
    certificate.gap = state.violation_scale > 0 ? state.worst_violation / state.violation_scale : 0;
    return;
  }
  certificate.measure = Measure::duality;
  Vector v(w.size(), 0.0);
  for (const Index j : fresh) v[at(j)] = -gradients.g[at(j)];
  if (state.centred && penalty.facts().scales_dual)
    state.best = std::max(state.best, dual_value(smooth, penalty, smooth.slopes, v));
  certificate.dual = state.best;
  certificate.gap = gap_between(certificate.primal, state.best);
}

}  // namespace tutelage::coordinate
