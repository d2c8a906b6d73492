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

  /// Fills primal, dual, gap and measure. The intercept of the point may move (downhill). Two or three passes, and a
  /// few more where the penalty is flat and the metric is not the Hessian itself.
  void write(Vector& point, const Metric& metric, Certificate& certificate) {
    const Index n = risk_.rows(), k = risk_.scores();
    scores_.resize(std::size_t(n * k));
    slopes_.resize(std::size_t(n * k));
    risk_.all_scores(point, scores_.data());
    if (risk_.intercept()) settle_intercept(point);
    const double loss = risk_.loss().evaluate(y(), s(), scores_.data(), n, slopes_.data(), nullptr);
    certificate.primal = loss / risk_.total_weight() + risk_.penalty().value(point.data(), k, risk_.columns());
    primal_ = certificate.primal;
    risk_.transpose_times(slopes_.data(), gradient_);
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
      if (risk_.loss().whole()) least_ -= loss_conjugate(Vector(std::size_t(n * k), 0.0));
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
    const Index n = risk_.rows(), k = risk_.scores(), at = k * risk_.columns();
    Vector diagonal(std::size_t(n * k)), moved(scores_), ahead(slopes_.size()), bent(slopes_.size());
    double value = risk_.loss().evaluate(y(), s(), scores_.data(), n, slopes_.data(), diagonal.data());
    for (int round = 0; round < 60; ++round) {
      Vector slope(std::size_t(k), 0.0), step(std::size_t(k), 0.0);
      Vector curvature = intercept_curvature(diagonal);
      double largest = 0;
      for (Index i = 0; i < n; ++i) {
        for (Index c = 0; c < k; ++c) slope[std::size_t(c)] += slopes_[std::size_t(i * k + c)];
      }
      for (Index c = 0; c < k; ++c) {
        largest = std::max(largest, std::abs(slope[std::size_t(c)]));
        step[std::size_t(c)] = -slope[std::size_t(c)];
      }
      if (largest <= 1e-15 * risk_.total_weight()) break;
      cholesky_solve(curvature.data(), k, step.data());
      bool lower = false;
      for (int halving = 0; halving < 60 && !lower; ++halving) {  // an exponential may overshoot by far
        for (Index i = 0; i < n * k; ++i)
          moved[std::size_t(i)] = scores_[std::size_t(i)] + step[std::size_t(k == 1 ? 0 : i % k)];
        const double next = risk_.loss().evaluate(y(), s(), moved.data(), n, ahead.data(), bent.data());
        lower = next <= value + 1e-14 * std::abs(value);
        if (lower) {
          value = next;
        } else {
          for (double& x : step) x /= 2;
        }
      }
      if (!lower) break;
      scores_.swap(moved);
      slopes_.swap(ahead);
      diagonal.swap(bent);
      for (Index c = 0; c < k; ++c) point[std::size_t(at + c)] += step[std::size_t(c)];
      if (largest <= 1e-13 * risk_.total_weight()) break;
    }
  }

  /// Factored curvature of the loss in the k intercepts.
  Vector intercept_curvature(const Vector& diagonal) const {
    const Index n = risk_.rows(), k = risk_.scores();
    Vector h(std::size_t(k * k), 0.0);
    if (k == 1) {
      for (double c : diagonal) h[0] += c;
      h[0] = std::sqrt(std::max(h[0], 1e-12 * risk_.total_weight()));
      return h;
    }
    Vector unit(std::size_t(n * k), 0.0), column(unit);
    double largest = 0;
    for (Index b = 0; b < k; ++b) {
      for (Index i = 0; i < n; ++i) {
        if (b > 0) unit[std::size_t(i * k + b - 1)] = 0;
        unit[std::size_t(i * k + b)] = 1;
      }
      risk_.loss().curvature_times(y(), s(), scores_.data(), unit.data(), n, column.data());
      for (Index i = 0; i < n; ++i) {
        for (Index a = b; a < k; ++a) h[std::size_t(a * k + b)] += column[std::size_t(i * k + a)];
      }
      largest = std::max(largest, h[std::size_t(b * k + b)]);
    }
    // Adding one number to every score changes nothing for some losses: a little curvature in that direction.
    for (Index a = 0; a < k; ++a) h[std::size_t(a * k + a)] += 1e-10 * largest + 1e-300;
    if (!cholesky(h.data(), k)) {
      std::fill(h.begin(), h.end(), 0.0);
      for (Index a = 0; a < k; ++a) h[std::size_t(a * k + a)] = std::sqrt(largest + 1e-300);
    }
    return h;
  }

  /// Slopes without their weights, scaled by t.
  Vector unweighted(const Vector& slopes, double t) const {
    const Index n = risk_.rows(), k = risk_.scores();
    Vector a(slopes);
    for (Index i = 0; i < n; ++i) {
      const double weight = s() == nullptr ? 1.0 : s()[i];
      for (Index c = 0; c < k; ++c) {
        double& value = a[std::size_t(i * k + c)];
        value = weight == 0 ? 0.0 : t * value / weight;
      }
    }
    return a;
  }

  double loss_conjugate(const Vector& a) const {
    return risk_.loss().conjugate(y(), s(), a.data(), risk_.rows()) / risk_.total_weight();
  }

  double rescaled_dual(const Vector& point) const {
    const Index k = risk_.scores(), d = risk_.columns();
    Vector v(gradient_.begin(), gradient_.begin() + k * d);
    for (double& value : v) value = -value;
    const double t = risk_.penalty().dual_scale(v.data(), k, d);
    for (double& value : v) value *= t;
    const double leftover = unsettled(point);
    if (leftover == infinity) return -infinity;
    return -loss_conjugate(unweighted(slopes_, t)) - risk_.penalty().conjugate(v.data(), k, d) - leftover;
  }

  /// What the slopes that do not sum to zero cost; infinity where the intercept is not settled.
  double unsettled(const Vector& point) const {
    const Index k = risk_.scores(), at = k * risk_.columns();
    double cost = 0;
    for (Index c = 0; risk_.intercept() && c < k; ++c) {
      double size = 0;
      for (Index i = c; i < Index(slopes_.size()); i += k) size += std::abs(slopes_[std::size_t(i)]);
      const double over = std::abs(gradient_[std::size_t(at + c)]);
      if (over > 1e-6 * size / risk_.total_weight()) return infinity;
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
    return -loss_conjugate(unweighted(bent, 1)) - fenchel - charge;
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
    Vector g(gradient_), bent(slopes_), step;
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
    return -loss_conjugate(unweighted(bent, t)) - risk_.penalty().conjugate(v.data(), k, d) - charge;
  }

  /// Whether a Newton step did away with the gradient: of a norm of `start`, `left` is left, and that is charged.
  bool stepped(double left, double charge, double start) const {
    return left <= 1e-6 * start || (charge > 0 && charge <= 1e-10 * std::abs(primal_));
  }

  /// The slopes a step further, as far as their curvature tells, and the gradient g that they make.
  Vector bend(const Vector& step, Vector& g) const {
    Vector along(slopes_.size()), bent(slopes_.size());
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
  double scale_ = -1, primal_ = infinity;
  double least_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace tutelage
