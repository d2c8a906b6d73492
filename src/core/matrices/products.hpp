// Products with a whole matrix, in parallel.
//
// Rows are divided into parts in a way that depends only on the shape of the matrix. Each part sums in order into
// memory of its own and the parts are added in order, or each task owns a piece of the answer: either way the bits do
// not depend on the number of threads.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/concepts.hpp"
#include "core/machine/parallel.hpp"

namespace tutelage {

/// Rows divided into parts, each a run of whole blocks.
class Parts {
 public:
  /// `work` is the number of multiplications for all rows; `width` the doubles a part sums into. Enough parts for many
  /// threads, few enough that a part is worth handing out and that their sums stay smaller than X.
  Parts(const Rows& x, double work, Index width) : rows_(x.rows()), block_(std::max<Index>(1, x.block_rows())) {
    blocks_ = (rows_ + block_ - 1) / block_;
    const double by_work = work / 50e3;
    const double by_memory = (0.25 * static_cast<double>(x.stored()) + 4e6) / static_cast<double>(width + 1);
    const auto fitting = static_cast<Index>(std::min({by_work, by_memory, 128.0}));
    count_ = std::clamp<Index>(fitting, 1, std::max<Index>(1, blocks_));
  }

  Index count() const { return count_; }

  /// Calls body(block) for the blocks of a part, in order.
  template <class Body>
  void each_block(Index part, Body&& body) const {
    for (Index b = part * blocks_ / count_; b < (part + 1) * blocks_ / count_; ++b) {
      body(Block{b * block_, std::min(block_, rows_ - b * block_)});
    }
  }

  /// sum += what body(block, own sum) adds over all blocks.
  template <class Body>
  void add_sums(Index width, double* sum, Body&& body) const {
    if (count_ == 1) {
      each_block(0, [&](Block block) { body(block, sum); });
      return;
    }
    std::vector<double> sums(static_cast<std::size_t>(count_ * width), 0.0);
    parallel_for(count_,
                 [&](Index part) { each_block(part, [&](Block block) { body(block, sums.data() + part * width); }); });
    constexpr Index piece = 16 * 1024;
    parallel_for((width + piece - 1) / piece, [&](Index p) {
      const Index end = std::min(width, (p + 1) * piece);
      for (Index part = 0; part < count_; ++part) {
        const double* from = sums.data() + part * width;
        for (Index j = p * piece; j < end; ++j) sum[j] += from[j];
      }
    });
  }

 private:
  Index rows_, block_, blocks_, count_;
};

/// z = X W': z is n x k, W is k x d.
inline void times(const Rows& x, const double* w, Index k, double* z) {
  const Parts parts(x, static_cast<double>(x.stored() + x.rows()) * static_cast<double>(k), 0);
  parallel_for(parts.count(),
               [&](Index part) { parts.each_block(part, [&](Block b) { x.times(b, w, k, z + b.first * k); }); });
}

/// G += S' X: S is n x k, G is k x d.
inline void add_transpose_times(const Rows& x, const double* s, Index k, double* g) {
  const Index width = k * x.columns();
  const Parts parts(x, static_cast<double>(x.stored() + x.rows()) * static_cast<double>(k), width);
  parts.add_sums(width, g, [&](Block b, double* sum) { x.add_transpose_times(b, s + b.first * k, k, sum); });
}

// ---- sandwiches ---------------------------------------------------------------------------------------------------

/// The lower triangle of H cut into pieces, and rows into runs, by the shape of the problem alone.
///
/// A dense matrix is cut into square tiles: a tile packs twice `side` columns for side^2 products a row, so packing
/// what other tiles pack too costs little, and no thread ever waits for another. A sparse one is cut into strips of
/// rows of H, since it must look at every entry to find those of a strip. With few tiles the rows are cut into runs as
/// well, whose sums are added in order.
class SandwichPlan {
 public:
  struct Piece {
    Block down, across;
    Index offset;  // where its sums begin in the memory of a run
  };

  SandwichPlan(const Rows& x) : rows_(x.rows()) {
    const Index d = x.columns();
    const auto stored = static_cast<double>(x.stored());
    const double products = x.sparse() ? stored * stored / (2.0 * static_cast<double>(std::max<Index>(1, rows_)))
                                       : stored * static_cast<double>(d) / 2;
    const double tasks = std::min(64.0, products / 1e6);
    if (x.sparse()) {
      const double memory = (0.25 * stored + 4e6) / (static_cast<double>(d) * static_cast<double>(d) + 1);
      if (memory >= std::min(tasks, 16.0)) {
        pieces_.push_back({{0, d}, {0, d}, 0});
      } else {
        cut_strips(d, std::clamp<Index>(static_cast<Index>(tasks), 1, 32));
      }
    } else {
      cut_tiles(d);
    }
    const double by_tasks = tasks / static_cast<double>(pieces_.size());
    const double by_memory = (0.25 * stored + 4e6) / static_cast<double>(length_ + 1);
    runs_ = std::clamp<Index>(static_cast<Index>(std::min(by_tasks, by_memory)), 1, std::max<Index>(1, rows_ / 256));
  }

  const std::vector<Piece>& pieces() const { return pieces_; }
  Index runs() const { return runs_; }
  Index length() const { return length_; }
  Block run(Index r) const {
    const Index first = r * rows_ / runs_;
    return {first, (r + 1) * rows_ / runs_ - first};
  }

 private:
  static constexpr Index side = 192;  // a multiple of every width in sandwich.hpp

  void add(Block down, Block across) {
    pieces_.push_back({down, across, length_});
    length_ += down.count * across.count;
  }

  /// Off the diagonal first: they take twice as long.
  void cut_tiles(Index d) {
    const auto range = [d](Index first) { return Block{first, std::min(side, d - first)}; };
    for (Index p = 0; p < d; p += side) {
      for (Index q = 0; q < p; q += side) add(range(p), range(q));
    }
    for (Index p = 0; p < d; p += side) add(range(p), range(p));
    if (pieces_.empty()) pieces_.push_back({{0, 0}, {0, 0}, 0});
  }

  /// Strips of about equal area, the lowest first.
  void cut_strips(Index d, Index count) {
    for (Index t = count; t > 0; --t) {
      const auto edge = [&](Index i) {
        return static_cast<Index>(static_cast<double>(d) *
                                  std::sqrt(static_cast<double>(i) / static_cast<double>(count)));
      };
      const Index first = edge(t - 1), end = t == count ? d : edge(t);
      if (end > first) add({first, end - first}, {0, end});
    }
  }

  Index rows_, runs_ = 1, length_ = 0;
  std::vector<Piece> pieces_;
};

/// H += sum_i c_i (x_i - shift)(x_i - shift)', lower triangle of a row-major d x d matrix; shift may be null, and is
/// null for a sparse matrix.
inline void sandwich(const Rows& x, const double* c, const double* shift, double* h) {
  const Index d = x.columns();
  if (d == 0 || x.rows() == 0) return;
  const SandwichPlan plan(x);
  const auto& pieces = plan.pieces();
  const auto count = static_cast<Index>(pieces.size());
  const bool whole = count == 1;
  const Index length = whole ? d * d : plan.length();
  std::vector<double> sums(plan.runs() == 1 ? 0 : static_cast<std::size_t>(plan.runs() * length), 0.0);
  const auto add_rows = [&](Index r, const SandwichPlan::Piece& piece, double* to, Index stride) {
    const Block rows = plan.run(r);
    const Index most = whole ? std::max<Index>(1, x.block_rows()) : rows.count;
    for (Index first = rows.first; first < rows.first + rows.count; first += most) {
      const Block block{first, std::min(most, rows.first + rows.count - first)};
      if (whole) {
        x.add_sandwich(block, c + first, shift, to);
      } else {
        x.add_sandwich_tile(block, piece.down, piece.across, c + first, shift, to, stride);
      }
    }
  };
  const auto target = [&](const SandwichPlan::Piece& piece) { return h + piece.down.first * d + piece.across.first; };
  if (plan.runs() == 1) {
    parallel_for(count, [&](Index i) {
      add_rows(0, pieces[static_cast<std::size_t>(i)], target(pieces[static_cast<std::size_t>(i)]), d);
    });
    return;
  }
  parallel_for(plan.runs() * count, [&](Index task) {
    const auto& piece = pieces[static_cast<std::size_t>(task / plan.runs())];
    add_rows(task % plan.runs(), piece, sums.data() + task % plan.runs() * length + piece.offset, piece.across.count);
  });
  parallel_for(count, [&](Index i) {
    const auto& piece = pieces[static_cast<std::size_t>(i)];
    for (Index r = 0; r < plan.runs(); ++r) {
      for (Index p = 0; p < piece.down.count; ++p) {
        const double* from = sums.data() + r * length + piece.offset + p * piece.across.count;
        double* to = target(piece) + p * d;
        const Index end = std::min(piece.across.count, piece.down.first + p - piece.across.first + 1);
        for (Index q = 0; q < end; ++q) to[q] += from[q];
      }
    }
  });
}

}  // namespace tutelage
