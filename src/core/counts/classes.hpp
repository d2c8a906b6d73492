// Which class each row belongs to, and how the passes of this folder reach the memory of X.
#pragma once
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "core/concepts.hpp"
#include "core/matrices/dense.hpp"
#include "core/matrices/sparse.hpp"

namespace tutelage {

/// A class for each row, 0 ... count - 1, and a weight for each row or null.
struct Classes {
  const std::int64_t* codes;
  const double* weights;
  Index rows;
  Index count;

  void check(Index matrix_rows) const {
    if (rows != matrix_rows) throw std::invalid_argument("codes must have a class for each row of X.");
    for (Index i = 0; i < rows; ++i) {
      if (codes[i] < 0 || codes[i] >= count) throw std::invalid_argument("codes must be numbers of classes.");
    }
  }
  double weight(Index i) const { return weights == nullptr ? 1.0 : weights[i]; }
};

/// The rows of each class in increasing order: those of class c are order[starts[c]] ... order[starts[c + 1] - 1].
struct RowsByClass {
  std::vector<Index> order, starts;

  explicit RowsByClass(const Classes& classes)
      : order(static_cast<std::size_t>(classes.rows)), starts(static_cast<std::size_t>(classes.count + 1), 0) {
    for (Index i = 0; i < classes.rows; ++i) ++starts[static_cast<std::size_t>(classes.codes[i] + 1)];
    for (std::size_t c = 1; c < starts.size(); ++c) starts[c] += starts[c - 1];
    std::vector<Index> next(starts.begin(), starts.end() - 1);
    for (Index i = 0; i < classes.rows; ++i) {
      order[static_cast<std::size_t>(next[static_cast<std::size_t>(classes.codes[i])]++)] = i;
    }
  }
  Index begin(Index c) const { return starts[static_cast<std::size_t>(c)]; }
  Index end(Index c) const { return starts[static_cast<std::size_t>(c + 1)]; }
  Index operator[](Index place) const { return order[static_cast<std::size_t>(place)]; }
};

namespace counts {

using simd::lanes;
using simd::Pack;

inline Index padded(Index columns) { return (columns + lanes - 1) / lanes * lanes; }

/// Calls f(dense) with X as the type it is; false where X is not dense.
template <class F>
bool with_dense(const Rows& x, F&& f) {
  if (const auto* m = dynamic_cast<const DenseRows<double>*>(&x)) return f(*m), true;
  if (const auto* m = dynamic_cast<const DenseRows<float>*>(&x)) return f(*m), true;
  if (const auto* m = dynamic_cast<const DenseColumns<double>*>(&x)) return f(*m), true;
  if (const auto* m = dynamic_cast<const DenseColumns<float>*>(&x)) return f(*m), true;
  return false;
}

/// Calls f(lines) with the rows of a CSR matrix; false where X is none.
template <class F>
bool with_sparse(const Rows& x, F&& f) {
  if (const auto* m = dynamic_cast<const SparseRows<double, std::int32_t>*>(&x)) return f(m->lines()), true;
  if (const auto* m = dynamic_cast<const SparseRows<float, std::int32_t>*>(&x)) return f(m->lines()), true;
  if (const auto* m = dynamic_cast<const SparseRows<double, std::int64_t>*>(&x)) return f(m->lines()), true;
  if (const auto* m = dynamic_cast<const SparseRows<float, std::int64_t>*>(&x)) return f(m->lines()), true;
  return false;
}

/// Some rows of X as runs of adjacent numbers: row i of the block, columns [first, first + columns), stands at
/// data + i * stride.
template <class T>
struct Piece {
  const T* data;
  Index stride, first, columns;
};

/// How many columns to work at together, so that a few numbers for each of them and each class stay in the first cache.
inline Index strip_columns(Index columns, Index classes) {
  constexpr Index bytes = 24 * 1024, each = 2 * sizeof(double);
  const Index fitting = bytes / (each * std::max<Index>(1, classes)) / lanes * lanes;
  return std::min(padded(std::max<Index>(1, columns)), std::max<Index>(4 * lanes, fitting));
}

/// Calls f(piece) for pieces that together are the block: a C-ordered matrix is read where it lies, `strip` columns at
/// a time; a Fortran-ordered one is turned, a pack of columns at a time.
template <class T, class F>
void each_piece(const DenseRows<T>& x, Block block, Index strip, F&& f) {
  for (Index j = 0; j < x.columns(); j += strip) {
    f(Piece<T>{x.data() + block.first * x.stride() + j, x.stride(), j, std::min(strip, x.columns() - j)});
  }
}
template <class T, class F>
void each_piece(const DenseColumns<T>& x, Block block, Index, F&& f) {
  struct Turned;
  double* turned = scratch<Turned>(lanes * block.count);
  for (Index j = 0; j < x.columns(); j += lanes) {
    const Index columns = std::min<Index>(lanes, x.columns() - j);
    sandwiches::pack_columns<lanes>(x.data() + j * x.stride() + block.first, x.stride(), block.count, columns, nullptr,
                                    nullptr, turned);
    f(Piece<double>{turned, lanes, j, columns});
  }
}

/// Calls f(j, get) for each pack of columns, j its first column and get(p) how to load it.
template <class F>
TUTELAGE_INLINE void each_pack(Index columns, F&& f) {
  Index j = 0;
  for (; j + lanes <= columns; j += lanes) f(j, [](const auto* p) { return simd::load(p); });
  if (j < columns) {
    const Index rest = columns - j;
    f(j, [rest](const auto* p) { return simd::load_part(p, rest); });
  }
}

/// Where v is a number: v, or `other` (zero where it is a number, the other way round).
TUTELAGE_INLINE Pack where_present(Pack v, Pack value) { return v == v ? value : Pack{}; }

}  // namespace counts
}  // namespace tutelage
