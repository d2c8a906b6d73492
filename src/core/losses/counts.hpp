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

/// y / mean - log(y / mean) - 1
struct Gamma {
  static LossFacts facts() {
    return {.name = "gamma",
            .formula = "z - log(y) + y exp(-z) - 1",
            .targets = Targets::positive,
            .has_curvature = true,
            .has_conjugate = true};
  }
  TUTELAGE_INLINE double value(double y, double z) const {
    return numerics::positive_part(z - numerics::log(y) - 1 + y * numerics::exp(-z));
  }
  TUTELAGE_INLINE double slope(double y, double z) const { return 1 - y * numerics::exp(-z); }
  TUTELAGE_INLINE double curvature(double y, double z) const { return y * numerics::exp(-z); }
  TUTELAGE_INLINE double conjugate(double y, double a) const {
    const double ratio = numerics::positive_part(1 - a);  // y / mean
    const double value = numerics::x_log_x(ratio) + (1 - ratio) * (numerics::log(y) + 1);
    return a <= 1 + domain_slack ? value : infinity;
  }
};

/// Half the unit deviance for variance mean^power: 0 normal, 1 Poisson, 2 gamma, 3 inverse Gaussian, between 1 and 2
/// amounts with a mass at zero (Tweedie 1984). Convex in z = log(mean) for powers from 1 to 2 only.
struct Tweedie {
  double power = 1.5;

  static constexpr auto parameters() {
    return std::array{
        Parameter<Tweedie>{.name = "power", .member = &Tweedie::power, .meaning = "the variance is mean^power"}};
  }
  LossFacts facts() const {
    return {.name = "tweedie",
            .formula =
                "max(y, 0)^(2 - power) / ((1 - power) (2 - power)) - y exp((1 - power) z) / (1 - power) "
                "+ exp((2 - power) z) / (2 - power), and its limits at power 1 and 2",
            .targets = power <= 0 ? Targets::real : (power < 2 ? Targets::nonnegative : Targets::positive),
            .convex = power >= 1 && power <= 2,
            .has_curvature = true,
            .has_conjugate = power >= 1 && power <= 2};
  }
  TUTELAGE_INLINE double value(double y, double z) const {
    // With t = z - log(y) it is y^(2 - p) (E(2 - p, t) - E(1 - p, t)), E(c, t) = (exp(c t) - 1) / c: one formula for
    // all powers, without the cancellation of the three terms near powers 1 and 2 or near z = log(y).
    const double log_y = numerics::log(y > 0 ? y : 1.0);
    const double t = z - log_y;
    const double above = t * numerics::expm1_over_x((2 - power) * t);
    const double below = t * numerics::expm1_over_x((1 - power) * t);
    const bool overflows = above == infinity || below == -infinity;
    const double positive = numerics::exp((2 - power) * log_y) * (overflows ? infinity : above - below);
    const double mean_term = numerics::exp((2 - power) * z) / (2 - power);
    const double linear = y == 0 ? 0.0 : y * numerics::exp((1 - power) * z) / (1 - power);
    return y > 0 ? numerics::positive_part(positive) : mean_term - linear;
  }
  TUTELAGE_INLINE double slope(double y, double z) const {
    const Powers e = powers(y, z);
    return e.scale * (e.of_mean - e.of_y);
  }
  TUTELAGE_INLINE double curvature(double y, double z) const {
    const Powers e = powers(y, z);
    return e.scale * ((2 - power) * e.of_mean - (1 - power) * e.of_y);
  }
  double conjugate(double y, double a) const;

 private:
  // exp((2 - p) z) = scale of_mean and y exp((1 - p) z) = scale of_y, with only the scale ever infinite, so that their
  // difference is never infinity - infinity.
  struct Powers {
    double scale, of_mean, of_y;
  };
  TUTELAGE_INLINE Powers powers(double y, double z) const {
    const bool mean_leads = z > 0 || y == 0;
    const double scale = numerics::exp((mean_leads ? 2 - power : 1 - power) * z);
    const double small = numerics::exp_of_negative(-numerics::magnitude(z));
    return {scale, mean_leads ? 1.0 : small, y == 0 ? 0.0 : (mean_leads ? y * small : y)};
  }
};

inline double Tweedie::conjugate(double y, double a) const {
  if (power == 1) return Poisson{}.conjugate(y, a);
  if (power == 2) return Gamma{}.conjugate(y, a);
  if (!(power > 1 && power < 2)) return infinity;
  const double constant = y == 0 ? 0 : numerics::exp((2 - power) * numerics::log(y)) / ((1 - power) * (2 - power));
  if (y == 0) {  // sup a z - exp((2 - p) z) / (2 - p)
    if (a <= 0) return a >= -domain_slack ? 0 : infinity;
    return (a * numerics::log(a) - a) / (2 - power);
  }
  // The supremum stands where slope(z) = a. The slope grows from -infinity to infinity: bracket, then Newton's steps,
  // halving the bracket where one would leave it.
  double low = numerics::log(y), high = low;
  for (double width = 1; slope(y, low) > a; width *= 2) low -= width;
  for (double width = 1; slope(y, high) < a; width *= 2) high += width;
  double z = low + (high - low) / 2;
  for (int round = 0; round < 200; ++round) {
    const double error = slope(y, z) - a;
    (error > 0 ? high : low) = z;
    double next = z - error / curvature(y, z);
    if (!(next > low && next < high)) next = low + (high - low) / 2;
    if (next == z || !(high > low)) break;
    z = next;
  }
  return a * z -
         (constant - y * numerics::exp((1 - power) * z) / (1 - power) + numerics::exp((2 - power) * z) / (2 - power));
}

}  // namespace tutelage
