// The Cholesky factor of a small matrix, where calling LAPACK would be a dependency too many.
#pragma once
#include <cmath>
#include <vector>

#include "core/machine/index.hpp"

namespace tutelage {

/// A = L L' of a symmetric d x d matrix (row-major; the lower triangle is read). Costs d^3 / 3.
class Cholesky {
 public:
  Cholesky(std::vector<double> a, Index d) : l_(std::move(a)), d_(d) {
    for (Index i = 0; i < d_ && positive_; ++i) {
      for (Index j = 0; j <= i; ++j) {
        const double rest = at(i, j) - dot(row(i), row(j), j);
        if (j < i) {
          at(i, j) = rest / at(j, j);
        } else {
          positive_ = rest > 0;  // false for NaN too
          at(i, i) = std::sqrt(rest);
        }
      }
    }
  }

  bool positive() const { return positive_; }

  /// Overwrites b by A^-1 b.
  void solve(double* b) const {
    for (Index i = 0; i < d_; ++i) b[i] = (b[i] - dot(row(i), b, i)) / row(i)[i];
    for (Index i = d_; i-- > 0;) {
      b[i] /= row(i)[i];
      for (Index j = 0; j < i; ++j) b[j] -= row(i)[j] * b[i];
    }
  }

 private:
  double& at(Index i, Index j) { return l_[std::size_t(i * d_ + j)]; }
  const double* row(Index i) const { return l_.data() + i * d_; }
  static double dot(const double* a, const double* b, Index n) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (Index i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
  }

  std::vector<double> l_;
  Index d_;
  bool positive_ = true;
};

}  // namespace tutelage
