// Cholesky's factorisation A = L L', blocked, in rows, and the same bits on any number of threads.
//
// Right-looking: factor a diagonal block, solve the panel below it, subtract the panel's products from what is left.
// The last step holds the arithmetic (n^3 / 3 multiply-adds) and runs over tiles in parallel; each tile is made of 4 x
// 4 dot products, so both operands are read along rows. LAPACK would do, but its bits depend on its threads.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/machine/index.hpp"
#include "core/machine/parallel.hpp"

namespace tutelage {

namespace cholesky_detail {

inline constexpr Index panel = 96;

/// c[a][b] -= row_a . row_b over `length` entries, for up to 4 x 4 rows.
inline void subtract_products(const double* const* a, const double* const* b, Index length, double* c, Index stride,
                              Index rows, Index columns) {
  double s[4][4] = {};
  double s00 = 0, s01 = 0, s02 = 0, s03 = 0, s10 = 0, s11 = 0, s12 = 0, s13 = 0;
  double s20 = 0, s21 = 0, s22 = 0, s23 = 0, s30 = 0, s31 = 0, s32 = 0, s33 = 0;
  const double *a0 = a[0], *a1 = a[1], *a2 = a[2], *a3 = a[3];
  const double *b0 = b[0], *b1 = b[1], *b2 = b[2], *b3 = b[3];
#pragma omp simd reduction(+ : s00, s01, s02, s03, s10, s11, s12, s13, s20, s21, s22, s23, s30, s31, s32, s33)
  for (Index j = 0; j < length; ++j) {
    const double x0 = a0[j], x1 = a1[j], x2 = a2[j], x3 = a3[j];
    const double y0 = b0[j], y1 = b1[j], y2 = b2[j], y3 = b3[j];
    s00 += x0 * y0, s01 += x0 * y1, s02 += x0 * y2, s03 += x0 * y3;
    s10 += x1 * y0, s11 += x1 * y1, s12 += x1 * y2, s13 += x1 * y3;
    s20 += x2 * y0, s21 += x2 * y1, s22 += x2 * y2, s23 += x2 * y3;
    s30 += x3 * y0, s31 += x3 * y1, s32 += x3 * y2, s33 += x3 * y3;
  }
  const double all[4][4] = {{s00, s01, s02, s03}, {s10, s11, s12, s13}, {s20, s21, s22, s23}, {s30, s31, s32, s33}};
  std::copy(&all[0][0], &all[0][0] + 16, &s[0][0]);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) c[i * stride + j] -= s[i][j];
  }
}

/// The lower part of rows [from, to) x columns [left, right) of A minus the products of the panel's rows.
inline void update_tile(double* a, Index n, Index k, Index width, Index from, Index to, Index left, Index right) {
  const double* x[4];
  const double* y[4];
  for (Index i = from; i < to; i += 4) {
    const Index rows = std::min<Index>(4, to - i);
    for (Index r = 0; r < 4; ++r) x[r] = a + (i + std::min(r, rows - 1)) * n + k;
    for (Index j = left; j < std::min(right, i + rows); j += 4) {
      const Index columns = std::min<Index>(4, right - j);
      for (Index r = 0; r < 4; ++r) y[r] = a + (j + std::min(r, columns - 1)) * n + k;
      subtract_products(x, y, width, a + i * n + j, n, rows, columns);
    }
  }
}

inline double product(const double* a, const double* b, Index length) {
  double s = 0;
#pragma omp simd reduction(+ : s)
  for (Index j = 0; j < length; ++j) s += a[j] * b[j];
  return s;
}

}  // namespace cholesky_detail

/// Factors the n x n matrix a (row-major, lower triangle read and overwritten by L; the upper triangle is scratch).
/// Returns false, leaving a half-made, when a pivot is not above `floor` times the largest diagonal entry.
inline bool cholesky(double* a, Index n, double floor = 0) {
  using namespace cholesky_detail;
  double largest = 0;
  for (Index i = 0; i < n; ++i) largest = std::max(largest, a[i * n + i]);
  for (Index k = 0; k < n; k += panel) {
    const Index width = std::min(panel, n - k), end = k + width;
    for (Index i = k; i < end; ++i) {
      for (Index j = k; j < i; ++j) {
        a[i * n + j] = (a[i * n + j] - product(a + i * n + k, a + j * n + k, j - k)) / a[j * n + j];
      }
      const double pivot = a[i * n + i] - product(a + i * n + k, a + i * n + k, i - k);
      if (!(pivot > floor * largest) || !std::isfinite(pivot)) return false;
      a[i * n + i] = std::sqrt(pivot);
    }
    const Index tile = 64, tiles = (n - end + tile - 1) / tile;
    if (tiles == 0) break;
    parallel_for(tiles, [&](Index t) {
      for (Index i = end + t * tile; i < std::min(n, end + (t + 1) * tile); ++i) {
        for (Index j = k; j < end; ++j) {
          a[i * n + j] = (a[i * n + j] - product(a + i * n + k, a + j * n + k, j - k)) / a[j * n + j];
        }
      }
    });
    parallel_for(tiles, [&](Index reversed) {
      const Index t = tiles - 1 - reversed;  // the longest rows first
      const Index from = end + t * tile, to = std::min(n, from + tile);
      for (Index left = end; left < to; left += tile)
        update_tile(a, n, k, width, from, to, left, std::min(left + tile, to));
    });
  }
  return true;
}

/// x = (L L')^-1 x.
inline void cholesky_solve(const double* l, Index n, double* x) {
  for (Index i = 0; i < n; ++i) x[i] = (x[i] - cholesky_detail::product(l + i * n, x, i)) / l[i * n + i];
  for (Index i = n - 1; i >= 0; --i) {
    x[i] /= l[i * n + i];
    const double moved = x[i];
    const double* row = l + i * n;
#pragma omp simd
    for (Index j = 0; j < i; ++j) x[j] -= moved * row[j];
  }
}

/// The factor of a matrix that is kept to be solved with.
class Cholesky {
 public:
  Cholesky(std::vector<double> a, Index d) : l_(std::move(a)), d_(d), positive_(cholesky(l_.data(), d)) {}
  bool positive() const { return positive_; }
  /// Overwrites b by A^-1 b.
  void solve(double* b) const { cholesky_solve(l_.data(), d_, b); }

 private:
  std::vector<double> l_;
  Index d_;
  bool positive_;
};

}  // namespace tutelage
