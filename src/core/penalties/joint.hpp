// Penalties of all coefficients together: what they do not have, they refuse.
#pragma once
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/penalties/scalar.hpp"

namespace tutelage {

/// A penalty that is neither separable nor smooth, until it overrides more.
class JointPenalty : public AnyPenalty {
 public:
  double value_one(Index, double) const override { return refuse("separable"), 0; }
  double prox_one(Index, double, double) const override { return refuse("separable"), 0; }
  void add_gradient(const double*, Index, Index, double*) const override { refuse("differentiable"); }
  void add_hessian(Index, Index, double*) const override { refuse("quadratic"); }
  void add_hessian_times(const double*, Index, Index, double*) const override { refuse("quadratic"); }
  void add_hessian_diagonal(Index, Index, double*) const override { refuse("quadratic"); }

 protected:
  void refuse(const char* what) const {
    throw std::logic_error("the penalty '" + std::string(facts().name) + "' is not " + what);
  }
};

// ---- norms ----

inline double sum_of_magnitudes(const double* v, Index count) {
  double sum = 0;
  for (Index j = 0; j < count; ++j) sum += std::abs(v[j]);
  return sum;
}
inline double largest_magnitude(const double* v, Index count) {
  double most = 0;
  for (Index j = 0; j < count; ++j) most = std::abs(v[j]) > most || v[j] != v[j] ? std::abs(v[j]) : most;
  return most;
}
inline double sum_of_squares(const double* v, Index count) {
  double sum = 0;
  for (Index j = 0; j < count; ++j) sum += v[j] * v[j];
  return sum;
}

/// The t >= 0 with sum_j max(0, |v_j| - t) = bound, or 0 where sum |v_j| <= bound: soft thresholding by it projects v
/// onto the L1 ball. The mean excess of those above t is raised until none falls below (Michelot 1986): no sorting, no
/// memory, a few passes.
inline double l1_ball_threshold(const double* v, Index count, double bound) {
  if (sum_of_magnitudes(v, count) <= bound) return 0;
  if (bound <= 0) return largest_magnitude(v, count);
  double threshold = 0;
  for (Index before = -1;;) {
    double sum = 0;
    Index above = 0;
    for (Index j = 0; j < count; ++j) {
      if (std::abs(v[j]) > threshold) sum += std::abs(v[j]), ++above;
    }
    if (above == before || above == 0) return threshold;
    threshold = (sum - bound) / double(above);
    before = above;
  }
}

}  // namespace tutelage
