// Rows laid out for search: panels of eight rows, coordinate by coordinate, in the order of a tree's leaves.
#pragma once
#include <algorithm>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "core/machine/parallel.hpp"
#include "core/neighbours/metrics.hpp"

namespace tutelage::neighbours {

/// A matrix read by rows, float or double, each in one piece.
template <class T>
struct Table {
  const T* data;
  Index rows;
  Index columns;
  Index stride;

  const T* row(Index i) const { return data + i * stride; }
  double at(Index i, Index j) const { return static_cast<double>(data[i * stride + j]); }
};

struct FreeAligned {
  void operator()(double* p) const { ::operator delete[](p, std::align_val_t{64}); }
};
using Aligned = std::unique_ptr<double[], FreeAligned>;

inline Aligned aligned(Index count) {
  return Aligned(static_cast<double*>(
      ::operator new[](static_cast<std::size_t>(std::max<Index>(count, 1)) * sizeof(double), std::align_val_t{64})));
}

/// Coordinate j of the eight rows of panel p stands at panel(p) + 8 j. Lanes past the last row hold its copy, and row
/// number -1.
class Panels {
 public:
  Panels() = default;

  template <class T>
  Panels(const Table<T>& x, const std::vector<Index>& order)
      : columns_(x.columns),
        count_((static_cast<Index>(order.size()) + width - 1) / width),
        values_(aligned(count_ * width * x.columns)),
        row_of_(static_cast<std::size_t>(count_ * width), -1) {
    std::copy(order.begin(), order.end(), row_of_.begin());
    constexpr Index piece = 64;
    parallel_for((count_ + piece - 1) / piece, [&](Index task) {
      for (Index p = task * piece; p < std::min(count_, (task + 1) * piece); ++p) {
        double* out = values_.get() + p * width * columns_;
        for (Index l = 0; l < width; ++l) {
          const Index place = std::min(p * width + l, static_cast<Index>(order.size()) - 1);
          const T* from = x.row(order[static_cast<std::size_t>(place)]);
          for (Index j = 0; j < columns_; ++j) out[j * width + l] = static_cast<double>(from[j]);
        }
      }
    });
  }

  Index count() const { return count_; }
  Index columns() const { return columns_; }
  const double* panel(Index p) const { return values_.get() + p * width * columns_; }
  const Index* rows(Index p) const { return row_of_.data() + p * width; }

 private:
  Index columns_ = 0;
  Index count_ = 0;
  Aligned values_;
  std::vector<Index> row_of_;
};

/// A run of panels.
struct Run {
  Index first = 0;
  Index last = 0;
};

/// The ranks of the eight rows of a panel from a query.
template <Metric M>
TUTELAGE_INLINE void ranks_in(const M& m, const double* query, const double* panel, Index d, double* ranks) {
  panel_ranks(
      m, d, [=](Index j) { return splat_lanes(query[j]); }, [=](Index j) { return load_lanes(panel + j * width); },
      ranks);
}

}  // namespace tutelage::neighbours
