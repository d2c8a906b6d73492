// Labels of one output: Gini's impurity and entropy.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/machine/index.hpp"
#include "core/trees/criteria/node.hpp"

namespace tutelage::trees {

/// Labels of one output. Unweighted sums are whole numbers, so every score is a function of the counts alone.
template <bool entropy, bool weighted>
class Labels {
 public:
  Labels(Targets targets, Logs logs) : t_(std::move(targets)), k_(t_.classes[0]), logs_(std::move(logs)) {
    double sum = 0;
    for (const double w : t_.weights) {
      whole_ &= w == std::floor(w);
      sum += w;
    }
    whole_ &= sum < 0x1p26;  // the squares are exact too
  }

  const Targets& targets() const { return t_; }
  Labels part(const std::uint32_t* rows, Index count) const { return {t_.of(rows, count), logs_}; }
  Index width() const { return first + k_; }

  void put(double* cell, Index row, const Node&) const {
    cell[0] += 1;
    if constexpr (weighted) {
      cell[1] += t_.weights[row];
      cell[first + t_.labels[row]] += t_.weights[row];
    } else {
      cell[first + t_.labels[row]] += 1;
    }
  }

  void measure(const std::uint32_t* rows, Index count, Node& node) const {
    node.total.assign(static_cast<std::size_t>(width()), 0.0);
    for (Index i = 0; i < count; ++i) put(node.total.data(), rows[i], node);
    const double* const counts = node.total.data() + first;
    double sum = 0;
    for (Index k = 0; k < k_; ++k) sum += counts[k];
    node.weight = weighted ? sum : static_cast<double>(count);
    if (weighted) node.total[1] = node.weight;
    node.value.resize(static_cast<std::size_t>(k_));
    double impurity = entropy ? 0.0 : 1.0;
    for (Index k = 0; k < k_; ++k) {
      const double share = counts[k] / node.weight;
      node.value[k] = share;
      impurity -= entropy ? (share > 0 ? share * std::log2(share) : 0.0) : share * share;
    }
    node.impurity = std::max(0.0, impurity);
  }

  /// The sums of all bins of a column: rows and their whole weights counted side by side in the halves of one word.
  /// Small tables stand four times and take turns, so that no count waits for the last one where most rows are alike.
  template <class Code>
  void fill(double* cells, Index bins, const Code* codes, const std::uint32_t* rows, Index count,
            const Node& node) const {
    if (weighted && !whole_) {
      for (Index i = 0; i < count; ++i) put(cells + static_cast<Index>(codes[rows[i]]) * width(), rows[i], node);
      return;
    }
    thread_local std::vector<std::uint64_t> kept;
    const Index size = bins * k_, apart = size <= 2048 ? size : 0;
    kept.assign(static_cast<std::size_t>(apart ? 4 * size : size), 0u);
    std::uint64_t* const counts = kept.data();
    const auto add = [&](Index i, Index table) {
      const std::uint32_t row = rows[i];
      const std::uint64_t w = weighted ? static_cast<std::uint64_t>(t_.weights[row]) << 32 : 0u;
      counts[table * apart + static_cast<Index>(codes[row]) * k_ + t_.labels[row]] += w + 1;
    };
    Index i = 0;
    for (; i + 4 <= count; i += 4)
      for (Index table = 0; table < 4; ++table) add(i + table, table);
    for (; i < count; ++i) add(i, 0);
    for (Index b = 0; b < bins; ++b) {
      double* const cell = cells + b * width();
      std::uint64_t all = 0;
      for (Index j = 0; j < k_; ++j) {
        const std::uint64_t* const at = counts + b * k_ + j;
        const std::uint64_t many = apart ? at[0] + at[apart] + at[2 * apart] + at[3 * apart] : at[0];
        cell[first + j] = static_cast<double>(weighted ? many >> 32 : many);
        all += many;
      }
      cell[0] = static_cast<double>(weighted ? all & 0xffffffffu : all);
      if constexpr (weighted) cell[1] = static_cast<double>(all >> 32);
    }
  }

  double offset(const Node& node) const {
    const double* const counts = node.total.data() + first;
    double sum = 0;
    for (Index k = 0; k < k_; ++k) sum += entropy ? x_log_x(counts[k]) : counts[k] * counts[k];
    return entropy ? sum - x_log_x(node.weight) : sum / node.weight;
  }
  /// What a score is worth: the decrease of weight times impurity, in bits for the entropy.
  double gain(const Node& node, double score) const {
    return (score - offset(node)) * (entropy ? 1.4426950408889634 : 1.0);
  }

  class Scan {
   public:
    Scan(const Labels& c, const Node& node)
        : c_(c),
          label_(c.t_.labels.data()),
          weight_(c.t_.weights.data()),
          logs_(entropy && !weighted ? c.logs_->data() : nullptr),
          total_(node.total.data() + first),
          left_(buffer(c.k_)),
          counts_squares_(!entropy && (!weighted || c.whole_)),
          l_(0),
          r_(node.weight) {
      for (Index k = 0; k < c.k_; ++k) {
        left_[k] = 0;
        right_squares_ += total_[k] * total_[k];
      }
    }
    void add(Index row) { move(label_[row], weighted ? weight_[row] : 1.0); }
    void add_cell(const double* cell) {
      for (Index k = 0; k < c_.k_; ++k)
        if (cell[first + k] != 0) move(k, cell[first + k]);
    }
    double left_weight() const { return l_; }
    double right_weight() const { return r_; }
    bool beats(double best) const {
      if (counts_squares_) return left_squares_ * r_ + right_squares_ * l_ > best * (l_ * r_) * nearly_one;
      return true;
    }
    double score() const {
      if (counts_squares_) return left_squares_ / l_ + right_squares_ / r_;
      double sum = 0;
      if constexpr (!entropy) {
        double right = 0;
        for (Index k = 0; k < c_.k_; ++k) {
          sum += left_[k] * left_[k];
          right += (total_[k] - left_[k]) * (total_[k] - left_[k]);
        }
        return sum / l_ + right / r_;
      } else {
        for (Index k = 0; k < c_.k_; ++k) sum += f(left_[k]) + f(total_[k] - left_[k]);
        return sum - (f(l_) + f(r_));
      }
    }
    double left_value() const { return left_[0] / l_; }
    double right_value() const { return (total_[0] - left_[0]) / r_; }

   private:
    void move(Index k, double w) {
      if (counts_squares_) {
        left_squares_ += w * (2 * left_[k] + w);
        right_squares_ -= w * (2 * (total_[k] - left_[k]) - w);
      }
      left_[k] += w;
      l_ += w;
      r_ -= w;
    }
    double f(double x) const {
      if constexpr (weighted) return x_log_x(x);
      return logs_[static_cast<std::size_t>(x)];
    }
    static double* buffer(Index k) {
      thread_local std::vector<double> kept;
      if (kept.size() < static_cast<std::size_t>(k)) kept.resize(static_cast<std::size_t>(k));
      return kept.data();
    }
    const Labels& c_;
    const std::uint16_t* const label_;
    const double* const weight_;
    const double* const logs_;
    const double* const total_;
    double* const left_;
    const bool counts_squares_;  // weights are whole numbers, so that sums of squares may be updated
    double l_, r_, left_squares_ = 0, right_squares_ = 0;
  };

 protected:
  static constexpr Index first = weighted ? 2 : 1;
  Targets t_;
  Index k_;
  Logs logs_;
  bool whole_ = true;  // all weights
};

/// Two labels without weights by Gini's impurity: with a of n rows of the second label, and a_l among the l on the
/// left,
///
///     gain = 2 / n * d^2 / (l r),      d = a_l n - l a,
///
/// where d is a whole number that a row moves by n - a or by - a. A score here is d^2 / (l r).
class TwoLabels : public Labels<false, false> {
 public:
  explicit TwoLabels(Targets targets) : Labels(std::move(targets), nullptr) {}
  TwoLabels part(const std::uint32_t* rows, Index count) const { return TwoLabels(t_.of(rows, count)); }
  double gain(const Node& node, double score) const { return 2 * score / node.weight; }

  class Scan {
   public:
    Scan(const TwoLabels& c, const Node& node)
        : label_(c.t_.labels.data()), all_(node.weight), ones_(node.total[first + 1]), step_{-ones_, all_ - ones_} {}
    void add(Index row) {
      l_ += 1;
      d_ += step_[label_[row]];
    }
    void add_cell(const double* cell) {
      l_ += cell[0];
      d_ += cell[first] * step_[0] + cell[first + 1] * step_[1];
    }
    double left_weight() const { return l_; }
    double right_weight() const { return all_ - l_; }
    bool beats(double best) const { return d_ * d_ > best * (l_ * (all_ - l_)) * nearly_one; }
    double score() const { return d_ * d_ / (l_ * (all_ - l_)); }
    double left_value() const { return 1 - left_ones() / l_; }
    double right_value() const { return 1 - (ones_ - left_ones()) / (all_ - l_); }

   private:
    double left_ones() const { return (d_ + l_ * ones_) / all_; }
    const std::uint16_t* const label_;
    const double all_, ones_;
    const double step_[2];
    double l_ = 0, d_ = 0;
  };
};

}  // namespace tutelage::trees
