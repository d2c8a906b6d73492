// Dense matrices of float or double: DenseRows in C order, DenseColumns in Fortran order.
//
// Both answer as Rows and as Columns; each is fast at its own and right at the other. The memory belongs to the caller.
#pragma once
#include <algorithm>
#include <type_traits>

#include "core/concepts.hpp"
#include "core/machine/scratch.hpp"
#include "core/machine/simd.hpp"
#include "core/matrices/dots.hpp"
#include "core/matrices/mixtures.hpp"
#include "core/matrices/sandwich.hpp"

namespace tutelage {

/// Bytes of X that a block should have: half of a common second-level cache.
inline constexpr Index block_bytes = 256 * 1024;

/// Row i stands at data + i * stride, its entries adjacent.
template <class T>
class DenseRows final : public Rows, public Columns {
 public:
  DenseRows(const T* data, Index rows, Index columns, Index stride)
      : data_(data), rows_(rows), columns_(columns), stride_(stride) {}

  Index rows() const override { return rows_; }
  Index columns() const override { return columns_; }
  Index stored() const override { return rows_ * columns_; }
  bool sparse() const override { return false; }

  Index block_rows() const override {
    const Index fitting = block_bytes / (std::max<Index>(columns_, 1) * static_cast<Index>(sizeof(T)));
    return std::clamp<Index>(fitting / 8 * 8, 8, 4096);
  }

  void times(Block block, const double* w, Index k, double* z) const override {
    dots::products<false>(row(block.first), stride_, block.count, w, 1, columns_, k, columns_, {z, k, 1});
  }

  void add_transpose_times(Block block, const double* s, Index k, double* g) const override {
    mixtures::products<true>(row(block.first), stride_, block.count, {s, k, 1}, k, columns_, {g, columns_, false});
  }

  void add_sandwich(Block block, const double* c, const double* shift, double* h) const override {
    if (columns_ > sandwiches::direct_columns) {
      add_sandwich_tile(block, {0, columns_}, {0, columns_}, c, shift, h, columns_);
      return;
    }
    if constexpr (std::is_same_v<T, double>) {
      if (!shift) return sandwiches::add_direct(block.count, columns_, row(block.first), stride_, c, h, columns_);
    }
    struct Packed;
    constexpr Index width = sandwiches::direct_columns;
    double* packed = scratch<Packed>(width * sandwiches::depth);
    for (Index i = 0; i < block.count; i += sandwiches::depth) {
      const Index rows = std::min(sandwiches::depth, block.count - i);
      sandwiches::pack_rows<width>(row(block.first + i), stride_, rows, columns_, nullptr, shift, packed);
      sandwiches::add_direct(rows, columns_, packed, width, c + i, h, columns_);
    }
  }

  void add_squares(Block block, const double* c, double* g) const override {
    mixtures::squares(row(block.first), stride_, block.count, c, nullptr, columns_, g);
  }

  void add_centred_squares(Block block, const double* c, const double* m, double* squares, double*) const override {
    mixtures::squares(row(block.first), stride_, block.count, c, m, columns_, squares);
  }

  void add_sandwich_tile(Block block, Block down, Block across, const double* c, const double* shift, double* h,
                         Index stride) const override {
    const auto pack = [&](auto width, Index first, Index rows, Index column, Index columns, bool weighted,
                          double* out) {
      sandwiches::pack_rows<decltype(width)::value>(row(first) + column, stride_, rows, columns,
                                                    weighted ? c + (first - block.first) : nullptr,
                                                    shift ? shift + column : nullptr, out);
    };
    sandwiches::add(block, down, across, pack, h, stride);
  }

  Index stored(Index) const override { return rows_; }

  double dot(Index j, const double* r) const override {
    return strided(j, [&](Index i, double x) { return x * r[i]; });
  }
  void add(Index j, double a, double* z) const override {
    for (Index i = 0; i < rows_; ++i) z[i] += a * static_cast<double>(row(i)[j]);
  }
  double weighted_dot(Index j, const double* c, const double* r) const override {
    return strided(j, [&](Index i, double x) { return c[i] * x * r[i]; });
  }
  double weighted_square(Index j, const double* c) const override {
    return strided(j, [&](Index i, double x) { return c ? c[i] * x * x : x * x; });
  }
  double centred_square(Index j, const double* c, double m, double) const override {
    return strided(j, [&](Index i, double x) { return (c ? c[i] : 1.0) * (x - m) * (x - m); });
  }
  const T* data() const { return data_; }
  Index stride() const { return stride_; }

 private:
  const T* row(Index i) const { return data_ + i * stride_; }

  template <class Term>
  double strided(Index j, Term&& term) const {
    double sums[4] = {};
    Index i = 0;
    for (; i + 4 <= rows_; i += 4) {
      for (int t = 0; t < 4; ++t) sums[t] += term(i + t, static_cast<double>(row(i + t)[j]));
    }
    for (; i < rows_; ++i) sums[0] += term(i, static_cast<double>(row(i)[j]));
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  const T* data_;
  Index rows_, columns_, stride_;
};

/// Column j stands at data + j * stride, its entries adjacent.
template <class T>
class DenseColumns final : public Rows, public Columns {
 public:
  DenseColumns(const T* data, Index rows, Index columns, Index stride)
      : data_(data), rows_(rows), columns_(columns), stride_(stride) {}

  Index rows() const override { return rows_; }
  Index columns() const override { return columns_; }
  Index stored() const override { return rows_ * columns_; }
  bool sparse() const override { return false; }

  /// At least 256 rows, so that the piece of a column that belongs to a block is worth the jump to it.
  Index block_rows() const override {
    const Index fitting = block_bytes / (std::max<Index>(columns_, 1) * static_cast<Index>(sizeof(T)));
    return std::clamp<Index>(fitting / 8 * 8, 256, 4096);
  }

  void times(Block block, const double* w, Index k, double* z) const override {
    mixtures::products<false>(piece(block.first), stride_, columns_, {w, 1, columns_}, k, block.count, {z, k, true});
  }

  void add_transpose_times(Block block, const double* s, Index k, double* g) const override {
    dots::products<true>(piece(block.first), stride_, columns_, s, k, 1, k, block.count, {g, 1, columns_});
  }

  void add_sandwich(Block block, const double* c, const double* shift, double* h) const override {
    if (columns_ > sandwiches::direct_columns) {
      add_sandwich_tile(block, {0, columns_}, {0, columns_}, c, shift, h, columns_);
      return;
    }
    struct Packed;
    constexpr Index width = sandwiches::direct_columns;
    double* packed = scratch<Packed>(width * sandwiches::depth);
    for (Index i = 0; i < block.count; i += sandwiches::depth) {
      const Index rows = std::min(sandwiches::depth, block.count - i);
      sandwiches::pack_columns<width>(piece(block.first + i), stride_, rows, columns_, nullptr, shift, packed);
      sandwiches::add_direct(rows, columns_, packed, width, c + i, h, columns_);
    }
  }

  void add_squares(Block block, const double* c, double* g) const override {
    for (Index j = 0; j < columns_; ++j) g[j] += simd::square(at(j) + block.first, c, block.count);
  }

  void add_centred_squares(Block block, const double* c, const double* m, double* squares, double*) const override {
    for (Index j = 0; j < columns_; ++j) {
      squares[j] += simd::centred_square(at(j) + block.first, c, m[j], block.count);
    }
  }

  void add_sandwich_tile(Block block, Block down, Block across, const double* c, const double* shift, double* h,
                         Index stride) const override {
    const auto pack = [&](auto width, Index first, Index rows, Index column, Index columns, bool weighted,
                          double* out) {
      sandwiches::pack_columns<decltype(width)::value>(at(column) + first, stride_, rows, columns,
                                                       weighted ? c + (first - block.first) : nullptr,
                                                       shift ? shift + column : nullptr, out);
    };
    sandwiches::add(block, down, across, pack, h, stride);
  }

  Index stored(Index) const override { return rows_; }
  double dot(Index j, const double* r) const override { return simd::dot(at(j), r, rows_); }
  void add(Index j, double a, double* z) const override { simd::add(a, at(j), z, rows_); }
  double weighted_dot(Index j, const double* c, const double* r) const override {
    return simd::dot(at(j), r, c, rows_);
  }
  double weighted_square(Index j, const double* c) const override {
    return c ? simd::square(at(j), c, rows_) : simd::square(at(j), rows_);
  }
  double centred_square(Index j, const double* c, double m, double) const override {
    return simd::centred_square(at(j), c, m, rows_);
  }
  const T* data() const { return data_; }
  Index stride() const { return stride_; }

 private:
  const T* piece(Index i) const { return data_ + i; }
  const T* at(Index j) const { return data_ + j * stride_; }

  const T* data_;
  Index rows_, columns_, stride_;
};

}  // namespace tutelage
