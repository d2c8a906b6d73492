// A metric: an approximation of the Hessian of a risk that is cheap to solve with.
//
// It is the Hessian itself (Newton), one matrix for each score (many classes), or a diagonal (many columns). It may
// come from a sample of the rows; then its diagonal is raised to that of all rows, so that a column the sample has
// hardly seen does not send the step far away.
#pragma once
#include <algorithm>
#include <cmath>

#include "core/machine/cholesky.hpp"
#include "core/matrices/thinned.hpp"
#include "core/risk.hpp"

namespace tutelage {

class Metric {
 public:
  Metric() = default;

  /// The curvature of the loss (as Risk::evaluate gives it) plus that of the penalty where it is quadratic.
  Metric(const Risk& risk, Curvature form, Vector curvature) : form_(form), matrix_(std::move(curvature)) {
    scores_ = risk.scores();
    columns_ = risk.columns();
    size_ = risk.size();
    intercept_ = risk.intercept();
    if (risk.penalty().facts().quadratic) add_penalty(risk.penalty());
  }

  bool empty() const { return form_ == Curvature::none; }
  Curvature form() const { return form_; }

  Vector diagonal() const {
    Vector out(std::size_t(size_), 0.0);
    for (Index i = 0; i < size_; ++i) out[std::size_t(i)] = matrix_[std::size_t(diagonal_place(i))];
    return out;
  }

  /// Raises the diagonal to at least `floor`.
  void raise_diagonal(const Vector& floor) {
    for (Index i = 0; i < size_; ++i) {
      double& entry = matrix_[std::size_t(diagonal_place(i))];
      entry = std::max(entry, floor[std::size_t(i)]);
    }
  }

  /// Factors; a direction in which the matrix is flat to rounding gets a small curvature, so a solve always answers.
  void factor() {
    if (form_ == Curvature::diagonal) {
      double largest = 0;
      for (double h : matrix_) largest = std::max(largest, h);
      for (double& h : matrix_) h = std::max(h, largest > 0 ? 1e-12 * largest : 1.0);
      return;
    }
    const Index count = form_ == Curvature::full ? 1 : scores_;
    const Index side = form_ == Curvature::full ? size_ : size_ / scores_;
    for (Index c = 0; c < count; ++c) factor_one(matrix_.data() + c * side * side, side);
  }

  /// v = metric^-1 v
  void solve(Vector& v) const {
    if (form_ == Curvature::diagonal) {
      for (Index i = 0; i < size_; ++i) v[std::size_t(i)] /= matrix_[std::size_t(i)];
    } else if (form_ == Curvature::full) {
      cholesky_solve(matrix_.data(), size_, v.data());
    } else {
      const Index side = size_ / scores_;
      Vector part(static_cast<std::size_t>(side));
      for (Index c = 0; c < scores_; ++c) {
        std::copy_n(v.begin() + c * columns_, columns_, part.begin());
        if (intercept_) part[std::size_t(columns_)] = v[std::size_t(scores_ * columns_ + c)];
        cholesky_solve(matrix_.data() + c * side * side, side, part.data());
        std::copy_n(part.begin(), columns_, v.begin() + c * columns_);
        if (intercept_) v[std::size_t(scores_ * columns_ + c)] = part[std::size_t(columns_)];
      }
    }
  }

 private:
  /// Where the i-th entry of a point stands on the diagonal.
  Index diagonal_place(Index i) const {
    if (form_ == Curvature::diagonal) return i;
    if (form_ == Curvature::full) return i * size_ + i;
    const Index side = size_ / scores_;
    const bool is_intercept = i >= scores_ * columns_;
    const Index score = is_intercept ? i - scores_ * columns_ : i / columns_;
    const Index at = is_intercept ? columns_ : i % columns_;
    return score * side * side + at * side + at;
  }

  void add_penalty(const AnyPenalty& penalty) {
    if (form_ == Curvature::diagonal) {
      penalty.add_hessian_diagonal(scores_, columns_, matrix_.data());
      return;
    }
    Vector h(std::size_t(columns_ * columns_));
    const Index side = form_ == Curvature::full ? size_ : size_ / scores_;
    for (Index c = 0; c < scores_; ++c) {
      std::fill(h.begin(), h.end(), 0.0);
      penalty.add_hessian(c, columns_, h.data());
      double* to =
          form_ == Curvature::full ? matrix_.data() + c * columns_ * (side + 1) : matrix_.data() + c * side * side;
      for (Index i = 0; i < columns_; ++i) {
        for (Index j = 0; j <= i; ++j) to[i * side + j] += h[std::size_t(i * columns_ + j)];
      }
    }
  }

  static void factor_one(double* a, Index side) {
    double largest = 0;
    bool finite = true;
    for (Index i = 0; i < side; ++i) {
      finite = finite && std::isfinite(a[i * side + i]);
      largest = std::max(largest, a[i * side + i]);
    }
    if (largest == 0) largest = 1;
    const Vector kept(a, a + side * side);
    // Large enough that what rounding puts into a flat direction is not blown up, small enough to slow down no other.
    const double least = 1e-10 * largest;
    double jitter = 0;
    while (finite && !cholesky(a, side, 1e-14)) {
      jitter = std::max(10 * jitter, least);
      finite = jitter <= 1e6 * largest;
      std::copy(kept.begin(), kept.end(), a);
      for (Index i = 0; i < side; ++i) a[i * side + i] += jitter;
    }
    if (finite) return;
    // Not a number, or infinity, somewhere: leave a step along the gradient.
    std::fill(a, a + side * side, 0.0);
    for (Index i = 0; i < side; ++i) a[i * side + i] = 1;
  }

  Curvature form_ = Curvature::none;
  Vector matrix_;
  Index scores_ = 0, columns_ = 0, size_ = 0;
  bool intercept_ = false;
};

/// The factored metric at a point: of all rows, or of about `rows` of them, every so many blocks.
inline Metric metric_at(const Risk& risk, const Vector& point, Curvature form, Index rows) {
  Risk::Local local;
  if (rows <= 0 || risk.rows() < 2 * rows) {
    risk.evaluate(point, local, false, form);
    Metric metric(risk, form, std::move(local.curvature));
    metric.factor();
    return metric;
  }
  const ThinnedSample thin(risk.sample(), risk.loss().targets(), risk.rows() / rows);
  const Risk sampled(thin.sample(), risk.loss(), risk.penalty(), risk.intercept(), risk.shift());
  sampled.evaluate(point, local, false, form);
  Metric metric(sampled, form, std::move(local.curvature));
  risk.evaluate(point, local, false, Curvature::diagonal);
  metric.raise_diagonal(Metric(risk, Curvature::diagonal, std::move(local.curvature)).diagonal());
  metric.factor();
  risk.count_passes(sampled.passes() * double(sampled.rows()) / double(risk.rows()));
  return metric;
}

}  // namespace tutelage
