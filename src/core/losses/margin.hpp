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
  // All three share e^-|m| and 1 / (1 + e^-|m|), which the compiler computes once for a loop that asks for them
  // together.
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

/// 1 where m <= 0: what all the others stand in for
struct ZeroOne : Margin<ZeroOne> {
  static LossFacts facts() {
    return {.name = "zero_one",
            .formula = "1 if m <= 0 else 0, m = y z",
            .targets = Targets::label,
            .convex = false,
            .trainable = false,
            .calibrated = true,
            .kink = "the slope is 0 everywhere; m = 0 counts as an error"};
  }
  TUTELAGE_INLINE double value_at(double m) const { return m > 0 ? 0.0 : (m != m ? m : 1.0); }
  TUTELAGE_INLINE double slope_at(double) const { return 0.0; }
};

/// max(0, -m)
struct Perceptron : Margin<Perceptron> {
  static LossFacts facts() {
    return {.name = "perceptron",
            .formula = "max(0, -m), m = y z",
            .targets = Targets::label,
            .lipschitz = 1,
            .has_conjugate = true,
            .has_prox = true,
            .kink = "at m = 0 the slope in m is -1, so that learning can start from w = 0"};
  }
  TUTELAGE_INLINE double value_at(double m) const { return numerics::positive_part(-m); }
  TUTELAGE_INLINE double slope_at(double m) const { return m > 0 ? 0.0 : -1.0; }
  TUTELAGE_INLINE double conjugate_at(double a) const {
    const double t = numerics::clip(a, -1.0, 0.0);
    return numerics::magnitude(a - t) <= domain_slack ? 0.0 : infinity;
  }
  TUTELAGE_INLINE double prox_at(double m, double step) const {
    const double moved = m + step < 0 ? m + step : 0.0;
    return m > 0 ? m : moved;
  }
  TUTELAGE_INLINE double prox_slope_at(double m, double step) const { return m < 0 && m + step > 0 ? 0.0 : 1.0; }
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

/// max(0, 1 - m)^2
struct SquaredHinge : Margin<SquaredHinge> {
  static LossFacts facts() {
    return {.name = "squared_hinge",
            .formula = "max(0, 1 - m)^2, m = y z",
            .targets = Targets::label,
            .calibrated = true,
            .smoothness = 2,
            .has_curvature = true,
            .has_conjugate = true,
            .has_prox = true,
            .kink = "at m = 1 the curvature is 0"};
  }
  TUTELAGE_INLINE double value_at(double m) const {
    const double short_by = numerics::positive_part(1 - m);
    return short_by * short_by;
  }
  TUTELAGE_INLINE double slope_at(double m) const { return -2 * numerics::positive_part(1 - m); }
  TUTELAGE_INLINE double curvature_at(double m) const { return m < 1 ? 2.0 : 0.0; }
  TUTELAGE_INLINE double conjugate_at(double a) const { return a <= domain_slack ? a + a * a / 4 : infinity; }
  TUTELAGE_INLINE double prox_at(double m, double step) const { return m < 1 ? (m + 2 * step) / (1 + 2 * step) : m; }
};

/// The hinge with its corner rounded by a parabola of a given width (Huberised; Rennie and Srebro 2005 at width 1)
struct SmoothedHinge : Margin<SmoothedHinge> {
  double width = 1;

  static constexpr auto parameters() {
    return std::array{Parameter<SmoothedHinge>{.name = "width",
                                               .member = &SmoothedHinge::width,
                                               .low = 0,
                                               .open_low = true,
                                               .meaning = "length of the rounded part: margins from 1 - width to 1"}};
  }
  LossFacts facts() const {
    return {.name = "smoothed_hinge",
            .formula = "0 if m >= 1, (1 - m)^2 / (2 width) if m >= 1 - width, else 1 - m - width / 2, m = y z",
            .targets = Targets::label,
            .calibrated = true,
            .smoothness = 1 / width,
            .lipschitz = 1,
            .has_curvature = true,
            .has_conjugate = true,
            .has_prox = true,
            .kink = "at m = 1 and m = 1 - width the curvature is 0"};
  }
  TUTELAGE_INLINE double value_at(double m) const {
    const double short_by = numerics::positive_part(1 - m);
    return short_by < width ? short_by * short_by / (2 * width) : short_by - width / 2;
  }
  TUTELAGE_INLINE double slope_at(double m) const {
    const double short_by = numerics::positive_part(1 - m);
    return short_by < width ? -short_by / width : (m != m ? m : -1.0);
  }
  TUTELAGE_INLINE double curvature_at(double m) const { return m < 1 && 1 - m < width ? 1 / width : 0.0; }
  TUTELAGE_INLINE double conjugate_at(double a) const {
    const double t = numerics::clip(a, -1.0, 0.0);
    return numerics::magnitude(a - t) <= domain_slack ? t + width * t * t / 2 : infinity;
  }
  TUTELAGE_INLINE double prox_at(double m, double step) const {
    const double rounded = (width * m + step) / (width + step);
    return m >= 1 ? m : (m + step <= 1 - width ? m + step : rounded);
  }
};

/// e^-m
struct Exponential : Margin<Exponential> {
  static LossFacts facts() {
    return {.name = "exponential",
            .formula = "exp(-m), m = y z",
            .targets = Targets::label,
            .calibrated = true,
            .has_curvature = true,
            .has_conjugate = true};
  }
  TUTELAGE_INLINE double value_at(double m) const { return numerics::exp(-m); }
  TUTELAGE_INLINE double slope_at(double m) const { return -numerics::exp(-m); }
  TUTELAGE_INLINE double curvature_at(double m) const { return numerics::exp(-m); }
  TUTELAGE_INLINE double conjugate_at(double a) const {
    const double t = numerics::positive_part(-a);
    return a <= domain_slack ? numerics::x_log_x(t) - t : infinity;
  }
};

/// The squared hinge that goes on in a straight line below m = -1 (Zhang 2004)
struct ModifiedHuber : Margin<ModifiedHuber> {
  static LossFacts facts() {
    return {.name = "modified_huber",
            .formula = "max(0, 1 - m)^2 if m >= -1, else -4 m, m = y z",
            .targets = Targets::label,
            .calibrated = true,
            .smoothness = 2,
            .lipschitz = 4,
            .has_curvature = true,
            .has_conjugate = true,
            .has_prox = true,
            .kink = "at m = 1 and m = -1 the curvature is 0"};
  }
  TUTELAGE_INLINE double value_at(double m) const {
    const double short_by = numerics::positive_part(1 - m);
    return m < -1 ? -4 * m : short_by * short_by;
  }
  TUTELAGE_INLINE double slope_at(double m) const { return m < -1 ? -4.0 : -2 * numerics::positive_part(1 - m); }
  TUTELAGE_INLINE double curvature_at(double m) const { return m < 1 && m > -1 ? 2.0 : 0.0; }
  TUTELAGE_INLINE double conjugate_at(double a) const {
    const double t = numerics::clip(a, -4.0, 0.0);
    return numerics::magnitude(a - t) <= domain_slack ? t + t * t / 4 : infinity;
  }
  TUTELAGE_INLINE double prox_at(double m, double step) const {
    const double rounded = (m + 2 * step) / (1 + 2 * step);
    return m >= 1 ? m : (rounded < -1 ? m + 4 * step : rounded);
  }
};

}  // namespace tutelage
