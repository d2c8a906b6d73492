// One factor for each score: Cholesky's of the curvature that score has alone, what scores have in common left out.
//
// The matrices are made one after the other and only their factors are kept, packed; many and large ones as floats,
// since they serve as a preconditioner and need few digits: k d^2 / 2 numbers that are read at every step.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/machine/cholesky.hpp"
#include "core/risk.hpp"

namespace tutelage {

/// Factors a symmetric matrix in place. A direction in which it is flat to rounding gets a small curvature; where
/// something is not a number, or infinite, what is left is the unit matrix. So the factor always solves.
inline void factor_anyhow(double* a, Index side) {
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
  std::fill(a, a + side * side, 0.0);
  for (Index i = 0; i < side; ++i) a[i * side + i] = 1;
}

class BlockFactors {
 public:
  BlockFactors() = default;

  /// At a point, from the rows of `risk` (a sample, perhaps). The diagonal is raised to at least `floor` where given,
  /// and `diagonal` (both in the order of a point) is where to leave it.
  BlockFactors(const Risk& risk, const Vector& point, const Vector& floor, Vector& diagonal)
      : scores_(risk.scores()), columns_(risk.columns()), intercept_(risk.intercept()) {
    narrow_ = narrow(scores_, columns_);
    const Index n = risk.rows(), k = scores_, d = columns_;
    (narrow_ ? small_.resize(std::size_t(k * length())) : large_.resize(std::size_t(k * length())));
    diagonal.assign(std::size_t(risk.size()), 0.0);
    const CurvatureSum sum(*risk.sample().x, risk.loss(), risk.shift(), intercept_, Curvature::blocks);
    const Vector weights = curvatures(risk, point, sum);
    const auto make = [&](Index c) {
      Vector h(std::size_t(d * d), 0.0), border(std::size_t(d + 1), 0.0);
      sum.add_all(weights.data() + c * n, h.data(), border.data());
      for (Index i = 0; i < d; ++i) {
        for (Index j = 0; j <= i; ++j) h[std::size_t(i * d + j)] /= risk.total_weight();
      }
      for (double& b : border) b /= risk.total_weight();
      if (risk.penalty().facts().quadratic) risk.penalty().add_hessian(c, d, h.data());
      for (Index j = 0; j < d; ++j) {
        double& entry = h[std::size_t(j * d + j)];
        if (!floor.empty()) entry = std::max(entry, floor[std::size_t(c * d + j)]);
        diagonal[std::size_t(c * d + j)] = entry;
        if (narrow_) entry *= 1 + 1e-6;  // more than rounding to a float may take away
      }
      double& last = border.back();
      if (intercept_ && !floor.empty()) last = std::max(last, floor[std::size_t(k * d + c)]);
      if (intercept_) diagonal[std::size_t(k * d + c)] = last;
      factor_anyhow(h.data(), d);
      keep(c, h.data(), border);
    };
    // Few and large ones share the threads one after the other, many small ones are handed out.
    if (d <= 128) {
      parallel_for(k, make);
    } else {
      for (Index c = 0; c < k; ++c) make(c);
    }
  }

  /// Numbers that are kept as floats: the others are small enough.
  static bool narrow(Index scores, Index columns) { return double(scores) * double(columns) * double(columns) > 1e6; }
  static double bytes(Index scores, Index columns) {
    return double(scores) * double(columns) * double(columns) / 2 * (narrow(scores, columns) ? 4 : 8);
  }

  /// v = (block-diagonal matrix)^-1 v
  void solve(Vector& v) const {
    const auto one = [&](Index c) {
      Vector part(v.begin() + c * columns_, v.begin() + (c + 1) * columns_);
      if (intercept_) part.push_back(v[std::size_t(scores_ * columns_ + c)]);
      narrow_ ? solve_one(small_.data() + c * length(), part) : solve_one(large_.data() + c * length(), part);
      std::copy_n(part.begin(), columns_, v.begin() + c * columns_);
      if (intercept_) v[std::size_t(scores_ * columns_ + c)] = part.back();
    };
    if (length() > 8000) {
      parallel_for(scores_, one);
    } else {
      for (Index c = 0; c < scores_; ++c) one(c);
    }
  }

 private:
  /// Of the loss in each score alone: a run of all rows for each score.
  static Vector curvatures(const Risk& risk, const Vector& point, const CurvatureSum& sum) {
    const Index n = risk.rows(), k = risk.scores(), height = risk.loss().whole() ? std::max<Index>(n, 1) : 512;
    const double *y = risk.sample().y, *s = risk.sample().weights;
    Vector scores(std::size_t(n * k)), kept(scores.size());
    risk.all_scores(point, scores.data());
    parallel_for((n + height - 1) / height, [&](Index b) {
      const Block block{b * height, std::min(height, n - b * height)};
      const double* targets = y + block.first * risk.loss().targets();
      const double* weights = s == nullptr ? nullptr : s + block.first;
      const double* z = scores.data() + block.first * k;
      Vector slopes(std::size_t(risk.loss().whole() ? block.count * k : 0)), diagonal(std::size_t(block.count * k));
      risk.loss().evaluate(targets, weights, z, block.count, risk.loss().whole() ? slopes.data() : nullptr,
                           diagonal.data());
      sum.keep(block, targets, weights, z, diagonal.data(), kept.data());
    });
    return kept;
  }

  Index side() const { return columns_ + (intercept_ ? 1 : 0); }
  Index length() const { return side() * (side() + 1) / 2; }

  /// Keeps the factor of the coefficients, and adds the row of the intercept to it.
  void keep(Index c, const double* l, Vector& border) {
    const Index d = columns_;
    const auto put = [&](auto* to) {
      using Number = std::remove_pointer_t<decltype(to)>;
      for (Index i = 0; i < d; ++i) {
        for (Index j = 0; j <= i; ++j) *to++ = Number(l[i * d + j]);
      }
      if (!intercept_) return;
      double left = border[std::size_t(d)];
      for (Index i = 0; i < d; ++i) {
        double& b = border[std::size_t(i)];
        b = (b - cholesky_detail::product(l + i * d, border.data(), i)) / l[i * d + i];
        left -= b * b;
        *to++ = Number(b);
      }
      const double all = border[std::size_t(d)];
      *to = Number(std::sqrt(left > 1e-6 * all ? left : all > 0 && std::isfinite(all) ? 1e-6 * all : 1.0));
    };
    narrow_ ? put(small_.data() + c * length()) : put(large_.data() + c * length());
  }

  template <class Number>
  void solve_one(const Number* l, Vector& x) const {
    const Number* row = l;
    for (Index i = 0; i < side(); row += ++i) {
      double sum = 0;
#pragma omp simd reduction(+ : sum)
      for (Index j = 0; j < i; ++j) sum += double(row[j]) * x[std::size_t(j)];
      x[std::size_t(i)] = (x[std::size_t(i)] - sum) / double(row[i]);
    }
    for (Index i = side(); i-- > 0;) {
      row -= i + 1;
      const double moved = x[std::size_t(i)] / double(row[i]);
      x[std::size_t(i)] = moved;
#pragma omp simd
      for (Index j = 0; j < i; ++j) x[std::size_t(j)] -= moved * double(row[j]);
    }
  }

  Index scores_ = 0, columns_ = 0;
  bool intercept_ = false, narrow_ = false;
  std::vector<float> small_;
  Vector large_;
};

}  // namespace tutelage
