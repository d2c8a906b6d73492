// An elastic net between bounds: non-negative least squares, the positive lasso, boxes.
#pragma once
#include "core/penalties/scalar.hpp"

namespace tutelage {

/// l1 |w| + l2 w^2 / 2 where lower <= w <= upper, infinite elsewhere
struct Box {
  double lower = -1;
  double upper = 1;
  double l1 = 0;
  double l2 = 0;

  static constexpr auto parameters() {
    return std::array{
        Parameter<Box>{.name = "lower", .member = &Box::lower, .open_high = true, .meaning = "smallest coefficient"},
        Parameter<Box>{.name = "upper", .member = &Box::upper, .open_low = true, .meaning = "largest coefficient"},
        Parameter<Box>{.name = "l1", .member = &Box::l1, .low = 0, .meaning = "strength of sum |w|"},
        Parameter<Box>{.name = "l2", .member = &Box::l2, .low = 0, .meaning = "strength of sum w^2 / 2"}};
  }
  PenaltyFacts facts() const {
    return {.name = "box",
            .formula = "l1 sum |w| + l2 sum w^2 / 2 where lower <= w <= upper",
            .separable = true,
            .strong_convexity = l2,
            .has_conjugate = true};
  }
  double value(double w) const {
    return w >= lower && w <= upper ? ElasticNet{l1, l2}.value(w) : (w != w ? w : infinity);
  }
  double prox(double w, double step) const {
    return numerics::clip(ElasticNet{l1, l2}.prox(w, step), lower, upper);  // convex in one variable: clipping is exact
  }
  Interval subdifferential(double w) const {
    if (!(w >= lower && w <= upper)) return {infinity, -infinity};
    Interval slopes = ElasticNet{l1, l2}.subdifferential(w);
    if (w == lower) slopes.low = -infinity;
    if (w == upper) slopes.high = infinity;
    return slopes;
  }
  double conjugate(double v) const {
    if (l2 > 0) {
      const double best = numerics::clip(soft_threshold(v, l1) / l2, lower, upper);
      return v * best - ElasticNet{l1, l2}.value(best);
    }
    // Straight pieces: the best is an end or the corner at 0.
    const double corner = numerics::clip(0, lower, upper);
    return std::max({at_end(v, lower), at_end(v, upper), v * corner - l1 * std::abs(corner)});
  }
  Interval dual_domain() const {
    if (l2 > 0) return everything;
    return {lower == -infinity ? -l1 : -infinity, upper == infinity ? l1 : infinity};
  }
  double quadratic_strength() const { return lower == -infinity && upper == infinity && l1 == 0 ? l2 : not_quadratic; }

 private:
  double at_end(double v, double end) const {
    const double along = end < 0 ? -v : v;  // the slope towards that end, less l1
    if (std::abs(end) == infinity) return along <= l1 * (1 + domain_slack) ? -infinity : infinity;
    return v * end - l1 * std::abs(end);
  }
};

/// l1 w + l2 w^2 / 2 where w >= 0, infinite elsewhere
struct NonNegative {
  double l1 = 0;
  double l2 = 0;

  static constexpr auto parameters() {
    return std::array{
        Parameter<NonNegative>{.name = "l1", .member = &NonNegative::l1, .low = 0, .meaning = "strength of sum |w|"},
        Parameter<NonNegative>{
            .name = "l2", .member = &NonNegative::l2, .low = 0, .meaning = "strength of sum w^2 / 2"}};
  }
  PenaltyFacts facts() const {
    return {.name = "non_negative",
            .formula = "l1 sum w + l2 sum w^2 / 2 where w >= 0",
            .separable = true,
            .strong_convexity = l2,
            .has_conjugate = true};
  }
  double value(double w) const { return box().value(w); }
  double prox(double w, double step) const { return box().prox(w, step); }
  Interval subdifferential(double w) const { return box().subdifferential(w); }
  double conjugate(double v) const { return box().conjugate(v); }
  Interval dual_domain() const { return box().dual_domain(); }
  double quadratic_strength() const { return not_quadratic; }

 private:
  Box box() const { return {0, infinity, l1, l2}; }
};

}  // namespace tutelage
