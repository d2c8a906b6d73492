// Numbers of one output: squared error.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/machine/index.hpp"
#include "core/trees/criteria/node.hpp"

namespace tutelage::trees {

/// Numbers of one output by squared error. Sums are of y on a grid around the mean of the node.
template <bool weighted>
class Squared {
 public:
  explicit Squared(Targets targets) : t_(std::move(targets)) {}

  const Targets& targets() const { return t_; }
  Squared part(const std::uint32_t* rows, Index count) const { return Squared(t_.of(rows, count)); }
  Index width() const { return weighted ? 3 : 2; }

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
  double gain(const Node& node, double score) const { return score - offset(node); }
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

}  // namespace tutelage::trees
