// The quadratic model that the inner loop minimises, on the m columns of a working set:
//
//     model(w) = g'(w - w0) + (w - w0)' H (w - w0) / 2 + penalty(w),      H = X' C X, centred where there is an
//     intercept.
//
// A model answers gradient(a) = g_a + H_a (w - w0) and curvature(a) = H_aa for a position a of the working set, and
// moves one coefficient. Three ways to hold it:
//   GramModel    H itself. A coefficient that stays costs nothing, one that moves m products: best while m is small
//                against the number of rows (or, for sparse columns, of their entries).
//   DenseModel   columns sqrt(c) (x_j - mean_j) and the vector t = sqrt(c) X (w - w0): n products to look at a
//   coefficient. SparseModel  the same with the stored entries of sqrt(c) x_j, centred by a rank-one correction.
#pragma once
#include <algorithm>
#include <vector>

#include "core/machine/simd.hpp"
#include "core/solvers/coordinate/products.hpp"

namespace tutelage::coordinate {

using Vector = std::vector<double>;
using Indices = std::vector<Index>;

inline std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// A symmetric matrix that can grow by rows and columns.
class Gram {
 public:
  Index size() const { return size_; }
  Index stride() const { return stride_; }
  double* row(Index p) { return values_.data() + p * stride_; }
  const double* row(Index p) const { return values_.data() + p * stride_; }

  /// Makes room for `size` rows; keeps the entries there are.
  void resize(Index size) {
    if (size > stride_) {
      const Index stride = (std::max(size, stride_ + stride_ / 2) + 7) / 8 * 8;
      Vector wider(at(stride * stride));
      for (Index p = 0; p < size_; ++p) std::copy_n(row(p), size_, wider.data() + p * stride);
      values_ = std::move(wider);
      stride_ = stride;
    }
    size_ = size;
  }

  /// Keeps the rows and columns at these increasing positions.
  void keep(const Indices& positions) {
    const Index count = static_cast<Index>(positions.size());
    for (Index p = 0; p < count; ++p) {
      const double* from = row(positions[at(p)]);
      double* to = row(p);
      for (Index q = 0; q < count; ++q) to[q] = from[positions[at(q)]];
    }
    size_ = count;
  }

 private:
  Vector values_;
  Index size_ = 0;
  Index stride_ = 0;
};

struct GramModel {
  const Gram* h = nullptr;
  Indices features;  // the column of X at each position
  Indices live;      // positions that may move
  double scale = 1;  // H is this times h
  Vector w, start, g, q;

  static constexpr bool zeros_are_free = true;
  Index size() const { return static_cast<Index>(features.size()); }
  double gradient(Index a) const { return q[at(a)]; }
  double curvature(Index a) const { return scale * h->row(a)[a]; }
  void move(Index a, double by) {
    w[at(a)] += by;
    simd::add(scale * by, h->row(a), q.data(), size());
  }
  /// g'(w - w0) + (w - w0)' H (w - w0) / 2
  double smooth_value() const {
    double value = 0;
    for (Index a = 0; a < size(); ++a) value += (w[at(a)] - start[at(a)]) * (g[at(a)] + q[at(a)]);
    return value / 2;
  }
  void begin() { q = g; }
  Vector& state() { return q; }
};

struct DenseModel {
  Index rows = 0;
  Indices features, live;
  Vector w, start, g;
  Vector columns;  // size() x rows
  Vector squares;
  Vector t;

  static constexpr bool zeros_are_free = false;
  Index size() const { return static_cast<Index>(features.size()); }
  double gradient(Index a) const { return g[at(a)] + simd::dot(columns.data() + a * rows, t.data(), rows); }
  double curvature(Index a) const { return squares[at(a)]; }
  void move(Index a, double by) {
    w[at(a)] += by;
    simd::add(by, columns.data() + a * rows, t.data(), rows);
  }
  double smooth_value() const {
    double value = simd::square(t.data(), rows) / 2;
    for (Index a = 0; a < size(); ++a) value += (w[at(a)] - start[at(a)]) * g[at(a)];
    return value;
  }
  void begin() { t.assign(at(rows), 0.0); }
  Vector& state() { return t; }
};

struct SparseModel {
  Index rows = 0;
  Indices features, live;
  Vector w, start, g;
  Indices starts, indices;
  Vector values;
  Vector squares;
  Vector means;      // of each column, under c; empty without an intercept
  double total = 0;  // sum of c
  Vector t;          // rows of it, then total mean'(w - w0)

  static constexpr bool zeros_are_free = false;
  Index size() const { return static_cast<Index>(features.size()); }
  double gradient(Index a) const {
    double sums[2] = {0, 0};
    Index e = starts[at(a)];
    const Index last = starts[at(a) + 1];
    for (; e + 2 <= last; e += 2) {
      sums[0] += values[at(e)] * t[at(indices[at(e)])];
      sums[1] += values[at(e + 1)] * t[at(indices[at(e + 1)])];
    }
    if (e < last) sums[0] += values[at(e)] * t[at(indices[at(e)])];
    const double centred = means.empty() ? 0 : means[at(a)] * t[at(rows)];
    return g[at(a)] + (sums[0] + sums[1]) - centred;
  }
  double curvature(Index a) const { return squares[at(a)]; }
  void move(Index a, double by) {
    w[at(a)] += by;
    for (Index e = starts[at(a)]; e < starts[at(a) + 1]; ++e) t[at(indices[at(e)])] += by * values[at(e)];
    if (!means.empty()) t[at(rows)] += by * total * means[at(a)];
  }
  double smooth_value() const {
    double value = simd::square(t.data(), rows) / 2;
    if (total > 0) value -= t[at(rows)] * t[at(rows)] / (2 * total);
    for (Index a = 0; a < size(); ++a) value += (w[at(a)] - start[at(a)]) * g[at(a)];
    return value;
  }
  void begin() { t.assign(at(rows) + 1, 0.0); }
  Vector& state() { return t; }
};

}  // namespace tutelage::coordinate
