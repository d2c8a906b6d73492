// Minimal cost-complexity pruning: the branch whose leaves earn least goes first.
//
// A branch is worth  (cost of its root as a leaf - cost of its leaves) / (leaves - 1)  a leaf; the cost of a node is
// its impurity times its share of the weight. The weakest branch becomes a leaf, which changes the worth of its
// ancestors alone, and so on until the root is left: n nodes cost O(n depth log n).
#pragma once
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "core/machine/index.hpp"

namespace tutelage::trees {

struct Pruning {
  std::vector<double> alphas, impurities;  // the price at which each branch went, and the cost of all leaves then
  std::vector<std::uint8_t> leaf;          // of each node: whether it is one when pruning stops
};

/// Prunes while the price is at most `alpha`. Children come after their parents.
inline Pruning prune(const std::int64_t* left, const std::int64_t* right, const double* cost, Index nodes,
                     double alpha) {
  std::vector<Index> parent(nodes, -1), leaves(nodes, 1);
  std::vector<double> below(cost, cost + nodes);
  std::vector<std::uint8_t> open(nodes, 0);  // inner nodes of the present tree
  for (Index i = nodes - 1; i >= 0; --i) {
    if (left[i] < 0) continue;
    open[i] = 1;
    parent[left[i]] = parent[right[i]] = i;
    leaves[i] = leaves[left[i]] + leaves[right[i]];
    below[i] = below[left[i]] + below[right[i]];
  }
  const auto worth = [&](Index i) { return (cost[i] - below[i]) / static_cast<double>(leaves[i] - 1); };
  std::set<std::pair<double, Index>> queue;
  for (Index i = 0; i < nodes; ++i)
    if (open[i]) queue.emplace(worth(i), i);
  Pruning made;
  made.alphas.push_back(0.0);
  made.impurities.push_back(below[0]);
  while (!queue.empty()) {
    const auto [price, weakest] = *queue.begin();
    if (price > alpha) break;
    std::vector<Index> inside{weakest};
    while (!inside.empty()) {
      const Index i = inside.back();
      inside.pop_back();
      if (!open[i]) continue;
      queue.erase({worth(i), i});
      open[i] = 0;
      inside.push_back(left[i]);
      inside.push_back(right[i]);
    }
    const Index gone = leaves[weakest] - 1;
    const double rise = cost[weakest] - below[weakest];
    leaves[weakest] = 1;
    below[weakest] = cost[weakest];
    for (Index i = parent[weakest]; i >= 0; i = parent[i]) {
      queue.erase({worth(i), i});
      leaves[i] -= gone;
      below[i] += rise;
      queue.emplace(worth(i), i);
    }
    made.alphas.push_back(price);
    made.impurities.push_back(below[0]);
  }
  made.leaf.resize(nodes);
  for (Index i = 0; i < nodes; ++i) made.leaf[i] = !open[i];
  return made;
}

}  // namespace tutelage::trees
