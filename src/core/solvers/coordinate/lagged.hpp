// The curvatures of a loss that is not quadratic, as they were where the Gram matrix of its model was formed.
//
// Forming X' C X for m dense columns costs as much as tens of readings of them, and near the solution C hardly moves.
// So the matrix is kept from step to step, grown by the columns that enter, and scaled by what the curvatures have lost
// or gained on the whole: a chord step, which costs two readings and contracts the error by a constant factor. It is
// formed anew when the steps still to come at that factor would cost more.
#pragma once
#include <algorithm>
#include <cmath>

#include "core/solvers/coordinate/smooth.hpp"

namespace tutelage::coordinate {

class LaggedCurvature {
 public:
  const double* data() const { return c_.data(); }
  double total() const { return total_; }
  /// What H at these curvatures is, on the whole, in units of the H that is kept.
  double scale(const Vector& curvatures) const { return total_ > 0 ? plain_sum(curvatures) / total_ : 1.0; }
  /// How many steps a matrix has served.
  double uses() const { return (steps_ + 4) / (renewals_ + 1); }

  void renew(const Vector& curvatures) {
    c_ = curvatures;
    total_ = plain_sum(c_);
    current_ = true;
    failed_ = false;
    rate_ = 0.2;
    renewals_ += 1;
  }

  /// Notes that a step brought the largest violation from `before` to `after`.
  void step(double before, double after) {
    steps_ += 1;
    current_ = false;
    rate_ = before > 0 ? after / before : 1.0;
  }

  /// Notes that the kept matrix gave no descent.
  void fail() { failed_ = true; }

  /// Whether the way from the violation `worst` to `goal` is shorter with a new matrix, whose price is given in steps.
  bool due(double worst, double goal, double price) const {
    if (c_.empty() || failed_) return true;
    if (current_ || !(worst > goal)) return false;
    const double digits = std::log(worst / std::max(goal, 1e-12 * worst));
    constexpr double fresh_rate = 0.05;
    return !(rate_ < 1) || digits / -std::log(rate_) > price + digits / -std::log(fresh_rate);
  }

 private:
  static double plain_sum(const Vector& v) {
    const double* from = v.data();
    return simd::accumulate(static_cast<Index>(v.size()),
                            [=](Index i, auto&& get, simd::Pack sum) { return sum + get(from + i); });
  }

  Vector c_;
  double total_ = 0;
  double rate_ = 0.2;  // by which the last step contracted the largest violation
  double steps_ = 0, renewals_ = 0;
  bool failed_ = false;
  bool current_ = false;  // no step since the last renewal
};

}  // namespace tutelage::coordinate
