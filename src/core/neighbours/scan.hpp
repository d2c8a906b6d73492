// Brute force over rows that are no panels: sparse rows, strings, and distances that somebody else computed.
//
// A source says how many rows it has and computes the ranks of one query from a stretch of them; the loops stand here.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/machine/parallel.hpp"
#include "core/neighbours/metrics.hpp"
#include "core/neighbours/nearest.hpp"

namespace tutelage::neighbours {

/// What a source's rank means where the rank is the distance.
struct Plain {
  static double distance(double rank) { return rank; }
};

/// Calls use(query, first row, ranks, how many) for stretches of rows.
template <class Source, class Use>
void scan_all(const Source& source, Index queries, Use&& use) {
  constexpr Index at_once = 4, stretch = 1024;
  parallel_for((queries + at_once - 1) / at_once, [&](Index task) {
    std::vector<double> ranks(static_cast<std::size_t>(stretch));
    for (Index i = task * at_once; i < std::min(queries, (task + 1) * at_once); ++i) {
      for (Index first = 0; first < source.rows(); first += stretch) {
        const Index count = std::min(stretch, source.rows() - first);
        source.ranks(i, first, count, ranks.data());
        use(i, first, ranks.data(), count);
      }
    }
  });
}

template <class Source>
void scan_nearest(const Source& source, Index queries, bool are_rows, Index k, double* distances, Index* rows) {
  std::vector<Best> best(static_cast<std::size_t>(queries), Best(0));
  scan_all(source, queries, [&](Index i, Index first, const double* ranks, Index count) {
    Best& mine = best[static_cast<std::size_t>(i)];
    if (first == 0) mine.reset(k);
    for (Index r = 0; r < count; ++r) {
      if (ranks[r] > mine.worst() || (are_rows && first + r == i)) continue;
      mine.offer(ranks[r], first + r);
    }
    if (first + count == source.rows()) mine.write(source.metric(), distances + i * k, rows + i * k);
  });
}

template <class Source>
Within scan_within(const Source& source, Index queries, bool are_rows, const double* radii, bool by_distance) {
  Gathered gathered(queries);
  scan_all(source, queries, [&](Index i, Index first, const double* ranks, Index count) {
    for (Index r = 0; r < count; ++r) {
      if (source.metric().distance(ranks[r]) > radii[i] || ranks[r] != ranks[r] || (are_rows && first + r == i))
        continue;
      gathered.of(i).push_back({ranks[r], first + r});
    }
  });
  return gathered.finish(source.metric(), by_distance);
}

/// Distances already there: a row of the block for each query.
class Block {
 public:
  Block(const double* distances, Index columns) : distances_(distances), columns_(columns) {}
  Index rows() const { return columns_; }
  Plain metric() const { return {}; }
  void ranks(Index query, Index first, Index count, double* out) const {
    std::copy_n(distances_ + query * columns_ + first, count, out);
  }

 private:
  const double* distances_;
  Index columns_;
};

/// CSR rows, indices increasing in each.
struct Csr {
  const double* values;
  const std::int64_t* indices;
  const std::int64_t* starts;
  Index rows;
};

/// Sparse rows against sparse queries: the union of stored entries, in the accumulators of dense rows, and so to the
/// same bits.
template <Metric M>
class SparseSource {
 public:
  SparseSource(M metric, Csr x, Csr queries) : metric_(metric), x_(x), queries_(queries) {}
  Index rows() const { return x_.rows; }
  const M& metric() const { return metric_; }

  void ranks(Index query, Index first, Index count, double* out) const {
    const std::int64_t begin = queries_.starts[query], end = queries_.starts[query + 1];
    for (Index r = 0; r < count; ++r) {
      double at[width][M::parts] = {};
      std::int64_t a = begin, b = x_.starts[first + r];
      const std::int64_t last = x_.starts[first + r + 1];
      while (a < end || b < last) {
        const std::int64_t left = a < end ? queries_.indices[a] : INT64_MAX;
        const std::int64_t right = b < last ? x_.indices[b] : INT64_MAX;
        const std::int64_t j = std::min(left, right);
        metric_.add(at[j % width], left == j ? queries_.values[a] : 0.0, right == j ? x_.values[b] : 0.0);
        a += left == j;
        b += right == j;
      }
      join_halves(metric_, at);
      out[r] = metric_.rank(at[0]);
    }
  }

 private:
  M metric_;
  Csr x_;
  Csr queries_;
};

/// Strings as runs of code points.
struct Strings {
  const std::int32_t* letters;
  const std::int64_t* starts;
  Index count;
};

/// Levenshtein's edit distance: insertions, deletions and substitutions that turn one string into the other.
inline double edit_distance(const std::int32_t* a, Index m, const std::int32_t* b, Index n, std::vector<Index>& row) {
  while (m > 0 && n > 0 && a[m - 1] == b[n - 1]) --m, --n;
  row.resize(static_cast<std::size_t>(n + 1));
  for (Index j = 0; j <= n; ++j) row[static_cast<std::size_t>(j)] = j;
  for (Index i = 1; i <= m; ++i) {
    Index diagonal = row[0];
    row[0] = i;
    for (Index j = 1; j <= n; ++j) {
      Index& here = row[static_cast<std::size_t>(j)];
      const Index above = here;
      here = std::min({diagonal + (a[i - 1] != b[j - 1]), above + 1, row[static_cast<std::size_t>(j - 1)] + 1});
      diagonal = above;
    }
  }
  return static_cast<double>(row[static_cast<std::size_t>(n)]);
}

class EditSource {
 public:
  EditSource(Strings x, Strings queries) : x_(x), queries_(queries) {}
  Index rows() const { return x_.count; }
  Plain metric() const { return {}; }
  void ranks(Index query, Index first, Index count, double* out) const {
    std::vector<Index> row;
    for (Index r = 0; r < count; ++r) {
      const std::int64_t begin = x_.starts[first + r], start = queries_.starts[query];
      out[r] = edit_distance(queries_.letters + start, queries_.starts[query + 1] - start, x_.letters + begin,
                             x_.starts[first + r + 1] - begin, row);
    }
  }

 private:
  Strings x_;
  Strings queries_;
};

}  // namespace tutelage::neighbours
