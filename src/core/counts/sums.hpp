// Weighted sums of the rows of each class, in one reading of X: total_c = sum of s_i, sums_cj = sum of s_i x_ij over
// the rows i of class c. With a threshold t, of [x_ij > t] instead: how often a feature is there.
//
// A dense matrix is read block by block, each row added to the sums of its class. A sparse one is read class by class:
// then the sums written to at random are one vector, which stays in the cache however many classes there are.
#pragma once
#include <vector>

#include "core/counts/classes.hpp"
#include "core/machine/parallel.hpp"
#include "core/matrices/products.hpp"

namespace tutelage {

namespace counts {

template <class Get, class X>
void dense_sums(const X& x, const Classes& classes, Get&& value, double* out) {
  const Index d = x.columns(), k = classes.count, wide = padded(d);
  std::vector<double> sums(static_cast<std::size_t>(k * wide), 0.0);
  Parts(x, static_cast<double>(x.stored()), k * wide).add_sums(k * wide, sums.data(), [&](Block block, double* to) {
    each_piece(x, block, d + 1, [&](auto piece) {
      for (Index i = 0; i < block.count; ++i) {
        double* sum = to + classes.codes[block.first + i] * wide + piece.first;
        const Pack weight = simd::splat(classes.weight(block.first + i));
        each_pack(piece.columns, [&](Index j, auto get) {
          const Pack v = value(get(piece.data + i * piece.stride + j));
          simd::store(sum + j, simd::fma(weight, v, simd::load(sum + j)));
        });
      }
    });
  });
  for (Index c = 0; c < k; ++c) std::copy_n(sums.data() + c * wide, d, out + c * d);
}

template <class Get, class Lines>
void sparse_sums(const Lines& lines, Index d, const Classes& classes, Get&& value, double* out) {
  const RowsByClass rows(classes);
  const double share = static_cast<double>(lines.stored()) / 200e3;
  const double fitting = (0.25 * static_cast<double>(lines.stored()) + 4e6) / static_cast<double>(d + 1);
  const double tasks = std::clamp(std::min(share, fitting), 1.0, 64.0);
  struct Run {
    Index of_class, first, last;
  };
  std::vector<Run> runs;  // in the order of classes
  for (Index c = 0; c < classes.count; ++c) {
    const Index here = rows.end(c) - rows.begin(c);
    const double wanted = here == 0 ? 1.0 : tasks * static_cast<double>(here) / static_cast<double>(classes.rows) + 0.5;
    const Index cuts = std::clamp<Index>(static_cast<Index>(wanted), 1, std::max<Index>(1, here));
    for (Index r = 0; r < cuts; ++r) {
      runs.push_back({c, rows.begin(c) + r * here / cuts, rows.begin(c) + (r + 1) * here / cuts});
    }
  }
  const auto first_of_class = [&](std::size_t r) { return r == 0 || runs[r - 1].of_class != runs[r].of_class; };
  std::vector<std::vector<double>> parts(runs.size());
  parallel_for(static_cast<Index>(runs.size()), [&](Index task) {
    const auto r = static_cast<std::size_t>(task);
    double* to = out + runs[r].of_class * d;
    if (first_of_class(r)) {
      std::fill_n(to, d, 0.0);
    } else {
      parts[r].assign(static_cast<std::size_t>(d), 0.0);
      to = parts[r].data();
    }
    for (Index place = runs[r].first; place < runs[r].last; ++place) {
      const Index i = rows[place];
      const double weight = classes.weight(i);
      const Index end = lines.end(i);
      for (Index e = lines.begin(i); e < end; ++e) to[lines.index(e)] += weight * value(lines.value(e));
    }
  });
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (std::size_t j = 0; j < parts[r].size(); ++j) out[runs[r].of_class * d + static_cast<Index>(j)] += parts[r][j];
  }
}

}  // namespace counts

/// Writes k totals and k x d sums. threshold may be null; then sums are of the numbers themselves. A threshold for a
/// sparse matrix is at least zero.
inline void class_sums(const Rows& x, const Classes& classes, const double* threshold, double* total, double* sums) {
  classes.check(x.rows());
  const Index d = x.columns();
  std::fill_n(total, classes.count, 0.0);
  for (Index i = 0; i < classes.rows; ++i) total[classes.codes[i]] += classes.weight(i);
  const double limit = threshold == nullptr ? 0.0 : *threshold;
  const simd::Pack limits = simd::splat(limit), one = simd::splat(1.0);
  bool known = counts::with_dense(x, [&](const auto& dense) {
    if (threshold == nullptr) {
      counts::dense_sums(dense, classes, [](simd::Pack v) { return v; }, sums);
    } else {
      counts::dense_sums(dense, classes, [&](simd::Pack v) { return v > limits ? one : simd::Pack{}; }, sums);
    }
  });
  known = known || counts::with_sparse(x, [&](const auto& lines) {
            if (threshold == nullptr) {
              counts::sparse_sums(lines, d, classes, [](double v) { return v; }, sums);
            } else {
              counts::sparse_sums(lines, d, classes, [&](double v) { return v > limit ? 1.0 : 0.0; }, sums);
            }
          });
  if (!known) throw std::invalid_argument("X must be a dense or a CSR matrix.");
}

}  // namespace tutelage
