// Losses for counts and amounts, z = log(mean): half the unit deviance of a distribution with variance mean^power.
//
// scikit-learn's HalfPoissonLoss and its kin drop the terms that depend on y alone; these keep them. The value is then
// zero where exp(z) = y and never negative, so that a gap relative to the objective means something. Slopes, curvatures
// and minimisers are the same.
#pragma once
#include "core/losses/shapes.hpp"

namespace tutelage {

/// mean - y log(mean) + y log(y) - y
struct Poisson {
  static LossFacts facts() {
    return {.name = "poisson",
            .formula = "exp(z) - y z + y log(y) - y",
            .targets = Targets::nonnegative,
            .has_curvature = true,
            .has_conjugate = true};
  }
  TUTELAGE_INLINE double value(double y, double z) const {
    // y = 0 must give exp(z), also where z is infinite.
    const double linear = y == 0 ? 0.0 : y * (numerics::log(y) - z - 1);
    return numerics::positive_part(numerics::exp(z) + linear);
  }
  TUTELAGE_INLINE double slope(double y, double z) const { return numerics::exp(z) - y; }
  TUTELAGE_INLINE double curvature(double, double z) const { return numerics::exp(z); }
  TUTELAGE_INLINE double conjugate(double y, double a) const {
    const double mean = numerics::positive_part(a + y);
    const double value = numerics::x_log_x(mean) - mean - numerics::x_log_x(y) + y;
    return a + y >= -domain_slack * (1 + y) ? value : infinity;
  }
};

}  // namespace tutelage
