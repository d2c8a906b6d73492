// Forests: trees grown on rows drawn with replacement, and their answers added up.
//
// Every tree has a seed of its own, from which its rows and its choices follow. So trees can grow in any order, on any
// number of threads, and what a tree has not seen can be told again without being stored.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "core/machine/index.hpp"
#include "core/machine/parallel.hpp"
#include "core/trees/grow.hpp"
#include "core/trees/tree.hpp"

namespace tutelage::trees {

/// How the rows of each tree are chosen.
struct Drawing {
  Index draws = 0;                   // with replacement; 0: every row once
  bool balanced = false;             // every class of the drawn rows weighs the same
  std::vector<std::uint32_t> order;  // rows in the order in which their places are drawn
  std::vector<double> cumulated;     // weights up to each of them; empty: all alike
};

/// Rows in the order of a hash of what they hold. Drawing places in this order rather than rows makes a forest the same
/// however the rows are ordered, and whether copies are written as rows or as weights.
inline std::vector<std::uint32_t> order_by_content(const Cells& x, const Targets& targets) {
  std::vector<std::uint64_t> hash(static_cast<std::size_t>(x.rows), 0u);
  const auto add = [&](Index row, Index column, double value) {  // zeros add nothing, stored or not
    if (value == 0) return;
    const std::uint64_t bits = std::isnan(value) ? 1 : std::bit_cast<std::uint64_t>(value);
    hash[row] += mixed(bits ^ mixed(static_cast<std::uint64_t>(column)));
  };
  if (x.starts) {
    for (Index c = 0; c < x.columns; ++c)
      for (std::int64_t i = x.starts[c]; i < x.starts[c + 1]; ++i) add(x.where[i], c, x.stored(i));
  } else {
    constexpr Index block = 1024;
    parallel_for((x.rows + block - 1) / block, [&](Index task) {
      for (Index i = task * block; i < std::min(x.rows, (task + 1) * block); ++i)
        for (Index c = 0; c < x.columns; ++c) add(i, c, x.at(i, c));
    });
  }
  for (Index i = 0; i < x.rows; ++i)
    for (Index o = 0; o < targets.outputs; ++o)
      add(i, x.columns + o,
          targets.classes.empty() ? targets.numbers[i * targets.outputs + o] : targets.labels[i * targets.outputs + o]);
  std::vector<std::uint32_t> order(static_cast<std::size_t>(x.rows));
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return hash[a] != hash[b] ? hash[a] < hash[b] : a < b; });
  return order;
}

/// How often each row is drawn.
inline std::vector<std::uint32_t> drawn(std::uint64_t seed, Index rows, const Drawing& drawing) {
  std::vector<std::uint32_t> times(static_cast<std::size_t>(rows), 0u);
  std::uint64_t state = mixed(mixed(seed) + 1);
  const std::vector<double>& sums = drawing.cumulated;
  for (Index i = 0; i < drawing.draws; ++i) {
    state += 0x9e3779b97f4a7c15u;
    const double u = unit_interval(state);
    Index place = static_cast<Index>(u * static_cast<double>(rows));
    // the first row up to which there is more weight: one without weight is never drawn
    if (!sums.empty()) place = std::upper_bound(sums.begin(), sums.end(), u * sums.back()) - sums.begin();
    ++times[drawing.order[std::min(place, rows - 1)]];
  }
  return times;
}

/// The targets of one tree. Where rows are drawn, they are drawn by their weights, and count as often as they came.
inline Targets targets_of_tree(const Targets& all, const Drawing& drawing, std::uint64_t seed) {
  Targets made = all;
  if (drawing.draws == 0 && !drawing.balanced) return made;
  if (made.weights.empty() || drawing.draws > 0) made.weights.assign(static_cast<std::size_t>(all.rows), 1.0);
  std::vector<std::uint32_t> times(static_cast<std::size_t>(all.rows), 1u);
  if (drawing.draws > 0) times = drawn(seed, all.rows, drawing);
  for (Index i = 0; i < all.rows; ++i) made.weights[i] *= times[i];
  for (Index o = 0; drawing.balanced && o < all.outputs; ++o) {
    std::vector<double> counts(static_cast<std::size_t>(all.classes[o]), 0.0);
    double total = 0, present = 0;
    for (Index i = 0; i < all.rows; ++i) counts[all.labels[i * all.outputs + o]] += times[i];
    for (const double count : counts) {
      total += count;
      present += count > 0;
    }
    for (Index i = 0; i < all.rows; ++i)
      if (times[i] > 0) made.weights[i] *= total / (present * counts[all.labels[i * all.outputs + o]]);
  }
  return made;
}

/// Grows trees, one for each seed; `search` makes a criterion of targets.
inline std::vector<Grown> grow_forest(Table& table, const Targets& targets, const Rules& rules, const Drawing& drawing,
                                      const std::vector<std::uint64_t>& seeds,
                                      const std::function<std::unique_ptr<Search>(Targets)>& search) {
  std::vector<Grown> made(seeds.size());
  const auto tree = [&](Index i) {
    Rules own = rules;
    own.seed = seeds[i];
    own.ties_by_chance = true;  // trees should differ
    made[i] = grow(table, search(targets_of_tree(targets, drawing, seeds[i])), own, false);
  };
  if (static_cast<Index>(seeds.size()) < 2 * threads())
    for (Index i = 0; i < static_cast<Index>(seeds.size()); ++i) tree(i);  // a tree has threads of its own
  else
    parallel_for(static_cast<Index>(seeds.size()), tree);
  return made;
}

/// A tree of a forest as prediction reads it.
struct Voter {
  std::vector<Step> steps;
  std::vector<double> value;
  std::uint64_t seed = 0;
};

/// Adds up the values of all trees for each row: rows x width. Where rows were drawn, of a tree only those that it has
/// not seen, and `voters` counts the trees of each row.
inline void add_up(const std::vector<Voter>& forest, const Cells& x, Index width, const Drawing& drawing, double* sums,
                   double* voters) {
  const Index draws = drawing.draws;
  std::vector<std::vector<std::uint8_t>> seen(draws > 0 ? forest.size() : 0);
  parallel_for(static_cast<Index>(seen.size()), [&](Index t) {
    const std::vector<std::uint32_t> times = drawn(forest[t].seed, x.rows, drawing);
    seen[t].resize(times.size());
    std::transform(times.begin(), times.end(), seen[t].begin(), [](std::uint32_t many) { return many > 0; });
  });
  blocks_of_rows(x, [&](Index first, Index many, const auto& value) {
    std::int64_t leaves[512];
    for (std::size_t t = 0; t < forest.size(); ++t) {
      walk(forest[t].steps, many, value, leaves);
      for (Index i = 0; i < many; ++i) {
        if (draws > 0) {
          if (seen[t][first + i]) continue;
          voters[first + i] += 1;
        }
        const double* const from = forest[t].value.data() + leaves[i] * width;
        double* const to = sums + (first + i) * width;
        for (Index k = 0; k < width; ++k) to[k] += from[k];
      }
    }
  });
}

}  // namespace tutelage::trees
