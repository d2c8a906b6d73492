// The gradient of the smooth part in w, computed only where it can matter.
//
// With r the weighted slopes, g_j = x_j'r, and Cauchy's inequality says how far it can have gone since it was last
// computed, at r_0:  |g_j - x_j'r_0| <= |x_j| |r - r_0|.  The solver adds up |r - r_0| from round to round ("drift"). A
// coefficient that is zero, and that the penalty would hold at zero for every gradient inside that bound, is screened:
// its column is not read. Near the solution the drift is small and almost all columns are screened; along a path of
// strengths most columns are read a few times in all. The test is exact, whatever the loss.
#pragma once
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/solvers/coordinate/descend.hpp"
#include "core/solvers/coordinate/smooth.hpp"

namespace tutelage::coordinate {

class Gradients {
 public:
  /// Reads X once: means (when centred), squares and gradients of every column at these slopes.
  Gradients(const ColumnProducts& x, const SmoothPart& smooth, bool centred)
      : x_(x),
        rows_(x.rows()),
        columns_(x.columns()),
        means(at(centred ? columns_ : 0)),
        squares(at(columns_)),
        g(at(columns_)),
        scale_of_loss(smooth.facts().quadratic || smooth.facts().smoothness == infinity ? 1.0
                                                                                        : smooth.facts().smoothness),
        lipschitz(at(columns_)),
        bound_(at(columns_)),
        when_(at(columns_), 0.0),
        known_(at(columns_), 1) {
    x.survey(smooth.weights.data(), smooth.slopes.data(),
             {.means = centred ? means.data() : nullptr, .squares = squares.data(), .dots = g.data()});
    for (Index j = 0; j < columns_; ++j) {
      if (!std::isfinite(squares[at(j)])) {
        throw std::invalid_argument(
            "X has NaN, infinity or numbers too large to square in column " + std::to_string(j) +
            " (Coordinate descent iterations resulted in non-finite parameter values); impute or rescale it.");
      }
      // What rounding leaves of a constant column after its mean is subtracted is not a direction.
      if (centred && squares[at(j)] <= 1e-28 * means[at(j)] * means[at(j)]) squares[at(j)] = 0;
      if (squares[at(j)] == 0) g[at(j)] = 0;
      if (squares[at(j)] > 0) eligible_.push_back(j);
      lipschitz[at(j)] = squares[at(j)] * scale_of_loss;
    }
    before_ = smooth.slopes;
    passes = 1;
  }

  const double* shift() const { return means.empty() ? nullptr : means.data(); }
  const Indices& eligible() const { return eligible_; }
  /// True where g is exact at the slopes last given to update(); elsewhere the coefficient is screened.
  bool known(Index j) const { return known_[at(j)] != 0; }

  /// Gradients at the present slopes, of every column that is not screened. `fresh` receives those columns.
  void update(const SmoothPart& smooth, const CoordinateLoops& loops, const Vector& w, Indices& fresh) {
    drift_ += distance(smooth);
    before_ = smooth.slopes;
    const Index count = static_cast<Index>(eligible_.size());
    fresh.resize(eligible_.size());
    constexpr Index piece = 16384;
    const Index pieces = (count + piece - 1) / piece;
    Indices found(at(pieces));
    parallel_for(pieces, [&](Index t) {
      const Index first = t * piece, size = std::min(piece, count - first);
      for (Index k = first; k < first + size; ++k) {
        const Index j = eligible_[at(k)];
        const double moved = (drift_ - when_[at(j)]) * std::sqrt(squares[at(j)]);
        bound_[at(j)] = std::abs(g[at(j)]) + moved * (1 + 1e-10);
      }
      found[at(t)] = loops.candidates(eligible_.data() + first, size, w.data(), bound_.data(), lipschitz.data(),
                                      fresh.data() + first);
    });
    Index total = 0;
    for (Index t = 0; t < pieces; ++t) {
      std::copy_n(fresh.begin() + t * piece, found[at(t)], fresh.begin() + total);
      total += found[at(t)];
    }
    fresh.resize(at(total));
    std::fill(known_.begin(), known_.end(), char{0});
    for (const Index j : fresh) known_[at(j)] = 1;
    Indices stale;
    for (const Index j : fresh) {
      if (when_[at(j)] != drift_) stale.push_back(j);
    }
    read(smooth, stale);
  }

  /// Gradients of these columns at the present slopes, for the inner loop; the screening does not learn of them.
  void read(const SmoothPart& smooth, const Indices& js, Vector& out) {
    out.resize(js.size());
    x_.dots(js.data(), static_cast<Index>(js.size()), shift(), smooth.slopes.data(), out.data());
    count_pass(js);
  }

  /// Takes gradients of these columns at the present slopes from one who has read them.
  void store(const SmoothPart& smooth, const Indices& js, const Vector& values) {
    drift_ += distance(smooth);
    before_ = smooth.slopes;
    for (std::size_t t = 0; t < js.size(); ++t) {
      g[at(js[t])] = values[t];
      when_[at(js[t])] = drift_;
    }
  }

  /// Gradients of all columns at the present slopes.
  void read_all(const SmoothPart& smooth) {
    drift_ += distance(smooth);
    before_ = smooth.slopes;
    Indices stale;
    for (const Index j : eligible_) {
      if (when_[at(j)] != drift_) stale.push_back(j);
    }
    read(smooth, stale);
    for (const Index j : eligible_) known_[at(j)] = 1;
  }

  /// The largest of the gradients that are known.
  double largest() const {
    double most = 0;
    for (const Index j : eligible_) {
      if (known(j)) most = std::max(most, std::abs(g[at(j)]));
    }
    return most;
  }

 private:
  void read(const SmoothPart& smooth, const Indices& js) {
    read(smooth, js, values_);
    for (std::size_t t = 0; t < js.size(); ++t) {
      g[at(js[t])] = values_[t];
      when_[at(js[t])] = drift_;
    }
  }

  /// |r - r_0| in the norm that goes with `squares`.
  double distance(const SmoothPart& smooth) const {
    const double square = sum_blocks(rows_, [&](Index first, Index n) {
      double sum = 0;
      for (Index i = first; i < first + n; ++i) {
        const double by = smooth.slopes[at(i)] - before_[at(i)];
        if (by != 0) sum += by * by / smooth.weights[at(i)];
      }
      return sum;
    });
    return std::sqrt(square);
  }

  void count_pass(const Indices& js) {
    Index stored = 0;
    for (const Index j : js) stored += x_.stored(j);
    if (x_.stored() > 0) passes += static_cast<double>(stored) / static_cast<double>(x_.stored());
  }

  const ColumnProducts& x_;
  const Index rows_, columns_;

 public:
  Vector means;    // of the columns under the row weights; empty without an intercept
  Vector squares;  // sum_i weight_i (x_ij - mean_j)^2; zero for constant columns, which take no part
  Vector g;
  double scale_of_loss;
  Vector lipschitz;  // squares times the largest curvature of the loss, where it has one
  double passes = 0;

 private:
  Vector bound_;
  Vector when_;  // the drift at which g_j was computed
  std::vector<char> known_;
  Indices eligible_;
  Vector before_;
  Vector values_;
  double drift_ = 0;
};

}  // namespace tutelage::coordinate
