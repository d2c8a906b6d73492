// Losses of the residual r = z - y, for real targets.
#pragma once
#include "core/losses/shapes.hpp"

namespace tutelage {

/// r^2 / 2
struct Squared : Distance<Squared> {
  static LossFacts facts() {
    return {.name = "squared",
            .formula = "r^2 / 2, r = z - y",
            .targets = Targets::real,
            .calibrated = true,
            .smoothness = 1,
            .has_curvature = true,
            .has_conjugate = true,
            .has_prox = true};
  }
  TUTELAGE_INLINE double value_at(double r) const { return r * r / 2; }
  TUTELAGE_INLINE double slope_at(double r) const { return r; }
  TUTELAGE_INLINE double curvature_at(double) const { return 1.0; }
  TUTELAGE_INLINE double conjugate_at(double a) const { return a * a / 2; }
  TUTELAGE_INLINE double prox_at(double r, double step) const { return r / (1 + step); }
  TUTELAGE_INLINE double prox_slope_at(double, double step) const { return 1 / (1 + step); }
};

}  // namespace tutelage
