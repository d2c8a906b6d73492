// Losses of the margin m = y z, for labels -1 and +1.
#pragma once
#include "core/losses/shapes.hpp"

namespace tutelage {

/// log(1 + e^-m)
struct Logistic : Margin<Logistic> {
  static LossFacts facts() {
    return {.name = "logistic",
            .formula = "log(1 + exp(-m)), m = y z",
            .targets = Targets::label,
            .calibrated = true,
            .smoothness = 0.25,
            .lipschitz = 1,
            .has_curvature = true,
            .has_conjugate = true};
  }
  // All three share e^-|m| and 1 / (1 + e^-|m|), which the compiler computes once for a loop that asks for them together.
  TUTELAGE_INLINE double value_at(double m) const {
    const double e = numerics::exp_of_negative(-numerics::magnitude(m));
    return numerics::positive_part(-m) + numerics::log1p_of_fraction(e);
  }
  TUTELAGE_INLINE double slope_at(double m) const {
    const double e = numerics::exp_of_negative(-numerics::magnitude(m));
    const double p = 1 / (1 + e);
    return -(m > 0 ? e * p : p);
  }
  TUTELAGE_INLINE double curvature_at(double m) const {
    const double e = numerics::exp_of_negative(-numerics::magnitude(m));
    const double p = 1 / (1 + e);
    return e * p * p;
  }
  TUTELAGE_INLINE double conjugate_at(double a) const {
    const double t = numerics::clip(-a, 0.0, 1.0);
    const double entropy = numerics::x_log_x(t) + numerics::x_log_x(1 - t);
    return numerics::magnitude(-a - t) <= domain_slack ? entropy : infinity;
  }
};

/// max(0, 1 - m)
struct Hinge : Margin<Hinge> {
  static LossFacts facts() {
    return {.name = "hinge",
            .formula = "max(0, 1 - m), m = y z",
            .targets = Targets::label,
            .calibrated = true,
            .lipschitz = 1,
            .has_conjugate = true,
            .has_prox = true,
            .kink = "at m = 1 the slope is 0"};
  }
  TUTELAGE_INLINE double value_at(double m) const { return numerics::positive_part(1 - m); }
  TUTELAGE_INLINE double slope_at(double m) const { return m < 1 ? -1.0 : 0.0; }
  TUTELAGE_INLINE double conjugate_at(double a) const {
    const double t = numerics::clip(a, -1.0, 0.0);
    return numerics::magnitude(a - t) <= domain_slack ? t : infinity;
  }
  TUTELAGE_INLINE double prox_at(double m, double step) const {
    const double moved = m + step < 1 ? m + step : 1.0;
    return m > 1 ? m : moved;
  }
  TUTELAGE_INLINE double prox_slope_at(double m, double step) const { return m < 1 && m + step > 1 ? 0.0 : 1.0; }
};

}  // namespace tutelage
