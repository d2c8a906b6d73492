// What makes a split good: scalar mathematics of the sums over two groups of rows, without loops over rows.
//
// A criterion owns the targets of the rows it speaks of, and knows
//
//   width()                 how many numbers its sums have; the first is the number of rows
//   put(cell, row, node)    adds a row to sums
//   measure(rows, n, node, value)   weight, impurity, value and sums of a node
//   Scan(criterion, node)   the walk of rows, or of whole sums, from right to left: add, add_cell, score, value
//
// The score of a split is what stays of  weight * impurity  of the node when the two children are taken away, but for a
// constant of the node, which `offset` puts right:
//
//   gini            sum_k l_k^2 / l + sum_k r_k^2 / r
//   entropy         sum_k l_k log l_k - l log l + the same of r            (log_loss is the same)
//   squared error   (sum of y - c)^2 / l + the same of r, c the mean of the node (Friedman's is a multiple of it)
//   Poisson         s log(s / l) + the same of r, s the sum of y
//
// with l and r the weights of the two sides, means over the outputs where there are several.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "core/machine/index.hpp"

namespace tutelage::trees {

/// Numbers on a grid so coarse that their sums are exact, and so fine that nobody sees it: sums of n numbers keep
/// 51 - log2 n digits of two of each. Exact sums do not depend on the order of the rows, so that neither a permutation
/// of the rows nor writing copies as weights can make one of two equally good splits look better.
struct Grid {
  double centre = 0;  // itself a number of few digits, so that whole numbers stay whole
  double magic = 0;   // adding and subtracting it rounds to the grid

  Grid() = default;
  Grid(double low, double high, double mean, double weight) {
    const double range = high - low;
    if (!(range > 0)) {
      centre = low;
      return;
    }
    const double coarse = std::ldexp(1.0, std::ilogb(range) - 6);
    centre = std::abs(mean) < coarse * 0x1p45 ? std::round(mean / coarse) * coarse : mean;
    magic = std::ldexp(1.5, std::ilogb(2 * range * weight) + 2);
  }
  double round(double x) const { return (x + magic) - magic; }
  double of(double y) const { return round(y - centre); }
  double of(double y, double weight) const { return round(weight * of(y)); }
};

/// A node while the tree grows. Its rows are order[begin ... end) of the part it belongs to.
struct Node {
  Index begin = 0, end = 0, depth = 0;
  double weight = 0, impurity = 0;
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
  std::uint64_t key = 0;      // of its own random numbers
  std::vector<double> total;  // sums over its rows
  std::vector<double> value;  // what a leaf here would predict
  std::vector<Grid> grids;    // of the targets, output by output, where sums are of numbers

  Index count() const { return end - begin; }
};

/// Rows and their targets: labels or numbers, output by output, and weights if they differ.
struct Targets {
  Index rows = 0, outputs = 1;
  std::vector<Index> classes;         // of each output; empty for numbers
  std::vector<std::uint16_t> labels;  // row * outputs + output
  std::vector<double> numbers;
  std::vector<double> weights;

  Index most_classes() const { return classes.empty() ? 1 : *std::max_element(classes.begin(), classes.end()); }
  Index value_width() const { return outputs * most_classes(); }
  /// The same of some rows, renumbered 0, 1, ...
  Targets of(const std::uint32_t* chosen, Index count) const {
    Targets made;
    made.rows = count;
    made.outputs = outputs;
    made.classes = classes;
    const auto take = [&](const auto& from, auto& to, Index width) {
      if (from.empty()) return;
      to.resize(static_cast<std::size_t>(count * width));
      for (Index i = 0; i < count; ++i)
        for (Index o = 0; o < width; ++o) to[i * width + o] = from[chosen[i] * width + o];
    };
    take(labels, made.labels, outputs);
    take(numbers, made.numbers, outputs);
    take(weights, made.weights, 1);
    return made;
  }
};

/// x log x for the whole numbers, so that counts need no logarithm.
inline std::shared_ptr<const std::vector<double>> table_of_logs(Index most) {
  auto made = std::make_shared<std::vector<double>>(static_cast<std::size_t>(most) + 1, 0.0);
  for (Index i = 2; i <= most; ++i) (*made)[i] = static_cast<double>(i) * std::log(static_cast<double>(i));
  return made;
}
using Logs = std::shared_ptr<const std::vector<double>>;

inline double x_log_x(double x) { return x > 0 ? x * std::log(x) : 0.0; }

/// A score is a quotient; comparing products, a little in favour of the new one, saves most divisions.
inline constexpr double nearly_one = 1 - 0x1p-48;

/// Labels of one output. Unweighted sums are whole numbers, so every score is a function of the counts alone.
template <bool entropy, bool weighted>
class Labels {
 public:
  Labels(Targets targets, Logs logs) : t_(std::move(targets)), k_(t_.classes[0]), logs_(std::move(logs)) {}

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

  /// The sums of all bins of a column, counted in whole numbers; four tables in turn, so that no count waits for the
  /// last one where most rows have one value and one label.
  void fill(double* cells, Index bins, const std::uint8_t* bytes, const std::uint32_t* rows, Index count,
            const Node&) const
    requires(!weighted)
  {
    thread_local std::vector<std::uint32_t> kept;
    const Index size = bins * k_;
    kept.assign(static_cast<std::size_t>(4 * size), 0u);
    std::uint32_t* const counts = kept.data();
    const std::uint16_t* const labels = t_.labels.data();
    const auto k = static_cast<std::uint32_t>(k_);
    const auto place = [&](Index i) { return bytes[rows[i]] * k + labels[rows[i]]; };
    Index i = 0;
    for (; i + 4 <= count; i += 4) {
      ++counts[place(i)];
      ++counts[size + place(i + 1)];
      ++counts[2 * size + place(i + 2)];
      ++counts[3 * size + place(i + 3)];
    }
    for (; i < count; ++i) ++counts[place(i)];
    for (Index b = 0; b < bins; ++b) {
      double* const cell = cells + b * width();
      std::uint32_t all = 0;
      for (Index j = 0; j < k_; ++j) {
        const std::uint32_t* const at = counts + b * k_ + j;
        const std::uint32_t many = at[0] + at[size] + at[2 * size] + at[3 * size];
        cell[first + j] = many;
        all += many;
      }
      cell[0] = all;
    }
  }

  double offset(const Node& node) const {
    const double* const counts = node.total.data() + first;
    double sum = 0;
    for (Index k = 0; k < k_; ++k) sum += entropy ? x_log_x(counts[k]) : counts[k] * counts[k];
    return entropy ? sum - x_log_x(node.weight) : sum / node.weight;
  }
  static constexpr double unit = entropy ? 1.4426950408889634 : 1.0;  // nats to bits

  class Scan {
   public:
    Scan(const Labels& c, const Node& node)
        : c_(c),
          label_(c.t_.labels.data()),
          weight_(c.t_.weights.data()),
          logs_(entropy && !weighted ? c.logs_->data() : nullptr),
          total_(node.total.data() + first),
          left_(buffer(c.k_)),
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
      if constexpr (!entropy && !weighted)
        return left_squares_ * r_ + right_squares_ * l_ > best * (l_ * r_) * nearly_one;
      return true;
    }
    double score() const {
      if constexpr (!entropy && !weighted) return left_squares_ / l_ + right_squares_ / r_;
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
      if constexpr (!entropy && !weighted) {
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
    double l_, r_, left_squares_ = 0, right_squares_ = 0;
  };

 protected:
  static constexpr Index first = weighted ? 2 : 1;
  Targets t_;
  Index k_;
  Logs logs_;
};

/// Two labels without weights by Gini's impurity: a count of the second label says all.
class TwoLabels : public Labels<false, false> {
 public:
  explicit TwoLabels(Targets targets) : Labels(std::move(targets), nullptr) {}
  TwoLabels part(const std::uint32_t* rows, Index count) const { return TwoLabels(t_.of(rows, count)); }

  class Scan {
   public:
    Scan(const TwoLabels& c, const Node& node)
        : label_(c.t_.labels.data()), all_(node.weight), all_ones_(node.total[first + 1]) {}
    void add(Index row) {
      ++l_;
      ones_ += label_[row];
    }
    void add_cell(const double* cell) {
      l_ += static_cast<Index>(cell[0]);
      ones_ += static_cast<Index>(cell[first + 1]);
    }
    double left_weight() const { return static_cast<double>(l_); }
    double right_weight() const { return all_ - left_weight(); }
    bool beats(double best) const {
      const double l = left_weight(), r = all_ - l;
      return left_squares(l) * r + right_squares(r) * l > best * (l * r) * nearly_one;
    }
    double score() const {
      const double l = left_weight(), r = all_ - l;
      return left_squares(l) / l + right_squares(r) / r;
    }
    double left_value() const { return (left_weight() - static_cast<double>(ones_)) / left_weight(); }
    double right_value() const { return (right_weight() - (all_ones_ - static_cast<double>(ones_))) / right_weight(); }

   private:
    double left_squares(double l) const {
      const auto ones = static_cast<double>(ones_);
      return ones * ones + (l - ones) * (l - ones);
    }
    double right_squares(double r) const {
      const double ones = all_ones_ - static_cast<double>(ones_);
      return ones * ones + (r - ones) * (r - ones);
    }
    const std::uint16_t* const label_;
    const double all_, all_ones_;
    Index l_ = 0, ones_ = 0;
  };
};

/// Numbers of one output by squared error. Sums are of y on a grid around the mean of the node.
template <bool weighted>
class Squared {
 public:
  explicit Squared(Targets targets) : t_(std::move(targets)) {}

  const Targets& targets() const { return t_; }
  Squared part(const std::uint32_t* rows, Index count) const { return Squared(t_.of(rows, count)); }
  Index width() const { return weighted ? 3 : 2; }
  static constexpr double unit = 1.0;

  void put(double* cell, Index row, const Node& node) const {
    const double w = weighted ? t_.weights[row] : 1.0;
    cell[0] += 1;
    if constexpr (weighted) cell[1] += w;
    const Grid& grid = node.grids[0];
    cell[weighted ? 2 : 1] += weighted ? grid.of(t_.numbers[row], w) : grid.of(t_.numbers[row]);
  }

  void measure(const std::uint32_t* rows, Index count, Node& node) const {
    double weight = 0, sum = 0, low = t_.numbers[rows[0]], high = low;
    const double near = low;  // sums of differences from a number among them keep their digits
    for (Index i = 0; i < count; ++i) {
      const double w = weighted ? t_.weights[rows[i]] : 1.0, y = t_.numbers[rows[i]];
      weight += w;
      sum += w * (y - near);
      low = std::min(low, y);
      high = std::max(high, y);
    }
    node.weight = weight;
    const double mean = low == high ? low : near + sum / weight;
    node.value.assign(1, mean);
    node.grids.assign(1, Grid(low, high, mean, weight));
    node.total.assign(static_cast<std::size_t>(width()), 0.0);
    double squares = 0;
    for (Index i = 0; i < count; ++i) {
      const double w = weighted ? t_.weights[rows[i]] : 1.0, y = t_.numbers[rows[i]] - mean;
      squares += w * y * y;
      put(node.total.data(), rows[i], node);
    }
    node.impurity = squares / weight;
  }
  double offset(const Node& node) const { return node.total.back() * node.total.back() / node.weight; }

  class Scan {
   public:
    Scan(const Squared& c, const Node& node)
        : y_(c.t_.numbers.data()),
          weight_(c.t_.weights.data()),
          grid_(node.grids[0]),
          total_(node.total.back()),
          r_(node.weight) {}
    void add(Index row) {
      if constexpr (weighted)
        move(weight_[row], grid_.of(y_[row], weight_[row]));
      else
        move(1.0, grid_.of(y_[row]));
    }
    void add_cell(const double* cell) { move(cell[weighted ? 1 : 0], cell[weighted ? 2 : 1]); }
    double left_weight() const { return l_; }
    double right_weight() const { return r_; }
    bool beats(double best) const {
      return s_ * s_ * r_ + (total_ - s_) * (total_ - s_) * l_ > best * (l_ * r_) * nearly_one;
    }
    double score() const { return s_ * s_ / l_ + (total_ - s_) * (total_ - s_) / r_; }
    double left_value() const { return grid_.centre + s_ / l_; }
    double right_value() const { return grid_.centre + (total_ - s_) / r_; }

   private:
    void move(double w, double wy) {
      l_ += w;
      r_ -= w;
      s_ += wy;
    }
    const double* const y_;
    const double* const weight_;
    const Grid grid_;
    const double total_;
    double l_ = 0, r_, s_ = 0;
  };

 private:
  Targets t_;
};

/// Anything else that is a function of sums: several outputs, labels or numbers, and the Poisson deviance.
class Sums {
 public:
  enum class Kind { gini, entropy, squared, poisson };

  Sums(Targets targets, Kind kind) : t_(std::move(targets)), kind_(kind) {
    Index at = 2;
    for (Index o = 0; o < t_.outputs; ++o) {
      offsets_.push_back(at);
      at += t_.classes.empty() ? 1 : t_.classes[static_cast<std::size_t>(o)];
    }
    offsets_.push_back(at);
  }

  const Targets& targets() const { return t_; }
  Sums part(const std::uint32_t* rows, Index count) const { return {t_.of(rows, count), kind_}; }
  Index width() const { return offsets_.back(); }
  static constexpr double unit = 1.0;

  void put(double* cell, Index row, const Node& node) const {
    const double w = t_.weights.empty() ? 1.0 : t_.weights[row];
    cell[0] += 1;
    cell[1] += w;
    for (Index o = 0; o < t_.outputs; ++o) {
      if (!t_.classes.empty())
        cell[offsets_[o] + t_.labels[row * t_.outputs + o]] += w;
      else
        cell[offsets_[o]] += node.grids[o].of(t_.numbers[row * t_.outputs + o], w);
    }
  }

  void measure(const std::uint32_t* rows, Index count, Node& node) const {
    node.value.assign(static_cast<std::size_t>(t_.value_width()), 0.0);
    node.total.assign(static_cast<std::size_t>(width()), 0.0);
    if (t_.classes.empty()) {
      node.grids.resize(static_cast<std::size_t>(t_.outputs));
      for (Index o = 0; o < t_.outputs; ++o) node.value[o] = mean(rows, count, o, node.grids[o]);
    }
    for (Index i = 0; i < count; ++i) put(node.total.data(), rows[i], node);
    const double weight = node.weight = node.total[1];
    double impurity = 0;
    for (Index o = 0; o < t_.outputs; ++o) {
      const double* const sums = node.total.data() + offsets_[o];
      if (!t_.classes.empty()) {
        double one = kind_ == Kind::gini ? 1.0 : 0.0;
        for (Index k = 0; k < offsets_[o + 1] - offsets_[o]; ++k) {
          const double share = sums[k] / weight;
          node.value[o * t_.most_classes() + k] = share;
          one -= kind_ == Kind::gini ? share * share : (share > 0 ? share * std::log2(share) : 0.0);
        }
        impurity += std::max(0.0, one);
        continue;
      }
      double lost = 0;
      for (Index i = 0; i < count; ++i) {
        const double w = t_.weights.empty() ? 1.0 : t_.weights[rows[i]], y = t_.numbers[rows[i] * t_.outputs + o];
        if (kind_ == Kind::squared)
          lost += w * (y - node.value[o]) * (y - node.value[o]);
        else if (y > 0)
          lost += w * y * std::log(y / node.value[o]);
      }
      impurity += std::max(0.0, lost / weight);
    }
    node.impurity = impurity / static_cast<double>(t_.outputs);
  }
  double offset(const Node& node) const { return sum_of(node.total.data(), nullptr, node.weight); }

  class Scan {
   public:
    Scan(const Sums& c, const Node& node)
        : c_(c), node_(node), left_(static_cast<std::size_t>(c.width()), 0.0), r_(node.weight) {}
    void add(Index row) {
      c_.put(left_.data(), row, node_);
      r_ = node_.weight - left_[1];
    }
    void add_cell(const double* cell) {
      for (std::size_t i = 0; i < left_.size(); ++i) left_[i] += cell[i];
      r_ = node_.weight - left_[1];
    }
    bool beats(double) const { return true; }
    double left_weight() const { return left_[1]; }
    double right_weight() const { return r_; }
    double score() const {
      return c_.sum_of(left_.data(), nullptr, left_[1]) + c_.sum_of(node_.total.data(), left_.data(), r_);
    }
    double left_value() const { return c_.centre(node_) + left_[2] / left_[1]; }
    double right_value() const { return c_.centre(node_) + (node_.total[2] - left_[2]) / r_; }

   private:
    const Sums& c_;
    const Node& node_;
    std::vector<double> left_;
    double r_;
  };

 private:
  static double centre(const Node& node) { return node.grids.empty() ? 0.0 : node.grids[0].centre; }
  double mean(const std::uint32_t* rows, Index count, Index o, Grid& grid) const {
    const auto y = [&](Index i) { return t_.numbers[rows[i] * t_.outputs + o]; };
    double weight = 0, sum = 0, low = y(0), high = y(0);
    const double near = low;
    for (Index i = 0; i < count; ++i) {
      const double w = t_.weights.empty() ? 1.0 : t_.weights[rows[i]];
      weight += w;
      sum += w * (y(i) - near);
      low = std::min(low, y(i));
      high = std::max(high, y(i));
    }
    const double found = low == high ? low : near + sum / weight;
    grid = kind_ == Kind::poisson ? Grid(0.0, high, 0.0, weight) : Grid(low, high, found, weight);
    return found;
  }
  /// The part of a score that one side has, whose sums are `cell`, or `cell` less `less`.
  double sum_of(const double* cell, const double* less, double weight) const {
    double all = 0;
    for (Index o = 0; o < t_.outputs; ++o) {
      double sum = 0;
      for (Index i = offsets_[o]; i < offsets_[o + 1]; ++i) {
        const double s = cell[i] - (less ? less[i] : 0.0);
        if (kind_ == Kind::entropy)
          sum += x_log_x(s);
        else if (kind_ != Kind::poisson)
          sum += s * s;
        else if (s > std::numeric_limits<double>::epsilon())
          sum += s * std::log(s / weight);
        else
          return -std::numeric_limits<double>::infinity();  // a mean of zero could never predict a count
      }
      all += kind_ == Kind::entropy   ? (sum - x_log_x(weight)) * 1.4426950408889634
             : kind_ == Kind::poisson ? sum
                                      : sum / weight;
    }
    return all / static_cast<double>(t_.outputs);
  }

  Targets t_;
  Kind kind_;
  std::vector<Index> offsets_;
};

}  // namespace tutelage::trees
