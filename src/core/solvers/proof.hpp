// The proof of a smooth fit: a dual point made from the slopes at hand, and the gap it leaves.
//
// theta_i = loss'(y_i, z_i) gives the lower bound
//     dual = -(1 / S) sum_i s_i conjugate(y_i, theta_i) - penalty*(v),     v = -(1 / S) X' s theta,
// provided sum_i s_i theta_i = 0 (an unpenalised intercept) and penalty*(v) is finite. Two repairs make it so:
//
// 1. The intercept is first minimised exactly, which needs scores only, not X.
// 2. Where the penalty leaves directions free (none at all, weights of zero), penalty* is finite only for v in its
//    range. Then the slopes are linearised along a Newton step D:  theta' = theta + loss'' (X D). With an exact step
//    v' = penalty'(w + D) to rounding, so penalty*(v') = v'.(w + D) - penalty(w + D) by Fenchel's equality. Where the
//    loss is straight at this point (no curvature, no step) what is left over is all of the slope, and the bound is not
//    used. A penalty with corners may leave some coefficients free as well (a sign without a price, a weight of zero):
//    D then moves those that scaling cannot bring into the domain, and scaling does the rest.
//
// What a repair leaves over, e, lowers the bound by e.w*, w* the minimum. Nobody knows w*; the repair's own guess of
// it is w + D, so |e| (|w + D| + 10 |D|) is charged: at a point far from the minimum (D as large as w) an error of the
// guess by ten times is covered, near it the charge is that of w.
//
// theta = 0 is a dual point too, and its bound is the least loss plus the least penalty: zero for those of this
// library.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/risk.hpp"
#include "core/solvers/certificate.hpp"
#include "core/solvers/conjugate_gradients.hpp"
#include "core/solvers/metric.hpp"

namespace tutelage {

class Proof {
 public:
  explicit Proof(const Risk& risk) : risk_(risk), loss_(risk.loss().facts()), penalty_(risk.penalty().facts()) {}

  bool has_dual() const { return loss_.convex && penalty_.convex && loss_.has_conjugate && penalty_.has_conjugate; }

  /// Where a solver may leave the scores of its point (rows x scores) before it calls write; afterwards they are those
  /// of the point as write left it.
  Vector& scores() {
    scores_.resize(std::size_t(risk_.rows() * risk_.scores()));
    return scores_;
  }
  /// Of the mean loss, at the point of the last write.
  const Vector& gradient() const { return gradient_; }

  /// Fills primal, dual, gap and measure. The intercept of the point may move (downhill). One pass where the scores are
  /// known, else two, and a few more where the penalty is flat and the metric is not the Hessian itself.
  void write(Vector& point, const Metric& metric, Certificate& certificate, bool scores_known = false) {
    const Index k = risk_.scores();
    if (!scores_known) risk_.all_scores(point, scores().data());
    if (risk_.intercept()) settle_intercept(point);
    at_scores_ = risk_.evaluate_at(scores_.data(), gradient_);
    slopes_.clear();
    certificate.primal =
        at_scores_.loss / risk_.total_weight() + risk_.penalty().value(point.data(), k, risk_.columns());
    primal_ = certificate.primal;
    certificate.measure = Measure::stationarity;
    certificate.dual = -infinity;
    if (!has_dual()) {
      certificate.gap = relative_stationarity(point);
      return;
    }
    certificate.measure = Measure::duality;
    certificate.dual = std::max(least_value(), better_dual(point, metric));
    certificate.gap = gap_between(certificate.primal, certificate.dual);
  }

  /// A lower bound without looking: the least that the loss and the penalty can be.
  double least_value() {
    if (std::isnan(least_)) {
      const Index n = risk_.rows(), k = risk_.scores();
      least_ = 0;
      if (risk_.loss().whole()) least_ -= loss_conjugate(Vector(std::size_t(n * k), 0.0), 1);
      least_ -= risk_.penalty().conjugate(Vector(std::size_t(k * risk_.columns()), 0.0).data(), k, risk_.columns());
    }
    return least_;
  }

  /// The same for a point that must stay where it is: the dual comes from the point with its intercept settled.
  void write_here(const Vector& point, const Metric& metric, Certificate& certificate) {
    Vector settled(point);
    write(settled, metric, certificate);
    if (settled == point) return;
    certificate.primal = risk_.value(point);
    if (certificate.measure == Measure::duality) certificate.gap = gap_between(certificate.primal, certificate.dual);
  }

  /// The gap that write will find at a point with this gradient of the risk, but for what its intercepts contribute;
  /// zero where only write can tell. With a penalty that is strongly convex the slopes are a dual point as they are,
  /// and at a slope the conjugate is slope . z - loss (Fenchel, Young): no row is needed.
  double expected_gap(const Vector& point, const Vector& gradient) const {
    if (!has_dual() || !penalty_.quadratic || !(penalty_.strong_convexity > 0)) return 0;
    const Index k = risk_.scores(), d = risk_.columns();
    Vector v(std::size_t(k * d), 0.0);
    risk_.penalty().add_gradient(point.data(), k, d, v.data());
    double product = 0;
    for (std::size_t j = 0; j < v.size(); ++j) {
      v[j] -= gradient[j];  // minus the gradient of the loss
      product -= v[j] * point[j];
    }
    return risk_.penalty().value(point.data(), k, d) + risk_.penalty().conjugate(v.data(), k, d) + product;
  }

  /// True when moving along the last Newton step for ever lowers every loss and costs nothing: there is no minimum.
  bool recedes(const Vector& direction) const {
    if (loss_.targets != Targets::label && loss_.targets != Targets::category) return false;
    const Index n = risk_.rows(), k = risk_.scores();
    if (!costs_nothing(direction) || attains_zero()) return false;
    Vector along(std::size_t(n * k));
    risk_.all_scores(direction, along.data());
    double largest = 0;
    for (double u : along) largest = std::max(largest, std::abs(u));
    if (!(largest > 0)) return false;
    bool gains = false;
    for (Index i = 0; i < n; ++i) {
      if (s() != nullptr && s()[i] == 0) continue;
      for (Index c = 0; c < k; ++c) {
        const double gain = k == 1 ? y()[i] * along[std::size_t(i)]
                                   : along[std::size_t(i * k + Index(y()[i]))] - along[std::size_t(i * k + c)];
        if (k > 1 && c == Index(y()[i])) continue;
        if (gain < -1e-9 * largest) return false;
        gains = gains || gain > 1e-3 * largest;
      }
    }
    return gains;
  }

 private:
  const double* y() const { return risk_.sample().y; }
  const double* s() const { return risk_.sample().weights; }

  /// At the point of the last write. Rows x scores, so made only where a dual point is not the slopes as they are.
  const Vector& slopes() {
    if (slopes_.empty()) risk_.slopes_at(scores_.data(), slopes_);
    return slopes_;
  }

  double better_dual(const Vector& point, const Metric& metric) {
    if (penalty_.quadratic && !(penalty_.strong_convexity > 0)) return linearised_dual(point, metric);
    return penalty_.quadratic || penalty_.scales_dual ? rescaled_dual(point) : bent_dual(point);
  }

  /// Whether the loss of a row that is right by far is zero: such a loss has its minimum where others recede.
  bool attains_zero() const {
    Vector z(std::size_t(risk_.scores()), 0.0), slope(z);
    z.front() = 20;
    const double target = loss_.targets == Targets::label ? 1 : 0;
    return risk_.loss().evaluate(&target, nullptr, z.data(), 1, slope.data(), nullptr) == 0;
  }

  /// Whether the penalty is the same far along a direction: it is quadratic, and flat that way.
  bool costs_nothing(const Vector& direction) const {
    if (!penalty_.quadratic) return false;
    const Index k = risk_.scores(), d = risk_.columns();
    Vector bent(std::size_t(k * d), 0.0);
    risk_.penalty().add_hessian_times(direction.data(), k, d, bent.data());
    return std::all_of(bent.begin(), bent.end(), [](double x) { return x == 0; });
  }

  /// Newton's method on the intercepts alone: the scores move together, X is not read.
  void settle_intercept(Vector& point) {
    if (!loss_.has_curvature) return;
    const Index k = risk_.scores(), at = k * risk_.columns();
    Vector shift(std::size_t(k), 0.0), next(shift);
    Moved here = moved_by(shift);
    for (int round = 0; round < 60; ++round) {
      double largest = 0;
      for (const double slope : here.slope) largest = std::max(largest, std::abs(slope));
      if (largest <= 1e-15 * risk_.total_weight()) break;
      Vector step(here.slope);
      factor_curvature(here.curvature);
      cholesky_solve(here.curvature.data(), k, step.data());
      bool lower = false;
      for (int halving = 0; halving < 60 && !lower; ++halving) {  // an exponential may overshoot by far
        for (std::size_t c = 0; c < step.size(); ++c) next[c] = shift[c] - step[c];
        Moved there = moved_by(next);
        lower = there.value <= here.value + 1e-14 * std::abs(here.value);
        if (lower) {
          here = std::move(there);
        } else {
          for (double& x : step) x /= 2;
        }
      }
      if (!lower) break;
      shift = next;
      if (largest <= 1e-13 * risk_.total_weight()) break;
    }
    if (std::all_of(shift.begin(), shift.end(), [](double x) { return x == 0; })) return;
    for (Index c = 0; c < k; ++c) point[std::size_t(at + c)] += shift[std::size_t(c)];
    for (Index i = 0; i < risk_.rows(); ++i) {
      for (Index c = 0; c < k; ++c) scores_[std::size_t(i * k + c)] += shift[std::size_t(c)];
    }
  }

  /// Value, slopes and curvatures (k x k, lower triangle) of the loss in the intercepts.
  struct Moved {
    double value = 0;
    Vector slope, curvature;
  };

  /// The same where all scores move by `shift`.
  Moved moved_by(const Vector& shift) const {
    const Index n = risk_.rows(), k = risk_.scores();
    const Index height = risk_.loss().whole() ? std::max<Index>(n, 1) : std::max<Index>(64, 8192 / k);
    const Index blocks = (n + height - 1) / height, width = 1 + k + k * k;
    const Index parts = std::min(blocks, std::max<Index>(4, 500000 / width));  // their sums stay small
    Vector sums(std::size_t(parts * width), 0.0);
    parallel_for(parts, [&](Index part) {
      Vector z(std::size_t(height * k)), slope(z.size()), diagonal(k == 1 ? z.size() : 0);
      double* sum = sums.data() + part * width;
      for (Index b = part * blocks / parts; b < (part + 1) * blocks / parts; ++b) {
        const Index first = b * height, count = std::min(height, n - first);
        for (Index i = 0; i < count; ++i) {
          for (Index c = 0; c < k; ++c) {
            z[std::size_t(i * k + c)] = scores_[std::size_t((first + i) * k + c)] + shift[std::size_t(c)];
          }
        }
        const double* targets = y() + first * risk_.loss().targets();
        const double* weights = s() == nullptr ? nullptr : s() + first;
        sum[0] +=
            risk_.loss().evaluate(targets, weights, z.data(), count, slope.data(), k == 1 ? diagonal.data() : nullptr);
        simd::add_column_sums(slope.data(), count, k, sum + 1);
        if (k == 1) {
          sum[2] += simd::sum(diagonal.data(), count);
        } else {
          risk_.loss().curvature_sum(targets, weights, z.data(), count, sum + 1 + k);
        }
      }
    });
    Moved moved{0, Vector(std::size_t(k), 0.0), Vector(std::size_t(k * k), 0.0)};
    for (Index part = 0; part < parts; ++part) {
      const double* sum = sums.data() + part * width;
      moved.value += sum[0];
      for (Index c = 0; c < k; ++c) moved.slope[std::size_t(c)] += sum[1 + c];
      for (Index ab = 0; ab < k * k; ++ab) moved.curvature[std::size_t(ab)] += sum[1 + k + ab];
    }
    return moved;
  }

  /// Cholesky's factor of the curvature in the intercepts, in place.
  void factor_curvature(Vector& h) const {
    const Index k = risk_.scores();
    if (k == 1) {
      h[0] = std::sqrt(std::max(h[0], 1e-12 * risk_.total_weight()));
      return;
    }
    double largest = 0;
    for (Index a = 0; a < k; ++a) largest = std::max(largest, h[std::size_t(a * k + a)]);
    // Adding one number to every score changes nothing for some losses: a little curvature in that direction.
    for (Index a = 0; a < k; ++a) h[std::size_t(a * k + a)] += 1e-10 * largest + 1e-300;
    if (!cholesky(h.data(), k)) {
      std::fill(h.begin(), h.end(), 0.0);
      for (Index a = 0; a < k; ++a) h[std::size_t(a * k + a)] = std::sqrt(largest + 1e-300);
    }
  }

  /// (1 / S) sum_i s_i conjugate(y_i, t a_i), from slopes that are weighted: s_i a_i.
  double loss_conjugate(const Vector& slopes, double t) const {
    const Index n = risk_.rows(), k = risk_.scores();
    const Index height = risk_.loss().whole() ? std::max<Index>(n, 1) : std::max<Index>(64, 8192 / k);
    const Index blocks = (n + height - 1) / height;
    Vector sums(std::size_t(blocks), 0.0);
    parallel_for(blocks, [&](Index b) {
      const Index first = b * height, count = std::min(height, n - first);
      const double* weights = s() == nullptr ? nullptr : s() + first;
      Vector a(slopes.begin() + first * k, slopes.begin() + (first + count) * k);
      for (Index i = 0; i < count; ++i) {
        const double weight = weights == nullptr ? 1.0 : weights[i];
        for (Index c = 0; c < k; ++c) {
          double& value = a[std::size_t(i * k + c)];
          value = weight == 0 ? 0.0 : t * value / weight;
        }
      }
      sums[std::size_t(b)] = risk_.loss().conjugate(y() + first * risk_.loss().targets(), weights, a.data(), count);
    });
    double sum = 0;
    for (const double term : sums) sum += term;
    return sum / risk_.total_weight();
  }

  double rescaled_dual(const Vector& point) {
    const Index k = risk_.scores(), d = risk_.columns();
    Vector v(gradient_.begin(), gradient_.begin() + k * d);
    for (double& value : v) value = -value;
    const double t = risk_.penalty().dual_scale(v.data(), k, d);
    for (double& value : v) value *= t;
    const double leftover = unsettled(point);
    if (leftover == infinity) return -infinity;
    // At the slopes themselves the conjugate is slope . z - loss; what a user calls a slope may not be one.
    const bool as_they_are = t == 1 && !risk_.loss().whole() && std::isfinite(at_scores_.product);
    const double conjugate =
        as_they_are ? (at_scores_.product - at_scores_.loss) / risk_.total_weight() : loss_conjugate(slopes(), t);
    return -conjugate - risk_.penalty().conjugate(v.data(), k, d) - leftover;
  }

  /// What the slopes that do not sum to zero cost; infinity where the intercept is not settled.
  double unsettled(const Vector& point) const {
    const Index k = risk_.scores(), at = k * risk_.columns();
    double cost = 0;
    for (Index c = 0; risk_.intercept() && c < k; ++c) {
      const double over = std::abs(gradient_[std::size_t(at + c)]);
      if (over > 1e-6 * at_scores_.sizes[std::size_t(c)] / risk_.total_weight()) return infinity;
      cost += over * std::abs(point[std::size_t(at + c)]);
    }
    return cost;
  }

  double linearised_dual(const Vector& point, const Metric& metric) {
    const Index k = risk_.scores(), d = risk_.columns();
    Vector g, residual(gradient_);
    risk_.penalty().add_gradient(point.data(), k, d, residual.data());
    const double start = norm(residual);
    const auto precondition = [&](Vector& v) {
      if (!metric.empty()) metric.solve(v);
    };
    const auto apply = [&](const Vector& v, Vector& out) {
      risk_.hessian_times(scores_.data(), v, out);
      risk_.penalty().add_hessian_times(v.data(), k, d, out.data());
    };
    const Vector step = newton_step(residual, apply, precondition);
    const Vector bent = bend(step, g);
    Vector ahead(point), slope(std::size_t(k * d), 0.0);
    for (std::size_t i = 0; i < ahead.size(); ++i) ahead[i] += step[i];
    risk_.penalty().add_gradient(ahead.data(), k, d, slope.data());
    double fenchel = -risk_.penalty().value(ahead.data(), k, d), left = 0;
    for (Index j = 0; j < risk_.size(); ++j) {
      const std::size_t at = std::size_t(j);
      const double over = g[at] + (j < k * d ? slope[at] : 0.0);
      if (j < k * d) fenchel -= g[at] * ahead[at];
      left += over * over;
    }
    const double charge = std::sqrt(left) * (norm(ahead) + 10 * norm(step));
    if (!stepped(std::sqrt(left), charge, start)) return -infinity;
    return -loss_conjugate(bent, 1) - fenchel - charge;
  }

  /// See 2. at the top: only the coefficients that scaling cannot help move, together with the intercepts.
  double bent_dual(const Vector& point) {
    const Index k = risk_.scores(), d = risk_.columns();
    std::vector<char> moves(std::size_t(risk_.size()), 0);
    std::fill(moves.begin() + k * d, moves.end(), char{1});
    const auto keep_moving = [&](Vector& v) {
      for (std::size_t j = 0; j < v.size(); ++j) v[j] = moves[j] ? v[j] : 0;
    };
    const auto apply = [&](const Vector& v, Vector& out) {
      risk_.hessian_times(scores_.data(), v, out);
      keep_moving(out);
    };
    Vector g(gradient_), bent(slopes()), step;
    Metric diagonal;
    for (int attempt = 0; attempt < 6; ++attempt) {
      bool grown = false;
      for (Index j = 0; j < k * d; ++j) {
        if (moves[std::size_t(j)] || !risk_.penalty().pinned(j, d, -g[std::size_t(j)])) continue;
        moves[std::size_t(j)] = grown = true;
      }
      if (attempt > 0 && !grown) break;
      Vector residual(gradient_);
      keep_moving(residual);
      if (diagonal.empty()) diagonal = metric_at(risk_, point, Curvature::diagonal, 0);
      step = newton_step(residual, apply, [&](Vector& v) { diagonal.solve(v); });
      bent = bend(step, g);
    }
    Vector v(std::size_t(k * d)), ahead(step);
    double left = 0, start = 0;
    for (Index j = 0; j < risk_.size(); ++j) {
      const std::size_t at = std::size_t(j);
      if (j < k * d) v[at] = moves[at] ? 0.0 : -g[at];
      if (!moves[at]) continue;
      left += g[at] * g[at];
      start += gradient_[at] * gradient_[at];
      ahead[at] += point[at];
    }
    const double charge = std::sqrt(left) * (norm(ahead) + 10 * norm(step));
    if (!stepped(std::sqrt(left), charge, std::sqrt(start))) return -infinity;
    const double t = risk_.penalty().dual_scale(v.data(), k, d);
    for (double& value : v) value *= t;
    return -loss_conjugate(bent, t) - risk_.penalty().conjugate(v.data(), k, d) - charge;
  }

  /// Whether a Newton step did away with the gradient: of a norm of `start`, `left` is left, and that is charged.
  bool stepped(double left, double charge, double start) const {
    return left <= 1e-6 * start || (charge > 0 && charge <= 1e-10 * std::abs(primal_));
  }

  /// The slopes a step further, as far as their curvature tells, and the gradient g that they make.
  Vector bend(const Vector& step, Vector& g) {
    Vector along(slopes().size()), bent(along.size());
    risk_.all_scores(step, along.data());
    risk_.loss().curvature_times(y(), s(), scores_.data(), along.data(), risk_.rows(), bent.data());
    for (std::size_t i = 0; i < bent.size(); ++i) bent[i] += slopes_[i];
    risk_.transpose_times(bent.data(), g);
    return bent;
  }

  /// Conjugate gradients on (Hessian) step = -gradient; what is left of the gradient stays in it, with its sign
  /// changed.
  template <class Apply, class Precondition>
  static Vector newton_step(Vector& gradient, Apply&& apply, Precondition&& precondition) {
    Vector step(gradient.size(), 0.0);
    for (double& g : gradient) g = -g;
    conjugate_gradients(gradient, step, apply, precondition, 1e-10 * norm(gradient), 200, [] { return false; });
    return step;
  }

  /// Largest violation of the optimality conditions, relative to the largest slope at zero coefficients.
  double relative_stationarity(const Vector& point) {
    const Index k = risk_.scores(), d = risk_.columns();
    if (scale_ < 0) {
      Vector origin(std::size_t(risk_.size()), 0.0);
      for (Index c = k * d; c < risk_.size(); ++c) origin[std::size_t(c)] = point[std::size_t(c)];
      Risk::Local at_zero;
      risk_.evaluate(origin, at_zero);
      scale_ = 0;
      for (double g : at_zero.gradient) scale_ = std::max(scale_, std::abs(g));
    }
    double worst = risk_.penalty().stationarity(point.data(), gradient_.data(), k, d);
    for (Index c = k * d; c < risk_.size(); ++c) worst = std::max(worst, std::abs(gradient_[std::size_t(c)]));
    return scale_ > 0 ? worst / scale_ : worst;
  }

  const Risk& risk_;
  LossFacts loss_;
  PenaltyFacts penalty_;
  Vector scores_, slopes_, gradient_;
  AtScores at_scores_;
  double scale_ = -1, primal_ = infinity;
  double least_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace tutelage
