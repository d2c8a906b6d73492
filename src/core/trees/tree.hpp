// A tree, flat: arrays of nodes in preorder, and the way of rows down to their leaves.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/machine/index.hpp"
#include "core/machine/parallel.hpp"
#include "core/trees/columns.hpp"

namespace tutelage::trees {

/// What growing a tree gives. A leaf has the children -1 and the feature -2.
struct Grown {
  std::vector<std::int64_t> left, right, feature, count;
  std::vector<double> threshold, impurity, weight, value;
  std::vector<std::uint8_t> missing_left;
  Index value_width = 1;

  Index nodes() const { return static_cast<Index>(left.size()); }
  Index add(Index rows, double node_weight, double node_impurity, const double* node_value) {
    left.push_back(-1);
    right.push_back(-1);
    feature.push_back(-2);
    threshold.push_back(-2.0);
    missing_left.push_back(0);
    count.push_back(rows);
    weight.push_back(node_weight);
    impurity.push_back(node_impurity);
    value.insert(value.end(), node_value, node_value + value_width);
    return nodes() - 1;
  }
  /// Puts a whole tree in the place of a leaf that has the same rows.
  void graft(Index leaf, const Grown& other) {
    const Index shift = nodes() - 1;  // of every node but the root, which is the leaf
    const auto moved = [&](std::int64_t child) { return child < 0 ? child : child + shift; };
    for (Index i = 0; i < other.nodes(); ++i) {
      const Index at =
          i == 0 ? leaf : add(other.count[i], other.weight[i], other.impurity[i], other.value.data() + i * value_width);
      left[at] = moved(other.left[i]);
      right[at] = moved(other.right[i]);
      feature[at] = other.feature[i];
      threshold[at] = other.threshold[i];
      missing_left[at] = other.missing_left[i];
    }
  }
  /// The same tree, each node followed by its left branch and that by its right one.
  Grown preorder() const {
    Grown made;
    made.value_width = value_width;
    std::vector<std::pair<Index, Index>> open{{0, -1}};  // a node, and whose right child it is in the new tree
    while (!open.empty()) {
      const auto [old, parent] = open.back();
      open.pop_back();
      const Index at = made.add(count[old], weight[old], impurity[old], value.data() + old * value_width);
      if (parent >= 0) made.right[parent] = at;
      made.feature[at] = feature[old];
      made.threshold[at] = threshold[old];
      made.missing_left[at] = missing_left[old];
      if (left[old] < 0) continue;
      made.left[at] = at + 1;
      open.emplace_back(right[old], at);
      open.emplace_back(left[old], -1);
    }
    return made;
  }
};

/// A node as prediction wants it: all that a step needs in three words.
struct Step {
  double threshold;
  std::int32_t feature;   // -1: a leaf
  std::int32_t child[2];  // left, right
  std::int32_t missing_left;
};

inline std::vector<Step> steps_of(const std::int64_t* left, const std::int64_t* right, const std::int64_t* feature,
                                  const double* threshold, const std::uint8_t* missing_left, Index nodes) {
  std::vector<Step> made(static_cast<std::size_t>(nodes));
  for (Index i = 0; i < nodes; ++i) {
    const bool leaf = left[i] < 0;
    made[i] = {threshold[i],
               static_cast<std::int32_t>(leaf ? -1 : feature[i]),
               {static_cast<std::int32_t>(left[i]), static_cast<std::int32_t>(right[i])},
               missing_left[i]};
  }
  return made;
}

/// The leaf of each of up to `lanes` rows; the rows walk together, so that none waits for the memory of another.
template <class Value>
void walk(const std::vector<Step>& steps, Index rows, Value&& value, std::int64_t* leaves) {
  constexpr Index lanes = 8;
  for (Index first = 0; first < rows; first += lanes) {
    const Index many = std::min(lanes, rows - first);
    std::int32_t at[lanes] = {};
    for (bool moving = true; moving;) {
      moving = false;
      for (Index j = 0; j < many; ++j) {
        const Step& step = steps[static_cast<std::size_t>(at[j])];
        if (step.feature < 0) continue;
        const double x = value(first + j, step.feature);
        const bool goes_left = std::isnan(x) ? step.missing_left : x <= step.threshold;
        at[j] = step.child[!goes_left];
        moving = true;
      }
    }
    for (Index j = 0; j < many; ++j) leaves[first + j] = at[j];
  }
}

/// Calls use(first row, rows, value(row in the block, column)) for blocks of X; sparse X comes by rows.
template <class Use>
void blocks_of_rows(const Cells& x, Use&& use) {
  constexpr Index block = 512;
  parallel_for((x.rows + block - 1) / block, [&](Index task) {
    const Index first = task * block, many = std::min(block, x.rows - first);
    if (x.starts) {
      for (Index row = first; row < first + many; ++row) {
        const std::int64_t *from = x.where + x.starts[row], *to = x.where + x.starts[row + 1];
        use(row, Index{1}, [&](Index, std::int32_t column) {
          const std::int64_t* const found = std::lower_bound(from, to, column);
          return found != to && *found == column ? x.stored(found - x.where) : 0.0;
        });
      }
      return;
    }
    const auto dense = [&]<class T>(const T* data) {
      use(first, many, [&](Index i, std::int32_t column) {
        return static_cast<double>(data[(first + i) * x.row_stride + column * x.column_stride]);
      });
    };
    x.single ? dense(static_cast<const float*>(x.data)) : dense(static_cast<const double*>(x.data));
  });
}

inline void apply(const std::vector<Step>& steps, const Cells& x, std::int64_t* leaves) {
  blocks_of_rows(x, [&](Index first, Index many, const auto& value) { walk(steps, many, value, leaves + first); });
}

}  // namespace tutelage::trees
