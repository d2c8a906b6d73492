// Penalties of one coefficient. A separable penalty is a sum of these, each coefficient with a weight of its own
// (separable.hpp); coordinate solvers take them as templates.
//
// Beside the concept Penalty each says what duality and the optimality conditions ask for:
//   subdifferential(w)   the interval of slopes at w; empty (low > high) where value is infinite
//   conjugate(v)         sup_w v w - value(w), for the convex ones
//   dual_domain()        where the conjugate is finite
//   quadratic_strength() c where value is c w^2 / 2, else NaN
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/losses/shapes.hpp"

namespace tutelage {

/// A closed interval of slopes.
struct Interval {
  double low = 0;
  double high = 0;
  /// Distance of a point to it; infinity to the empty one.
  double distance(double x) const {
    if (low > high) return infinity;
    return std::max({0.0, low - x, x - high});
  }
};

inline constexpr Interval everything{-infinity, infinity};
inline constexpr double not_quadratic = std::numeric_limits<double>::quiet_NaN();

using numerics::soft_threshold;

/// No penalty.
struct NoPenalty {
  static PenaltyFacts facts() {
    return {
        .name = "none", .formula = "0", .separable = true, .quadratic = true, .has_conjugate = true, .smooth = true};
  }
  double value(double) const { return 0; }
  double prox(double w, double) const { return w; }
  Interval subdifferential(double) const { return {}; }
  double conjugate(double v) const { return v == 0 ? 0 : infinity; }
  Interval dual_domain() const { return {}; }
  double quadratic_strength() const { return 0; }
};

/// strength w^2 / 2
struct L2 {
  double strength = 1;

  static constexpr auto parameters() {
    return std::array{Parameter<L2>{.name = "strength", .member = &L2::strength, .low = 0, .meaning = "how much"}};
  }
  PenaltyFacts facts() const {
    return {.name = "l2",
            .formula = "strength sum w^2 / 2",
            .separable = true,
            .quadratic = true,
            .strong_convexity = strength,
            .has_conjugate = true,
            .smooth = true};
  }
  double value(double w) const { return strength * w * w / 2; }
  double prox(double w, double step) const { return w / (1 + step * strength); }
  Interval subdifferential(double w) const { return {strength * w, strength * w}; }
  double conjugate(double v) const {
    if (strength == 0) return v == 0 ? 0 : infinity;
    return v * v / (2 * strength);
  }
  Interval dual_domain() const { return strength == 0 ? Interval{} : everything; }
  double quadratic_strength() const { return strength; }
};

/// strength |w|
struct L1 {
  double strength = 1;

  static constexpr auto parameters() {
    return std::array{Parameter<L1>{.name = "strength", .member = &L1::strength, .low = 0, .meaning = "how much"}};
  }
  static PenaltyFacts facts() {
    return {.name = "l1", .formula = "strength sum |w|", .separable = true, .has_conjugate = true};
  }
  double value(double w) const { return strength * std::abs(w); }
  double prox(double w, double step) const { return soft_threshold(w, step * strength); }
  Interval subdifferential(double w) const {
    if (w > 0) return {strength, strength};
    if (w < 0) return {-strength, -strength};
    return {-strength, strength};
  }
  double conjugate(double v) const { return std::abs(v) <= strength * (1 + domain_slack) ? 0 : infinity; }
  Interval dual_domain() const { return {-strength, strength}; }
  double quadratic_strength() const { return strength == 0 ? 0 : not_quadratic; }
};

/// l1 |w| + l2 w^2 / 2
struct ElasticNet {
  double l1 = 1;
  double l2 = 1;

  static constexpr auto parameters() {
    return std::array{
        Parameter<ElasticNet>{.name = "l1", .member = &ElasticNet::l1, .low = 0, .meaning = "strength of sum |w|"},
        Parameter<ElasticNet>{.name = "l2", .member = &ElasticNet::l2, .low = 0, .meaning = "strength of sum w^2 / 2"}};
  }
  PenaltyFacts facts() const {
    return {.name = "elastic_net",
            .formula = "l1 sum |w| + l2 sum w^2 / 2",
            .separable = true,
            .quadratic = l1 == 0,
            .strong_convexity = l2,
            .has_conjugate = true,
            .smooth = l1 == 0};
  }
  double value(double w) const { return l1 * std::abs(w) + l2 * w * w / 2; }
  double prox(double w, double step) const { return soft_threshold(w, step * l1) / (1 + step * l2); }
  Interval subdifferential(double w) const {
    const Interval kink = L1{l1}.subdifferential(w);
    return {kink.low + l2 * w, kink.high + l2 * w};
  }
  double conjugate(double v) const {
    if (l2 == 0) return L1{l1}.conjugate(v);
    const double beyond = soft_threshold(v, l1);
    return beyond * beyond / (2 * l2);
  }
  Interval dual_domain() const { return l2 == 0 ? Interval{-l1, l1} : everything; }
  double quadratic_strength() const { return l1 == 0 ? l2 : not_quadratic; }
};

}  // namespace tutelage
