// A sum of scalar penalties over the coefficients, each with a weight, behind AnyPenalty.
#pragma once
#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/penalties/scalar.hpp"

namespace tutelage {

/// sum_j weight_j penalty(w_j). Weights: none (all 1), d of them (the same for every score) or k * d. A coefficient of
/// weight zero is not penalised. Solvers by coordinates find `scalar()` and `weight(j)` by dynamic_cast, and inline:
/// prox of coefficient j with step t is scalar().prox(v, t * weight(j)).
template <Penalty P>
class Separable final : public AnyPenalty {
 public:
  explicit Separable(P scalar = {}, std::vector<double> weights = {})
      : scalar_(std::move(scalar)), weights_(std::move(weights)) {
    for (const double weight : weights_)
      if (!(weight >= 0) || weight == infinity)
        throw std::invalid_argument("weights of a penalty must be finite and not negative");
  }

  const P& scalar() const { return scalar_; }
  double weight(Index j) const {
    const Index count = Index(weights_.size());
    if (count == 0) return 1;
    return weights_[std::size_t(j < count ? j : j % count)];
  }
  const std::vector<double>& weights() const { return weights_; }

  PenaltyFacts facts() const override {
    PenaltyFacts facts = scalar_.facts();
    if (!weights_.empty()) facts.strong_convexity *= *std::min_element(weights_.begin(), weights_.end());
    return facts;
  }

  double value(const double* w, Index k, Index d) const override {
    double sum = 0;
    if (weights_.empty()) {
      for (Index j = 0; j < k * d; ++j) sum += scalar_.value(w[j]);
    } else {
      for (Index j = 0; j < k * d; ++j) sum += value_one(j, w[j]);
    }
    return sum;
  }
  void prox(const double* v, double step, Index k, Index d, double* out) const override {
    if (weights_.empty()) {
      const P scalar = scalar_;
      for (Index j = 0; j < k * d; ++j) out[j] = scalar.prox(v[j], step);
    } else {
      for (Index j = 0; j < k * d; ++j) out[j] = prox_one(j, v[j], step);
    }
  }
  double value_one(Index j, double w) const override {
    const double by = weight(j);
    return by == 0 ? 0 : by * scalar_.value(w);
  }
  double prox_one(Index j, double v, double step) const override {
    const double by = weight(j);
    return by == 0 ? v : scalar_.prox(v, step * by);
  }

  void add_gradient(const double* w, Index k, Index d, double* g) const override {
    const double strength = quadratic_strength();
    for (Index j = 0; j < k * d; ++j) g[j] += strength * weight(j) * w[j];
  }
  void add_hessian(Index score, Index d, double* h) const override {
    const double strength = quadratic_strength();
    for (Index j = 0; j < d; ++j) h[j * d + j] += strength * weight(score * d + j);
  }
  void add_hessian_times(const double* v, Index k, Index d, double* out) const override {
    add_gradient(v, k, d, out);
  }
  void add_hessian_diagonal(Index k, Index d, double* diagonal) const override {
    const double strength = quadratic_strength();
    for (Index j = 0; j < k * d; ++j) diagonal[j] += strength * weight(j);
  }

  double conjugate(const double* v, Index k, Index d) const override {
    if constexpr (has_conjugate) {
      double sum = 0;
      for (Index j = 0; j < k * d; ++j) {
        const double by = weight(j);
        // weight * penalty has the conjugate weight * conjugate(v / weight).
        if (by > 0)
          sum += by * scalar_.conjugate(v[j] / by);
        else if (v[j] != 0)
          return infinity;
      }
      return sum;
    }
    return infinity;
  }
  double dual_scale(const double* v, Index k, Index d) const override {
    if constexpr (has_conjugate) {
      const double bound = scalar_.dual_bound();
      double scale = 1;
      for (Index j = 0; j < k * d; ++j) {
        const double by = weight(j);
        const double most = by > 0 ? by * bound : 0;
        const double size = std::abs(v[j]);
        if (size > most) scale = std::min(scale, most / size);
      }
      return scale;
    }
    return 0;
  }
  double stationarity(const double* w, const double* g, Index k, Index d) const override {
    double worst = 0;
    for (Index j = 0; j < k * d; ++j) {
      const double by = weight(j);
      Interval slopes = by > 0 ? scalar_.subdifferential(w[j]) : Interval{};
      if (by > 0 && by != 1) slopes = {by * slopes.low, by * slopes.high};
      worst = std::max(worst, slopes.distance(-g[j]));
    }
    return worst;
  }

 private:
  static constexpr bool has_conjugate = requires(const P p) { p.conjugate(0.0); };

  double quadratic_strength() const {
    const double strength = scalar_.quadratic_strength();
    if (strength != strength)
      throw std::logic_error("the penalty '" + std::string(facts().name) + "' is not quadratic and has no Hessian");
    return strength;
  }

  P scalar_;
  std::vector<double> weights_;
};

}  // namespace tutelage
