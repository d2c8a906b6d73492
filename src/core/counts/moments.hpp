// Weights, means and centred second moments of every column in every class, in one reading of a dense X:
//
//     total_cj = sum s_i,   mean_cj = sum s_i x_ij / total_cj,   square_cj = sum s_i (x_ij - mean_cj)^2
//
// over the rows i of class c whose entry j is not missing (NaN); total is the same for all j where nothing is missing.
// A strip of a block of rows is read twice while it is in the cache: for the sums of its classes, then for the squares
// around the block's own means. Two such triples merge without cancellation (Chan, Golub and LeVeque 1983), which the
// difference of mean squares and squared means does not do.
#pragma once
#include <vector>

#include "core/counts/classes.hpp"
#include "core/machine/parallel.hpp"
#include "core/matrices/products.hpp"

namespace tutelage {

/// Each k x columns.
struct ClassMoments {
  std::vector<double> total, mean, square;
};

namespace counts {

/// Running moments, rows of `wide` numbers.
struct Running {
  explicit Running(Index size)
      : total(static_cast<std::size_t>(size), 0.0),
        mean(static_cast<std::size_t>(size), 0.0),
        square(static_cast<std::size_t>(size), 0.0) {}
  std::vector<double> total, mean, square;

  /// Merges `width` columns that begin at `at`.
  void merge(Index at, Index width, const double* totals, const double* means, const double* squares) {
    double* const n = total.data() + at;
    double* const m = mean.data() + at;
    double* const s = square.data() + at;
#pragma omp simd
    for (Index j = 0; j < width; ++j) {
      const double all = n[j] + totals[j];
      const double share = all > 0 ? totals[j] / all : 0.0;
      const double delta = means[j] - m[j];
      s[j] += squares[j] + delta * delta * n[j] * share;
      m[j] += delta * share;
      n[j] = all;
    }
  }
};

/// The moments of one block, made in memory that is zero before and after.
class BlockMoments {
 public:
  BlockMoments(Index classes, Index wide)
      : wide_(wide),
        here_(static_cast<std::size_t>(classes), 0),
        totals_(static_cast<std::size_t>(classes * wide), 0.0),
        means_(totals_.size(), 0.0),
        squares_(totals_.size(), 0.0) {}

  template <bool Missing, class X>
  void add(const X& x, Block block, Index strip, const Classes& classes, Running& to) {
    seen_.clear();
    for (Index i = 0; i < block.count; ++i) {
      const auto c = static_cast<std::size_t>(classes.codes[block.first + i]);
      if (!here_[c]) seen_.push_back(static_cast<Index>(c));
      here_[c] = 1;
      if (!Missing) totals_[c * static_cast<std::size_t>(wide_)] += classes.weight(block.first + i);
    }
    each_piece(x, block, strip, [&](auto piece) {
      each_row(piece, block, classes, [&](const auto* row, Pack weight, Index at) {
        each_pack(piece.columns, [&](Index j, auto get) {
          __builtin_prefetch(row + 6 * piece.stride + j);  // a strip is too short for the processor to see ahead
          const Pack v = get(row + j);
          const Pack value = Missing ? where_present(v, v) : v;
          simd::store(means_.data() + at + j, simd::fma(weight, value, simd::load(means_.data() + at + j)));
          if constexpr (Missing) {
            double* total = totals_.data() + at + j;
            simd::store(total, simd::load(total) + where_present(v, weight));
          }
        });
      });
      for (const Index c : seen_) finish_means<Missing>(c * wide_, piece.first, padded(piece.columns));
      each_row(piece, block, classes, [&](const auto* row, Pack weight, Index at) {
        each_pack(piece.columns, [&](Index j, auto get) {
          const Pack v = get(row + j);
          const Pack u = v - simd::load(means_.data() + at + j);
          const Pack from = Missing ? where_present(v, u) : u;
          double* square = squares_.data() + at + j;
          simd::store(square, simd::fma(weight * from, from, simd::load(square)));
        });
      });
    });
    for (const Index c : seen_) {
      const Index at = c * wide_;
      to.merge(at, wide_, totals_.data() + at, means_.data() + at, squares_.data() + at);
      std::fill_n(totals_.data() + at, wide_, 0.0);
      std::fill_n(means_.data() + at, wide_, 0.0);
      std::fill_n(squares_.data() + at, wide_, 0.0);
      here_[static_cast<std::size_t>(c)] = 0;
    }
  }

 private:
  template <class P, class Body>
  TUTELAGE_INLINE void each_row(const P& piece, Block block, const Classes& classes, Body&& body) {
    for (Index i = 0; i < block.count; ++i) {
      body(piece.data + i * piece.stride, simd::splat(classes.weight(block.first + i)),
           classes.codes[block.first + i] * wide_ + piece.first);
    }
  }

  template <bool Missing>
  void finish_means(Index start, Index first, Index width) {
    const double common = totals_[static_cast<std::size_t>(start)];
    double* const total = totals_.data() + start + first;
    double* const mean = means_.data() + start + first;
    for (Index j = 0; j < width; ++j) {
      if (!Missing) total[j] = common;
      mean[j] = total[j] > 0 ? mean[j] / total[j] : 0.0;
    }
  }

  Index wide_;
  std::vector<char> here_;
  std::vector<Index> seen_;
  std::vector<double> totals_, means_, squares_;
};

template <bool Missing, class X>
void dense_moments(const X& x, const Classes& classes, ClassMoments& made) {
  const Index d = x.columns(), k = classes.count, wide = padded(d), strip = strip_columns(d, k);
  // It is a strip of a block that must stay in the cache, and merging blocks costs less the taller they are.
  const Index tall = block_bytes / (strip * static_cast<Index>(sizeof(double)));
  const Parts parts(x, static_cast<double>(x.stored()), 6 * k * wide);
  std::vector<Running> running;
  for (Index part = 0; part < parts.count(); ++part) running.emplace_back(k * wide);
  parallel_for(parts.count(), [&](Index part) {
    BlockMoments moments(k, wide);
    Block together;
    const auto add = [&] {
      if (together.count > 0)
        moments.add<Missing>(x, together, strip, classes, running[static_cast<std::size_t>(part)]);
      together = {};
    };
    parts.each_block(part, [&](Block block) {
      together = {together.count == 0 ? block.first : together.first, together.count + block.count};
      if (together.count >= tall) add();
    });
    add();
  });
  for (std::size_t part = 1; part < running.size(); ++part) {
    running[0].merge(0, k * wide, running[part].total.data(), running[part].mean.data(), running[part].square.data());
  }
  for (Index c = 0; c < k; ++c) {
    std::copy_n(running[0].total.data() + c * wide, d, made.total.data() + c * d);
    std::copy_n(running[0].mean.data() + c * wide, d, made.mean.data() + c * d);
    std::copy_n(running[0].square.data() + c * wide, d, made.square.data() + c * d);
  }
}

}  // namespace counts

/// missing: whether NaN means that an entry is not there; otherwise it is a number like others, and spreads.
inline ClassMoments class_moments(const Rows& x, const Classes& classes, bool missing) {
  classes.check(x.rows());
  const auto size = static_cast<std::size_t>(classes.count * x.columns());
  ClassMoments made{std::vector<double>(size), std::vector<double>(size), std::vector<double>(size)};
  if (size == 0) return made;
  const bool known = counts::with_dense(x, [&](const auto& dense) {
    if (missing) {
      counts::dense_moments<true>(dense, classes, made);
    } else {
      counts::dense_moments<false>(dense, classes, made);
    }
  });
  if (!known) throw std::invalid_argument("X must be dense.");
  return made;
}

}  // namespace tutelage
