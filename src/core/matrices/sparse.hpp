// Sparse matrices: SparseRows (CSR) and SparseColumns (CSC), with 32- or 64-bit indices.
//
// Products are right for unsorted and for repeated indices (repeated entries add up); squares of entries are right when
// none is repeated. `check` says which it is, and that no index leads astray. The memory belongs to the caller.
//
// With several scores the k numbers that belong to a column are k places apart in W and in G, each on a cache line of
// its own. Where a block has enough entries to pay for it, W is turned first so that they are adjacent (d x k): an
// entry then costs one line instead of k, and packs do the arithmetic.
#pragma once
#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/concepts.hpp"
#include "core/machine/parallel.hpp"
#include "core/machine/scratch.hpp"
#include "core/machine/simd.hpp"
#include "core/matrices/outer.hpp"

namespace tutelage {

/// The part both orders share: `count` lines (rows of CSR, columns of CSC) of (index, value) pairs.
template <class T, class I>
struct SparseLines {
  const T* values;
  const I* indices;
  const I* starts;  // count + 1 of them
  Index count;

  Index begin(Index line) const { return static_cast<Index>(starts[line]); }
  Index end(Index line) const { return static_cast<Index>(starts[line + 1]); }
  Index stored() const { return count > 0 ? end(count - 1) - begin(0) : 0; }
  Index index(Index e) const { return static_cast<Index>(indices[e]); }
  double value(Index e) const { return static_cast<double>(values[e]); }

  /// sum_e term(index, value), in four running sums.
  template <class Term>
  double sum(Index line, Term&& term) const {
    double sums[4] = {};
    Index e = begin(line);
    const Index last = end(line);
    for (; e + 4 <= last; e += 4) {
      TUTELAGE_UNROLL
      for (int t = 0; t < 4; ++t) sums[t] += term(index(e + t), value(e + t));
    }
    for (; e < last; ++e) sums[0] += term(index(e), value(e));
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  double dot(Index line, const double* v) const {
    return sum(line, [v](Index j, double x) { return x * v[j]; });
  }

  void add(Index line, double a, double* v) const {
    const Index last = end(line);
    for (Index e = begin(line); e < last; ++e) v[index(e)] += a * value(e);
  }

  /// Whether every line's indices increase, so that none is repeated. Throws std::invalid_argument unless starts and
  /// indices are those of lines of `width`, with `available` entries in memory.
  bool check(Index width, Index available) const {
    if (count > 0 && (begin(0) < 0 || end(count - 1) > available)) {
      throw std::invalid_argument("X's indptr points outside its data; build the matrix again.");
    }
    std::atomic<bool> sorted = true, inside = true;
    constexpr Index piece = 4096;
    parallel_for((count + piece - 1) / piece, [&](Index p) {
      bool increasing = true, good = true;
      for (Index line = p * piece; line < std::min(count, (p + 1) * piece); ++line) {
        const Index first = begin(line), last = end(line);
        if (first > last || first < 0 || last > available) {
          good = false;
          break;
        }
        I before = -1;
        for (Index e = first; e < last; ++e) {
          good &= indices[e] >= 0 && static_cast<Index>(indices[e]) < width;
          increasing &= indices[e] > before;
          before = indices[e];
        }
      }
      if (!increasing) sorted.store(false, std::memory_order_relaxed);
      if (!good) inside.store(false, std::memory_order_relaxed);
    });
    if (!inside) throw std::invalid_argument("X has an index outside its shape; build the matrix again.");
    return sorted;
  }
};

namespace sparse {

using simd::lanes;
using simd::Pack;

/// Calls f(integral constant Q) for the packs of scores from c on: at most `widest` of them.
inline constexpr Index widest = 4;
template <class F>
inline void pack_groups(Index padded, F&& f) {
  for (Index c = 0; c < padded; c += widest * lanes) {
    const Index packs = std::min(widest, (padded - c) / lanes);
    if (packs == 4) f(c, std::integral_constant<int, 4>{});
    if (packs == 3) f(c, std::integral_constant<int, 3>{});
    if (packs == 2) f(c, std::integral_constant<int, 2>{});
    if (packs == 1) f(c, std::integral_constant<int, 1>{});
  }
}

template <int Q>
struct Scores {
  Pack at[Q] = {};

  TUTELAGE_INLINE void load(const double* p, Index k) {
    TUTELAGE_UNROLL
    for (int q = 0; q < Q; ++q) {
      const Index left = k - q * lanes;
      at[q] = left >= lanes ? simd::load(p + q * lanes) : simd::load_part(p + q * lanes, left);
    }
  }
  TUTELAGE_INLINE void store(double* p, Index k) const {
    TUTELAGE_UNROLL
    for (int q = 0; q < Q; ++q) {
      const Index left = k - q * lanes;
      if (left >= lanes) {
        simd::store(p + q * lanes, at[q]);
      } else {
        simd::store_part(p + q * lanes, at[q], left);
      }
    }
  }
};

/// z = X_block W', the k coefficients of a column adjacent and `padded` apart.
template <class T, class I>
void times_turned(const SparseLines<T, I>& lines, Block block, const double* turned, Index padded, Index k, double* z) {
  for (Index i = 0; i < block.count; ++i) {
    pack_groups(padded, [&](Index c, auto packs) {
      constexpr int Q = decltype(packs)::value;
      Scores<Q> sum;
      const Index last = lines.end(block.first + i);
      for (Index e = lines.begin(block.first + i); e < last; ++e) {
        const Pack x = simd::splat(lines.value(e));
        const double* from = turned + lines.index(e) * padded + c;
        TUTELAGE_UNROLL
        for (int q = 0; q < Q; ++q) sum.at[q] = simd::fma(x, simd::load(from + q * lanes), sum.at[q]);
      }
      sum.store(z + i * k + c, k - c);
    });
  }
}

}  // namespace sparse

/// A compressed matrix that owns its memory.
template <class T, class I>
struct Compressed {
  std::vector<T> values;
  std::vector<I> indices;
  std::vector<I> starts;
};

/// The same matrix compressed along its other axis (CSR to CSC and back), `across` lines long; indices come out sorted,
/// repeated ones stay repeated. Parts of the lines count their entries and then place them, each in its own reserved
/// stretches, so the parts work side by side and the order is that of one thread.
template <class T, class I>
Compressed<T, I> transpose(const SparseLines<T, I>& from, Index across) {
  const Index stored = from.stored();
  const auto size = [](Index n) { return static_cast<std::size_t>(n); };
  Compressed<T, I> to{std::vector<T>(size(stored)), std::vector<I>(size(stored)), std::vector<I>(size(across + 1))};
  if (from.count == 0) return to;
  const Index parts = std::clamp<Index>(std::min(stored / 200000, 2 * stored / (across + 1)), 1, 16);
  std::vector<I> next(size(parts * across), 0);  // entries of each column in each part, then where the part's go
  const auto edge = [&](Index part) { return part * from.count / parts; };
  parallel_for(parts, [&](Index part) {
    I* counts = next.data() + part * across;
    for (Index e = from.begin(edge(part)); e < from.begin(edge(part + 1)); ++e) ++counts[from.index(e)];
  });
  I place = 0;
  for (Index j = 0; j < across; ++j) {
    to.starts[size(j)] = place;
    for (Index part = 0; part < parts; ++part) {
      I& count = next[size(part * across + j)];
      const I here = count;
      count = place;
      place = static_cast<I>(place + here);
    }
  }
  to.starts[size(across)] = place;
  parallel_for(parts, [&](Index part) {
    I* places = next.data() + part * across;
    for (Index line = edge(part); line < edge(part + 1); ++line) {
      for (Index e = from.begin(line); e < from.end(line); ++e) {
        const auto at = static_cast<std::size_t>(places[from.index(e)]++);
        to.indices[at] = static_cast<I>(line);
        to.values[at] = from.values[e];
      }
    }
  });
  return to;
}

/// Products by columns of a copy compressed that way: the k numbers of a row of S stand together, and no sums of parts
/// need adding.
template <class T, class I>
class SparseColumnSums final : public ColumnSums {
 public:
  SparseColumnSums(const SparseLines<T, I>& rows, Index columns)
      : rows_(rows), copy_(transpose(rows, columns)), columns_(columns) {}

  Index padded(Index k) const override { return (k + simd::lanes - 1) / simd::lanes * simd::lanes; }

  void turn(const double* w, Index k, double* turned) const override {
    constexpr Index run = 512;
    const Index step = padded(k);
    parallel_for((columns_ + run - 1) / run, [&](Index r) {
      const Index first = r * run, count = std::min(run, columns_ - first);
      outer::turn<false>(w + first, columns_, k, count, turned + first * step, step);
      for (Index j = first; j < first + count; ++j) std::fill(turned + j * step + k, turned + (j + 1) * step, 0.0);
    });
  }

  void times(Block block, const double* turned, Index k, double* z) const override {
    sparse::times_turned(rows_, block, turned, padded(k), k, z);
  }

  void transpose_times(const double* s, Index k, double* g) const override {
    const SparseLines<T, I> lines{copy_.values.data(), copy_.indices.data(), copy_.starts.data(), columns_};
    const Index pieces = (columns_ + piece - 1) / piece;
    parallel_for((pieces + together - 1) / together, [&](Index task) {
      const Index step = padded(k);
      std::vector<double> sums(static_cast<std::size_t>(piece * step));
      for (Index p = task * together; p < std::min(pieces, (task + 1) * together); ++p) {
        const Index first = p * piece, count = std::min(piece, columns_ - first);
        for (Index j = 0; j < count; ++j) add_column(lines, first + j, s, k, step, sums.data() + j * step);
        outer::turn<false>(sums.data(), step, count, k, g + first, columns_);
      }
    });
  }

 private:
  static constexpr Index piece = 64, together = 4;  // columns turned at once, pieces in a task

  static void add_column(const SparseLines<T, I>& lines, Index j, const double* s, Index k, Index step, double* out) {
    sparse::pack_groups(step, [&](Index c, auto packs) {
      constexpr int Q = decltype(packs)::value;
      sparse::Scores<Q> sum, slope;
      const Index last = lines.end(j);
      for (Index e = lines.begin(j); e < last; ++e) {
        const simd::Pack x = simd::splat(lines.value(e));
        slope.load(s + lines.index(e) * k + c, k - c);
        TUTELAGE_UNROLL
        for (int q = 0; q < Q; ++q) sum.at[q] = simd::fma(x, slope.at[q], sum.at[q]);
      }
      TUTELAGE_UNROLL
      for (int q = 0; q < Q; ++q) simd::store(out + c + q * simd::lanes, sum.at[q]);
    });
  }

  SparseLines<T, I> rows_;
  Compressed<T, I> copy_;
  Index columns_;
};

/// CSR.
template <class T, class I>
class SparseRows final : public Rows {
 public:
  /// `canonical`: indices increase within every row.
  SparseRows(const T* values, const I* indices, const I* starts, Index rows, Index columns, bool canonical = false)
      : lines_{values, indices, starts, rows}, columns_(columns), canonical_(canonical) {}

  Index rows() const override { return lines_.count; }
  Index columns() const override { return columns_; }
  Index stored() const override { return lines_.stored(); }
  bool sparse() const override { return true; }
  const SparseLines<T, I>& lines() const { return lines_; }

  /// Enough entries to pay for turning W, few enough that there are blocks for many threads.
  Index block_rows() const override {
    const auto entries = static_cast<double>(std::max<Index>(1, stored()));
    const double wanted = std::max(32e3, std::min(static_cast<double>(columns_), entries / 64));
    return static_cast<Index>(std::clamp(static_cast<double>(rows()) * wanted / entries, 16.0, 65536.0));
  }

  void times(Block block, const double* w, Index k, double* z) const override {
    if (!worth_turning(block, k)) {
      for (Index c = 0; c < k; ++c) {
        for (Index i = 0; i < block.count; ++i) z[i * k + c] = lines_.dot(block.first + i, w + c * columns_);
      }
      return;
    }
    struct Turned;
    const Index padded = pad(k);
    double* turned = scratch<Turned>(columns_ * padded);
    outer::turn<false>(w, columns_, k, columns_, turned, padded);
    for (Index j = 0; j < columns_; ++j) std::fill(turned + j * padded + k, turned + (j + 1) * padded, 0.0);
    sparse::times_turned(lines_, block, turned, padded, k, z);
  }

  void add_transpose_times(Block block, const double* s, Index k, double* g) const override {
    if (!worth_turning(block, k)) {
      for (Index c = 0; c < k; ++c) {
        for (Index i = 0; i < block.count; ++i) lines_.add(block.first + i, s[i * k + c], g + c * columns_);
      }
      return;
    }
    struct Turned;
    const Index padded = pad(k);
    double* turned = scratch<Turned>(columns_ * padded);
    std::fill_n(turned, columns_ * padded, 0.0);
    for (Index i = 0; i < block.count; ++i) {
      sparse::pack_groups(padded, [&](Index c, auto packs) {
        constexpr int Q = decltype(packs)::value;
        sparse::Scores<Q> slope;
        slope.load(s + i * k + c, k - c);
        const Index last = lines_.end(block.first + i);
        for (Index e = lines_.begin(block.first + i); e < last; ++e) {
          const simd::Pack x = simd::splat(lines_.value(e));
          double* to = turned + lines_.index(e) * padded + c;
          TUTELAGE_UNROLL
          for (int q = 0; q < Q; ++q) {
            simd::store(to + q * simd::lanes, simd::fma(x, slope.at[q], simd::load(to + q * simd::lanes)));
          }
        }
      });
    }
    outer::turn<true>(turned, padded, columns_, k, g, columns_);
  }

  /// shift must be null.
  void add_sandwich(Block block, const double* c, const double* shift, double* h) const override {
    add_sandwich_tile(block, {0, columns_}, {0, columns_}, c, shift, h, columns_);
  }

  void add_sandwich_tile(Block block, Block down, Block across, const double* c, const double*, double* h,
                         Index stride) const override {
    for (Index i = 0; i < block.count; ++i) {
      const Index first = lines_.begin(block.first + i), last = lines_.end(block.first + i);
      if (canonical_) {
        add_pairs(first, last, down, across, c[i], h, stride);
      } else {
        add_all_pairs(first, last, down, across, c[i], h, stride);
      }
    }
  }

  std::unique_ptr<ColumnSums> by_columns() const override {
    return std::make_unique<SparseColumnSums<T, I>>(lines_, columns_);
  }

  void add_squares(Block block, const double* c, double* g) const override {
    for (Index i = 0; i < block.count; ++i) {
      for (Index e = lines_.begin(block.first + i); e < lines_.end(block.first + i); ++e) {
        const double x = lines_.value(e);
        g[lines_.index(e)] += c[i] * x * x;
      }
    }
  }

  void add_centred_squares(Block block, const double* c, const double* m, double* squares,
                           double* seen) const override {
    for (Index i = 0; i < block.count; ++i) {
      for (Index e = lines_.begin(block.first + i); e < lines_.end(block.first + i); ++e) {
        const Index j = lines_.index(e);
        const double x = lines_.value(e) - m[j];
        squares[j] += c[i] * x * x;
        seen[j] += c[i];
      }
    }
  }

 private:
  static Index pad(Index k) { return (k + simd::lanes - 1) / simd::lanes * simd::lanes; }

  bool worth_turning(Block block, Index k) const {
    if (k < 3 || block.count == 0) return false;
    return 4 * (lines_.end(block.first + block.count - 1) - lines_.begin(block.first)) >= columns_;
  }

  /// Indices increase: the entries of a tile are found by bisection, and those left of the diagonal come first.
  void add_pairs(Index first, Index last, Block down, Block across, double c, double* h, Index stride) const {
    const auto place = [&](Index from, Index index) {
      return static_cast<Index>(
          std::lower_bound(lines_.indices + from, lines_.indices + last, index,
                           [](I entry, Index wanted) { return static_cast<Index>(entry) < wanted; }) -
          lines_.indices);
    };
    const Index begin = across.first > 0 ? place(first, across.first) : first;
    const Index end = across.first + across.count;
    Index a = down.first > 0 ? place(first, down.first) : first;
    Index until = begin;  // entries before it may be columns of the tile for the present row of H
    for (; a < last && lines_.index(a) < down.first + down.count; ++a) {
      const Index p = lines_.index(a);
      while (until < last && lines_.index(until) <= p && lines_.index(until) < end) ++until;
      const double factor = c * lines_.value(a);
      double* row = h + (p - down.first) * stride - across.first;
      for (Index b = begin; b < until; ++b) row[lines_.index(b)] += factor * lines_.value(b);
    }
  }

  /// Every ordered pair of entries: right for repeated indices too.
  void add_all_pairs(Index first, Index last, Block down, Block across, double c, double* h, Index stride) const {
    for (Index a = first; a < last; ++a) {
      const Index p = lines_.index(a);
      if (p < down.first || p >= down.first + down.count) continue;
      const double factor = c * lines_.value(a);
      double* row = h + (p - down.first) * stride;
      const Index end = std::min(p + 1, across.first + across.count);
      for (Index b = first; b < last; ++b) {
        const Index q = lines_.index(b);
        if (q >= across.first && q < end) row[q - across.first] += factor * lines_.value(b);
      }
    }
  }

  SparseLines<T, I> lines_;
  Index columns_;
  bool canonical_;
};

/// CSC.
template <class T, class I>
class SparseColumns final : public Columns {
 public:
  SparseColumns(const T* values, const I* indices, const I* starts, Index rows, Index columns)
      : lines_{values, indices, starts, columns}, rows_(rows) {}

  Index rows() const override { return rows_; }
  Index columns() const override { return lines_.count; }
  Index stored() const override { return lines_.stored(); }
  Index stored(Index j) const override { return lines_.end(j) - lines_.begin(j); }
  const SparseLines<T, I>& lines() const { return lines_; }

  double dot(Index j, const double* r) const override { return lines_.dot(j, r); }
  void add(Index j, double a, double* z) const override { lines_.add(j, a, z); }
  double weighted_dot(Index j, const double* c, const double* r) const override {
    return lines_.sum(j, [=](Index i, double x) { return c[i] * x * r[i]; });
  }
  double weighted_square(Index j, const double* c) const override {
    return lines_.sum(j, [=](Index i, double x) { return c ? c[i] * x * x : x * x; });
  }
  double centred_square(Index j, const double* c, double m, double total) const override {
    const double seen = c ? lines_.sum(j, [=](Index i, double) { return c[i]; }) : static_cast<double>(stored(j));
    const double unseen = stored(j) >= rows_ ? 0.0 : std::max(0.0, total - seen);
    return lines_.sum(j, [=](Index i, double x) { return (c ? c[i] : 1.0) * (x - m) * (x - m); }) + unseen * m * m;
  }

 private:
  SparseLines<T, I> lines_;
  Index rows_;
};

}  // namespace tutelage
