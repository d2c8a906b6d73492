// Splits by absolute error: each side is as bad as its distances from its own median.
//
// Medians are no function of sums. A walk along the column keeps, for the rows passed so far, the weight and the sum of
// targets at each rank of y in a Fenwick tree: a row enters and the median and the loss around it are read in O(log n)
// steps. One walk from each end gives the losses of both sides of every cut.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "core/machine/index.hpp"
#include "core/trees/search.hpp"

namespace tutelage::trees {

/// Weights and sums by rank, growing row by row.
class Ranked {
 public:
  void reset(Index ranks) {
    size_ = ranks;
    weight_.assign(static_cast<std::size_t>(ranks) + 1, 0.0);
    sum_.assign(static_cast<std::size_t>(ranks) + 1, 0.0);
    all_weight_ = all_sum_ = 0;
  }
  void add(Index rank, double weight, double y) {
    for (Index i = rank + 1; i <= size_; i += i & -i) {
      weight_[i] += weight;
      sum_[i] += weight * y;
    }
    all_weight_ += weight;
    all_sum_ += weight * y;
  }
  /// The loss around the median; the median itself only on demand, since it takes a second way down.
  template <class Y>
  double loss(Y&& y, bool wants_median, double& median) const {
    double below = 0, sum = 0;
    const double lower = y(find([&](double w) { return w < all_weight_ / 2; }, below, sum));
    if (wants_median) {
      double ignored = 0;
      median = lower / 2 + y(find([&](double w) { return w <= all_weight_ / 2; }, ignored, ignored)) / 2;
    }
    return std::max(0.0, lower * below - sum + (all_sum_ - sum) - lower * (all_weight_ - below));
  }

 private:
  /// The rank after the last one up to which the weight is small; the weight and sum of those.
  template <class Small>
  Index find(Small&& small, double& below, double& sum) const {
    Index at = 0;
    below = sum = 0;
    double weight = 0, targets = 0;
    for (auto step = static_cast<Index>(std::bit_floor(static_cast<std::size_t>(size_))); step > 0; step /= 2) {
      if (at + step <= size_ && small(weight + weight_[at + step])) {
        at += step;
        weight += weight_[at];
        targets += sum_[at];
      }
    }
    below = weight;
    sum = targets;
    return std::min(at, size_ - 1);
  }

  Index size_ = 0;
  std::vector<double> weight_, sum_;
  double all_weight_ = 0, all_sum_ = 0;
};

/// The median of y[sorted], halfway between the two middle ones where the weight is cut in halves exactly.
template <class Y, class W>
double weighted_median(Index count, Y&& y, W&& w) {
  double all = 0, below = 0;
  for (Index i = 0; i < count; ++i) all += w(i);
  for (Index i = 0; i < count; ++i) {
    below += w(i);
    if (2 * below == all && i + 1 < count) return y(i) / 2 + y(i + 1) / 2;
    if (2 * below > all) return y(i);
  }
  return y(count - 1);
}

class AbsoluteSearch final : public Search {
 public:
  explicit AbsoluteSearch(Targets targets)
      : t_(std::move(targets)),
        rank_(static_cast<std::size_t>(t_.rows * t_.outputs)),
        by_rank_(static_cast<std::size_t>(t_.rows * t_.outputs)) {}

  const Targets& targets() const override { return t_; }
  std::unique_ptr<Search> part(const std::uint32_t* rows, Index count) const override {
    return std::make_unique<AbsoluteSearch>(t_.of(rows, count));
  }
  double gain(const Node& node, double score) const override { return score + node.weight * node.impurity; }

  /// Also notes the ranks of the node's targets: nodes own disjoint rows, so nobody else writes there.
  void measure(const std::uint32_t* rows, Index count, Node& node) const override {
    node.value.assign(static_cast<std::size_t>(t_.outputs), 0.0);
    node.weight = node.impurity = 0;
    for (Index i = 0; i < count; ++i) node.weight += weight(rows[i]);
    std::vector<std::uint32_t> sorted(rows, rows + count);
    for (Index o = 0; o < t_.outputs; ++o) {
      std::stable_sort(sorted.begin(), sorted.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return target(a, o) < target(b, o); });
      for (Index i = 0; i < count; ++i) {
        rank_[sorted[i] * t_.outputs + o] = i;
        by_rank_[rows[i] * t_.outputs + o] = target(sorted[i], o);
      }
      const double median = node.value[o] = weighted_median(
          count, [&](Index i) { return target(sorted[i], o); }, [&](Index i) { return weight(sorted[i]); });
      double lost = 0;
      for (Index i = 0; i < count; ++i) lost += weight(rows[i]) * std::abs(target(rows[i], o) - median);
      node.impurity += lost / node.weight / static_cast<double>(t_.outputs);
    }
  }

  void best(const Node& node, const Rules& rules, const View& view, const std::uint32_t* rows,
            Split& found) const override {
    found.column = view.number;
    const Index n = node.count();
    const Sequence s = sequence(view, rows, n);
    const Entry* const e = s.entries;
    found.constant = s.present == 0 || (s.missing == 0 && e[0].code == e[s.present - 1].code);
    if (found.constant) return;
    Index only = -1;
    std::uint64_t seed = 0;
    if (rules.random && e[0].code != e[s.present - 1].code) {
      seed = mixed(node.key ^ mixed(static_cast<std::uint64_t>(view.number)));
      const double low = view.column->lows[e[0].code], high = view.column->lows[e[s.present - 1].code];
      double t = low + unit_interval(seed) * (high - low);
      if (!(t >= low && t < high)) t = low;
      found.threshold = t;
      only = 0;
      while (view.column->lows[e[only + 1].code] <= t) ++only;
    }
    for (int missing_left = 0; missing_left <= (s.missing > 0); ++missing_left) {
      if (only >= 0 && s.missing > 0 && missing_left != static_cast<int>(seed & 1)) continue;
      std::vector<std::uint32_t> walk;
      walk.reserve(static_cast<std::size_t>(n));
      const Index ahead = missing_left ? s.missing : 0;
      for (Index i = 0; i < ahead; ++i) walk.push_back(e[s.present + i].row);
      for (Index i = 0; i < n - ahead; ++i) walk.push_back(e[i].row);
      std::vector<double> lost(static_cast<std::size_t>(n), 0.0), weights(static_cast<std::size_t>(n), 0.0);
      std::vector<double> left_median(static_cast<std::size_t>(n)), right_median(static_cast<std::size_t>(n));
      losses(walk, rows, rules.monotone != nullptr, lost, weights, left_median, right_median);
      for (Index i = ahead; i < ahead + s.present; ++i) {
        const Index at = i - ahead;
        const bool last = at + 1 == s.present;
        if (last ? s.missing == 0 || missing_left : e[at + 1].code == e[at].code) continue;
        if (only >= 0 && at != only) continue;
        if (i + 1 < rules.min_leaf || n - i - 1 < rules.min_leaf) continue;
        if (weights[i] < rules.min_weight || node.weight - weights[i] < rules.min_weight) continue;
        if (rules.monotone) {
          const double l = left_median[i], r = right_median[i + 1];
          if (std::min(l, r) < node.lower || std::max(l, r) > node.upper) continue;
          if ((l - r) * rules.monotone[view.number] > 0) continue;
        }
        if (-lost[i] <= found.score) continue;
        found.score = -lost[i];
        found.low = e[at].code;
        found.low_row = e[at].row;
        found.infinite = last;
        found.missing_left = missing_left;
        found.left_value = left_median[i];
        if (i + 1 < n) found.right_value = right_median[i + 1];
        if (!last) {
          found.high = e[at + 1].code;
          found.high_row = e[at + 1].row;
        }
      }
    }
  }

 private:
  double target(std::uint32_t row, Index o) const { return t_.numbers[row * t_.outputs + o]; }
  double weight(std::uint32_t row) const { return t_.weights.empty() ? 1.0 : t_.weights[row]; }

  /// lost[i]: what both sides lose, averaged over outputs, when rows 0 ... i of the walk go left.
  void losses(const std::vector<std::uint32_t>& walk, const std::uint32_t* rows, bool medians,
              std::vector<double>& lost, std::vector<double>& weights, std::vector<double>& left_median,
              std::vector<double>& right_median) const {
    const auto n = static_cast<Index>(walk.size());
    Ranked ranked;
    for (Index o = 0; o < t_.outputs; ++o) {
      const auto y = [&](Index rank) { return by_rank_[rows[rank] * t_.outputs + o]; };
      const auto pass = [&](std::uint32_t row, double& median) {
        ranked.add(rank_[row * t_.outputs + o], weight(row), target(row, o));
        return ranked.loss(y, medians, median) / static_cast<double>(t_.outputs);
      };
      ranked.reset(n);
      double passed = 0;
      for (Index i = 0; i < n; ++i) {
        lost[i] += pass(walk[i], left_median[i]);
        weights[i] = passed += weight(walk[i]);
      }
      ranked.reset(n);
      for (Index i = n - 1; i > 0; --i) lost[i - 1] += pass(walk[i], right_median[i]);
    }
  }

  Targets t_;
  mutable std::vector<Index> rank_;      // of a row's target in its node
  mutable std::vector<double> by_rank_;  // the targets of a node in order, at the places of its rows
};

}  // namespace tutelage::trees
