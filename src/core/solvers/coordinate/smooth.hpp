// The smooth part of the objective at the present scores z = X w + b: its value, its slopes and curvatures by row, and
// the exact intercept.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/machine/parallel.hpp"
#include "core/solvers/coordinate/models.hpp"

namespace tutelage::coordinate {

inline constexpr Index row_block = 4096;

/// sum over rows of term(first, count), in blocks added in order.
template <class Term>
double sum_blocks(Index rows, Term&& term) {
  const Index blocks = (rows + row_block - 1) / row_block;
  Vector sums(at(blocks), 0.0);
  parallel_for(blocks, [&](Index t) {
    const Index first = t * row_block;
    sums[at(t)] = term(first, std::min(row_block, rows - first));
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

/// (1 / S) sum_i s_i loss(y_i, z_i) for one score per row.
class SmoothPart {
 public:
  SmoothPart(const AnyLoss& loss, const double* y, const double* s, Index rows)
      : loss_(loss),
        facts_(loss.facts()),
        y_(y),
        s_(s),
        rows_(rows),
        weights(at(rows)),
        slopes(at(rows)),
        curvatures(at(rows)) {
    total_ =
        s ? sum_blocks(rows, [&](Index first, Index n) { return plain_sum(s + first, n); }) : static_cast<double>(rows);
    for (Index i = 0; i < rows; ++i) weights[at(i)] = (s ? s[i] : 1.0) / total_;
  }

  Index rows() const { return rows_; }
  const LossFacts& facts() const { return facts_; }
  double value() const { return value_; }

  /// Everything at the scores z.
  void evaluate(const Vector& z) {
    value_ = 0;
    const bool newton = facts_.has_curvature && !facts_.quadratic;
    const auto block = [&](Index first, Index n) {
      const double* s = s_ ? s_ + first : nullptr;
      double* slope = slopes.data() + first;
      double* curvature = newton ? curvatures.data() + first : nullptr;
      const double value = loss_.evaluate(y_ + first * loss_.targets(), s, z.data() + first, n, slope, curvature);
      const double by = 1 / total_;
      for (Index i = 0; i < n; ++i) slope[i] *= by;
      if (newton) {
        for (Index i = 0; i < n; ++i) curvature[i] *= by;
      }
      return value;
    };
    value_ = (loss_.whole() ? block(0, rows_) : sum_blocks(rows_, block)) / total_;
    if (newton) {
      keep_curvature_positive();
    } else if (!constant_curvature_) {
      constant_curvature_ = true;
      for (Index i = 0; i < rows_; ++i) curvatures[at(i)] = weights[at(i)] * facts_.smoothness;
    }
  }

  /// Moves b and z to where the slopes sum to zero; false where there is no such place (labels of one class).
  bool fit_intercept(Vector& z, double& b) {
    double low = -infinity, high = infinity;  // of the step from here
    double moved = 0;
    double size_before = infinity;
    for (int round = 0; round < 200; ++round) {
      const double slope = plain_sum(slopes.data(), rows_);
      double size = 0;
      for (Index i = 0; i < rows_; ++i) size += std::abs(slopes[at(i)]);
      if (std::abs(slope) <= 4e-16 * size || size == 0) return true;
      if (round == 0) size_before = size;
      if (!(size > 1e-16 * size_before)) return false;
      if (slope > 0)
        high = moved;
      else
        low = moved;
      double next = moved - slope / plain_sum(curvatures.data(), rows_);
      if (next == moved) return true;  // a step below rounding; bisection would leave the best place again
      if (!(next > low && next < high)) {
        if (high == infinity || low == -infinity) {
          next = moved + (slope > 0 ? -1 : 1) * std::max(1.0, std::abs(moved));
        } else {
          next = low + (high - low) / 2;
        }
      }
      if (next == moved || next == low || next == high) return true;
      const double step = next - moved;
      if (std::abs(step) <= 1e-16 * std::abs(b + moved)) return std::abs(slope) <= 1e-10 * size;
      for (Index i = 0; i < rows_; ++i) z[at(i)] += step;
      b += step;
      moved = next;
      evaluate(z);
      if (facts_.quadratic && round >= 2) return true;
      if (!std::isfinite(value_)) return false;
    }
    return false;
  }

  /// s_i curvature_i / S as the loss has it, zero on its flat stretches.
  Vector true_curvatures(const Vector& z) const {
    Vector out(at(rows_));
    loss_.curvature_times(y_, s_, z.data(), Vector(at(rows_), 1.0).data(), rows_, out.data());
    for (double& c : out) c /= total_;
    return out;
  }

  /// -(1 / S) sum_i s_i conjugate(y_i, t slope_i): the part of the dual that does not know the penalty.
  double dual(const Vector& weighted_slopes, double t) {
    theta_.resize(at(rows_));
    const auto block = [&](Index first, Index n) {
      for (Index i = first; i < first + n; ++i) {
        const double weight = weights[at(i)];
        theta_[at(i)] = weight > 0 ? t * (weighted_slopes[at(i)] / weight) : 0.0;
      }
      return loss_.conjugate(y_ + first * loss_.targets(), s_ ? s_ + first : nullptr, theta_.data() + first, n);
    };
    return -(loss_.whole() ? block(0, rows_) : sum_blocks(rows_, block)) / total_;
  }

  /// For a squared loss: dual(slopes, t) = first t - second t^2 / 2.
  std::pair<double, double> quadratic_dual(const Vector& weighted_slopes) const {
    double along = 0, square = 0;
    for (Index i = 0; i < rows_; ++i) {
      const double slope = weighted_slopes[at(i)], weight = weights[at(i)];
      along -= slope * y_[i];
      if (weight > 0) square += slope * slope / weight;
    }
    return {along, square};
  }

 private:
  static double plain_sum(const double* v, Index n) {
    return simd::accumulate(n, [=](Index i, auto&& get, simd::Pack sum) { return sum + get(v + i); });
  }

  /// A loss with flat or concave stretches (Huber, squared hinge) would leave coefficients without curvature.
  void keep_curvature_positive() {
    double largest = 0;
    for (const double c : curvatures) largest = std::max(largest, c);
    const double least = largest > 0 ? 1e-6 * largest : 1.0 / static_cast<double>(rows_);
    if (facts_.smoothness == infinity && facts_.convex) return;
    for (Index i = 0; i < rows_; ++i) {
      const double by = weights[at(i)] * static_cast<double>(rows_);
      curvatures[at(i)] = std::max(curvatures[at(i)], least * std::min(by, 1.0));
    }
  }

  const AnyLoss& loss_;
  const LossFacts facts_;
  const double* y_;
  const double* s_;
  Index rows_;
  double total_ = 0;
  double value_ = 0;
  bool constant_curvature_ = false;
  Vector theta_;

 public:
  Vector weights;     // s_i / S
  Vector slopes;      // s_i slope_i / S
  Vector curvatures;  // s_i curvature_i / S, and never far below the largest
};

}  // namespace tutelage::coordinate
