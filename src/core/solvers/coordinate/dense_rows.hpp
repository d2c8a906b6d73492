// Products with sets of columns of a dense matrix in C order. A column is spread over all rows, so every product is a
// pass over rows that serves all the columns asked for at once; no copy in the other order is made.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/machine/parallel.hpp"
#include "core/machine/simd.hpp"
#include "core/matrices/dots.hpp"
#include "core/solvers/coordinate/dense_columns.hpp"
#include "core/solvers/coordinate/models.hpp"
#include "core/solvers/coordinate/products.hpp"

namespace tutelage::coordinate {

template <class T>
class DenseRowProducts final : public ColumnProducts {
 public:
  DenseRowProducts(const T* data, Index rows, Index columns, Index stride)
      : data_(data), rows_(rows), columns_(columns), stride_(stride) {}

  Index rows() const override { return rows_; }
  Index columns() const override { return columns_; }
  Index stored() const override { return rows_ * columns_; }
  Index stored(Index) const override { return rows_; }
  bool sparse() const override { return false; }

  /// One reading. Sums are taken about the first row, so that means and squares lose nothing to a large mean.
  void survey(const double* c, const double* r, const Survey& survey) const override {
    const bool centred = survey.means != nullptr;
    Vector about(at(columns_), 0.0);
    if (centred && rows_ > 0) std::copy_n(row(0), columns_, about.begin());
    const Vector sums = by_pieces(3 * columns_, [&](Index first, Index count, double* own) {
      constexpr Index chunk = 512;
      for (Index j0 = 0; j0 < columns_; j0 += chunk) {
        const Index width = std::min(chunk, columns_ - j0);
        double *sum = own + j0, *square = own + columns_ + j0, *dot = own + 2 * columns_ + j0;
        const double* m = about.data() + j0;
        for (Index i = first; i < first + count; ++i) {
          const T* x = row(i) + j0;
          const double by = c ? c[i] : 1.0, slope = survey.dots ? r[i] : 0.0;
#pragma omp simd
          for (Index j = 0; j < width; ++j) {
            const double v = static_cast<double>(x[j]) - m[j];
            sum[j] += by * v;
            square[j] += by * v * v;
            dot[j] += slope * v;
          }
        }
      }
    });
    double total = static_cast<double>(rows_);
    if (c) total = simd::accumulate(rows_, [=](Index i, auto&& get, simd::Pack sum) { return sum + get(c + i); });
    for (Index j = 0; j < columns_; ++j) {
      const double shift = centred && total > 0 ? sums[at(j)] / total : 0.0;
      if (centred) survey.means[j] = about[at(j)] + shift;
      survey.squares[j] = std::max(sums[at(columns_ + j)] - total * shift * shift, 0.0);
      if (survey.dots) survey.dots[j] = sums[at(2 * columns_ + j)];
    }
  }

  void sums(const Index* js, Index count, const double* c, double* out) const override {
    dots(js, count, nullptr, c, out);
  }

  void dots(const Index* js, Index count, const double* shift, const double* r, double* out) const override {
    const bool all = 4 * count > columns_;
    Vector m(at(all ? columns_ : count), 0.0);
    for (Index t = 0; t < count && shift; ++t) m[at(all ? js[t] : t)] = shift[js[t]];
    const Vector sums = by_pieces(all ? columns_ : count, [&](Index first, Index rows, double* own) {
      if (all) {
        every_column(first, rows, m.data(), r, own);
        return;
      }
      for (Index i = first; i < first + rows; ++i) {
        const T* x = row(i);
        for (Index t = 0; t < count; ++t) own[t] += r[i] * (static_cast<double>(x[js[t]]) - m[at(t)]);
      }
    });
    for (Index t = 0; t < count; ++t) out[t] = sums[at(all ? js[t] : t)];
  }

  void add(const Index* js, Index count, const double* shift, const double* a, double* z) const override {
    double moved = 0;
    for (Index t = 0; t < count && shift; ++t) moved -= a[t] * shift[js[t]];
    const bool all = 4 * count > columns_;
    Vector dense;
    if (all) {
      dense.assign(at(columns_), 0.0);
      for (Index t = 0; t < count; ++t) dense[at(js[t])] += a[t];
    }
    const Index piece = std::max<Index>(1, task_entries / std::max<Index>(1, columns_));
    parallel_for((rows_ + piece - 1) / piece, [&](Index task) {
      const Index from = task * piece, end = std::min(rows_, from + piece);
      if (all) {
        dots::products<true>(row(from), stride_, end - from, dense.data(), 1, columns_, 1, columns_, {z + from, 1, 1});
      } else {
        for (Index i = from; i < end; ++i) {
          const T* x = row(i);
          double sum = 0;
          for (Index t = 0; t < count; ++t) sum += a[t] * static_cast<double>(x[js[t]]);
          z[i] += sum;
        }
      }
      if (moved == 0) return;
      for (Index i = from; i < end; ++i) z[i] += moved;
    });
  }

  void gram(const Index* js, Index first, Index count, const double* c, const double* shift, double* h,
            Index ldh) const override {
    const auto pack = [&]<int Width>(std::integral_constant<int, Width>, Index from, Index rows, Index start,
                                     Index columns, bool weighted, double* out) {
      pack_panels<Width>(js + start, from, rows, columns, weighted ? c : nullptr, shift, out);
    };
    dense_gram(rows_, first, count, pack, h, ldh);
  }

  double gram_cost(const Index*, Index count) const override {
    return static_cast<double>(rows_) * static_cast<double>(count) * static_cast<double>(count) / 2;
  }

  void gather(const Index* js, Index count, const double* c, const double* shift, double* out) const override {
    constexpr Index piece = 64;  // rows whose entries of one column share cache lines of `out`
    parallel_for((rows_ + piece - 1) / piece, [&](Index task) {
      const Index last = std::min(rows_, (task + 1) * piece);
      for (Index t = 0; t < count; ++t) {
        const double m = shift ? shift[js[t]] : 0.0;
        for (Index i = task * piece; i < last; ++i)
          out[t * rows_ + i] = (c ? std::sqrt(c[i]) : 1.0) * (static_cast<double>(row(i)[js[t]]) - m);
      }
    });
  }
  Index gather(Index, const double*, Index*, double*) const override { return 0; }

 private:
  const T* row(Index i) const { return data_ + i * stride_; }

  /// Sums of `width` numbers over all rows: body(first, count, own) adds those of a piece of the rows to `own`. How
  /// many pieces there are depends on the shape alone.
  template <class Body>
  Vector by_pieces(Index width, Body&& body) const {
    const Index fitting = (Index{1} << 20) / std::max<Index>(width, 1);
    const Index pieces = std::clamp<Index>(rows_ * columns_ / task_entries, 1, std::clamp<Index>(fitting, 1, 32));
    Vector sums(at(pieces * width), 0.0);
    parallel_for(pieces, [&](Index t) {
      const Index first = rows_ * t / pieces;
      body(first, rows_ * (t + 1) / pieces - first, sums.data() + t * width);
    });
    for (Index t = 1; t < pieces; ++t) simd::add(1.0, sums.data() + t * width, sums.data(), width);
    sums.resize(at(width));
    return sums;
  }

  /// own_j += sum_i r_i (x_ij - m_j) for every column, four rows at a time.
  void every_column(Index first, Index count, const double* m, const double* r, double* own) const {
    const Index last = first + count;
    Index i = first;
    for (; i + 4 <= last; i += 4) {
      const T *a = row(i), *b = row(i + 1), *c = row(i + 2), *d = row(i + 3);
      const double ra = r[i], rb = r[i + 1], rc = r[i + 2], rd = r[i + 3];
#pragma omp simd
      for (Index j = 0; j < columns_; ++j) {
        own[j] += (ra * (static_cast<double>(a[j]) - m[j]) + rb * (static_cast<double>(b[j]) - m[j])) +
                  (rc * (static_cast<double>(c[j]) - m[j]) + rd * (static_cast<double>(d[j]) - m[j]));
      }
    }
    for (; i < last; ++i) {
      const T* x = row(i);
#pragma omp simd
      for (Index j = 0; j < columns_; ++j) own[j] += r[i] * (static_cast<double>(x[j]) - m[j]);
    }
  }

  /// Panels of Width columns as sandwiches::add wants them. A few rows at a time, so that a row is read along while it
  /// is near.
  template <int Width>
  void pack_panels(const Index* js, Index first, Index rows, Index columns, const double* c, const double* shift,
                   double* out) const {
    constexpr Index group = 16;
    for (Index from = 0; from < rows; from += group) {
      const Index end = std::min(rows, from + group);
      for (Index start = 0; start < columns; start += Width) {
        const Index filled = std::min<Index>(Width, columns - start);
        Index at[Width];
        double m[Width];
        for (Index t = 0; t < Width; ++t) {
          at[t] = js[start + std::min(t, filled - 1)];  // what stands beyond the last column is never used
          m[t] = shift ? shift[at[t]] : 0.0;
        }
        double* to = out + start * rows;
        bool adjacent = true;  // the columns come in any order, and the last ones are repeated
        for (Index t = 1; t < Width; ++t) adjacent = adjacent && at[t] == at[0] + t;
        for (Index i = from; i < end; ++i) {
          const T* x = row(first + i);
          const double by = c ? c[first + i] : 1.0;
          double v[Width];
          if (adjacent) {
            TUTELAGE_UNROLL
            for (Index t = 0; t < Width; ++t) v[t] = static_cast<double>(x[at[0] + t]);
          } else {
            TUTELAGE_UNROLL
            for (Index t = 0; t < Width; ++t) v[t] = static_cast<double>(x[at[t]]);
          }
          TUTELAGE_UNROLL
          for (Index t = 0; t < Width; ++t) to[i * Width + t] = by * (v[t] - m[t]);
        }
      }
    }
  }

  const T* data_;
  Index rows_, columns_, stride_;
};

}  // namespace tutelage::coordinate
