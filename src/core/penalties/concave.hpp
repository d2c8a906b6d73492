// The bridge, MCP and SCAD: penalties that flatten out, so that large coefficients are not shrunk.
//
// The bridge is convex for q >= 1. The others, and the bridge below 1, are not: a local minimum is all a solver can
// promise, and facts().convex says so. Their prox is nevertheless the global one, for every step: each piece of the
// objective is minimised where it is, and the best of the pieces wins.
#pragma once
#include <cmath>
#include <initializer_list>

#include "core/penalties/scalar.hpp"

namespace tutelage {

/// The candidate u >= 0 with the least (u - v)^2 / 2 + step value(u); the smallest of several.
template <class P>
double best_of(const P& penalty, double v, double step, std::initializer_list<double> candidates) {
  double best = v != v ? v : 0, least = infinity;
  for (const double u : candidates) {
    const double objective = (u - v) * (u - v) / 2 + step * penalty.value(u);
    if (objective < least) best = u, least = objective;
  }
  return best;
}

/// strength |w|^q
struct Lq {
  double strength = 1;
  double q = 0.5;

  static constexpr auto parameters() {
    return std::array{
        Parameter<Lq>{.name = "strength", .member = &Lq::strength, .low = 0, .meaning = "how much"},
        Parameter<Lq>{.name = "q", .member = &Lq::q, .low = 0, .open_low = true, .meaning = "the exponent"}};
  }
  PenaltyFacts facts() const {
    return {.name = "lq",
            .formula = "strength sum |w|^q",
            .convex = q >= 1 || strength == 0,
            .separable = true,
            .quadratic = q == 2 || strength == 0,
            .strong_convexity = q == 2 ? 2 * strength : (q < 1 && strength > 0 ? -infinity : 0),
            .has_conjugate = q >= 1 || strength == 0,
            .smooth = q > 1 || strength == 0};
  }
  double value(double w) const { return strength == 0 ? 0 : strength * std::pow(std::abs(w), q); }
  double prox(double w, double step) const {
    const double t = step * strength;
    if (t == 0 || w == 0 || w != w) return w;
    if (q == 1) return soft_threshold(w, t);
    if (q == 2) return w / (1 + 2 * t);
    const double v = std::abs(w);
    return std::copysign(q > 1 ? convex_root(v, t) : concave_root(v, t, step), w);
  }
  Interval subdifferential(double w) const {
    if (strength == 0) return {};
    if (w == 0) {
      const double reach = q < 1 ? infinity : (q == 1 ? strength : 0);
      return {-reach, reach};
    }
    const double slope = std::copysign(strength * q * std::pow(std::abs(w), q - 1), w);
    return {slope, slope};
  }
  double curvature(double w) const {  // infinite at 0 for q < 2
    return strength == 0 ? 0 : strength * q * (q - 1) * std::pow(std::abs(w), q - 2);
  }
  double conjugate(double v) const {
    if (strength == 0) return v == 0 ? 0 : infinity;
    if (q == 1) return L1{strength}.conjugate(v);
    if (q < 1) return infinity;
    return (q - 1) * strength * std::pow(std::abs(v) / (q * strength), q / (q - 1));
  }
  Interval dual_domain() const {
    if (strength == 0) return {};
    return q > 1 ? everything : Interval{-strength, strength};
  }
  double quadratic_strength() const { return strength == 0 ? 0 : (q == 2 ? 2 * strength : not_quadratic); }

 private:
  /// The root of u + t q u^(q-1) = v for q > 1. For q <= 2 solved for s = u^(q-1), for q > 2 for u: either way the left
  /// side is convex and increasing, and Newton's method from the right walks down to the root.
  double convex_root(double v, double t) const {
    const double power = q <= 2 ? 1 / (q - 1) : q - 1;  // x^power + linear x = v
    const double main = q <= 2 ? 1 : t * q, linear = q <= 2 ? t * q : 1;
    double x = std::min(v / linear, std::pow(v / main, 1 / power));
    for (int round = 0; round < 200; ++round) {
      const double raised = main * std::pow(x, power);
      const double next = x - (raised + linear * x - v) / (power * raised / x + linear);
      if (!(next < x)) break;
      x = next;
    }
    return q <= 2 ? std::pow(x, power) : x;
  }
  /// For q < 1: the larger root of u + t q u^(q-1) = v, or 0 where that costs less or there is no root.
  double concave_root(double v, double t, double step) const {
    const double turning = std::pow(t * q * (1 - q), 1 / (2 - q));  // where the left side is least
    if (turning + t * q * std::pow(turning, q - 1) >= v) return 0;
    double u = v;  // the left side is convex: Newton from the right
    for (int round = 0; round < 200; ++round) {
      const double raised = t * q * std::pow(u, q - 1);
      const double next = u - (u + raised - v) / (1 + (q - 1) * raised / u);
      if (!(next < u) || next < turning) break;
      u = next;
    }
    return best_of(*this, v, step, {0, u});
  }
};

/// strength |w| - w^2 / (2 gamma) up to |w| = gamma strength, constant beyond (minimax concave penalty, Zhang 2010)
struct MCP {
  double strength = 1;
  double gamma = 3;

  static constexpr auto parameters() {
    return std::array{Parameter<MCP>{.name = "strength", .member = &MCP::strength, .low = 0, .meaning = "how much"},
                      Parameter<MCP>{.name = "gamma",
                                     .member = &MCP::gamma,
                                     .low = 0,
                                     .open_low = true,
                                     .meaning = "how far it bends: infinite is the L1 penalty"}};
  }
  PenaltyFacts facts() const {
    return {.name = "mcp",
            .formula = "sum of strength |w| - w^2 / (2 gamma) if |w| <= gamma strength, else gamma strength^2 / 2",
            .convex = strength == 0,
            .separable = true,
            .strong_convexity = strength == 0 ? 0 : -1 / gamma};
  }
  double value(double w) const {
    const double size = std::abs(w);
    return size <= gamma * strength ? size * (strength - size / (2 * gamma)) : gamma * strength * strength / 2;
  }
  double prox(double w, double step) const {
    const double v = std::abs(w), knot = gamma * strength, bend = 1 - step / gamma;
    const double inner = bend > 0 ? numerics::clip((v - step * strength) / bend, 0, knot) : 0;
    return std::copysign(best_of(*this, v, step, {0, inner, std::max(v, knot)}), w);
  }
  Interval subdifferential(double w) const {
    if (w == 0) return {-strength, strength};
    const double slope = std::copysign(numerics::positive_part(strength - std::abs(w) / gamma), w);
    return {slope, slope};
  }
  double quadratic_strength() const { return strength == 0 ? 0 : not_quadratic; }
};

/// strength |w| up to |w| = strength, then bending to a constant at |w| = a strength (Fan and Li 2001)
struct SCAD {
  double strength = 1;
  double a = 3.7;

  static constexpr auto parameters() {
    return std::array{
        Parameter<SCAD>{.name = "strength", .member = &SCAD::strength, .low = 0, .meaning = "how much"},
        Parameter<SCAD>{
            .name = "a", .member = &SCAD::a, .low = 2, .open_low = true, .meaning = "where it becomes constant"}};
  }
  PenaltyFacts facts() const {
    return {.name = "scad",
            .formula =
                "sum of strength |w| if |w| <= strength, (2 a strength |w| - w^2 - strength^2) / (2 (a - 1)) if "
                "|w| <= a strength, else strength^2 (a + 1) / 2",
            .convex = strength == 0,
            .separable = true,
            .strong_convexity = strength == 0 ? 0 : -1 / (a - 1)};
  }
  double value(double w) const {
    const double size = std::abs(w);
    if (size <= strength) return strength * size;
    if (size <= a * strength) return (2 * a * strength * size - size * size - strength * strength) / (2 * (a - 1));
    return strength * strength * (a + 1) / 2;
  }
  double prox(double w, double step) const {
    const double v = std::abs(w), knot = a * strength, bend = 1 - step / (a - 1);
    const double inner = numerics::clip(v - step * strength, 0, strength);
    const double middle = bend > 0 ? (v - step * knot / (a - 1)) / bend : strength;
    return std::copysign(best_of(*this, v, step, {0, inner, numerics::clip(middle, strength, knot), std::max(v, knot)}),
                         w);
  }
  Interval subdifferential(double w) const {
    const double size = std::abs(w);
    if (size == 0) return {-strength, strength};
    const double slope = size <= strength ? strength : numerics::positive_part(a * strength - size) / (a - 1);
    return {std::copysign(slope, w), std::copysign(slope, w)};
  }
  double quadratic_strength() const { return strength == 0 ? 0 : not_quadratic; }
};

}  // namespace tutelage
