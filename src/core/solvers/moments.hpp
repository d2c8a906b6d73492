// What least squares needs to know of X and y: their centred second moments, on the short side of the matrix.
//
//     gram    X_c' s X_c / S  (d x d) and  X_c' s y_c / S,  from one reading of X;
//     kernel  sqrt(s) X_c X_c' sqrt(s)  (n x n).
//
// X_c and y_c have their weighted means taken off where there is an intercept. Spectrum keeps either and gives the
// singular values of sqrt(s) X_c when somebody asks: the eigenvalues alone, some d^3 operations.
#pragma once
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "core/machine/blas.hpp"
#include "core/risk.hpp"

namespace tutelage {

/// Eigenvalues of a symmetric matrix, ascending; its lower triangle, by rows, is replaced by the eigenvectors, one a
/// row, or spoiled where they are not wanted.
inline Vector eigenvalues(Vector& matrix, Index side, bool vectors) {
  Vector values(static_cast<std::size_t>(side));
  if (side == 0) return values;
  const SerialBlas serial;
  // Two calls: the first asks how much room the routine would like.
  double room = 0;
  int integers = 0, info = 0;
  const char job = vectors ? 'V' : 'N';
  fortran(blas.dsyevd, job, 'U', side, matrix.data(), side, values.data(), &room, Index(-1), &integers, Index(-1),
          &info);
  Vector work(std::size_t(room) + 1);
  std::vector<int> more(std::size_t(std::max(1, integers)));
  fortran(blas.dsyevd, job, 'U', side, matrix.data(), side, values.data(), work.data(), Index(work.size()), more.data(),
          Index(more.size()), &info);
  if (info != 0) throw std::runtime_error("LAPACK's dsyevd did not converge.");
  return values;
}

/// Weighted means of the columns of X and then of the targets; zeros without an intercept.
inline Vector weighted_means(const Risk& risk) {
  const Index n = risk.rows(), d = risk.columns(), k = risk.scores();
  Vector means(std::size_t(d + k), 0.0);
  if (!risk.intercept()) return means;
  const double* s = risk.sample().weights;
  const Vector ones(s == nullptr ? std::size_t(n) : 0, 1.0);
  risk.sample().x->add_transpose_times({0, n}, s == nullptr ? ones.data() : s, 1, means.data());
  for (Index i = 0; i < n; ++i) {
    for (Index c = 0; c < k; ++c) {
      means[std::size_t(d + c)] += (s == nullptr ? 1.0 : s[i]) * risk.sample().y[i * k + c];
    }
  }
  for (double& m : means) m /= risk.total_weight();
  return means;
}

/// The moments of the long side. Inside, columns have the shift of the risk taken off, which is near their means.
struct Moments {
  Vector gram;         // lower triangle by rows, d x d, centred
  Vector cross;        // k x d, centred
  Vector column_mean;  // of the shifted columns; zeros without an intercept
  Vector target_mean;  // zeros without an intercept
  double energy = 0;   // the mean loss of all coefficients zero, intercept too

  /// One pass. The loss of the risk is the squared loss of one or several outputs.
  explicit Moments(const Risk& risk)
      : column_mean(std::size_t(risk.columns()), 0.0), target_mean(std::size_t(risk.scores()), 0.0) {
    const Index d = risk.columns(), k = risk.scores(), side = d + (risk.intercept() ? 1 : 0);
    const Vector origin(std::size_t(risk.size()), 0.0);
    Risk::Local local;
    risk.evaluate(origin, local, true, Curvature::shared);
    energy = local.loss;
    const Vector& g = local.curvature;  // lower triangle, the intercept last
    // The gradient has that of the penalty in it, which is not zero at the origin where a prior has a mean.
    cross.assign(std::size_t(k * d), 0.0);
    risk.penalty().add_gradient(origin.data(), k, d, cross.data());
    for (std::size_t j = 0; j < cross.size(); ++j) cross[j] -= local.gradient[j];
    if (risk.intercept()) {
      const double all = g[std::size_t(side * side - 1)];
      for (Index j = 0; j < d; ++j) column_mean[std::size_t(j)] = g[std::size_t(d * side + j)] / all;
      for (Index c = 0; c < k; ++c) target_mean[std::size_t(c)] = -local.gradient[std::size_t(k * d + c)] / all;
    }
    gram.assign(std::size_t(d * d), 0.0);
    for (Index i = 0; i < d; ++i) {
      for (Index j = 0; j <= i; ++j) {
        gram[std::size_t(i * d + j)] =
            g[std::size_t(i * side + j)] - column_mean[std::size_t(i)] * column_mean[std::size_t(j)];
      }
    }
    for (Index c = 0; c < k; ++c) {
      for (Index j = 0; j < d; ++j)
        cross[std::size_t(c * d + j)] -= column_mean[std::size_t(j)] * target_mean[std::size_t(c)];
    }
  }

  /// The mean loss with all coefficients zero and the best intercepts.
  double centred_energy() const {
    double value = energy;
    for (const double m : target_mean) value -= m * m / 2;
    return value;
  }
};

/// Lower triangle, by rows, of sqrt(s_i s_j) (x_i - m).(x_j - m). Means of zero are those of no intercept.
inline Vector centred_kernel(const Risk& risk, const Vector& means) {
  const Rows& x = *risk.sample().x;
  const double* s = risk.sample().weights;
  const Index n = risk.rows(), d = risk.columns();
  Vector kernel(std::size_t(n * n));
  const Index step = 64, tasks = (n + step - 1) / step;
  Vector toward(std::size_t(n), 0.0);  // x_i . m
  x.times({0, n}, means.data(), 1, toward.data());
  double square = 0;
  for (Index j = 0; j < d; ++j) square += means[std::size_t(j)] * means[std::size_t(j)];
  parallel_for(tasks, [&](Index task) {
    const Index first = task * step, count = std::min(step, n - first), below = n - first;
    Vector identity(std::size_t(count * count), 0.0), dense(std::size_t(count * d), 0.0);
    Vector products(std::size_t(below * count));
    for (Index i = 0; i < count; ++i) identity[std::size_t(i * count + i)] = 1;
    x.add_transpose_times({first, count}, identity.data(), count, dense.data());
    if (!x.sparse()) {
      // Centre one side before the product: large means would swallow the digits of the differences.
      for (Index i = 0; i < count; ++i) {
        for (Index j = 0; j < d; ++j) dense[std::size_t(i * d + j)] -= means[std::size_t(j)];
      }
    }
    x.times({first, below}, dense.data(), count, products.data());
    Vector against(std::size_t(count), 0.0);  // m . (row of the block)
    for (Index i = 0; i < count; ++i) {
      for (Index j = 0; j < d; ++j) against[std::size_t(i)] += means[std::size_t(j)] * dense[std::size_t(i * d + j)];
    }
    for (Index i = 0; i < below; ++i) {
      for (Index j = 0; j < count && j <= i; ++j) {
        const Index row = first + i, column = first + j;
        const double root = s == nullptr ? 1.0 : std::sqrt(s[row] * s[column]);
        double product = products[std::size_t(i * count + j)] - against[std::size_t(j)];
        if (x.sparse()) product += square - toward[std::size_t(row)];
        kernel[std::size_t(row * n + column)] = root * product;
      }
    }
  });
  risk.count_passes(double(n) / 2);
  return kernel;
}

/// Singular values of sqrt(s) X_c, known or to be found.
class Spectrum {
 public:
  Spectrum() = default;
  /// Values in descending order.
  explicit Spectrum(Vector values) : values_(std::move(values)), known_(true) {}
  /// From the lower triangle of a matrix whose eigenvalues times scale are the squares; `count` of them are wanted.
  /// Where the matrix is the Gram matrix of X_c, `means` are what was taken off.
  Spectrum(Vector matrix, Index side, double scale, Index count, Vector means = {})
      : matrix_(std::move(matrix)), means_(std::move(means)), side_(side), count_(count), scale_(scale) {}

  /// X_c' s X_c over the sum of s, its lower triangle by rows, and the means; both empty where the fit did not make it.
  const Vector& gram() const { return means_.empty() ? means_ : matrix_; }
  const Vector& means() const { return means_; }

  const Vector& values() {
    if (!known_) {
      Vector spoiled = matrix_;
      const Vector squares = eigenvalues(spoiled, side_, false);
      values_.resize(std::size_t(count_));
      for (Index j = 0; j < count_; ++j) {
        values_[std::size_t(j)] = std::sqrt(std::max(0.0, scale_ * squares[std::size_t(side_ - 1 - j)]));
      }
      if (means_.empty()) matrix_ = Vector();
      known_ = true;
    }
    return values_;
  }

 private:
  Vector values_, matrix_, means_;
  Index side_ = 0, count_ = 0;
  double scale_ = 1;
  bool known_ = false;
};

}  // namespace tutelage
