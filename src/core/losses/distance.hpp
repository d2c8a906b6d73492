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
            .quadratic = true,
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
};

/// |r|
struct Absolute : Distance<Absolute> {
  static LossFacts facts() {
    return {.name = "absolute",
            .formula = "|r|, r = z - y",
            .targets = Targets::real,
            .calibrated = true,
            .lipschitz = 1,
            .has_conjugate = true,
            .has_prox = true,
            .kink = "at r = 0 the slope is 0"};
  }
  TUTELAGE_INLINE double value_at(double r) const { return numerics::magnitude(r); }
  TUTELAGE_INLINE double slope_at(double r) const { return numerics::sign(r); }
  TUTELAGE_INLINE double conjugate_at(double a) const {
    return numerics::magnitude(a) <= 1 + domain_slack ? 0.0 : infinity;
  }
  TUTELAGE_INLINE double prox_at(double r, double step) const { return numerics::soft_threshold(r, step); }
  TUTELAGE_INLINE double prox_slope_at(double r, double step) const {
    return numerics::magnitude(r) > step ? 1.0 : 0.0;
  }
};

/// r^2 / 2 near zero, a straight line beyond delta (Huber 1964)
struct Huber : Distance<Huber> {
  double delta = 1.35;

  static constexpr auto parameters() {
    return std::array{Parameter<Huber>{.name = "delta",
                                       .member = &Huber::delta,
                                       .low = 0,
                                       .open_low = true,
                                       .meaning = "residuals beyond it count linearly"}};
  }
  LossFacts facts() const {
    return {.name = "huber",
            .formula = "r^2 / 2 if |r| <= delta, else delta |r| - delta^2 / 2, r = z - y",
            .targets = Targets::real,
            .calibrated = true,
            .smoothness = 1,
            .lipschitz = delta,
            .has_curvature = true,
            .has_conjugate = true,
            .has_prox = true,
            .kink = "at |r| = delta the curvature is 1"};
  }
  TUTELAGE_INLINE double value_at(double r) const {
    const double size = numerics::magnitude(r);
    return size > delta ? delta * (size - delta / 2) : r * r / 2;
  }
  TUTELAGE_INLINE double slope_at(double r) const { return numerics::clip(r, -delta, delta); }
  TUTELAGE_INLINE double curvature_at(double r) const { return numerics::magnitude(r) > delta ? 0.0 : 1.0; }
  TUTELAGE_INLINE double conjugate_at(double a) const {
    return numerics::magnitude(a) <= delta * (1 + domain_slack) ? a * a / 2 : infinity;
  }
  TUTELAGE_INLINE double prox_at(double r, double step) const {
    const double size = numerics::magnitude(r);
    return size > delta * (1 + step) ? r - step * delta * numerics::sign(r) : r / (1 + step);
  }
};

/// max(0, |r| - epsilon)
struct EpsilonInsensitive : Distance<EpsilonInsensitive> {
  double epsilon = 0.1;

  static constexpr auto parameters() {
    return std::array{Parameter<EpsilonInsensitive>{.name = "epsilon",
                                                    .member = &EpsilonInsensitive::epsilon,
                                                    .low = 0,
                                                    .meaning = "residuals up to it cost nothing"}};
  }
  LossFacts facts() const {
    return {.name = "epsilon_insensitive",
            .formula = "max(0, |r| - epsilon), r = z - y",
            .targets = Targets::real,
            .calibrated = epsilon < 1,
            .lipschitz = 1,
            .has_conjugate = true,
            .has_prox = true,
            .kink = "at |r| = epsilon the slope is 0"};
  }
  TUTELAGE_INLINE double value_at(double r) const { return numerics::positive_part(numerics::magnitude(r) - epsilon); }
  TUTELAGE_INLINE double slope_at(double r) const {
    return numerics::magnitude(r) > epsilon ? numerics::sign(r) : r * 0;
  }
  TUTELAGE_INLINE double conjugate_at(double a) const {
    const double size = numerics::magnitude(a);
    return size <= 1 + domain_slack ? epsilon * size : infinity;
  }
  TUTELAGE_INLINE double prox_at(double r, double step) const {
    const double size = numerics::magnitude(r);
    const double moved = size > epsilon + step ? size - step : epsilon;
    return size > epsilon ? moved * numerics::sign(r) : r;
  }
  TUTELAGE_INLINE double prox_slope_at(double r, double step) const {
    const double size = numerics::magnitude(r);
    return size > epsilon && size < epsilon + step ? 0.0 : 1.0;
  }
};

/// max(0, |r| - epsilon)^2
struct SquaredEpsilonInsensitive : Distance<SquaredEpsilonInsensitive> {
  double epsilon = 0.1;

  static constexpr auto parameters() {
    return std::array{Parameter<SquaredEpsilonInsensitive>{.name = "epsilon",
                                                           .member = &SquaredEpsilonInsensitive::epsilon,
                                                           .low = 0,
                                                           .meaning = "residuals up to it cost nothing"}};
  }
  LossFacts facts() const {
    return {.name = "squared_epsilon_insensitive",
            .formula = "max(0, |r| - epsilon)^2, r = z - y",
            .targets = Targets::real,
            .calibrated = epsilon < 1,
            .smoothness = 2,
            .has_curvature = true,
            .has_conjugate = true,
            .has_prox = true,
            .kink = "at |r| = epsilon the curvature is 0"};
  }
  TUTELAGE_INLINE double value_at(double r) const {
    const double beyond = numerics::positive_part(numerics::magnitude(r) - epsilon);
    return beyond * beyond;
  }
  TUTELAGE_INLINE double slope_at(double r) const { return 2 * numerics::soft_threshold(r, epsilon); }
  TUTELAGE_INLINE double curvature_at(double r) const { return numerics::magnitude(r) > epsilon ? 2.0 : 0.0; }
  TUTELAGE_INLINE double conjugate_at(double a) const { return epsilon * numerics::magnitude(a) + a * a / 4; }
  TUTELAGE_INLINE double prox_at(double r, double step) const {
    const double beyond = numerics::soft_threshold(r, epsilon);
    return r - beyond * (2 * step / (1 + 2 * step));
  }
};

/// level max(0, y - z) + (1 - level) max(0, z - y): its minimiser is a quantile (Koenker and Bassett 1978)
struct Quantile : Distance<Quantile> {
  double level = 0.5;

  static constexpr auto parameters() {
    return std::array{Parameter<Quantile>{.name = "level",
                                          .member = &Quantile::level,
                                          .low = 0,
                                          .high = 1,
                                          .open_low = true,
                                          .open_high = true,
                                          .meaning = "which quantile: 0.5 is the median"}};
  }
  LossFacts facts() const {
    return {.name = "quantile",
            .formula = "(1 - level) r if r >= 0, else -level r, r = z - y",
            .targets = Targets::real,
            .lipschitz = level > 0.5 ? level : 1 - level,
            .has_conjugate = true,
            .has_prox = true,
            .kink = "at r = 0 the slope is 0"};
  }
  TUTELAGE_INLINE double value_at(double r) const { return r < 0 ? -level * r : (1 - level) * r; }
  TUTELAGE_INLINE double slope_at(double r) const {
    const double above = r > 0 ? 1 - level : r * 0;
    return r < 0 ? -level : above;
  }
  TUTELAGE_INLINE double conjugate_at(double a) const {
    return a >= -level - domain_slack && a <= 1 - level + domain_slack ? 0.0 : infinity;
  }
  TUTELAGE_INLINE double prox_at(double r, double step) const {
    const double below = r < -step * level ? r + step * level : 0.0;
    return r > step * (1 - level) ? r - step * (1 - level) : below;
  }
  TUTELAGE_INLINE double prox_slope_at(double r, double step) const {
    return r > step * (1 - level) || r < -step * level ? 1.0 : 0.0;
  }
};

}  // namespace tutelage
