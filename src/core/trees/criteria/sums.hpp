// Several outputs, and the Poisson deviance: whatever else is a function of sums.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/machine/index.hpp"
#include "core/trees/criteria/node.hpp"

namespace tutelage::trees {

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
  double gain(const Node& node, double score) const { return score - offset(node); }
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
