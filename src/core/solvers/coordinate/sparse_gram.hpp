// The Gram matrix of sparse columns.
//
// Of words, a few are in every third text and most in a few of them: the frequent columns make almost all pairs of
// entries. So the columns fall into two kinds. Those with a seventh of their rows stored or more are spread out, some
// hundred rows of X at a time, into a dense block D: their products with each other are a dense product, and an entry
// of a rare column adds its row of D, a few packs, instead of following an index for each. What is left are the pairs
// of two rare columns: few, and summed along the rows of X.
//
// Every entry of the result is summed in the order of the rows, whatever the tasks.
#pragma once
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "core/machine/parallel.hpp"
#include "core/machine/simd.hpp"
#include "core/matrices/sandwich.hpp"
#include "core/matrices/sparse.hpp"

namespace tutelage::coordinate {

template <class T, class I>
class SparseGram {
 public:
  SparseGram(const SparseLines<T, I>& lines, Index rows) : lines_(lines), rows_(rows) {}

  /// h[p ldh + q] = sum_i c_i x_ij x_ik, j = js[p], k = js[q], for first <= p < count and q <= p.
  void form(const Index* js, Index first, Index count, const double* c, double* h, Index ldh) {
    sort(js, first, count);
    cut(js, count);
    for (Index p = first; p < count; ++p) std::fill_n(h + p * ldh, p + 1, 0.0);
    products_.assign(at(width_ * count), 0.0);
    squares_.assign(at(width_ * width_), 0.0);
    const std::vector<int> ranges = equal_ranges(first, count);
    const Index tasks = static_cast<Index>(ranges.size()) - 1, blocks = (rows_ + depth - 1) / depth;
    Stretch stretches[2];  // one is worked on while the next is laid out
    if (blocks > 0) lay_out(0, stretches[0]);
    for (Index block = 0; block < blocks; ++block) {
      const Stretch& stretch = stretches[block % 2];
      parallel_for(2 + tasks, [&](Index task) {
        if (task == 0) {
          if (block + 1 < blocks) lay_out(block + 1, stretches[(block + 1) % 2]);
        } else if (task == 1) {
          if (new_frequent_) multiply(stretch, c);
        } else {
          add_rare(stretch, c, ranges[at(task) - 2], ranges[at(task) - 1], static_cast<int>(first), h, ldh);
        }
      });
    }
    collect(first, count, h, ldh);
  }

 private:
  static constexpr Index depth = 256;
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }

  /// Some rows of the set: the frequent columns spread out, the others as (label, value) pairs, labels increasing in a
  /// row; row i is from starts[i] to starts[i + 1].
  struct Stretch {
    Index from = 0, count = 0;
    std::vector<double> dense;
    std::vector<int> starts, labels;
    std::vector<double> values;
  };

  /// Tells the two kinds apart.
  void sort(const Index* js, Index first, Index count) {
    place_.assign(at(count), -1);
    for (Index p = 0; p < count; ++p) {
      if (7 * entries(js[p]) >= rows_ && frequent_.size() < 256) frequent_.push_back(p);
    }
    if (frequent_.size() < 4) frequent_.clear();
    new_frequent_ = !frequent_.empty() && frequent_.back() >= first;
    for (std::size_t f = 0; f < frequent_.size(); ++f) place_[at(frequent_[f])] = static_cast<Index>(f);
    width_ = static_cast<Index>((frequent_.size() + simd::lanes - 1) / simd::lanes * simd::lanes);
    // How many entries of rare columns stand before one of this column in its row, on the average.
    double before = 0;
    work_.assign(at(count), 0.0);
    for (Index p = 0; p < count; ++p) {
      if (place_[at(p)] >= 0) continue;
      const auto own = static_cast<double>(entries(js[p]));
      work_[at(p)] = own * (4.0 + static_cast<double>(width_) / 8 + before / static_cast<double>(rows_));
      before += own;
    }
  }

  Index entries(Index j) const { return lines_.end(j) - lines_.begin(j); }

  /// Where each stretch of rows begins in each column. A column whose rows are not in order is copied in order.
  void cut(const Index* js, Index count) {
    const Index blocks = (rows_ + depth - 1) / depth;
    cuts_.resize(at((blocks + 1) * count));
    columns_.resize(at(count));
    sorted_.resize(at(count));
    count_ = count;
    constexpr Index each = 16;
    parallel_for((count + each - 1) / each, [&](Index task) {
      for (Index p = task * each; p < std::min(count, (task + 1) * each); ++p) {
        const Index begin = lines_.begin(js[p]), size = entries(js[p]);
        Column& column = columns_[at(p)];
        column = {lines_.indices + begin, lines_.values + begin};
        if (!std::is_sorted(column.rows, column.rows + size)) {
          std::vector<Index> order(at(size));
          std::iota(order.begin(), order.end(), Index{0});
          std::sort(order.begin(), order.end(), [&](Index a, Index b) { return column.rows[a] < column.rows[b]; });
          auto& [rows, values] = sorted_[at(p)];
          for (const Index e : order) {
            rows.push_back(column.rows[e]);
            values.push_back(column.values[e]);
          }
          column = {rows.data(), values.data()};
        }
        Index e = 0;
        for (Index block = 0; block < blocks; ++block) {
          while (e < size && static_cast<Index>(column.rows[e]) < block * depth) ++e;
          cuts_[at(block * count + p)] = static_cast<int>(e);
        }
        cuts_[at(blocks * count + p)] = static_cast<int>(size);
      }
    });
  }

  /// Cuts the rows of h into ranges of about the same work, that of the rare columns. Old ones have work only when new
  /// frequent columns are to be multiplied with them.
  std::vector<int> equal_ranges(Index first, Index count) const {
    const Index begin = new_frequent_ ? 0 : first;
    double total = 0;
    for (Index p = begin; p < count; ++p) total += work_[at(p)];
    constexpr double cache = 1 << 17;  // entries of h that a task should touch
    const double touched = static_cast<double>(count - first) * static_cast<double>(count);
    const double ranges = std::clamp(std::max(total / 5e5, touched / cache), 1.0, 8.0);
    std::vector<int> out{static_cast<int>(begin)};
    double sum = 0;
    for (Index p = begin; p < count; ++p) {
      sum += work_[at(p)];
      if (sum * ranges >= total * static_cast<double>(out.size()) && p + 1 < count)
        out.push_back(static_cast<int>(p + 1));
    }
    out.push_back(static_cast<int>(count));
    return out;
  }

  void lay_out(Index block, Stretch& to) const {
    to.from = block * depth;
    to.count = std::min(depth, rows_ - to.from);
    const int* begin = cuts_.data() + block * count_;
    const int* end = begin + count_;
    to.dense.assign(at(width_ * depth), 0.0);
    to.starts.assign(at(depth) + 2, 0);
    Index total = 0;
    for (Index p = 0; p < count_; ++p) {
      const Column& column = columns_[at(p)];
      const Index f = place_[at(p)];
      if (f >= 0) {
        for (int e = begin[p]; e < end[p]; ++e)
          to.dense[at((static_cast<Index>(column.rows[e]) - to.from) * width_ + f)] =
              static_cast<double>(column.values[e]);
        continue;
      }
      total += end[p] - begin[p];
      for (int e = begin[p]; e < end[p]; ++e) ++to.starts[at(static_cast<Index>(column.rows[e]) - to.from) + 2];
    }
    // While a row is filled, starts[i + 1] is where its next entry goes; in the end it is where the row ends.
    for (std::size_t i = 1; i <= at(depth); ++i) to.starts[i + 1] += to.starts[i];
    to.labels.resize(at(total));
    to.values.resize(at(total));
    for (Index p = 0; p < count_; ++p) {
      if (place_[at(p)] >= 0) continue;
      const Column& column = columns_[at(p)];
      for (int e = begin[p]; e < end[p]; ++e) {
        const auto place = at(to.starts[at(static_cast<Index>(column.rows[e]) - to.from) + 1]++);
        to.labels[place] = static_cast<int>(p);
        to.values[place] = static_cast<double>(column.values[e]);
      }
    }
  }

  /// squares += D' C D, the lower triangle.
  void multiply(const Stretch& stretch, const double* c) {
    const double* weights = c ? c + stretch.from : nullptr;
    const auto pack = [&]<int Width>(std::integral_constant<int, Width>, Index row, Index rows, Index column,
                                     Index columns, bool weighted, double* out) {
      sandwiches::pack_rows<Width>(stretch.dense.data() + row * width_ + column, width_, rows, columns,
                                   weighted && weights ? weights + row : nullptr, nullptr, out);
    };
    sandwiches::add({0, stretch.count}, {0, width_}, {0, width_}, pack, squares_.data(), width_);
  }

  /// For the entries of rare columns with low <= label p < high: products[p] += c_i x_ip D_i, and where p >= first
  /// h[p][q] += c_i x_ip x_iq for the rare q <= p.
  void add_rare(const Stretch& stretch, const double* c, int low, int high, int first, double* h, Index ldh) {
    const int* labels = stretch.labels.data();
    const double* values = stretch.values.data();
    for (Index i = 0; i < stretch.count; ++i) {
      const int begin = stretch.starts[at(i)], end = stretch.starts[at(i) + 1];
      const double* dense = stretch.dense.data() + i * width_;
      int a = begin;
      for (int length = end - begin; length > 0;) {  // the first entry not below `low`
        const int half = length / 2;
        const bool below = labels[a + half] < low;
        a += below ? half + 1 : 0;
        length = below ? length - half - 1 : half;
      }
      for (; a < end && labels[a] < high; ++a) {
        const double by = c ? c[stretch.from + i] * values[a] : values[a];
        if (width_ > 0) simd::add(by, dense, products_.data() + labels[a] * width_, width_);
        if (labels[a] < first) continue;
        double* row = h + labels[a] * ldh;
#pragma GCC unroll 4
        for (int b = begin; b <= a; ++b) row[labels[b]] += by * values[b];
      }
    }
  }

  /// Brings the products with frequent columns to their places.
  void collect(Index first, Index count, double* h, Index ldh) const {
    if (width_ == 0) return;
    for (Index p = first; p < count; ++p) {
      const Index f = place_[at(p)];
      double* row = h + p * ldh;
      if (f < 0) {
        for (std::size_t g = 0; g < frequent_.size() && frequent_[g] < p; ++g)
          row[frequent_[g]] = products_[at(p * width_) + g];
        continue;
      }
      for (Index q = 0; q <= p; ++q) {
        const Index g = place_[at(q)];
        row[q] = g < 0 ? products_[at(q * width_ + f)] : squares_[at(f * width_ + g)];
      }
    }
  }

  struct Column {
    const I* rows = nullptr;
    const T* values = nullptr;
  };

  const SparseLines<T, I>& lines_;
  const Index rows_;
  Index count_ = 0;
  std::vector<Index> frequent_;  // positions of the frequent columns
  std::vector<Index> place_;     // of each position among them, or -1
  Index width_ = 0;              // of the dense block: whole packs
  bool new_frequent_ = false;    // a frequent column is among those from `first` on
  std::vector<Column> columns_;
  std::vector<std::pair<std::vector<I>, std::vector<T>>> sorted_;
  std::vector<int> cuts_;
  std::vector<double> work_, products_, squares_;
};

}  // namespace tutelage::coordinate
