// Forests: trees grown on rows drawn with replacement, and their answers added up.
//
// Every tree has a seed of its own, from which its rows and its choices follow. So trees can grow in any order, on any
// number of threads, and what a tree has not seen can be told again without being stored.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/machine/index.hpp"
#include "core/machine/parallel.hpp"
#include "core/trees/grow.hpp"
#include "core/trees/tree.hpp"

namespace tutelage::trees {

/// How the rows of each tree are chosen.
struct Drawing {
  Index draws = 0;                // with replacement; 0: every row once
  bool balanced = false;          // every class of the drawn rows weighs the same
  std::vector<double> cumulated;  // weights up to each row, by which rows are drawn; empty: all alike
};

/// How often each row is drawn.
inline std::vector<std::uint32_t> drawn(std::uint64_t seed, Index rows, const Drawing& drawing) {
  std::vector<std::uint32_t> times(static_cast<std::size_t>(rows), 0u);
  std::uint64_t state = mixed(seed ^ 0x5851f42d4c957f2du);
  const std::vector<double>& sums = drawing.cumulated;
  for (Index i = 0; i < drawing.draws; ++i) {
    state += 0x9e3779b97f4a7c15u;
    Index row = static_cast<Index>(unit_interval(state) * static_cast<double>(rows));
    // the first row up to which there is more weight: one without weight is never drawn
    if (!sums.empty())
      row = std::upper_bound(sums.begin(), sums.end(), unit_interval(state) * sums.back()) - sums.begin();
    ++times[std::min(row, rows - 1)];
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
