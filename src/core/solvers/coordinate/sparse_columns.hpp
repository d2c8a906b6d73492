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

namespace tutelage::coordinate {

/// A set of columns by rows: for each row its (position in the set, value) pairs, positions increasing. Row i is from
/// starts[i] to starts[i + 1].
struct RowsOfSet {
  std::vector<Index> starts;
  std::vector<int> positions;
  std::vector<double> values;
};

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
    std::vector<double> work;
    const RowsOfSet set = by_rows(js, count, work);
    for (Index p = first; p < count; ++p) std::fill_n(h + p * ldh, p + 1, 0.0);
    // A task owns a range of the rows of h, small enough for the second cache, and goes through the rows of X in order.
    const std::vector<Index> ranges = equal_ranges(work, first, count);
    parallel_for(static_cast<Index>(ranges.size()) - 1, [&](Index task) {
      const auto k = static_cast<std::size_t>(task);
      add_products(set, c, static_cast<int>(ranges[k]), static_cast<int>(ranges[k + 1]), h, ldh);
    });
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
    constexpr double scattered = 12;  // dense products in the time of one that follows an index
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

  /// The set by rows; work[p] becomes how many pairs of entries the row p of its Gram matrix is made of.
  RowsOfSet by_rows(const Index* js, Index count, std::vector<double>& work) const {
    RowsOfSet set;
    set.starts.assign(static_cast<std::size_t>(rows_) + 2, 0);
    for (Index t = 0; t < count; ++t) {
      for (Index e = lines_.begin(js[t]); e < lines_.end(js[t]); ++e) {
        ++set.starts[static_cast<std::size_t>(lines_.indices[e]) + 2];
      }
    }
    // While a row is filled, starts[i + 1] is where its next entry goes; in the end it is where the row ends.
    for (std::size_t i = 1; i <= static_cast<std::size_t>(rows_); ++i) set.starts[i + 1] += set.starts[i];
    set.positions.resize(static_cast<std::size_t>(set.starts.back()));
    set.values.resize(static_cast<std::size_t>(set.starts.back()));
    work.assign(static_cast<std::size_t>(count), 0.0);
    for (Index t = 0; t < count; ++t) {
      Index pairs = 0;
      for (Index e = lines_.begin(js[t]); e < lines_.end(js[t]); ++e) {
        const auto i = static_cast<std::size_t>(lines_.indices[e]);
        const auto place = static_cast<std::size_t>(set.starts[i + 1]++);
        set.positions[place] = static_cast<int>(t);
        set.values[place] = static_cast<double>(lines_.values[e]);
        pairs += set.starts[i + 1] - set.starts[i];
      }
      work[static_cast<std::size_t>(t)] = static_cast<double>(pairs);
    }
    return set;
  }

  /// Cuts the rows of h from `first` on into ranges of about the same work.
  static std::vector<Index> equal_ranges(const std::vector<double>& work, Index first, Index count) {
    double total = 0;
    for (Index p = first; p < count; ++p) total += work[static_cast<std::size_t>(p)];
    constexpr double cache = 1 << 17;  // entries of h that a task should touch
    const double entries = static_cast<double>(count - first) * static_cast<double>(count);
    const double ranges = std::clamp(std::max(total / 5e5, entries / cache), 1.0, 8.0);
    std::vector<Index> out{first};
    double sum = 0;
    for (Index p = first; p < count; ++p) {
      sum += work[static_cast<std::size_t>(p)];
      if (sum * ranges >= total * static_cast<double>(out.size()) && p + 1 < count) out.push_back(p + 1);
    }
    out.push_back(count);
    return out;
  }

  /// h[p][q] += c_i x_ip x_iq for every row i of X and low <= p < high, q <= p.
  void add_products(const RowsOfSet& set, const double* c, int low, int high, double* h, Index ldh) const {
    const int* positions = set.positions.data();
    const double* values = set.values.data();
    for (Index i = 0; i < rows_; ++i) {
      const Index begin = set.starts[static_cast<std::size_t>(i)], end = set.starts[static_cast<std::size_t>(i) + 1];
      Index a = begin;
      for (Index length = end - begin; length > 0;) {  // the first entry not below `low`
        const Index half = length / 2;
        const bool below = positions[a + half] < low;
        a += below ? half + 1 : 0;
        length = below ? length - half - 1 : half;
      }
      for (; a < end && positions[a] < high; ++a) {
        const double by = c ? c[i] * values[a] : values[a];
        double* row = h + positions[a] * ldh;
#pragma GCC unroll 4
        for (Index b = begin; b <= a; ++b) row[positions[b]] += by * values[b];
      }
    }
  }

  SparseLines<T, I> lines_;
  Index rows_, columns_;
};

}  // namespace tutelage::coordinate
