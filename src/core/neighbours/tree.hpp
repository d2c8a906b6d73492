// A tree of fan-out eight over rows, its leaves whole panels: boxes (a KD tree) or balls bound what a child can hold.
//
// A node is cut three times in a row, each part at the median of its own widest coordinate, on a multiple of eight
// rows. What bounds its eight children lies side by side, so one pass of packs gives the eight lower bounds.
//
// A box bounds a metric that grows with every |a - b|: the rank of the gaps between query and box. Rounding is monotone
// and sums have one order, so that the bound computed is never above the rank computed: no neighbour is lost, and none
// of those at equal distance either. A ball bounds by the triangle inequality, D(query, centre) - radius, less what
// rounding can have added.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "core/neighbours/panels.hpp"

namespace tutelage::neighbours {

enum class Bound { box, ball };

/// The shape of a tree: nodes, children and the order of the rows in its leaves.
struct Branches {
  struct Node {
    int children = 0;
    Index child[width] = {};  // the number of a node, or -1 for a leaf
    Run run[width] = {};      // panels of the child
  };
  std::vector<Node> nodes;  // the root first; none where all rows fit into one leaf
  std::vector<Index> order;
};

namespace growing {

struct Piece {
  Index begin;
  Index end;
  Index size() const { return end - begin; }
};

/// Puts the lower half of a piece, along its widest coordinate, before the upper; answers the two.
template <class T>
inline std::pair<Piece, Piece> halve(const Table<T>& x, std::vector<Index>& order, Piece piece) {
  Index widest = 0;
  double extent = -1;
  std::vector<double> low(static_cast<std::size_t>(x.columns)), high(low);
  for (Index i = piece.begin; i < piece.end; ++i) {
    const T* row = x.row(order[static_cast<std::size_t>(i)]);
    for (Index j = 0; j < x.columns; ++j) {
      const auto v = static_cast<double>(row[j]);
      const auto at = static_cast<std::size_t>(j);
      low[at] = i == piece.begin ? v : std::min(low[at], v);
      high[at] = i == piece.begin ? v : std::max(high[at], v);
    }
  }
  for (Index j = 0; j < x.columns; ++j) {
    const double here = high[static_cast<std::size_t>(j)] - low[static_cast<std::size_t>(j)];
    if (here > extent) {
      extent = here;
      widest = j;
    }
  }
  std::vector<std::pair<double, Index>> keyed;
  keyed.reserve(static_cast<std::size_t>(piece.size()));
  for (Index i = piece.begin; i < piece.end; ++i) {
    const Index row = order[static_cast<std::size_t>(i)];
    keyed.emplace_back(x.at(row, widest), row);
  }
  const Index middle = (piece.size() / 2 + width - 1) / width * width;
  std::nth_element(keyed.begin(), keyed.begin() + middle, keyed.end());
  for (Index i = 0; i < piece.size(); ++i) {
    order[static_cast<std::size_t>(piece.begin + i)] = keyed[static_cast<std::size_t>(i)].second;
  }
  return {{piece.begin, piece.begin + middle}, {piece.begin + middle, piece.end}};
}

}  // namespace growing

/// Grows the tree level by level; leaves hold at most `leaf` rows, a multiple of eight.
template <class T>
Branches grow(const Table<T>& x, Index leaf) {
  using growing::Piece;
  Branches tree;
  tree.order.resize(static_cast<std::size_t>(x.rows));
  for (Index i = 0; i < x.rows; ++i) tree.order[static_cast<std::size_t>(i)] = i;
  if (x.rows <= leaf) return tree;
  std::vector<Piece> level{{0, x.rows}};
  tree.nodes.resize(1);
  while (!level.empty()) {
    const std::size_t base = tree.nodes.size() - level.size();
    std::vector<std::vector<Piece>> cut(level.size());
    parallel_for(static_cast<Index>(level.size()), [&](Index task) {
      auto& pieces = cut[static_cast<std::size_t>(task)];
      pieces = {level[static_cast<std::size_t>(task)]};
      for (int round = 0; round < 3; ++round) {
        std::vector<Piece> finer;
        for (const Piece piece : pieces) {
          if (piece.size() <= leaf) {
            finer.push_back(piece);
          } else {
            const auto [lower, upper] = growing::halve(x, tree.order, piece);
            finer.push_back(lower);
            finer.push_back(upper);
          }
        }
        pieces = std::move(finer);
      }
    });
    std::vector<Piece> next;
    for (std::size_t i = 0; i < level.size(); ++i) {
      Branches::Node& node = tree.nodes[base + i];
      for (const Piece piece : cut[i]) {
        const auto at = static_cast<std::size_t>(node.children++);
        node.run[at] = {piece.begin / width, (piece.end + width - 1) / width};
        node.child[at] = -1;
        if (piece.size() > leaf) {
          node.child[at] = static_cast<Index>(tree.nodes.size() + next.size());
          next.push_back(piece);
        }
      }
    }
    tree.nodes.resize(tree.nodes.size() + next.size());
    level = std::move(next);
  }
  return tree;
}

/// What bounds the children of every node, eight side by side.
template <Metric M>
class Hulls {
 public:
  Hulls() = default;

  template <class T>
  Hulls(const M& m, Bound bound, const Table<T>& x, const Branches& tree)
      : bound_(bound), columns_(x.columns), stride_(2 * width * x.columns + width) {
    const auto count = static_cast<Index>(tree.nodes.size());
    values_ = aligned(count * stride_);
    parallel_for(count, [&](Index number) {
      double* out = values_.get() + number * stride_;
      std::fill_n(out, stride_, 0.0);
      const Branches::Node& node = tree.nodes[static_cast<std::size_t>(number)];
      for (int c = 0; c < node.children; ++c) {
        const Index first = node.run[c].first * width, last = std::min(node.run[c].last * width, x.rows);
        if (bound == Bound::box) {
          add_box(x, tree.order, first, last, out + c);
        } else {
          add_ball(m, x, tree.order, first, last, out, c);
        }
      }
    });
  }

  /// Lower bounds of the ranks of the children's rows.
  TUTELAGE_INLINE void ranks(const M& m, Index node, const double* query, double* lowest) const {
    const double* at = values_.get() + node * stride_;
    if (bound_ == Bound::box) {
      const double* above = at + width * columns_;
      panel_ranks(
          m, columns_,
          [=](Index j) {
            const Lanes q = splat_lanes(query[j]);
            return scalar::larger(Lanes{}, scalar::larger(Lanes(load_lanes(at + j * width) - q),
                                                          Lanes(q - load_lanes(above + j * width))));
          },
          [](Index) { return Lanes{}; }, lowest);
      return;
    }
    ranks_in(m, query, at, columns_, lowest);
    const double* radius = at + 2 * width * columns_;
    for (Index c = 0; c < width; ++c) {
      const double away = m.distance(lowest[c]);
      const double slack = 4e-16 * static_cast<double>(columns_ + 64) * (away + radius[c]);
      const double least = away - radius[c] - slack;
      // Back to a rank from below: reach answers from above.
      lowest[c] = least > 0 ? m.reach(least) * (1 - 1e-11) : 0.0;
    }
  }

 private:
  template <class T>
  void add_box(const Table<T>& x, const std::vector<Index>& order, Index first, Index last, double* out) const {
    double* above = out + width * columns_;
    for (Index i = first; i < last; ++i) {
      const T* row = x.row(order[static_cast<std::size_t>(i)]);
      for (Index j = 0; j < columns_; ++j) {
        const auto v = static_cast<double>(row[j]);
        out[j * width] = i == first ? v : std::min(out[j * width], v);
        above[j * width] = i == first ? v : std::max(above[j * width], v);
      }
    }
  }

  /// The centre is the row nearest to the mean.
  template <class T>
  void add_ball(const M& m, const Table<T>& x, const std::vector<Index>& order, Index first, Index last, double* out,
                int c) const {
    std::vector<double> mean(static_cast<std::size_t>(columns_), 0.0),
        panel(static_cast<std::size_t>(columns_ * width));
    for (Index i = first; i < last; ++i) {
      const T* row = x.row(order[static_cast<std::size_t>(i)]);
      for (Index j = 0; j < columns_; ++j) {
        mean[static_cast<std::size_t>(j)] += static_cast<double>(row[j]) / static_cast<double>(last - first);
      }
    }
    const auto each = [&](const double* from, auto&& use) {
      for (Index i = first; i < last; i += width) {
        for (Index l = 0; l < width; ++l) {
          const T* row = x.row(order[static_cast<std::size_t>(std::min(i + l, last - 1))]);
          for (Index j = 0; j < columns_; ++j) panel[static_cast<std::size_t>(j * width + l)] = double(row[j]);
        }
        double found[width];
        ranks_in(m, from, panel.data(), columns_, found);
        for (Index l = 0; l < std::min(width, last - i); ++l) use(i + l, found[l]);
      }
    };
    double least = std::numeric_limits<double>::infinity(), most = 0;
    Index centre = first;
    each(mean.data(), [&](Index i, double rank) {
      if (rank < least) {
        least = rank;
        centre = i;
      }
    });
    for (Index j = 0; j < columns_; ++j) {
      mean[static_cast<std::size_t>(j)] = x.at(order[static_cast<std::size_t>(centre)], j);
      out[j * width + c] = mean[static_cast<std::size_t>(j)];
    }
    each(mean.data(), [&](Index, double rank) { most = std::max(most, rank); });
    out[2 * width * columns_ + c] = m.distance(most);
  }

  Bound bound_ = Bound::box;
  Index columns_ = 0;
  Index stride_ = 0;
  Aligned values_;
};

}  // namespace tutelage::neighbours
