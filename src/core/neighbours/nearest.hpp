// What a search finds: the k nearest rows, or all rows within a radius, ordered by distance and, at equal distance, by
// row number.
#pragma once
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "core/machine/index.hpp"

namespace tutelage::neighbours {

struct Neighbour {
  double rank;
  Index row;

  friend bool operator<(const Neighbour& a, const Neighbour& b) {
    return a.rank < b.rank || (a.rank == b.rank && a.row < b.row);
  }
};

/// The k least of the neighbours offered, in whatever order they come. A rank that is no number counts as infinity.
class Best {
 public:
  explicit Best(Index k = 0) { reset(k); }

  void reset(Index k) {
    k_ = static_cast<std::size_t>(k);
    kept_.clear();
    kept_.reserve(k_);
  }
  bool full() const { return kept_.size() >= k_; }
  std::size_t size() const { return kept_.size(); }
  /// No rank above it can be among the k.
  double worst() const { return full() ? kept_.front().rank : std::numeric_limits<double>::infinity(); }

  void offer(double rank, Index row) {
    const Neighbour one{rank == rank ? rank : std::numeric_limits<double>::infinity(), row};
    if (!full()) {
      kept_.push_back(one);
      std::push_heap(kept_.begin(), kept_.end());
    } else if (one < kept_.front()) {
      replace_worst(one);
    }
  }

  /// Hands them out in order and forgets them.
  template <class M>
  void write(const M& metric, double* distances, Index* rows) {
    std::sort_heap(kept_.begin(), kept_.end());
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      distances[i] = metric.distance(kept_[i].rank);
      rows[i] = kept_[i].row;
    }
    kept_.clear();
  }

 private:
  void replace_worst(Neighbour one) {
    std::size_t hole = 0;
    const std::size_t size = kept_.size();
    for (;;) {
      std::size_t child = 2 * hole + 1;
      if (child >= size) break;
      if (child + 1 < size && kept_[child] < kept_[child + 1]) ++child;
      if (!(one < kept_[child])) break;
      kept_[hole] = kept_[child];
      hole = child;
    }
    kept_[hole] = one;
  }

  std::size_t k_ = 0;
  std::vector<Neighbour> kept_;  // a heap, the worst in front
};

/// All rows within a radius of each query: those of query i stand at starts[i] ... starts[i + 1] - 1.
struct Within {
  std::vector<Index> starts;
  std::vector<Index> rows;
  std::vector<double> distances;
};

/// Collects what tasks found for each query, each in its own list.
class Gathered {
 public:
  explicit Gathered(Index queries) : found_(static_cast<std::size_t>(queries)) {}
  std::vector<Neighbour>& of(Index query) { return found_[static_cast<std::size_t>(query)]; }

  /// In order of rows, or of distance where by_distance says so.
  template <class M>
  Within finish(const M& metric, bool by_distance) {
    Within out;
    out.starts.reserve(found_.size() + 1);
    out.starts.push_back(0);
    for (auto& list : found_) {
      if (by_distance) {
        std::sort(list.begin(), list.end());
      } else {
        std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.row < b.row; });
      }
      for (const Neighbour& one : list) {
        out.rows.push_back(one.row);
        out.distances.push_back(metric.distance(one.rank));
      }
      out.starts.push_back(static_cast<Index>(out.rows.size()));
    }
    return out;
  }

 private:
  std::vector<std::vector<Neighbour>> found_;
};

/// The queries of one call: rows of doubles, and the row of the searched matrix that each one itself is, if any.
struct Queries {
  const double* data;
  Index count;
  bool are_rows = false;  // query i is row i, and not its own neighbour

  Index excluded(Index i) const { return are_rows ? i : -1; }
};

/// A matrix that can be searched.
class Search {
 public:
  virtual ~Search() = default;
  virtual Index rows() const = 0;
  virtual Index columns() const = 0;
  /// k neighbours of each query, of which there must be as many.
  virtual void nearest(const Queries& queries, Index k, double* distances, Index* rows) const = 0;
  virtual Within within(const Queries& queries, const double* radii, bool by_distance) const = 0;
};

}  // namespace tutelage::neighbours
