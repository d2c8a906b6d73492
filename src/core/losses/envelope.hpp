// A loss with corners, made smooth by its augmented Lagrangian.
//
//     envelope(z) = min_u loss(y, u) + sigma |z - u + alpha / sigma|^2 / 2 - |alpha|^2 / (2 sigma)
//
// is a loss like any other, with v = z + alpha / sigma and u = prox(v; 1 / sigma):
//
//     slope      sigma (v - u), a subgradient of the loss at u and the next alpha of the method of multipliers
//     curvature  sigma (1 - prox'(v))
//     conjugate  loss*(a) + |a - alpha|^2 / (2 sigma)
//
// so every solver for smooth losses runs on it. The multipliers are rows like targets are: a row of y is the row of the
// loss followed by its k multipliers, which the outer loop overwrites in place.
#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/losses/shapes.hpp"

namespace tutelage {

/// (derivative of prox) at z: written by the loss where prox has corners, else from its curvature where prox lands.
template <ProximalLoss L>
TUTELAGE_INLINE double prox_slope(const L& loss, double y, double z, double step) {
  if constexpr (requires { loss.prox_slope(y, z, step); }) {
    return loss.prox_slope(y, z, step);
  } else {
    static_assert(SmoothLoss<L>, "a loss with a prox needs prox_slope or curvature");
    return 1 / (1 + step * loss.curvature(y, loss.prox(y, z, step)));
  }
}

inline LossFacts envelope_facts(LossFacts facts, double sigma) {
  facts.smoothness = facts.smoothness == infinity ? sigma : facts.smoothness * sigma / (facts.smoothness + sigma);
  facts.has_curvature = true;
  facts.has_prox = false;
  facts.kink = "where prox has a corner, the curvature of one side";
  return facts;
}

/// The envelope of a loss of one score.
template <ProximalLoss L>
class Envelope final : public AnyLoss {
 public:
  Envelope(L loss, double sigma) : loss_(loss), sigma_(sigma) {}

  LossFacts facts() const override {
    LossFacts facts = loss_.facts();
    facts.has_conjugate = DualLoss<L>;
    return envelope_facts(facts, sigma_);
  }
  Index targets() const override { return 2; }

  double evaluate(const double* y, const double* s, const double* z, Index n, double* slope,
                  double* curvature) const override {
    if (slope && curvature) return pass<true, true>(y, s, z, n, slope, curvature);
    if (slope) return pass<true, false>(y, s, z, n, slope, curvature);
    if (curvature) return pass<false, true>(y, s, z, n, slope, curvature);
    return pass<false, false>(y, s, z, n, slope, curvature);
  }
  void curvature_times(const double* y, const double* s, const double* z, const double* u, Index n,
                       double* out) const override {
    const L loss = loss_;
    const double sigma = sigma_, step = 1 / sigma_;
#pragma omp simd
    for (Index i = 0; i < n; ++i) {
      const double v = z[i] + y[2 * i + 1] * step;
      out[i] = (s ? s[i] : 1.0) * sigma * (1 - prox_slope(loss, y[2 * i], v, step)) * u[i];
    }
  }
  double conjugate(const double* y, const double* s, const double* a, Index n) const override {
    double sum = 0;
    if constexpr (DualLoss<L>) {
      for (Index i = 0; i < n; ++i) {
        const double weight = s ? s[i] : 1.0;
        const double moved = a[i] - y[2 * i + 1];
        if (weight != 0) sum += weight * (loss_.conjugate(y[2 * i], a[i]) + moved * moved / (2 * sigma_));
      }
      return sum;
    }
    return infinity;
  }

 private:
  template <bool with_slope, bool with_curvature>
  double pass(const double* y, const double* s, const double* z, Index n, double* slope, double* curvature) const {
    const L loss = loss_;
    const double sigma = sigma_, step = 1 / sigma_;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (Index i = 0; i < n; ++i) {
      const double target = y[2 * i], alpha = y[2 * i + 1];
      const double weight = s ? s[i] : 1.0;
      const double v = z[i] + alpha * step;
      const double u = loss.prox(target, v, step);
      const double next = sigma * (v - u);
      double second = 0;
      if constexpr (with_curvature) second = sigma * (1 - prox_slope(loss, target, v, step));
      sum += weight * (loss.value(target, u) + (next * next - alpha * alpha) * (step / 2));
      if constexpr (with_slope) slope[i] = weight * next;
      if constexpr (with_curvature) curvature[i] = weight * second;
    }
    return sum;
  }

  L loss_;
  double sigma_;
};

/// The envelope of any loss with a prox, a vector at a time.
class VectorEnvelope final : public AnyLoss {
 public:
  VectorEnvelope(std::shared_ptr<const AnyLoss> loss, double sigma)
      : loss_(std::move(loss)), sigma_(sigma), k_(loss_->scores()), targets_(loss_->targets()) {}

  LossFacts facts() const override { return envelope_facts(loss_->facts(), sigma_); }
  Index scores() const override { return k_; }
  Index targets() const override { return targets_ + k_; }
  bool whole() const override { return loss_->whole(); }

  double evaluate(const double* y, const double* s, const double* z, Index n, double* slope,
                  double* curvature) const override {
    const Parts parts = split(y, z, n);
    std::vector<double> u(parts.v.size());
    loss_->prox(parts.y.data(), parts.v.data(), 1 / sigma_, n, u.data());
    double sum = loss_->evaluate(parts.y.data(), s, u.data(), n, nullptr, nullptr);
    for (Index i = 0; i < n; ++i) {
      const double weight = s ? s[i] : 1.0;
      double change = 0;
      for (Index j = i * k_; j < (i + 1) * k_; ++j) {
        const double next = sigma_ * (parts.v[size(j)] - u[size(j)]);
        const double alpha = y[i * targets() + targets_ + (j - i * k_)];
        change += (next * next - alpha * alpha) / (2 * sigma_);
        if (slope) slope[j] = weight * next;
      }
      sum += weight * change;
    }
    if (curvature) add_curvature(parts, s, n, curvature);
    return sum;
  }
  void curvature_times(const double* y, const double* s, const double* z, const double* u, Index n,
                       double* out) const override {
    const Parts parts = split(y, z, n);
    std::vector<double> moved(parts.v.size());
    loss_->prox_slope_times(parts.y.data(), parts.v.data(), 1 / sigma_, u, n, moved.data());
    for (Index j = 0; j < n * k_; ++j) out[j] = (s ? s[j / k_] : 1.0) * sigma_ * (u[j] - moved[size(j)]);
  }
  double conjugate(const double* y, const double* s, const double* a, Index n) const override {
    const Parts parts = split(y, a, n);
    double sum = loss_->conjugate(parts.y.data(), s, a, n);
    for (Index j = 0; j < n * k_; ++j) {
      const double moved = a[j] - y[(j / k_) * targets() + targets_ + j % k_];
      sum += (s ? s[j / k_] : 1.0) * moved * moved / (2 * sigma_);
    }
    return sum;
  }

 private:
  struct Parts {
    std::vector<double> y, v;  // the targets of the loss; z + alpha / sigma
  };
  static std::size_t size(Index j) { return std::size_t(j); }

  Parts split(const double* y, const double* z, Index n) const {
    Parts parts{std::vector<double>(size(n * targets_)), std::vector<double>(size(n * k_))};
    for (Index i = 0; i < n; ++i) {
      const double* row = y + i * targets();
      for (Index t = 0; t < targets_; ++t) parts.y[size(i * targets_ + t)] = row[t];
      for (Index c = 0; c < k_; ++c) parts.v[size(i * k_ + c)] = z[i * k_ + c] + row[targets_ + c] / sigma_;
    }
    return parts;
  }
  /// The diagonal, a score at a time.
  void add_curvature(const Parts& parts, const double* s, Index n, double* curvature) const {
    std::vector<double> unit(parts.v.size()), moved(parts.v.size());
    for (Index c = 0; c < k_; ++c) {
      for (Index i = 0; i < n; ++i) unit[size(i * k_ + c)] = 1;
      loss_->prox_slope_times(parts.y.data(), parts.v.data(), 1 / sigma_, unit.data(), n, moved.data());
      for (Index i = 0; i < n; ++i) {
        unit[size(i * k_ + c)] = 0;
        curvature[i * k_ + c] = (s ? s[i] : 1.0) * sigma_ * (1 - moved[size(i * k_ + c)]);
      }
    }
  }

  std::shared_ptr<const AnyLoss> loss_;
  double sigma_;
  Index k_;
  Index targets_;
};

/// The envelope of a loss for one sigma; throws where the loss has no prox. Cheap to make anew when sigma changes.
inline std::shared_ptr<AnyLoss> make_envelope(const std::shared_ptr<const AnyLoss>& loss, double sigma) {
  if (!loss->facts().has_prox)
    throw std::invalid_argument("the loss '" + std::string(loss->facts().name) +
                                "' has no proximal operator, which its envelope needs");
  if (std::unique_ptr<AnyLoss> quick = loss->envelope(sigma)) return quick;
  return std::make_shared<VectorEnvelope>(loss, sigma);
}

/// prox_slope_times for a loss that has only prox: its central difference along u.
inline void difference_prox_slope_times(const AnyLoss& loss, const double* y, const double* z, double step,
                                        const double* u, Index n, double* out) {
  const Index count = n * loss.scores();
  std::vector<double> ahead(std::size_t(count), 0.0), behind(ahead), moved(ahead);
  double largest_z = 1, largest_u = 0;
  for (Index j = 0; j < count; ++j) {
    largest_z = std::max(largest_z, std::abs(z[j]));
    largest_u = std::max(largest_u, std::abs(u[j]));
  }
  const double h = largest_u > 0 ? 1e-6 * largest_z / largest_u : 1;
  for (Index j = 0; j < count; ++j) moved[std::size_t(j)] = z[j] + h * u[j];
  loss.prox(y, moved.data(), step, n, ahead.data());
  for (Index j = 0; j < count; ++j) moved[std::size_t(j)] = z[j] - h * u[j];
  loss.prox(y, moved.data(), step, n, behind.data());
  for (Index j = 0; j < count; ++j) out[j] = (ahead[std::size_t(j)] - behind[std::size_t(j)]) / (2 * h);
}

}  // namespace tutelage
