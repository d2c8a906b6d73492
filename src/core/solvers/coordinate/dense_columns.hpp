// Products with sets of columns of a dense matrix in Fortran order: a column is one contiguous stream.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/machine/parallel.hpp"
#include "core/machine/simd.hpp"
#include "core/matrices/sandwich.hpp"
#include "core/solvers/coordinate/products.hpp"

namespace tutelage::coordinate {

/// Entries of X a task should read: some ten microseconds of work.
inline constexpr Index task_entries = Index{1} << 16;

/// Lower triangle of h (rows first to count) to the upper one.
inline void mirror(Index first, Index count, double* h, Index ldh) {
  constexpr Index tile = 32;
  for (Index p0 = first; p0 < count; p0 += tile) {
    for (Index q0 = 0; q0 < std::min(p0 + tile, count); q0 += tile) {
      for (Index p = p0; p < std::min(p0 + tile, count); ++p) {
        for (Index q = q0; q < std::min(q0 + tile, p); ++q) h[q * ldh + p] = h[p * ldh + q];
      }
    }
  }
}

/// A stretch of rows of a Gram matrix's columns, packed once for all tiles of H: "left" panels for the rows of H from
/// `first` on, "right" panels, times the weights, for all its columns.
template <class PackPanels>
class PackedStretch {
 public:
  static constexpr Index chunk = 48;                  // columns of one packing task: whole panels of either kind
  static constexpr Index tall = 96;                   // rows of H of one tile
  static constexpr Index wide = sandwiches::breadth;  // its columns
  static_assert(chunk % sandwiches::tallest == 0 && chunk % simd::lanes == 0);

  PackedStretch(Index first, Index count, const PackPanels& pack) : first_(first), count_(count), pack_(pack) {
    left_.resize(static_cast<std::size_t>(rounded(count - first) * sandwiches::depth));
    right_.resize(static_cast<std::size_t>(rounded(count) * sandwiches::depth));
  }

  Index packing_tasks() const { return lefts() + (count_ + chunk - 1) / chunk; }
  void pack(Index task, Index row, Index rows) {
    const std::integral_constant<int, sandwiches::tallest> left_width{};
    const std::integral_constant<int, simd::lanes> right_width{};
    if (task < lefts()) {
      const Index from = task * chunk;
      pack_(left_width, row, rows, first_ + from, std::min(chunk, count_ - first_ - from), false,
            left_.data() + from * rows);
    } else {
      const Index from = (task - lefts()) * chunk;
      pack_(right_width, row, rows, from, std::min(chunk, count_ - from), true, right_.data() + from * rows);
    }
  }

  /// The tiles that meet the lower triangle, by the first row and column of each.
  std::vector<std::pair<Index, Index>> tiles() const {
    std::vector<std::pair<Index, Index>> out;
    for (Index p = first_; p < count_; p += tall) {
      for (Index q = 0; q < std::min(p + tall, count_); q += wide) out.push_back({p, q});
    }
    return out;
  }
  /// Adds what these rows give to a tile of h, whose first row is that of column `first`.
  void add(std::pair<Index, Index> tile, Index rows, double* h, Index ldh) const {
    const auto [down, across] = tile;
    const Index end = std::min(down + tall, count_), columns = std::min(wide, end - across);
    for (Index p = down; p < end; p += sandwiches::tallest) {
      const int height = static_cast<int>(std::min<Index>(sandwiches::tallest, end - p));
      sandwiches::add_panel(rows, height, left_.data() + (p - first_) * rows, right_.data() + across * rows, columns,
                            {h + (p - first_) * ldh + across, ldh, columns, p - across});
    }
  }

 private:
  static Index rounded(Index columns) { return (columns + chunk - 1) / chunk * chunk; }
  Index lefts() const { return (count_ - first_ + chunk - 1) / chunk; }

  Index first_, count_;
  const PackPanels& pack_;
  std::vector<double> left_, right_;
};

/// The rows of a Gram matrix of dense columns from `first` on. pack(rows, down or across, ...) is that of
/// sandwiches::add. Few columns and many rows are cut by rows, and the pieces added in order; otherwise the tiles of
/// each stretch of rows are the tasks.
template <class PackPanels>
void dense_gram(Index rows, Index first, Index count, const PackPanels& pack, double* h, Index ldh) {
  constexpr Index piece = 4096, depth = sandwiches::depth;
  for (Index p = first; p < count; ++p) std::fill_n(h + p * ldh, p + 1, 0.0);
  const Index height = count - first, size = height * count;
  const auto tiles = PackedStretch<PackPanels>(first, count, pack).tiles();
  const Index pieces = std::clamp<Index>(rows / piece, 1, std::clamp<Index>((Index{1} << 19) / size, 4, 16));
  const auto serial = [&](Index from, Index end, double* sum, Index stride) {
    PackedStretch stretch(first, count, pack);
    for (Index row = from; row < end; row += depth) {
      const Index deep = std::min(depth, end - row);
      for (Index task = 0; task < stretch.packing_tasks(); ++task) stretch.pack(task, row, deep);
      for (const auto& tile : tiles) stretch.add(tile, deep, sum, stride);
    }
  };
  if (tiles.size() < 8 && pieces == 1) {
    serial(0, rows, h + first * ldh, ldh);
  } else if (tiles.size() < 8) {
    std::vector<double> sums(static_cast<std::size_t>(pieces * size), 0.0);
    parallel_for(pieces,
                 [&](Index t) { serial(rows * t / pieces, rows * (t + 1) / pieces, sums.data() + t * size, count); });
    for (Index t = 0; t < pieces; ++t) {
      for (Index p = 0; p < height; ++p)
        simd::add(1.0, sums.data() + t * size + p * count, h + (first + p) * ldh, first + p + 1);
    }
  } else {
    PackedStretch stretch(first, count, pack);
    for (Index row = 0; row < rows; row += depth) {
      const Index deep = std::min(depth, rows - row);
      parallel_for(stretch.packing_tasks(), [&](Index task) { stretch.pack(task, row, deep); });
      parallel_for(static_cast<Index>(tiles.size()),
                   [&](Index t) { stretch.add(tiles[static_cast<std::size_t>(t)], deep, h + first * ldh, ldh); });
    }
  }
  mirror(first, count, h, ldh);
}

/// sum_i (x_i - m) r_i for G columns at once, so that r is read once for all of them. Each sum has the same order
/// whatever G is.
template <int G, class T>
inline void dot_group(const T* const* columns, const double* m, const double* r, Index n, double* out) {
  using namespace simd;
  Pack total[G] = {}, mean[G];
  for (int g = 0; g < G; ++g) mean[g] = splat(m[g]);
  Index i = 0;
  for (; i + lanes <= n; i += lanes) {
    const Pack right = load(r + i);
    for (int g = 0; g < G; ++g) total[g] = fma(load(columns[g] + i) - mean[g], right, total[g]);
  }
  if (i < n) {
    const Pack right = load_part(r + i, n - i);  // zero beyond n, so the shift there adds nothing
    for (int g = 0; g < G; ++g) total[g] = fma(load_part(columns[g] + i, n - i) - mean[g], right, total[g]);
  }
  for (int g = 0; g < G; ++g) out[g] = simd::sum(total[g]);
}

template <class T>
class DenseColumnProducts final : public ColumnProducts {
 public:
  DenseColumnProducts(const T* data, Index rows, Index columns, Index stride)
      : data_(data), rows_(rows), columns_(columns), stride_(stride) {}

  Index rows() const override { return rows_; }
  Index columns() const override { return columns_; }
  Index stored() const override { return rows_ * columns_; }
  Index stored(Index) const override { return rows_; }
  bool sparse() const override { return false; }

  void survey(const double* c, const double* r, const Survey& survey) const override {
    double total = static_cast<double>(rows_);
    if (c) total = simd::accumulate(rows_, [=](Index i, auto&& get, simd::Pack sum) { return sum + get(c + i); });
    over_columns(columns_, [&](Index j) {
      const T* x = column(j);
      double m = 0;
      if (survey.means) {
        m = (c ? simd::dot(x, c, rows_) : sum(x)) / total;
        if (total == 0) m = 0;
        survey.means[j] = m;
      }
      survey.squares[j] = square(x, c, m);
      if (survey.dots) dot_group<1>(&x, &m, r, rows_, survey.dots + j);
    });
  }

  void sums(const Index* js, Index count, const double* c, double* out) const override {
    dots(js, count, nullptr, c, out);
  }

  void dots(const Index* js, Index count, const double* shift, const double* r, double* out) const override {
    constexpr Index group = 8;
    const Index groups = (count + group - 1) / group;
    const Index each = std::max<Index>(1, task_entries / (group * std::max<Index>(rows_, 1)));
    parallel_for((groups + each - 1) / each, [&](Index task) {
      for (Index g = task * each; g < std::min(groups, (task + 1) * each); ++g) {
        const T* columns[group];
        double m[group];
        const Index size = std::min(group, count - g * group);
        for (Index t = 0; t < size; ++t) {
          const Index j = js[g * group + t];
          columns[t] = column(j);
          m[t] = shift ? shift[j] : 0.0;
        }
        if (size == group) {
          dot_group<group>(columns, m, r, rows_, out + g * group);
        } else {
          for (Index t = 0; t < size; ++t) dot_group<1>(columns + t, m + t, r, rows_, out + g * group + t);
        }
      }
    });
  }

  void add(const Index* js, Index count, const double* shift, const double* a, double* z) const override {
    double moved = 0;
    if (shift) {
      for (Index t = 0; t < count; ++t) moved -= a[t] * shift[js[t]];
    }
    const Index piece = 2048;
    parallel_for((rows_ + piece - 1) / piece, [&](Index task) {
      const Index from = task * piece;
      add_piece(js, count, a, moved, from, std::min(piece, rows_ - from), z + from);
    });
  }

  void gram(const Index* js, Index first, Index count, const double* c, const double* shift, double* h,
            Index ldh) const override {
    const auto pack = [&]<int Width>(std::integral_constant<int, Width>, Index row, Index rows, Index from,
                                     Index columns, bool weighted, double* out) {
      pack_panels<Width>(js + from, row, rows, columns, weighted && c ? c + row : nullptr, shift, out);
    };
    dense_gram(rows_, first, count, pack, h, ldh);
  }

  double gram_cost(const Index*, Index count) const override {
    return static_cast<double>(rows_) * static_cast<double>(count) * static_cast<double>(count) / 2;
  }

  void gather(const Index* js, Index count, const double* c, const double* shift, double* out) const override {
    const Index each = std::max<Index>(1, task_entries / std::max<Index>(rows_, 1));
    parallel_for((count + each - 1) / each, [&](Index task) {
      for (Index t = task * each; t < std::min(count, (task + 1) * each); ++t) {
        const T* x = column(js[t]);
        const double m = shift ? shift[js[t]] : 0.0;
        double* to = out + t * rows_;
        for (Index i = 0; i < rows_; ++i) to[i] = (c ? std::sqrt(c[i]) : 1.0) * (static_cast<double>(x[i]) - m);
      }
    });
  }
  Index gather(Index, const double*, Index*, double*) const override { return 0; }

 private:
  const T* column(Index j) const { return data_ + j * stride_; }

  template <class Body>
  void over_columns(Index count, Body&& body) const {
    const Index each = std::max<Index>(1, task_entries / std::max<Index>(rows_, 1));
    parallel_for((count + each - 1) / each, [&](Index task) {
      for (Index j = task * each; j < std::min(count, (task + 1) * each); ++j) body(j);
    });
  }

  double sum(const T* x) const {
    return simd::accumulate(rows_, [=](Index i, auto&& get, simd::Pack total) { return total + get(x + i); });
  }

  double square(const T* x, const double* c, double m) const {
    // The last pack may be partly filled: its empty lanes would hold -m, so the rows that are left are done one by one.
    const Index whole = rows_ / simd::lanes * simd::lanes;
    const simd::Pack mean = simd::splat(m);
    double total = simd::accumulate(whole, [=](Index i, auto&& get, simd::Pack sum) {
      const simd::Pack v = get(x + i) - mean;
      return simd::fma(c ? v * get(c + i) : v, v, sum);
    });
    for (Index i = whole; i < rows_; ++i) {
      const double v = static_cast<double>(x[i]) - m;
      total += (c ? c[i] : 1.0) * v * v;
    }
    return total;
  }

  void add_piece(const Index* js, Index count, const double* a, double moved, Index from, Index n, double* z) const {
    using namespace simd;
    constexpr Index group = 8;
    if (moved != 0) {
      for (Index i = 0; i < n; ++i) z[i] += moved;
    }
    Index t = 0;
    for (; t + group <= count; t += group) {
      const T* x[group];
      Pack factor[group];
      for (Index g = 0; g < group; ++g) {
        x[g] = column(js[t + g]) + from;
        factor[g] = splat(a[t + g]);
      }
      Index i = 0;
      for (; i + lanes <= n; i += lanes) {
        Pack total = load(z + i);
        for (Index g = 0; g < group; ++g) total = fma(factor[g], load(x[g] + i), total);
        store(z + i, total);
      }
      if (i < n) {
        Pack total = load_part(z + i, n - i);
        for (Index g = 0; g < group; ++g) total = fma(factor[g], load_part(x[g] + i, n - i), total);
        store_part(z + i, total, n - i);
      }
    }
    for (; t < count; ++t) simd::add(a[t], column(js[t]) + from, z, n);
  }

  /// Panels of Width columns as sandwiches::add wants them: squares of lanes x lanes numbers, turned in registers.
  template <int Width>
  void pack_panels(const Index* js, Index row, Index rows, Index columns, const double* c, const double* shift,
                   double* out) const {
    using namespace simd;
    for (Index j = 0; j < columns; j += lanes) {
      const Index width = std::min<Index>(lanes, columns - j);
      const T* x[lanes];
      Pack m[lanes];
      for (Index t = 0; t < lanes; ++t) {
        const Index column_of = js[j + std::min(t, width - 1)];
        x[t] = column(column_of) + row;
        m[t] = splat(shift ? shift[column_of] : 0.0);
      }
      double* to = out + j / Width * Width * rows + j % Width;
      const auto square = [&](Index i, Index height, auto get) {
        Pack v[lanes];
        const Pack weight = c ? get(c + i) : Pack{};
        TUTELAGE_UNROLL
        for (int t = 0; t < lanes; ++t) {
          v[t] = get(x[t] + i) - m[t];
          if (c) v[t] *= weight;
        }
        transpose(v);
        for (Index t = 0; t < height; ++t) store(to + (i + t) * Width, v[t]);
      };
      Index i = 0;
      for (; i + lanes <= rows; i += lanes) square(i, lanes, [](const auto* p) { return load(p); });
      if (i < rows) {
        const Index rest = rows - i;
        square(i, rest, [rest](const auto* p) { return load_part(p, rest); });
      }
    }
  }

  const T* data_;
  Index rows_, columns_, stride_;
};

}  // namespace tutelage::coordinate
