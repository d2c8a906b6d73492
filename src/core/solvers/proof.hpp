// The proof of a smooth fit: a dual point made from the slopes at hand, and the gap it leaves.
//
// theta_i = loss'(y_i, z_i) gives the lower bound
//     dual = -(1 / S) sum_i s_i conjugate(y_i, theta_i) - penalty*(v),     v = -(1 / S) X' s theta,
// provided sum_i s_i theta_i = 0 (an unpenalised intercept) and penalty*(v) is finite. Two repairs make it so:
//
// 1. The intercept is first minimised exactly, which needs scores only, not X.
// 2. Where the penalty leaves directions free (none at all, weights of zero), penalty* is finite only for v in its
// range.
//    Then the slopes are linearised along a Newton step D:  theta' = theta + loss'' (X D). With an exact step
//    v' = penalty'(w + D) to rounding, so penalty*(v') = v'.(w + D) - penalty(w + D) by Fenchel's equality. What the
//    step leaves over, e = v' - penalty'(w + D), is charged to the gap as |e| |w + D|. Where the loss is straight at this
//    point (no curvature, no step) what is left over is all of the slope, and the bound is not used.
//
// theta = 0 is a dual point too, and its bound is the least loss plus the least penalty: zero for those of this library.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/risk.hpp"
#include "core/solvers/certificate.hpp"
#include "core/solvers/metric.hpp"

namespace tutelage {

class Proof {
 public:
  explicit Proof(const Risk& risk) : risk_(risk), loss_(risk.loss().facts()), penalty_(risk.penalty().facts()) {}

  bool has_dual() const {
    return loss_.convex && penalty_.convex && loss_.has_conjugate && penalty_.has_conjugate &&
           (penalty_.quadratic || penalty_.scales_dual);
  }

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
    certificate.dual = std::max(least_value(), flat() ? linearised_dual(point, metric) : rescaled_dual(point));
    certificate.gap = std::max(0.0, certificate.primal - certificate.dual);
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
    if (certificate.measure == Measure::duality) certificate.gap = std::max(0.0, certificate.primal - certificate.dual);
  }

  /// True when moving along the last Newton step for ever lowers every loss: there is no minimum.
  bool recedes(const Vector& direction) const {
    if (loss_.targets != Targets::label && loss_.targets != Targets::category) return false;
    const Index n = risk_.rows(), k = risk_.scores();
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
  bool flat() const { return penalty_.quadratic && !(penalty_.strong_convexity > 0); }

  /// Newton's method on the intercepts alone: the scores move together, X is not read.
  void settle_intercept(Vector& point) {
    if (!std::isfinite(loss_.smoothness) && !loss_.has_curvature) return;
    const Index n = risk_.rows(), k = risk_.scores(), at = k * risk_.columns();
    Vector diagonal(std::size_t(n * k)), moved(scores_);
    double value = risk_.loss().evaluate(y(), s(), scores_.data(), n, slopes_.data(), diagonal.data());
    for (int round = 0; round < 20; ++round) {
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
      for (Index i = 0; i < n; ++i) {
        for (Index c = 0; c < k; ++c)
          moved[std::size_t(i * k + c)] = scores_[std::size_t(i * k + c)] + step[std::size_t(c)];
      }
      const double next = risk_.loss().evaluate(y(), s(), moved.data(), n, slopes_.data(), diagonal.data());
      if (!(next <= value + 1e-14 * std::abs(value))) break;
      value = next;
      scores_.swap(moved);
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
    double leftover = 0;
    for (Index c = 0; risk_.intercept() && c < k; ++c) {
      leftover += std::abs(gradient_[std::size_t(k * d + c)] * point[std::size_t(k * d + c)]);
    }
    return -loss_conjugate(unweighted(slopes_, t)) - risk_.penalty().conjugate(v.data(), k, d) - leftover;
  }

  double linearised_dual(const Vector& point, const Metric& metric) {
    const Index n = risk_.rows(), k = risk_.scores(), d = risk_.columns();
    Vector step = newton_step(point, metric);
    Vector along(std::size_t(n * k)), bent(std::size_t(n * k));
    risk_.all_scores(step, along.data());
    risk_.loss().curvature_times(y(), s(), scores_.data(), along.data(), n, bent.data());
    for (std::size_t i = 0; i < bent.size(); ++i) bent[i] += slopes_[i];
    Vector g;
    risk_.transpose_times(bent.data(), g);
    Vector ahead(point), slope(std::size_t(k * d), 0.0);
    for (std::size_t i = 0; i < ahead.size(); ++i) ahead[i] += step[i];
    risk_.penalty().add_gradient(ahead.data(), k, d, slope.data());
    double fenchel = -risk_.penalty().value(ahead.data(), k, d), left = 0, length = 0;
    for (Index j = 0; j < k * d; ++j) {
      fenchel -= g[std::size_t(j)] * ahead[std::size_t(j)];
      left += (g[std::size_t(j)] + slope[std::size_t(j)]) * (g[std::size_t(j)] + slope[std::size_t(j)]);
      length += ahead[std::size_t(j)] * ahead[std::size_t(j)];
    }
    for (Index c = k * d; c < risk_.size(); ++c) {
      left += g[std::size_t(c)] * g[std::size_t(c)];
      length += ahead[std::size_t(c)] * ahead[std::size_t(c)];
    }
    const double charge = std::sqrt(left * length);
    Vector whole(gradient_);
    risk_.penalty().add_gradient(point.data(), k, d, whole.data());
    const bool stepped = std::sqrt(left) <= 1e-3 * norm(whole) || (length > 0 && charge <= 1e-10 * primal_);
    return stepped ? -loss_conjugate(unweighted(bent, 1)) - fenchel - charge : -infinity;
  }

  /// Conjugate gradients, with the metric as preconditioner, on (Hessian) step = -gradient.
  Vector newton_step(const Vector& point, const Metric& metric) const {
    const Index k = risk_.scores(), d = risk_.columns();
    Vector residual(gradient_), step(std::size_t(risk_.size()), 0.0), product, search;
    risk_.penalty().add_gradient(point.data(), k, d, residual.data());
    for (double& r : residual) r = -r;
    const double start = norm(residual);
    double before = 0;
    for (int round = 0; round < 50 && norm(residual) > 1e-10 * start; ++round) {
      Vector solved(residual);
      if (!metric.empty()) metric.solve(solved);
      const double now = dot(residual, solved);
      if (round == 0) search = solved;
      for (std::size_t i = 0; round > 0 && i < search.size(); ++i) search[i] = solved[i] + now / before * search[i];
      before = now;
      risk_.hessian_times(scores_.data(), search, product);
      risk_.penalty().add_hessian_times(search.data(), k, d, product.data());
      const double curved = dot(search, product);
      if (!(curved > 0)) break;
      for (std::size_t i = 0; i < step.size(); ++i) {
        step[i] += now / curved * search[i];
        residual[i] -= now / curved * product[i];
      }
    }
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
