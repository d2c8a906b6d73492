// Weighted means and variances of columns, in two passes: variance = sum_i s_i (x_ij - mean_j)^2 / S.
//
// The one-pass formula (mean of squares minus square of the mean) loses every digit when the mean is 1e8 times the
// deviation; the second pass costs one more reading and loses none.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/concepts.hpp"
#include "core/machine/parallel.hpp"
#include "core/matrices/products.hpp"

namespace tutelage {

struct ColumnStatistics {
  double total = 0;  // S, the sum of the weights
  std::vector<double> mean, variance;
};

/// The sum of the weights; n when there are none.
inline double sum_weights(const double* weights, Index n) {
  if (weights == nullptr) return static_cast<double>(n);
  double sum = 0, lost = 0;
  for (Index i = 0; i < n; ++i) {
    const double next = sum + weights[i];
    lost += std::abs(sum) >= std::abs(weights[i]) ? (sum - next) + weights[i] : (weights[i] - next) + sum;
    sum = next;
  }
  return sum + lost;
}

/// weights may be null. With a total weight of zero, means and variances are zero.
inline ColumnStatistics column_statistics(const Rows& x, const double* weights) {
  const Index n = x.rows(), d = x.columns();
  const auto size = static_cast<std::size_t>(d);
  ColumnStatistics out{sum_weights(weights, n), std::vector<double>(size), std::vector<double>(size)};
  if (!(out.total > 0)) return out;
  const std::vector<double> ones(weights == nullptr ? static_cast<std::size_t>(std::max<Index>(x.block_rows(), 1)) : 0,
                                 1.0);
  const auto weight = [&](Block block) { return weights == nullptr ? ones.data() : weights + block.first; };

  const auto work = static_cast<double>(x.stored());
  Parts(x, work, d).add_sums(d, out.mean.data(), [&](Block block, double* sum) {
    x.add_transpose_times(block, weight(block), 1, sum);
  });
  for (double& m : out.mean) m /= out.total;

  std::vector<double> sums(2 * size);  // squares, then the weight of the stored entries
  Parts(x, work, 2 * d).add_sums(2 * d, sums.data(), [&](Block block, double* sum) {
    x.add_centred_squares(block, weight(block), out.mean.data(), sum, sum + d);
  });
  for (std::size_t j = 0; j < size; ++j) {
    double unseen = x.sparse() ? out.total - sums[size + j] : 0.0;
    if (unseen < 1e-12 * out.total) unseen = 0;  // rounding of a column without zeros
    out.variance[j] = (sums[j] + unseen * out.mean[j] * out.mean[j]) / out.total;
  }
  return out;
}

inline ColumnStatistics column_statistics(const Columns& x, const double* weights) {
  const Index n = x.rows(), d = x.columns();
  const auto size = static_cast<std::size_t>(d);
  ColumnStatistics out{sum_weights(weights, n), std::vector<double>(size), std::vector<double>(size)};
  if (!(out.total > 0)) return out;
  const std::vector<double> ones(static_cast<std::size_t>(n), 1.0);
  const double* weight = weights == nullptr ? ones.data() : weights;
  const Index batch = std::max<Index>(1, 100000 * d / std::max<Index>(1, x.stored() + d));
  parallel_for((d + batch - 1) / batch, [&](Index task) {
    for (Index j = task * batch; j < std::min(d, (task + 1) * batch); ++j) {
      const auto at = static_cast<std::size_t>(j);
      out.mean[at] = x.dot(j, weight) / out.total;
      out.variance[at] = x.centred_square(j, weights, out.mean[at], out.total) / out.total;
    }
  });
  return out;
}

}  // namespace tutelage
