// [X, 1]: a column of ones behind those of X, without a copy of X. Its coefficient is the intercept.
#pragma once
#include <algorithm>
#include <vector>

#include "core/concepts.hpp"
#include "core/machine/scratch.hpp"

namespace tutelage {

class AugmentedRows final : public Rows {
 public:
  explicit AugmentedRows(const Rows& x) : x_(x) {}

  Index rows() const override { return x_.rows(); }
  Index columns() const override { return x_.columns() + 1; }
  Index stored() const override { return x_.stored() + x_.rows(); }
  bool sparse() const override { return x_.sparse(); }
  Index block_rows() const override { return x_.block_rows(); }

  void times(Block block, const double* w, Index k, double* z) const override {
    const Index d = x_.columns();
    struct Inner;
    const double* inner = w;
    if (k > 1) {
      double* packed = scratch<Inner>(k * d);
      for (Index c = 0; c < k; ++c) std::copy_n(w + c * (d + 1), d, packed + c * d);
      inner = packed;
    }
    x_.times(block, inner, k, z);
    for (Index i = 0; i < block.count; ++i) {
      for (Index c = 0; c < k; ++c) z[i * k + c] += w[c * (d + 1) + d];
    }
  }

  void add_transpose_times(Block block, const double* s, Index k, double* g) const override {
    const Index d = x_.columns();
    if (k == 1) {
      x_.add_transpose_times(block, s, 1, g);
    } else {
      struct Inner;
      double* inner = scratch<Inner>(k * d);
      std::fill_n(inner, k * d, 0.0);
      x_.add_transpose_times(block, s, k, inner);
      for (Index c = 0; c < k; ++c) {
        for (Index j = 0; j < d; ++j) g[c * (d + 1) + j] += inner[c * d + j];
      }
    }
    for (Index i = 0; i < block.count; ++i) {
      for (Index c = 0; c < k; ++c) g[c * (d + 1) + d] += s[i * k + c];
    }
  }

  /// The inner triangle is made where it belongs: rows of H are d + 1 apart.
  void add_sandwich(Block block, const double* c, const double* shift, double* h) const override {
    const Index d = x_.columns();
    x_.add_sandwich_tile(block, {0, d}, {0, d}, c, shift, h, d + 1);
    double* border = h + d * (d + 1);
    std::vector<double> sums(static_cast<std::size_t>(d), 0.0);
    x_.add_transpose_times(block, c, 1, sums.data());
    double total = 0;
    for (Index i = 0; i < block.count; ++i) total += c[i];
    const double ones = shift == nullptr ? 1.0 : 1.0 - shift[d];
    for (Index j = 0; j < d; ++j) {
      border[j] += ones * (sums[static_cast<std::size_t>(j)] - (shift == nullptr ? 0.0 : shift[j] * total));
    }
    border[d] += ones * ones * total;
  }

  void add_squares(Block block, const double* c, double* g) const override {
    x_.add_squares(block, c, g);
    for (Index i = 0; i < block.count; ++i) g[x_.columns()] += c[i];
  }

  void add_centred_squares(Block block, const double* c, const double* m, double* squares,
                           double* seen) const override {
    const Index d = x_.columns();
    x_.add_centred_squares(block, c, m, squares, seen);
    double total = 0;
    for (Index i = 0; i < block.count; ++i) total += c[i];
    squares[d] += total * (1 - m[d]) * (1 - m[d]);
    if (x_.sparse()) seen[d] += total;
  }

 private:
  const Rows& x_;
};

}  // namespace tutelage
