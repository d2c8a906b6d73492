// Sums of curvature: the Hessian of the mean loss, or as much of it as is wanted.
//
// With k scores the Hessian has k x k blocks sum_i s_i h_i[a][b] x_i x_i', h_i the Hessian of the loss in the scores of
// row i. A form says which blocks are kept: all of them, the k on the diagonal, or the diagonal of those. Columns are
// centred by `shift` while they are read, and the intercept is a column of ones.
#pragma once
#include <algorithm>
#include <vector>

#include "core/concepts.hpp"
#include "core/machine/simd.hpp"
#include "core/matrices/products.hpp"

namespace tutelage {

/// How much of the Hessian is kept: all, one matrix for each score, one matrix that serves every score (the squared
/// loss of several outputs), or the diagonal.
enum class Curvature { none, full, blocks, shared, diagonal };

class CurvatureSum {
 public:
  CurvatureSum(const Rows& x, const AnyLoss& loss, const std::vector<double>& shift, bool intercept, Curvature form)
      : x_(x),
        loss_(loss),
        shift_(shift.empty() ? nullptr : shift.data()),
        intercept_(intercept),
        form_(form),
        n_(x.rows()),
        d_(x.columns()),
        k_(loss.scores()) {}

  /// Pairs of scores (a, b), a >= b, whose block is kept.
  Index pairs() const {
    if (form_ == Curvature::full) return k_ * (k_ + 1) / 2;
    return form_ == Curvature::shared ? 1 : k_;
  }
  Index side() const { return d_ + (intercept_ ? 1 : 0); }
  Index length() const {
    return form_ == Curvature::none ? 0 : pairs() * (form_ == Curvature::diagonal ? 2 * d_ + 1 : d_ * d_ + d_ + 1);
  }
  /// Above this size the sums of the parts would outgrow the cache: the products are made afterwards, tile by tile.
  bool apart() const { return form_ != Curvature::diagonal && !x_.sparse() && length() > 64 * 1024; }

  /// sum += the curvature of a block of rows. z and diagonal are what the loss was given and gave.
  void add(Block block, const double* y, const double* s, const double* z, const double* diagonal, double* sum) const {
    std::vector<double> weights(std::size_t(block.count * pairs()));
    keep({0, block.count}, y, s, z, diagonal, weights.data(), block.count);
    for (Index p = 0; p < pairs(); ++p)
      add_piece(block, weights.data() + p * block.count, sum + p * length() / pairs());
  }

  /// Keeps the weights of a block, one run of all rows for each pair; stride is the number of rows kept in all.
  void keep(Block block, const double* y, const double* s, const double* z, const double* diagonal, double* kept,
            Index stride = -1) const {
    if (stride < 0) stride = n_;
    double* to = kept + block.first;
    if (k_ == 1) {
      std::copy_n(diagonal, block.count, to);
    } else if (form_ != Curvature::full) {
      for (Index c = 0; c < pairs(); ++c) {
        for (Index i = 0; i < block.count; ++i) to[c * stride + i] = diagonal[i * k_ + c];
      }
    } else {
      loss_.curvature_pairs(y, s, z, block.count, to, stride);
    }
  }

  /// The curvature of all rows for weights c: the lower triangle of h, and the row of the intercept where there is one.
  void add_all(const double* c, double* h, double* border) const {
    sandwich(x_, c, shift_, h);
    if (!intercept_) return;
    std::vector<double> raw(std::size_t(d_), 0.0);
    add_transpose_times(x_, c, 1, raw.data());
    add_border(raw.data(), c, n_, border);
  }

  void add_kept(const double* kept, double* sum) const {
    const auto add_pair = [&](Index p) {
      double* piece = sum + p * (length() / pairs());
      add_all(kept + p * n_, piece, piece + d_ * d_);
    };
    // Many pairs are handed out whole; few share the threads one after the other. The bits are the same.
    if (pairs() >= 8) {
      parallel_for(pairs(), add_pair);
    } else {
      for (Index p = 0; p < pairs(); ++p) add_pair(p);
    }
  }

  /// From sums to the matrix (times scale): row-major, lower triangle. full: order k * d coefficients, then k
  /// intercepts. blocks, shared: k matrices, or one, of order d + intercept. diagonal: in the order of a point.
  void assemble(const double* sum, double scale, std::vector<double>& out) const {
    const Index piece = length() / pairs();
    if (form_ == Curvature::diagonal) {
      out.resize(std::size_t(k_ * side()));
      for (Index c = 0; c < k_; ++c) {
        const double* from = sum + c * piece;
        const double all = from[2 * d_];
        for (Index j = 0; j < d_; ++j) {
          const double m = shift_ == nullptr ? 0.0 : shift_[j];
          out[std::size_t(c * d_ + j)] = scale * std::max(0.0, from[j] - 2 * m * from[d_ + j] + m * m * all);
        }
        if (intercept_) out[std::size_t(k_ * d_ + c)] = scale * all;
      }
      return;
    }
    if (form_ == Curvature::blocks || form_ == Curvature::shared) {
      out.assign(std::size_t(pairs() * side() * side()), 0.0);
      for (Index c = 0; c < pairs(); ++c) {
        place(sum + c * piece, scale, out.data() + c * side() * side(), side(), 0, 0, d_, d_);
      }
      return;
    }
    const Index size = k_ * side();
    out.assign(std::size_t(size * size), 0.0);
    Index pair = 0;
    for (Index b = 0; b < k_; ++b) {
      for (Index a = b; a < k_; ++a, ++pair) {
        place(sum + pair * piece, scale, out.data(), size, a * d_, b * d_, k_ * d_ + a, k_ * d_ + b);
      }
    }
  }

 private:
  void add_piece(Block block, const double* c, double* piece) const {
    if (form_ == Curvature::diagonal) {
      x_.add_squares(block, c, piece);
      if (shift_ != nullptr) x_.add_transpose_times(block, c, 1, piece + d_);  // else not asked for
      piece[2 * d_] += simd::sum(c, block.count);
      return;
    }
    x_.add_sandwich(block, c, shift_, piece);
    if (intercept_) add_borders(block, c, piece + d_ * d_);
  }

  /// The row of the intercept: sum_i c_i (x_i - m), then sum_i c_i.
  void add_borders(Block block, const double* c, double* border) const {
    std::vector<double> raw(std::size_t(d_), 0.0);
    x_.add_transpose_times(block, c, 1, raw.data());
    add_border(raw.data(), c, block.count, border);
  }
  void add_border(const double* raw, const double* c, Index count, double* border) const {
    const double all = simd::sum(c, count);
    for (Index j = 0; j < d_; ++j) border[j] += raw[j] - (shift_ == nullptr ? 0.0 : shift_[j] * all);
    border[d_] += all;
  }

  /// Puts one symmetric d x d piece and its borders at (row, column) of the lower triangle of a matrix.
  void place(const double* piece, double scale, double* h, Index size, Index row, Index column, Index border_row,
             Index border_column) const {
    for (Index i = 0; i < d_; ++i) {
      for (Index j = 0; j <= i; ++j) {
        const double value = scale * piece[i * d_ + j];
        h[(row + i) * size + column + j] = value;
        if (row != column) h[(row + j) * size + column + i] = value;
      }
    }
    if (!intercept_) return;
    const double* border = piece + d_ * d_;
    for (Index j = 0; j < d_; ++j) {
      h[border_row * size + column + j] = scale * border[j];
      if (row != column) h[border_column * size + row + j] = scale * border[j];
    }
    h[border_row * size + border_column] = scale * border[d_];
  }

  const Rows& x_;
  const AnyLoss& loss_;
  const double* shift_;
  bool intercept_;
  Curvature form_;
  Index n_, d_, k_;
};

}  // namespace tutelage
