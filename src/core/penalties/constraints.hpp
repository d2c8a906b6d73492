// The largest coefficient as a penalty, and sums of coefficients as constraints: sum |w| <= bound, sum w^2 <= bound.
//
// A constraint is a penalty of zero inside and infinity outside: its prox is the projection, its conjugate the support
// function. A point counts as on the boundary within a relative 1e-9 of it, and as inside within the same.
#pragma once
#include "core/penalties/joint.hpp"

namespace tutelage {

inline constexpr double boundary = 1e-9;

/// strength max |w|
class LInfinity final : public JointPenalty {
 public:
  double strength = 1;

  static constexpr auto parameters() {
    return std::array{
        Parameter<LInfinity>{.name = "strength", .member = &LInfinity::strength, .low = 0, .meaning = "how much"}};
  }

  PenaltyFacts facts() const override {
    return {.name = "l_infinity", .formula = "strength max |w|", .has_conjugate = true, .scales_dual = strength > 0};
  }
  double value(const double* w, Index k, Index d) const override {
    return strength == 0 ? 0 : strength * largest_magnitude(w, k * d);
  }
  void prox(const double* v, double step, Index k, Index d, double* out) const override {
    // v less its projection onto the dual ball, which is to cut v at a height.
    const double height = l1_ball_threshold(v, k * d, step * strength);
    const bool all = sum_of_magnitudes(v, k * d) <= step * strength;
    for (Index j = 0; j < k * d; ++j) out[j] = all ? 0 : numerics::clip(v[j], -height, height);
  }
  double conjugate(const double* v, Index k, Index d) const override {
    return sum_of_magnitudes(v, k * d) <= strength * (1 + domain_slack) ? 0 : infinity;
  }
  double dual_scale(const double* v, Index k, Index d) const override {
    const double size = sum_of_magnitudes(v, k * d);
    return size > strength ? strength / size : 1;
  }
  bool pinned(Index, Index, double v) const override { return strength == 0 && v != 0; }
  /// The subgradients are strength times the averages of sign(w_j) e_j over the largest |w_j|. The least distance is
  /// the least t for which some of them is within t of -g, found by bisection.
  double stationarity(const double* w, const double* g, Index k, Index d) const override {
    const Index count = k * d;
    const double most = largest_magnitude(w, count), edge = most * (1 - boundary);
    double low = 0, high = strength + largest_magnitude(g, count);
    if (within(w, g, count, most, edge, 0)) return 0;
    for (int round = 0; round < 100 && low < high; ++round) {
      const double middle = low + (high - low) / 2;
      if (middle == low || middle == high) break;
      (within(w, g, count, most, edge, middle) ? high : low) = middle;
    }
    return high;
  }

 private:
  bool within(const double* w, const double* g, Index count, double most, double edge, double t) const {
    double least = 0, reach = 0;  // what the largest coefficients must and may take of the strength
    for (Index j = 0; j < count; ++j) {
      if (most == 0) {  // at zero the subgradients are the ball sum |v| <= strength
        least += numerics::positive_part(std::abs(g[j]) - t);
        reach = infinity;
      } else if (std::abs(w[j]) >= edge) {
        const double along = -g[j] * numerics::sign(w[j]);
        if (along + t < 0) return false;
        least += numerics::positive_part(along - t);
        reach += along + t;
      } else if (std::abs(g[j]) > t) {
        return false;
      }
    }
    const double rounding = strength * 1e-14 * double(count);
    return least <= strength + rounding && reach >= strength - rounding;
  }
};

/// zero where sum |w| <= bound, infinite elsewhere
class L1Ball final : public JointPenalty {
 public:
  double bound = 1;

  static constexpr auto parameters() {
    return std::array{
        Parameter<L1Ball>{.name = "bound", .member = &L1Ball::bound, .low = 0, .meaning = "what sum |w| may reach"}};
  }

  PenaltyFacts facts() const override {
    return {.name = "l1_ball", .formula = "0 where sum |w| <= bound", .has_conjugate = true};
  }
  double value(const double* w, Index k, Index d) const override {
    return sum_of_magnitudes(w, k * d) <= bound * (1 + boundary) ? 0 : infinity;
  }
  void prox(const double* v, double, Index k, Index d, double* out) const override {
    const double threshold = l1_ball_threshold(v, k * d, bound);
    for (Index j = 0; j < k * d; ++j) out[j] = numerics::soft_threshold(v[j], threshold);
  }
  double conjugate(const double* v, Index k, Index d) const override { return bound * largest_magnitude(v, k * d); }
  double dual_scale(const double*, Index, Index) const override { return 1; }
  /// On the boundary the normals are t sign(w_j), or anything within [-t, t] where w_j = 0, for t >= 0: the best t lies
  /// halfway between what the coefficients want most and least.
  double stationarity(const double* w, const double* g, Index k, Index d) const override {
    const Index count = k * d;
    const double size = sum_of_magnitudes(w, count);
    if (size > bound * (1 + boundary)) return infinity;
    if (size < bound * (1 - boundary)) return largest_magnitude(g, count);
    if (bound == 0) return 0;
    double most = 0, least = infinity;
    for (Index j = 0; j < count; ++j) {
      const double along = w[j] == 0 ? std::abs(g[j]) : -g[j] * numerics::sign(w[j]);
      most = std::max(most, along);
      if (w[j] != 0) least = std::min(least, along);
    }
    const double t = numerics::positive_part(most + least) / 2;
    return std::max(most - t, t - least);
  }
};

/// zero where sum w^2 <= bound, infinite elsewhere
class L2Ball final : public JointPenalty {
 public:
  double bound = 1;

  static constexpr auto parameters() {
    return std::array{
        Parameter<L2Ball>{.name = "bound", .member = &L2Ball::bound, .low = 0, .meaning = "what sum w^2 may reach"}};
  }

  PenaltyFacts facts() const override {
    return {.name = "l2_ball", .formula = "0 where sum w^2 <= bound", .has_conjugate = true};
  }
  double value(const double* w, Index k, Index d) const override {
    return norm(w, k * d) <= radius() * (1 + boundary) ? 0 : infinity;
  }
  void prox(const double* v, double, Index k, Index d, double* out) const override {
    const double size = norm(v, k * d);
    const double by = size > radius() ? radius() / size : 1;
    for (Index j = 0; j < k * d; ++j) out[j] = by * v[j];
  }
  double conjugate(const double* v, Index k, Index d) const override { return radius() * norm(v, k * d); }
  double dual_scale(const double*, Index, Index) const override { return 1; }
  /// On the boundary the normals are t w for t >= 0; t is taken by least squares, so this is no less than the distance,
  /// and zero with it.
  double stationarity(const double* w, const double* g, Index k, Index d) const override {
    const Index count = k * d;
    const double size = norm(w, count);
    if (size > radius() * (1 + boundary)) return infinity;
    if (radius() == 0) return 0;
    double t = 0;
    if (size >= radius() * (1 - boundary)) {
      for (Index j = 0; j < count; ++j) t -= g[j] * w[j];
      t = numerics::positive_part(t / (size * size));
    }
    double worst = 0;
    for (Index j = 0; j < count; ++j) worst = std::max(worst, std::abs(g[j] + t * w[j]));
    return worst;
  }

 private:
  double radius() const { return std::sqrt(bound); }
  static double norm(const double* v, Index count) { return std::sqrt(sum_of_squares(v, count)); }
};

}  // namespace tutelage
