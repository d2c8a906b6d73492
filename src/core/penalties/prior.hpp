// A Gaussian prior as a penalty: maximum a posteriori estimation.
//
// With w ~ N(mean, C) and a mean loss over S rows, -log posterior / S is the risk with the penalty
// strength (w - mean)' C^-1 (w - mean) / 2, strength = 1 / S; for the squared loss with noise of variance sigma^2 it is
// sigma^2 / S. The prior N(0, tau^2 I) is the L2 penalty of strength / tau^2.
#pragma once
#include <utility>

#include "core/machine/cholesky.hpp"
#include "core/penalties/joint.hpp"
#include "core/penalties/separable.hpp"

namespace tutelage {

/// Independent coefficients: strength sum_j (w_j - mean_j)^2 / (2 variance_j). Lists of 1, d or k d entries.
class DiagonalPrior final : public AnyPenalty {
 public:
  double strength = 1;

  explicit DiagonalPrior(std::vector<double> mean = {0}, std::vector<double> variance = {1})
      : mean_(std::move(mean)), variance_(std::move(variance)) {
    for (const double variance_j : variance_)
      if (!(variance_j > 0) || variance_j == infinity)
        throw std::invalid_argument("the covariance of a Gaussian prior must be positive definite and finite");
  }

  static constexpr auto parameters() {
    return std::array{Parameter<DiagonalPrior>{
        .name = "strength", .member = &DiagonalPrior::strength, .low = 0, .meaning = "how much"}};
  }
  PenaltyFacts facts() const override {
    return {.name = "gaussian_prior",
            .formula = "strength (w - mean)' covariance^-1 (w - mean) / 2",
            .separable = true,
            .quadratic = true,
            .strong_convexity = strength / *std::max_element(variance_.begin(), variance_.end()),
            .has_conjugate = strength > 0,
            .smooth = true};
  }
  void check(Index k, Index d) const override {
    check_length("the mean", mean_.size(), k, d);
    check_length("the covariance", variance_.size(), k, d);
  }
  double value(const double* w, Index k, Index d) const override {
    check(k, d);
    double sum = 0;
    for (Index j = 0; j < k * d; ++j) sum += value_one(j, w[j]);
    return sum;
  }
  void prox(const double* v, double step, Index k, Index d, double* out) const override {
    for (Index j = 0; j < k * d; ++j) out[j] = prox_one(j, v[j], step);
  }
  double value_one(Index j, double w) const override {
    const double away = w - entry(mean_, j);
    return precision(j) * away * away / 2;
  }
  double prox_one(Index j, double v, double step) const override {
    const double by = step * precision(j);
    return (v + by * entry(mean_, j)) / (1 + by);
  }
  void add_gradient(const double* w, Index k, Index d, double* g) const override {
    for (Index j = 0; j < k * d; ++j) g[j] += precision(j) * (w[j] - entry(mean_, j));
  }
  void add_hessian(Index score, Index d, double* h) const override {
    for (Index j = 0; j < d; ++j) h[j * d + j] += precision(score * d + j);
  }
  void add_hessian_times(const double* v, Index k, Index d, double* out) const override {
    for (Index j = 0; j < k * d; ++j) out[j] += precision(j) * v[j];
  }
  void add_hessian_diagonal(Index k, Index d, double* diagonal) const override {
    for (Index j = 0; j < k * d; ++j) diagonal[j] += precision(j);
  }
  double conjugate(const double* v, Index k, Index d) const override {
    if (strength == 0) return largest_magnitude(v, k * d) == 0 ? 0 : infinity;
    double sum = 0;
    for (Index j = 0; j < k * d; ++j) sum += v[j] * (entry(mean_, j) + v[j] / (2 * precision(j)));
    return sum;
  }
  double dual_scale(const double* v, Index k, Index d) const override {
    return strength > 0 || largest_magnitude(v, k * d) == 0 ? 1 : 0;
  }
  double stationarity(const double* w, const double* g, Index k, Index d) const override {
    double worst = 0;
    for (Index j = 0; j < k * d; ++j) worst = std::max(worst, std::abs(g[j] + precision(j) * (w[j] - entry(mean_, j))));
    return worst;
  }

 private:
  double precision(Index j) const { return strength / entry(variance_, j); }

  std::vector<double> mean_, variance_;
};

/// Correlated coefficients: the same d x d covariance (row-major) for every score. Making one costs d^3, and so does
/// every prox; the products cost d^2.
class CorrelatedPrior final : public JointPenalty {
 public:
  double strength = 1;

  CorrelatedPrior(std::vector<double> mean, std::vector<double> covariance, Index d)
      : mean_(std::move(mean)), covariance_(std::move(covariance)), d_(d) {
    const Cholesky factor(covariance_, d);
    if (!factor.positive())
      throw std::invalid_argument("the covariance of a Gaussian prior must be positive definite and finite");
    precision_.assign(std::size_t(d * d), 0.0);
    for (Index i = 0; i < d; ++i) {  // row i of a symmetric inverse is its column i
      precision_[std::size_t(i * d + i)] = 1;
      factor.solve(precision_.data() + i * d);
      double row = 0;
      for (Index j = 0; j < d; ++j) row += std::abs(covariance_[std::size_t(i * d + j)]);
      largest_row_ = std::max(largest_row_, row);
    }
  }

  PenaltyFacts facts() const override {
    return {.name = "gaussian_prior",
            .formula = "strength (w - mean)' covariance^-1 (w - mean) / 2",
            .quadratic = true,
            .strong_convexity = strength / largest_row_,  // a row sum bounds the largest eigenvalue of the covariance
            .has_conjugate = strength > 0,
            .smooth = true};
  }
  void check(Index k, Index d) const override {
    check(d);
    check_length("the mean", mean_.size(), k, d);
  }
  double value(const double* w, Index k, Index d) const override {
    check(k, d);
    double sum = 0;
    for (Index c = 0; c < k; ++c) {
      const std::vector<double> away = from_mean(w, c, d);
      for (Index i = 0; i < d; ++i) sum += away[std::size_t(i)] * dot(precision_, i, away.data());
    }
    return strength * sum / 2;
  }
  void prox(const double* v, double step, Index k, Index d, double* out) const override {
    check(d);
    // u = mean + C (C + step strength I)^-1 (v - mean)
    std::vector<double> shifted = covariance_;
    for (Index i = 0; i < d; ++i) shifted[std::size_t(i * d + i)] += step * strength;
    const Cholesky factor(std::move(shifted), d);
    for (Index c = 0; c < k; ++c) {
      std::vector<double> away = from_mean(v, c, d);
      factor.solve(away.data());
      for (Index i = 0; i < d; ++i) out[c * d + i] = entry(mean_, c * d + i) + dot(covariance_, i, away.data());
    }
  }
  void add_gradient(const double* w, Index k, Index d, double* g) const override {
    for (Index c = 0; c < k; ++c) {
      const std::vector<double> away = from_mean(w, c, d);
      for (Index i = 0; i < d; ++i) g[c * d + i] += strength * dot(precision_, i, away.data());
    }
  }
  void add_hessian(Index, Index d, double* h) const override {
    check(d);
    for (Index j = 0; j < d * d; ++j) h[j] += strength * precision_[std::size_t(j)];
  }
  void add_hessian_times(const double* v, Index k, Index d, double* out) const override {
    check(d);
    for (Index c = 0; c < k; ++c)
      for (Index i = 0; i < d; ++i) out[c * d + i] += strength * dot(precision_, i, v + c * d);
  }
  void add_hessian_diagonal(Index k, Index d, double* diagonal) const override {
    check(d);
    for (Index c = 0; c < k; ++c)
      for (Index i = 0; i < d; ++i) diagonal[c * d + i] += strength * precision_[std::size_t(i * d + i)];
  }
  double conjugate(const double* v, Index k, Index d) const override {
    check(d);
    if (strength == 0) return largest_magnitude(v, k * d) == 0 ? 0 : infinity;
    double sum = 0;
    for (Index c = 0; c < k; ++c)
      for (Index i = 0; i < d; ++i)
        sum += v[c * d + i] * (entry(mean_, c * d + i) + dot(covariance_, i, v + c * d) / (2 * strength));
    return sum;
  }
  double dual_scale(const double* v, Index k, Index d) const override {
    return strength > 0 || largest_magnitude(v, k * d) == 0 ? 1 : 0;
  }
  double stationarity(const double* w, const double* g, Index k, Index d) const override {
    std::vector<double> slope(g, g + k * d);
    add_gradient(w, k, d, slope.data());
    return largest_magnitude(slope.data(), k * d);
  }

 private:
  void check(Index d) const {
    if (d != d_)
      throw std::invalid_argument("the covariance of the Gaussian prior is for " + std::to_string(d_) +
                                  " coefficients, but there are " + std::to_string(d));
  }
  std::vector<double> from_mean(const double* w, Index score, Index d) const {
    check(d);
    std::vector<double> away(std::size_t(d), 0.0);
    for (Index i = 0; i < d; ++i) away[std::size_t(i)] = w[score * d + i] - entry(mean_, score * d + i);
    return away;
  }
  double dot(const std::vector<double>& matrix, Index i, const double* v) const {
    const double* row = matrix.data() + i * d_;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (Index j = 0; j < d_; ++j) sum += row[j] * v[j];
    return sum;
  }

  std::vector<double> mean_, covariance_, precision_;
  Index d_;
  double largest_row_ = 0;
};

}  // namespace tutelage
