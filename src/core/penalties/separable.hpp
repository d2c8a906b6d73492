// A sum of scalar penalties over the coefficients behind AnyPenalty.
#pragma once
#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/penalties/scalar.hpp"

namespace tutelage {

/// Entry j of a list given for every coefficient (k d entries) or for every column (d, the same for every score).
template <class T>
const T& entry(const std::vector<T>& list, Index j) {
  const Index count = Index(list.size());
  return list[std::size_t(j < count ? j : j % count)];
}

/// Throws unless a list is empty, or has 1, d or k d entries.
inline void check_length(const std::string& what, std::size_t length, Index k, Index d) {
  const Index count = Index(length);
  if (count <= 1 || count == d || count == k * d) return;
  std::string allowed = std::to_string(d);
  if (k > 1) allowed += " or " + std::to_string(k * d);
  throw std::invalid_argument(what + " of the penalty has " + std::to_string(count) + " entries where there are " +
                              allowed + " coefficients");
}

/// sum_j weight_j penalty(w_j). A coefficient of weight zero is not penalised. Weights: none (all 1), k d or d of them.
/// With `each`, every coefficient has a penalty of its own (a box of its own), k d or d of them.
///
/// Solvers by coordinates find a Separable<P> by dynamic_cast, and inline its `scalar()` and `weight(j)`: the prox of
/// coefficient j with step t is scalar().prox(v, t * weight(j)), or v where the weight is zero.
template <Penalty P, bool each = false>
class SeparableOf final : public AnyPenalty {
 public:
  explicit SeparableOf(P scalar = {}, std::vector<double> weights = {})
    requires(!each)
      : scalars_{std::move(scalar)}, weights_(std::move(weights)) {
    check_weights();
  }
  explicit SeparableOf(std::vector<P> scalars, std::vector<double> weights = {})
    requires each
      : scalars_(std::move(scalars)), weights_(std::move(weights)) {
    check_weights();
  }

  const P& scalar() const
    requires(!each)
  {
    return scalars_.front();
  }
  const P& scalar(Index j) const {
    if constexpr (each) return entry(scalars_, j);
    return scalars_.front();
  }
  double weight(Index j) const { return weights_.empty() ? 1 : entry(weights_, j); }
  const std::vector<double>& weights() const { return weights_; }

  PenaltyFacts facts() const override {
    PenaltyFacts facts = scalars_.front().facts();
    for (const P& scalar : scalars_)
      facts.strong_convexity = std::min(facts.strong_convexity, scalar.facts().strong_convexity);
    if (!weights_.empty()) {
      const auto [least, most] = std::minmax_element(weights_.begin(), weights_.end());
      // A penalty of no weight is convex, and weakly convex to the degree of the heaviest.
      const double bend = facts.strong_convexity < 0 ? *most : *least;
      facts.strong_convexity = bend == 0 ? 0 : facts.strong_convexity * bend;
      facts.convex = facts.convex || *most == 0;
      facts.scales_dual = *least > 0;
    }
    if constexpr (has_conjugate) {
      for (const P& scalar : scalars_) {
        const Interval domain = scalar.dual_domain();
        facts.scales_dual = facts.scales_dual && domain.low < 0 && domain.high > 0;
      }
    }
    return facts;
  }

  void check(Index k, Index d) const override {
    check_length("weights", weights_.size(), k, d);
    if constexpr (each) check_length("a list of bounds", scalars_.size(), k, d);
  }
  double value(const double* w, Index k, Index d) const override {
    check(k, d);
    double sum = 0;
    for (Index j = 0; j < k * d; ++j) sum += value_one(j, w[j]);
    return sum;
  }
  void prox(const double* v, double step, Index k, Index d, double* out) const override {
    if constexpr (!each) {
      if (weights_.empty()) {
        const P one = scalar();
        for (Index j = 0; j < k * d; ++j) out[j] = one.prox(v[j], step);
        return;
      }
    }
    for (Index j = 0; j < k * d; ++j) out[j] = prox_one(j, v[j], step);
  }
  double value_one(Index j, double w) const override {
    const double by = weight(j);
    return by == 0 ? 0 : by * scalar(j).value(w);
  }
  double prox_one(Index j, double v, double step) const override {
    const double by = weight(j);
    return by == 0 ? v : scalar(j).prox(v, step * by);
  }

  void add_gradient(const double* w, Index k, Index d, double* g) const override {
    require(facts().smooth, "differentiable");
    for (Index j = 0; j < k * d; ++j)
      if (const double by = weight(j); by > 0) g[j] += by * scalar(j).subdifferential(w[j]).low;
  }
  void add_hessian(Index score, Index d, double* h) const override {
    require(facts().quadratic, "quadratic");
    for (Index j = 0; j < d; ++j) h[j * d + j] += quadratic(score * d + j);
  }
  void add_hessian_times(const double* v, Index k, Index d, double* out) const override {
    require(facts().quadratic, "quadratic");
    for (Index j = 0; j < k * d; ++j) out[j] += quadratic(j) * v[j];
  }
  void add_hessian_diagonal(Index k, Index d, double* diagonal) const override {
    require(facts().quadratic, "quadratic");
    for (Index j = 0; j < k * d; ++j) diagonal[j] += quadratic(j);
  }

  void add_curvature(const double* w, Index k, Index d, double* diagonal) const override {
    if constexpr (requires(const P p) { p.curvature(0.0); }) {
      require(facts().smooth, "differentiable");
      for (Index j = 0; j < k * d; ++j)
        if (const double by = weight(j); by > 0) diagonal[j] += by * scalar(j).curvature(w[j]);
    } else {
      add_hessian_diagonal(k, d, diagonal);
    }
  }

  double conjugate(const double* v, Index k, Index d) const override {
    if constexpr (has_conjugate) {
      double sum = 0;
      for (Index j = 0; j < k * d; ++j) {
        const double by = weight(j);
        // weight * penalty has the conjugate weight * conjugate(v / weight).
        if (by > 0)
          sum += by * scalar(j).conjugate(v[j] / by);
        else if (v[j] != 0)
          return infinity;
      }
      return sum;
    }
    return infinity;
  }
  double dual_scale(const double* v, Index k, Index d) const override {
    if constexpr (has_conjugate) {
      double scale = 1;
      for (Index j = 0; j < k * d; ++j) {
        const double by = weight(j);
        const Interval domain = dual_domain(j);
        if (v[j] > 0 && v[j] > by * domain.high) scale = std::min(scale, std::abs(by * domain.high / v[j]));
        if (v[j] < 0 && v[j] < by * domain.low) scale = std::min(scale, std::abs(by * domain.low / v[j]));
      }
      return scale;
    }
    return 0;
  }
  bool pinned(Index j, Index, double v) const override {
    if constexpr (has_conjugate) return (v > 0 && dual_domain(j).high <= 0) || (v < 0 && dual_domain(j).low >= 0);
    return false;
  }
  double stationarity(const double* w, const double* g, Index k, Index d) const override {
    double worst = 0;
    for (Index j = 0; j < k * d; ++j) {
      const double by = weight(j);
      Interval slopes = by > 0 ? scalar(j).subdifferential(w[j]) : Interval{};
      if (by > 0 && by != 1) slopes = {by * slopes.low, by * slopes.high};
      worst = std::max(worst, slopes.distance(-g[j]));
    }
    return worst;
  }

 private:
  static constexpr bool has_conjugate = requires(const P p) { p.conjugate(0.0); };

  /// Of the scalar penalty, without its weight; {0} where that is zero.
  Interval dual_domain(Index j) const { return weight(j) > 0 ? scalar(j).dual_domain() : Interval{}; }
  double quadratic(Index j) const {
    const double by = weight(j);
    return by == 0 ? 0 : by * scalar(j).quadratic_strength();
  }
  void require(bool holds, const char* what) const {
    if (!holds) throw std::logic_error("the penalty '" + std::string(facts().name) + "' is not " + what);
  }
  void check_weights() const {
    for (const double weight : weights_)
      if (!(weight >= 0) || weight == infinity)
        throw std::invalid_argument("weights of a penalty must be finite and not negative");
  }

  std::vector<P> scalars_;
  std::vector<double> weights_;
};

template <Penalty P>
using Separable = SeparableOf<P, false>;

}  // namespace tutelage
