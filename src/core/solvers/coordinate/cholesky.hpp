// Solves A x = b for one symmetric positive definite matrix of moderate size.
#pragma once
#include <algorithm>
#include <cmath>

#include "core/machine/blas.hpp"
#include "core/solvers/coordinate/models.hpp"

namespace tutelage::coordinate {

/// a is n x n, both triangles, and is destroyed; b becomes the solution. False when A is not safely positive definite.
inline bool solve_positive(Vector& a, Vector& b) {
  const Index n = static_cast<Index>(b.size());
  double largest = 0;
  for (Index p = 0; p < n; ++p) largest = std::max(largest, a[at(p * n + p)]);
  if (blas.dpotrf && n >= 32) {
    const SerialBlas serial;
    int failed = 0;
    fortran(blas.dpotrf, 'U', n, a.data(), n, &failed);
    if (failed != 0) return false;
  } else {
    // The same factor by rows: with U in column order, the rows of U' are contiguous.
    for (Index p = 0; p < n; ++p) {
      double* row = a.data() + p * n;
      for (Index q = 0; q <= p; ++q) {
        const double* other = a.data() + q * n;
        const double rest = row[q] - simd::dot(row, other, q);
        if (q < p) {
          row[q] = rest / other[q];
        } else {
          if (!(rest > 0)) return false;
          row[q] = std::sqrt(rest);
        }
      }
    }
  }
  for (Index p = 0; p < n; ++p) {
    const double pivot = a[at(p * n + p)];
    if (!(pivot * pivot > 1e-13 * largest)) return false;
  }
  for (Index p = 0; p < n; ++p) {
    const double* row = a.data() + p * n;
    b[at(p)] = (b[at(p)] - simd::dot(row, b.data(), p)) / row[p];
  }
  for (Index p = n - 1; p >= 0; --p) {
    const double* row = a.data() + p * n;
    b[at(p)] /= row[p];
    simd::add(-b[at(p)], row, b.data(), p);
  }
  return true;
}

}  // namespace tutelage::coordinate
