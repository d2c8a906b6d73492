// Products with sets of columns of a sparse matrix in CSC. Nothing is ever made dense: centring enters as a rank-one
// correction. Entries of a column must have different rows.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/machine/parallel.hpp"
#include "core/matrices/sparse.hpp"
#include "core/solvers/coordinate/dense_columns.hpp"
#include "core/solvers/coordinate/products.hpp"
#include "core/solvers/coordinate/sparse_gram.hpp"

namespace tutelage::coordinate {

template <class T, class I>
class SparseColumnProducts final : public ColumnProducts {
 public:
  SparseColumnProducts(const SparseLines<T, I>& lines, Index rows, Index columns)
      : lines_(lines), rows_(rows), columns_(columns) {}

  Index rows() const override { return rows_; }
  Index columns() const override { return columns_; }
  Index stored() const override { return columns_ > 0 ? lines_.end(columns_ - 1) - lines_.begin(0) : 0; }
  Index stored(Index j) const override { return lines_.end(j) - lines_.begin(j); }
  bool sparse() const override { return true; }

  void survey(const double* c, const double* r, const Survey& survey) const override {
    double total = static_cast<double>(rows_);
    if (c) {
      total = 0;
      for (Index i = 0; i < rows_; ++i) total += c[i];
    }
    over(nullptr, columns_, [&](Index, Index j) {
      double m = 0, weight = 0, square = 0;
      if (survey.means) {
        for (Index e = lines_.begin(j); e < lines_.end(j); ++e) {
          const double by = c ? c[lines_.indices[e]] : 1.0;
          weight += by;
          m += by * static_cast<double>(lines_.values[e]);
        }
        m = total > 0 ? m / total : 0;
        survey.means[j] = m;
      }
      for (Index e = lines_.begin(j); e < lines_.end(j); ++e) {
        const double v = static_cast<double>(lines_.values[e]) - m;
        square += (c ? c[lines_.indices[e]] : 1.0) * v * v;
      }
      survey.squares[j] = square + std::max(total - weight, 0.0) * m * m;
      if (survey.dots) survey.dots[j] = lines_.dot(j, r);
    });
  }

  void sums(const Index* js, Index count, const double* c, double* out) const override {
    over(js, count, [&](Index t, Index j) { out[t] = lines_.dot(j, c); });
  }

  void dots(const Index* js, Index count, const double* shift, const double* r, double* out) const override {
    double total = 0;
    if (shift) {
      for (Index i = 0; i < rows_; ++i) total += r[i];
    }
    over(js, count, [&](Index t, Index j) {
      out[t] = lines_.dot(j, r);
      if (shift) out[t] -= shift[j] * total;
    });
  }

  void add(const Index* js, Index count, const double* shift, const double* a, double* z) const override {
    double moved = 0;
    for (Index t = 0; t < count; ++t) {
      lines_.add(js[t], a[t], z);
      if (shift) moved -= a[t] * shift[js[t]];
    }
    if (moved != 0) {
      for (Index i = 0; i < rows_; ++i) z[i] += moved;
    }
  }

  void gram(const Index* js, Index first, Index count, const double* c, const double* shift, double* h,
            Index ldh) const override {
    SparseGram<T, I>(lines_, rows_).form(js, first, count, c, h, ldh);
    if (shift) {
      double total = static_cast<double>(rows_);
      if (c) {
        total = 0;
        for (Index i = 0; i < rows_; ++i) total += c[i];
      }
      for (Index p = first; p < count; ++p) {
        const double by = total * shift[js[p]];
        for (Index q = 0; q <= p; ++q) h[p * ldh + q] -= by * shift[js[q]];
      }
    }
    mirror(first, count, h, ldh);
  }

  double gram_cost(const Index* js, Index count) const override {
    std::vector<int> inside(static_cast<std::size_t>(rows_), 0);
    for (Index t = 0; t < count; ++t) {
      for (Index e = lines_.begin(js[t]); e < lines_.end(js[t]); ++e) {
        ++inside[static_cast<std::size_t>(lines_.indices[e])];
      }
    }
    constexpr double scattered = 14;  // dense products in the time of one that follows an index
    double pairs = 0;
    for (const int k : inside) pairs += static_cast<double>(k) * k / 2;
    return scattered * pairs;
  }

  void gather(const Index*, Index, const double*, const double*, double*) const override {}
  Index gather(Index j, const double* c, Index* indices, double* values) const override {
    Index count = 0;
    for (Index e = lines_.begin(j); e < lines_.end(j); ++e, ++count) {
      const Index i = static_cast<Index>(lines_.indices[e]);
      indices[count] = i;
      values[count] = static_cast<double>(lines_.values[e]) * (c ? std::sqrt(c[i]) : 1.0);
    }
    return count;
  }

 private:
  /// body(t, j) for j = js[t] (t itself when js is null), in tasks of columns with about the same number of entries.
  template <class Body>
  void over(const Index* js, Index count, Body&& body) const {
    constexpr Index overhead = 16;  // what an empty column costs, in entries
    std::vector<Index> starts{0};
    Index load = 0;
    for (Index t = 0; t < count; ++t) {
      load += stored(js ? js[t] : t) + overhead;
      if (load >= task_entries / 2) {
        starts.push_back(t + 1);
        load = 0;
      }
    }
    if (starts.back() != count) starts.push_back(count);
    parallel_for(static_cast<Index>(starts.size()) - 1, [&](Index task) {
      const auto k = static_cast<std::size_t>(task);
      for (Index t = starts[k]; t < starts[k + 1]; ++t) body(t, js ? js[t] : t);
    });
  }

  SparseLines<T, I> lines_;
  Index rows_, columns_;
};

}  // namespace tutelage::coordinate
