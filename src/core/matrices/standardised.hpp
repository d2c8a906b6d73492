// (X - m) / s, column by column, without a copy of X: the same products around those with X itself.
//
//     scores      z = X (w / s) - m . (w / s)
//     gradient    g = (X' u - m sum(u)) / s
//     sandwich    H = D (sum_i c_i (x_i - m)(x_i - m)') D,   D = diag(1 / s)
//
// A dense matrix subtracts m while it packs. A sparse one, which must not be filled, expands the square:
// sum c x x' - m u' - u m' + (sum c) m m' with u = X' c; its entries are moderate in practice, and where a mean is many
// times the deviation the dense form is the one to use.
#pragma once
#include <algorithm>
#include <vector>

#include "core/concepts.hpp"
#include "core/machine/scratch.hpp"
#include "core/matrices/products.hpp"

namespace tutelage {

/// What standardised coefficients, gradients and Hessians are in terms of the columns as they stand.
struct Affine {
  std::vector<double> shift;          // m
  std::vector<double> inverse_scale;  // 1 / s

  /// s = 0, a constant column, becomes 1 / s = 1: the centred column is zero by itself.
  Affine(std::vector<double> m, const std::vector<double>& s) : shift(std::move(m)), inverse_scale(s.size()) {
    for (std::size_t j = 0; j < s.size(); ++j) inverse_scale[j] = s[j] > 0 ? 1 / s[j] : 1;
  }

  Index columns() const { return static_cast<Index>(shift.size()); }

  /// raw = w / s (k x d) and origin_c = -m . raw_c, so that z = X raw' + origin.
  void to_raw(const double* w, Index k, double* raw, double* origin) const {
    const Index d = columns();
    for (Index c = 0; c < k; ++c) {
      double moved = 0;
      for (Index j = 0; j < d; ++j) {
        const auto at = static_cast<std::size_t>(j);
        raw[c * d + j] = w[c * d + j] * inverse_scale[at];
        moved += shift[at] * raw[c * d + j];
      }
      origin[c] = -moved;
    }
  }

  /// g += (raw - m total) / s, with total_c the sum of the slopes of score c.
  void add_gradient(const double* raw, const double* total, Index k, double* g) const {
    const Index d = columns();
    for (Index c = 0; c < k; ++c) {
      for (Index j = 0; j < d; ++j) {
        const auto at = static_cast<std::size_t>(j);
        g[c * d + j] += (raw[c * d + j] - shift[at] * total[c]) * inverse_scale[at];
      }
    }
  }

  /// h += D raw D, the lower triangle.
  void add_scaled(const double* raw, double* h) const {
    const Index d = columns();
    for (Index p = 0; p < d; ++p) {
      for (Index q = 0; q <= p; ++q) {
        h[p * d + q] +=
            raw[p * d + q] * inverse_scale[static_cast<std::size_t>(p)] * inverse_scale[static_cast<std::size_t>(q)];
      }
    }
  }
};

/// H_raw -> sum_i c_i (x_i - m)(x_i - m)' from sum_i c_i x_i x_i', its u = X' c and total = sum c.
inline void centre_sandwich(const double* m, const double* u, double total, Index d, double* h) {
  for (Index p = 0; p < d; ++p) {
    for (Index q = 0; q <= p; ++q) h[p * d + q] += m[p] * (m[q] * total - u[q]) - u[p] * m[q];
  }
}

class StandardisedRows final : public Rows {
 public:
  StandardisedRows(const Rows& x, Affine map) : x_(x), map_(std::move(map)) {}

  Index rows() const override { return x_.rows(); }
  Index columns() const override { return x_.columns(); }
  Index stored() const override { return x_.stored(); }
  bool sparse() const override { return x_.sparse(); }
  const Affine& map() const { return map_; }

  /// Enough entries in a block to pay for a transformation of d numbers.
  Index block_rows() const override {
    const double each =
        static_cast<double>(std::max<Index>(1, stored())) / static_cast<double>(std::max<Index>(1, rows()));
    const auto paying = static_cast<Index>(std::min(4 * static_cast<double>(columns()) / each, 65536.0));
    return std::max(x_.block_rows(), paying);
  }

  void times(Block block, const double* w, Index k, double* z) const override {
    struct Raw;
    struct Origin;
    double* raw = scratch<Raw>(k * columns());
    double* origin = scratch<Origin>(k);
    map_.to_raw(w, k, raw, origin);
    x_.times(block, raw, k, z);
    for (Index i = 0; i < block.count; ++i) {
      for (Index c = 0; c < k; ++c) z[i * k + c] += origin[c];
    }
  }

  void add_transpose_times(Block block, const double* s, Index k, double* g) const override {
    struct Raw;
    struct Total;
    double* raw = scratch<Raw>(k * columns());
    double* total = scratch<Total>(k);
    std::fill_n(raw, k * columns(), 0.0);
    std::fill_n(total, k, 0.0);
    x_.add_transpose_times(block, s, k, raw);
    for (Index i = 0; i < block.count; ++i) {
      for (Index c = 0; c < k; ++c) total[c] += s[i * k + c];
    }
    map_.add_gradient(raw, total, k, g);
  }

  /// A shift is in standardised columns, and moves m.
  void add_sandwich(Block block, const double* c, const double* shift, double* h) const override {
    const Index d = columns();
    std::vector<double> raw(static_cast<std::size_t>(d * d), 0.0);
    const std::vector<double> m = moved(shift);
    if (x_.sparse()) {
      std::vector<double> u(static_cast<std::size_t>(d), 0.0);
      double total = 0;
      for (Index i = 0; i < block.count; ++i) total += c[i];
      x_.add_sandwich(block, c, nullptr, raw.data());
      x_.add_transpose_times(block, c, 1, u.data());
      centre_sandwich(m.data(), u.data(), total, d, raw.data());
    } else {
      x_.add_sandwich(block, c, m.data(), raw.data());
    }
    map_.add_scaled(raw.data(), h);
  }

  void add_squares(Block block, const double* c, double* g) const override {
    add_centred_squares_around(block, c, moved(nullptr), g);
  }

  void add_centred_squares(Block block, const double* c, const double* m, double* squares,
                           double* seen) const override {
    add_centred_squares_around(block, c, moved(m), squares);
    if (!x_.sparse()) return;
    double total = 0;  // what is not stored is in the squares already
    for (Index i = 0; i < block.count; ++i) total += c[i];
    for (Index j = 0; j < columns(); ++j) seen[j] += total;
  }

  /// The whole sandwich in one go, scaled once: far cheaper than block by block. h += H.
  void sandwich_all(const double* c, double* h) const {
    const Index n = rows(), d = columns();
    std::vector<double> raw(static_cast<std::size_t>(d * d), 0.0);
    if (x_.sparse()) {
      std::vector<double> u(static_cast<std::size_t>(d), 0.0);
      double total = 0;
      for (Index i = 0; i < n; ++i) total += c[i];
      sandwich(x_, c, nullptr, raw.data());
      tutelage::add_transpose_times(x_, c, 1, u.data());
      centre_sandwich(map_.shift.data(), u.data(), total, d, raw.data());
    } else {
      sandwich(x_, c, map_.shift.data(), raw.data());
    }
    map_.add_scaled(raw.data(), h);
  }

 private:
  /// Where `shift`, given in standardised columns, lies in the columns as they stand.
  std::vector<double> moved(const double* shift) const {
    std::vector<double> m = map_.shift;
    for (std::size_t j = 0; shift != nullptr && j < m.size(); ++j) m[j] += shift[j] / map_.inverse_scale[j];
    return m;
  }

  void add_centred_squares_around(Block block, const double* c, const std::vector<double>& m, double* g) const {
    const auto d = m.size();
    std::vector<double> squares(d, 0.0), seen(d, 0.0);
    double total = 0;
    for (Index i = 0; i < block.count; ++i) total += c[i];
    x_.add_centred_squares(block, c, m.data(), squares.data(), seen.data());
    for (std::size_t j = 0; j < d; ++j) {
      const double unseen = x_.sparse() ? std::max(0.0, total - seen[j]) : 0.0;
      g[j] += (squares[j] + unseen * m[j] * m[j]) * map_.inverse_scale[j] * map_.inverse_scale[j];
    }
  }

  const Rows& x_;
  Affine map_;
};

}  // namespace tutelage
