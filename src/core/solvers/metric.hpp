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
#include "core/solvers/block_factors.hpp"

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
    if (form != Curvature::full) tell_common(risk, diagonal());
  }
  /// One matrix for each score, factored. `floor`, where not empty, is the least that its diagonal may be.
  Metric(const Risk& risk, const Vector& point, const Vector& floor)
      : form_(Curvature::blocks),
        scores_(risk.scores()),
        columns_(risk.columns()),
        size_(risk.size()),
        intercept_(risk.intercept()) {
    Vector diagonal;
    factors_.emplace_back(risk, point, floor, diagonal);
    tell_common(risk, diagonal);
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
    for (Index c = 0; c < count; ++c) factor_anyhow(matrix_.data() + c * side * side, side);
  }

  /// v = metric^-1 v
  void solve(Vector& v) const {
    Vector mean;
    if (!common_.empty()) mean = take_mean(v);
    solve_apart(v);
    if (common_.empty()) return;
    take_mean(v);
    for (std::size_t j = 0; j < mean.size(); ++j) mean[j] *= common_[j];
    add_mean(v, mean, 1);
  }

 private:
  /// Where column j (the intercept is the last) of a score stands in a point.
  Index place(Index score, Index j) const { return j < columns_ ? score * columns_ + j : scores_ * columns_ + score; }

  /// Takes the mean over the scores from each column.
  Vector take_mean(Vector& v) const {
    Vector mean(common_.size(), 0.0);
    for (Index c = 0; c < scores_; ++c) {
      const double* of = v.data() + c * columns_;
#pragma omp simd
      for (Index j = 0; j < columns_; ++j) mean[std::size_t(j)] += of[j];
      if (intercept_) mean.back() += v[std::size_t(scores_ * columns_ + c)];
    }
    for (double& m : mean) m /= double(scores_);
    add_mean(v, mean, -1);
    return mean;
  }
  void add_mean(Vector& v, const Vector& mean, double sign) const {
    for (Index c = 0; c < scores_; ++c) {
      double* to = v.data() + c * columns_;
#pragma omp simd
      for (Index j = 0; j < columns_; ++j) to[j] += sign * mean[std::size_t(j)];
      if (intercept_) v[std::size_t(scores_ * columns_ + c)] += sign * mean.back();
    }
  }

  /// Where only differences of scores matter, what all scores have in common is bent by the penalty alone, by far less
  /// than the curvature of each score says: without this conjugate gradients spend most of their steps on it.
  void tell_common(const Risk& risk, const Vector& all) {
    if (scores_ == 1 || !risk.loss().facts().relative) return;
    const Index side = columns_ + (intercept_ ? 1 : 0);
    common_.assign(std::size_t(side), 0.0);
    Vector bent(std::size_t(size_), 0.0);
    if (risk.penalty().facts().quadratic) risk.penalty().add_hessian_diagonal(scores_, columns_, bent.data());
    for (Index j = 0; j < side; ++j) {
      double penalty = 0, whole = 0;
      for (Index c = 0; c < scores_; ++c) {
        penalty += bent[std::size_t(place(c, j))];
        whole += all[std::size_t(place(c, j))];
      }
      const double bend = penalty > 1e-12 * whole ? penalty : whole;
      common_[std::size_t(j)] = bend > 0 ? double(scores_) / bend : 1.0;
    }
  }

  void solve_apart(Vector& v) const {
    if (!factors_.empty()) {
      factors_.front().solve(v);
    } else if (form_ == Curvature::diagonal) {
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

  Curvature form_ = Curvature::none;
  Vector matrix_, common_;
  std::vector<BlockFactors> factors_;  // none or one
  Index scores_ = 0, columns_ = 0, size_ = 0;
  bool intercept_ = false;
};

/// The factored metric at a point: of all rows, or of about `rows` of them, every so many blocks.
inline Metric metric_at(const Risk& risk, const Vector& point, Curvature form, Index rows) {
  const auto made = [&](const Risk& from, const Vector& floor) {
    if (form == Curvature::blocks) return Metric(from, point, floor);
    Risk::Local local;
    from.evaluate(point, local, false, form);
    Metric metric(from, form, std::move(local.curvature));
    if (!floor.empty()) metric.raise_diagonal(floor);
    metric.factor();
    return metric;
  };
  if (rows <= 0 || risk.rows() < 2 * rows) return made(risk, {});
  const ThinnedSample thin(risk.sample(), risk.loss().targets(), risk.rows() / rows);
  Risk sampled(thin.sample(), risk.loss(), risk.penalty(), risk.intercept(), risk.shift());
  sampled.scale_as(risk);
  Risk::Local local;
  risk.evaluate(point, local, false, Curvature::diagonal);
  Metric metric = made(sampled, Metric(risk, Curvature::diagonal, std::move(local.curvature)).diagonal());
  risk.count_passes(sampled.passes() * double(sampled.rows()) / double(risk.rows()));
  return metric;
}

}  // namespace tutelage
