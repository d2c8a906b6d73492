// A loss of one score applied to each of k outputs: multi-output regression, multi-label classification.
#pragma once
#include <cmath>
#include <memory>
#include <utility>

#include "core/concepts.hpp"

namespace tutelage {

/// sum_c loss(y_c, z_c). Rows of k scores against rows of k targets are n k scores against n k targets.
class PerOutput final : public AnyLoss {
 public:
  PerOutput(std::shared_ptr<const AnyLoss> one, Index k) : one_(std::move(one)), k_(k) {}

  LossFacts facts() const override {
    LossFacts facts = one_->facts();
    facts.lipschitz *= std::sqrt(double(k_));
    return facts;
  }
  Index scores() const override { return k_; }
  Index targets() const override { return k_; }
  bool whole() const override { return one_->whole(); }

  double evaluate(const double* y, const double* s, const double* z, Index n, double* slope,
                  double* curvature) const override {
    return one_->evaluate(y, repeated(s, n).get(), z, n * k_, slope, curvature);
  }
  void curvature_times(const double* y, const double* s, const double* z, const double* u, Index n,
                       double* out) const override {
    one_->curvature_times(y, repeated(s, n).get(), z, u, n * k_, out);
  }
  double conjugate(const double* y, const double* s, const double* a, Index n) const override {
    return one_->conjugate(y, repeated(s, n).get(), a, n * k_);
  }
  void prox(const double* y, const double* z, double step, Index n, double* out) const override {
    one_->prox(y, z, step, n * k_, out);
  }
  void prox_slope_times(const double* y, const double* z, double step, const double* u, Index n,
                        double* out) const override {
    one_->prox_slope_times(y, z, step, u, n * k_, out);
  }

 private:
  /// The weight of a row for each of its outputs; null stays null.
  std::unique_ptr<double[]> repeated(const double* s, Index n) const {
    if (!s) return nullptr;
    std::unique_ptr<double[]> all(new double[std::size_t(n * k_)]);
    for (Index i = 0; i < n; ++i)
      for (Index c = 0; c < k_; ++c) all[std::size_t(i * k_ + c)] = s[i];
    return all;
  }

  std::shared_ptr<const AnyLoss> one_;
  Index k_;
};

}  // namespace tutelage
