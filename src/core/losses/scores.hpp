// Losses of a row of k scores.
//
// Each function takes one row: y (one category, or k real targets) and the k adjacent scores z. A loss that has a
// faster way than row after row writes `rows` as well, as the multinomial does.
#pragma once
#include <concepts>

#include "core/losses/shapes.hpp"

namespace tutelage {

template <class L>
concept ScoresLoss = requires(const L loss, const double* y, const double* z, const double* u, double* out) {
  { loss.k } -> std::convertible_to<Index>;
  { loss.facts() } -> std::same_as<LossFacts>;
  { loss.targets() } -> std::same_as<Index>;
  { loss.value(y, z) } -> std::same_as<double>;
  { loss.slope(y, z, out) } -> std::same_as<void>;
};
template <class L>
concept SmoothScoresLoss =
    ScoresLoss<L> && requires(const L loss, const double* y, const double* z, const double* u, double* out) {
      { loss.curvature(y, z, out) } -> std::same_as<void>;           // the diagonal of the Hessian in z
      { loss.curvature_times(y, z, u, out) } -> std::same_as<void>;  // Hessian u
    };
template <class L>
concept DualScoresLoss = ScoresLoss<L> && requires(const L loss, const double* y, const double* a) {
  { loss.conjugate(y, a) } -> std::same_as<double>;
};
template <class L>
concept ProximalScoresLoss = ScoresLoss<L> && requires(const L loss, const double* y, const double* z, const double* u,
                                                       double step, double* out) {
  { loss.prox(y, z, step, out) } -> std::same_as<void>;
  { loss.prox_slope_times(y, z, step, u, out) } -> std::same_as<void>;  // (derivative of prox at z) u
};

/// max_c (z_c + [c != y]) - z_y: the hinge of the margin over the best other class (Crammer and Singer 2001)
struct CrammerSinger {
  Index k = 2;

  static LossFacts facts() {
    return {.name = "crammer_singer",
            .formula = "max_c (z_c + [c != y]) - z_y",
            .targets = Targets::category,
            .lipschitz = 0x1.6a09e667f3bcdp0,
            .has_conjugate = true,
            .has_prox = true,
            .kink = "where several classes attain the maximum, y if it is one of them, else the first"};
  }
  static Index targets() { return 1; }

  double value(const double* y, const double* z) const { return score_of(best(y, z), y, z) - z[Index(y[0])]; }
  void slope(const double* y, const double* z, double* out) const {
    for (Index c = 0; c < k; ++c) out[c] = 0;
    out[best(y, z)] += 1;
    out[Index(y[0])] -= 1;
  }
  double conjugate(const double* y, const double* a) const {
    // a + e_y must be a distribution p; then the conjugate is -(1 - p_y) = a_y.
    double total = 0;
    for (Index c = 0; c < k; ++c) {
      if (a[c] + (c == Index(y[0]) ? 1 : 0) < -domain_slack) return infinity;
      total += a[c];
    }
    return numerics::magnitude(total) <= domain_slack * double(k) ? a[Index(y[0])] : infinity;
  }
  /// With v = z + step e_y + (1 for c != y) it is the prox of step max(v): cut v at the level that takes away step.
  void prox(const double* y, const double* z, double step, double* out) const {
    const double level = cut(y, z, step);
    for (Index c = 0; c < k; ++c) {
      const double v = lifted(c, y, z, step);
      out[c] = (v < level ? v : level) - (c == Index(y[0]) ? 0 : 1);
    }
  }
  void prox_slope_times(const double* y, const double* z, double step, const double* u, double* out) const {
    // Scores above the cut move together, by the mean of what moves them; the others move freely.
    const double level = cut(y, z, step);
    double sum = 0, count = 0;
    for (Index c = 0; c < k; ++c)
      if (lifted(c, y, z, step) > level) sum += u[c], count += 1;
    for (Index c = 0; c < k; ++c) out[c] = lifted(c, y, z, step) > level ? sum / count : u[c];
  }

 private:
  static double score_of(Index c, const double* y, const double* z) { return z[c] + (c == Index(y[0]) ? 0 : 1); }
  static double lifted(Index c, const double* y, const double* z, double step) {
    return z[c] + (c == Index(y[0]) ? step : 1);
  }
  Index best(const double* y, const double* z) const {
    Index found = Index(y[0]);
    for (Index c = 0; c < k; ++c)
      if (score_of(c, y, z) > score_of(found, y, z)) found = c;
    return found;
  }
  /// The level with sum_c max(0, v_c - level) = step: the mean of those above it less step / count, found by leaving
  /// out those below until none is (Michelot 1986). Once out they stay out: of a step below the rounding of v more
  /// might seem to stand above the next level, and so for ever.
  double cut(const double* y, const double* z, double step) const {
    double level = -infinity;
    for (Index count = k + 1;;) {
      double sum = 0;
      Index above = 0;
      for (Index c = 0; c < k; ++c) {
        const double v = lifted(c, y, z, step);
        if (v > level) sum += v, ++above;
      }
      if (above >= count || above == 0) return level;
      level = (sum - step) / double(above);
      count = above;
    }
  }
};

/// sum over c != y of max(0, 1 + z_c - z_y) (Weston and Watkins 1999)
struct WestonWatkins {
  Index k = 2;

  LossFacts facts() const {
    return {.name = "weston_watkins",
            .formula = "sum over c != y of max(0, 1 + z_c - z_y)",
            .targets = Targets::category,
            .lipschitz = std::sqrt(double(k) * double(k - 1)),
            .has_conjugate = true,
            .has_prox = true,
            .kink = "where 1 + z_c = z_y the slope in z_c is 0"};
  }
  static Index targets() { return 1; }

  double value(const double* y, const double* z) const {
    const Index label = Index(y[0]);
    double sum = 0;
    for (Index c = 0; c < k; ++c) sum += c == label ? 0.0 : numerics::positive_part(1 + z[c] - z[label]);
    return sum;
  }
  void slope(const double* y, const double* z, double* out) const {
    const Index label = Index(y[0]);
    double pushed = 0;
    for (Index c = 0; c < k; ++c) {
      out[c] = c != label && 1 + z[c] > z[label] ? 1 : 0;
      pushed += out[c];
    }
    out[label] = -pushed;
  }
  double conjugate(const double* y, const double* a) const {
    // Every a_c of another class is in [0, 1], all sum to zero; then the conjugate is minus their sum, a_y.
    const Index label = Index(y[0]);
    double total = 0;
    for (Index c = 0; c < k; ++c) {
      if (c != label && !(a[c] >= -domain_slack && a[c] <= 1 + domain_slack)) return infinity;
      total += a[c];
    }
    return numerics::magnitude(total) <= domain_slack * double(k) ? a[label] : infinity;
  }
  /// Each other class moves down by clip(z_c - t + 1, 0, step), where t is the new score of y, which moves up by the
  /// sum.
  void prox(const double* y, const double* z, double step, double* out) const {
    const Index label = Index(y[0]);
    const double t = raised(label, z, step);
    for (Index c = 0; c < k; ++c) out[c] = c == label ? t : z[c] - numerics::clip(z[c] - t + 1, 0.0, step);
  }
  void prox_slope_times(const double* y, const double* z, double step, const double* u, double* out) const {
    // The classes held at t - 1, and y, move together by the mean of what moves them.
    const Index label = Index(y[0]);
    const double t = raised(label, z, step);
    const auto held = [&](Index c) { return c == label || (z[c] - t + 1 > 0 && z[c] - t + 1 < step); };
    double sum = 0, count = 0;
    for (Index c = 0; c < k; ++c)
      if (held(c)) sum += u[c], count += 1;
    for (Index c = 0; c < k; ++c) out[c] = held(c) ? sum / count : u[c];
  }

 private:
  /// The root of t = z_y + sum_c clip(z_c - t + 1, 0, step): increasing and piecewise linear in t, so Newton's method
  /// inside a bracket ends on the piece that holds the root.
  double raised(Index label, const double* z, double step) const {
    double low = z[label] - 1, high = z[label] + step * double(k - 1) + 1, t = z[label];
    for (int round = 0; round < 100; ++round) {
      double excess = t - z[label], rate = 1;
      for (Index c = 0; c < k; ++c) {
        if (c == label) continue;
        const double over = z[c] - t + 1;
        excess -= numerics::clip(over, 0.0, step);
        rate += over > 0 && over < step ? 1 : 0;
      }
      (excess > 0 ? high : low) = t;  // an end of the bracket has been tried: a step onto it would go in circles
      double next = t - excess / rate;
      if (next == t) break;
      if (!(next > low && next < high)) next = low + (high - low) / 2;
      t = next;
    }
    return t;
  }
};

}  // namespace tutelage
