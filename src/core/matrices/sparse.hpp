// Sparse matrices: SparseRows (CSR) and SparseColumns (CSC), with 32- or 64-bit indices.
//
// Indices need not be sorted and may repeat (repeated entries add up). The memory belongs to the caller, who
// guarantees that indices are in range.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "core/concepts.hpp"
#include "core/machine/scratch.hpp"

namespace tutelage {

/// The part both orders share: `lines` (rows of CSR, columns of CSC) of (index, value) pairs.
template <class T, class I>
struct SparseLines {
  const T* values;
  const I* indices;
  const I* starts;  // lines + 1 of them

  Index begin(Index line) const { return static_cast<Index>(starts[line]); }
  Index end(Index line) const { return static_cast<Index>(starts[line + 1]); }

  /// sum_e value_e v[index_e], in four running sums.
  double dot(Index line, const double* v) const {
    return sum(line, [v](Index j, double x) { return x * v[j]; });
  }

  template <class Term>
  double sum(Index line, Term&& term) const {
    double sums[4] = {};
    Index e = begin(line);
    const Index last = end(line);
    for (; e + 4 <= last; e += 4) {
      for (int t = 0; t < 4; ++t)
        sums[t] += term(static_cast<Index>(indices[e + t]), static_cast<double>(values[e + t]));
    }
    for (; e < last; ++e) sums[0] += term(static_cast<Index>(indices[e]), static_cast<double>(values[e]));
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  void add(Index line, double a, double* v) const {
    for (Index e = begin(line); e < end(line); ++e) v[indices[e]] += a * static_cast<double>(values[e]);
  }
};

/// CSR.
template <class T, class I>
class SparseRows final : public Rows {
 public:
  SparseRows(const T* values, const I* indices, const I* starts, Index rows, Index columns)
      : lines_{values, indices, starts}, rows_(rows), columns_(columns) {}

  Index rows() const override { return rows_; }
  Index columns() const override { return columns_; }
  Index stored() const override { return rows_ > 0 ? lines_.end(rows_ - 1) - lines_.begin(0) : 0; }
  bool sparse() const override { return true; }

  Index block_rows() const override {
    const Index bytes = std::max<Index>(1, stored() * static_cast<Index>(sizeof(T) + sizeof(I)));
    const auto fitting = static_cast<double>(rows_) * (256.0 * 1024) / static_cast<double>(bytes);
    return static_cast<Index>(std::clamp(fitting, 16.0, 4096.0));
  }

  void times(Block block, const double* w, Index k, double* z) const override {
    for (Index c = 0; c < k; ++c) {
      for (Index i = 0; i < block.count; ++i) z[i * k + c] = lines_.dot(block.first + i, w + c * columns_);
    }
  }

  void add_transpose_times(Block block, const double* s, Index k, double* g) const override {
    for (Index c = 0; c < k; ++c) {
      for (Index i = 0; i < block.count; ++i) lines_.add(block.first + i, s[i * k + c], g + c * columns_);
    }
  }

  /// Every ordered pair of entries of a row: right for repeated indices too. shift must be null.
  void add_sandwich(Block block, const double* c, const double* shift, double* h) const override {
    add_sandwich_tile(block, {0, columns_}, {0, columns_}, c, shift, h, columns_);
  }

  void add_sandwich_tile(Block block, Block down, Block across, const double* c, const double*, double* h,
                         Index stride) const override {
    for (Index i = 0; i < block.count; ++i) {
      const Index first = lines_.begin(block.first + i), last = lines_.end(block.first + i);
      for (Index a = first; a < last; ++a) {
        const Index p = static_cast<Index>(lines_.indices[a]);
        if (p < down.first || p >= down.first + down.count) continue;
        const double factor = c[i] * static_cast<double>(lines_.values[a]);
        double* row = h + (p - down.first) * stride;
        const Index end = std::min(p + 1, across.first + across.count);
        for (Index b = first; b < last; ++b) {
          const Index q = static_cast<Index>(lines_.indices[b]);
          if (q >= across.first && q < end) row[q - across.first] += factor * static_cast<double>(lines_.values[b]);
        }
      }
    }
  }

  void add_squares(Block block, const double* c, double* g) const override {
    for (Index i = 0; i < block.count; ++i) {
      for (Index a = lines_.begin(block.first + i); a < lines_.end(block.first + i); ++a) {
        const double x = static_cast<double>(lines_.values[a]);
        g[static_cast<Index>(lines_.indices[a])] += c[i] * x * x;
      }
    }
  }

  const SparseLines<T, I>& lines() const { return lines_; }

 private:
  SparseLines<T, I> lines_;
  Index rows_, columns_;
};

/// CSC.
template <class T, class I>
class SparseColumns final : public Columns {
 public:
  SparseColumns(const T* values, const I* indices, const I* starts, Index rows, Index columns)
      : lines_{values, indices, starts}, rows_(rows), columns_(columns) {}

  Index rows() const override { return rows_; }
  Index columns() const override { return columns_; }
  Index stored() const override { return columns_ > 0 ? lines_.end(columns_ - 1) - lines_.begin(0) : 0; }
  Index stored(Index j) const override { return lines_.end(j) - lines_.begin(j); }

  double dot(Index j, const double* r) const override { return lines_.dot(j, r); }
  void add(Index j, double a, double* z) const override { lines_.add(j, a, z); }
  double weighted_dot(Index j, const double* c, const double* r) const override {
    return lines_.sum(j, [=](Index i, double x) { return c[i] * x * r[i]; });
  }
  /// Repeated entries of one row are summed before they are squared only when indices are unique; see `canonical`.
  double weighted_square(Index j, const double* c) const override {
    return lines_.sum(j, [=](Index i, double x) { return c ? c[i] * x * x : x * x; });
  }

  const SparseLines<T, I>& lines() const { return lines_; }

 private:
  SparseLines<T, I> lines_;
  Index rows_, columns_;
};

/// A compressed matrix that owns its memory.
template <class T, class I>
struct Compressed {
  std::vector<T> values;
  std::vector<I> indices;
  std::vector<I> starts;
};

/// The same matrix compressed along its other axis (CSR to CSC and back); indices come out sorted.
template <class T, class I>
Compressed<T, I> transpose(const SparseLines<T, I>& from, Index lines, Index across) {
  const Index stored = lines > 0 ? from.end(lines - 1) - from.begin(0) : 0;
  Compressed<T, I> to{std::vector<T>(static_cast<std::size_t>(stored)),
                      std::vector<I>(static_cast<std::size_t>(stored)),
                      std::vector<I>(static_cast<std::size_t>(across) + 1)};
  if (lines == 0) return to;
  for (Index e = from.begin(0); e < from.end(lines - 1); ++e)
    ++to.starts[static_cast<std::size_t>(from.indices[e]) + 1];
  for (std::size_t j = 0; j < static_cast<std::size_t>(across); ++j) to.starts[j + 1] += to.starts[j];
  std::vector<I> next(to.starts.begin(), to.starts.end() - 1);
  for (Index line = 0; line < lines; ++line) {
    for (Index e = from.begin(line); e < from.end(line); ++e) {
      const auto place = static_cast<std::size_t>(next[static_cast<std::size_t>(from.indices[e])]++);
      to.indices[place] = static_cast<I>(line);
      to.values[place] = from.values[e];
    }
  }
  return to;
}

}  // namespace tutelage
