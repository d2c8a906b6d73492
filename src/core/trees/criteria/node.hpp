// What every criterion speaks of: nodes while they grow, targets, and sums that are exact.
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
  std::uint64_t key = 0;            // of its own random numbers
  std::vector<double> total;        // sums over its rows
  std::vector<double> value;        // what a leaf here would predict
  std::vector<Grid> grids;          // of the targets, output by output, where sums are of numbers
  std::vector<std::uint32_t> live;  // the columns that may tell its rows apart; where every column is looked at

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

}  // namespace tutelage::trees
