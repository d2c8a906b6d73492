// Search over panels: all of them, or down a tree.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "core/neighbours/nearest.hpp"
#include "core/neighbours/tree.hpp"

namespace tutelage::neighbours {

/// Queries that a task of brute force serves from one reading of a stretch of panels.
inline constexpr Index queries_at_once = 16;
/// Bytes of such a stretch: it stays in the first- or second-level cache.
inline constexpr Index stretch_bytes = 128 * 1024;

template <Metric M>
class PanelSearch final : public Search {
 public:
  /// leaf: the most rows of a leaf, or 0 for no tree.
  template <class T>
  PanelSearch(M metric, const Table<T>& x, Index leaf, Bound bound) : metric_(metric), rows_(x.rows) {
    if (leaf == 0 || x.rows <= leaf || (bound == Bound::ball && !triangle_holds(metric))) {
      std::vector<Index> order(static_cast<std::size_t>(x.rows));
      for (Index i = 0; i < x.rows; ++i) order[static_cast<std::size_t>(i)] = i;
      panels_ = Panels(x, order);
      return;
    }
    tree_ = grow(x, leaf);
    hulls_ = Hulls<M>(metric, bound, x, tree_);
    panels_ = Panels(x, tree_.order);
    tree_.order = {};
  }

  Index rows() const override { return rows_; }
  Index columns() const override { return panels_.columns(); }

  void nearest(const Queries& queries, Index k, double* distances, Index* rows) const override {
    const Index tasks = (queries.count + queries_at_once - 1) / queries_at_once;
    parallel_for(tasks, [&](Index task) {
      const Index first = task * queries_at_once, last = std::min(queries.count, first + queries_at_once);
      std::vector<Best> best(static_cast<std::size_t>(last - first), Best(k));
      const auto visitor = [&](Index i) {
        Best& mine = best[static_cast<std::size_t>(i - first)];
        return std::pair{[&mine] { return mine.worst(); }, [&mine](double rank, Index row) { mine.offer(rank, row); }};
      };
      visit(queries, first, last, visitor);
      for (Index i = first; i < last; ++i) {
        best[static_cast<std::size_t>(i - first)].write(metric_, distances + i * k, rows + i * k);
      }
    });
  }

  Within within(const Queries& queries, const double* radii, bool by_distance) const override {
    Gathered gathered(queries.count);
    const Index tasks = (queries.count + queries_at_once - 1) / queries_at_once;
    parallel_for(tasks, [&](Index task) {
      const Index first = task * queries_at_once, last = std::min(queries.count, first + queries_at_once);
      const auto visitor = [&](Index i) {
        auto& list = gathered.of(i);
        const double radius = radii[i], reach = metric_.reach(radius);
        return std::pair{[reach] { return reach; },
                         [this, radius, &list](double rank, Index row) {
                           if (metric_.distance(rank) <= radius) list.push_back({rank, row});
                         }};
      };
      visit(queries, first, last, visitor);
    });
    return gathered.finish(metric_, by_distance);
  }

 private:
  /// Shows to each query every row whose rank may be at most its limit.
  template <class Visitor>
  void visit(const Queries& queries, Index first, Index last, Visitor&& visitor) const {
    const Index d = panels_.columns();
    if (!tree_.nodes.empty()) {
      for (Index i = first; i < last; ++i) {
        const auto [limit, take] = visitor(i);
        descend(0, queries.data + i * d, queries.excluded(i), limit, take);
      }
      return;
    }
    const Index step = std::max<Index>(1, stretch_bytes / (std::max<Index>(d, 1) * width * 8));
    for (Index p = 0; p < panels_.count(); p += step) {
      const Run run{p, std::min(panels_.count(), p + step)};
      for (Index i = first; i < last; ++i) {
        const auto [limit, take] = visitor(i);
        scan(run, queries.data + i * d, queries.excluded(i), limit, take);
      }
    }
  }

  template <class Limit, class Take>
  void scan(Run run, const double* query, Index excluded, const Limit& limit, const Take& take) const {
    for (Index p = run.first; p < run.last; ++p) {
      alignas(64) double ranks[width];
      ranks_in(metric_, query, panels_.panel(p), panels_.columns(), ranks);
      const double most = limit();
      // Not above rather than at most: a rank that is no number goes on, and counts as infinity.
      const LaneMask near = ~(load_lanes(ranks) > splat_lanes(most));
      bool any = false;
      for (Index l = 0; l < width; ++l) any |= near[l] != 0;
      if (!any) continue;
      const Index* rows = panels_.rows(p);
      for (Index l = 0; l < width; ++l) {
        if (near[l] != 0 && rows[l] >= 0 && rows[l] != excluded) take(ranks[l], rows[l]);
      }
    }
  }

  template <class Limit, class Take>
  void descend(Index number, const double* query, Index excluded, const Limit& limit, const Take& take) const {
    const Branches::Node& node = tree_.nodes[static_cast<std::size_t>(number)];
    alignas(64) double lowest[width];
    hulls_.ranks(metric_, number, query, lowest);
    int order[width];
    int waiting = 0;
    const double most = limit();
    for (int c = 0; c < node.children; ++c) {
      if (lowest[c] > most) continue;
      int place = waiting++;
      for (; place > 0 && lowest[order[place - 1]] > lowest[c]; --place) order[place] = order[place - 1];
      order[place] = c;
    }
    for (int next = 0; next < waiting; ++next) {
      const int c = order[next];
      if (lowest[c] > limit()) return;
      if (node.child[c] >= 0) {
        descend(node.child[c], query, excluded, limit, take);
      } else {
        scan(node.run[c], query, excluded, limit, take);
      }
    }
  }

  M metric_;
  Index rows_;
  Branches tree_;
  Hulls<M> hulls_;
  Panels panels_;
};

}  // namespace tutelage::neighbours
