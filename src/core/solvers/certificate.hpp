// The proof that accompanies a fit, and when a solver may stop.
//
// Fenchel's duality bounds what is left to gain. For the risk
//
//     primal(w, b) = (1 / S) sum_i s_i loss(y_i, z_i) + penalty(w)
//
// and any theta (one number for each score of each row; sum_i s_i theta_i = 0 where there is an intercept),
//
//     dual(theta) = -(1 / S) sum_i s_i conjugate(y_i, theta_i) - penalty*(-(1 / S) X' s theta)  <=  minimum of primal,
//
// so primal - dual is an upper bound on the distance to the optimum that needs no trust in the solver. `tol` is
// relative: a fit has converged when gap <= tol * |primal|. Where no dual exists (a loss or penalty that is not convex
// or whose conjugate is not known) the residual of the optimality conditions stands in its place and `measure` says so.
#pragma once
#include <chrono>
#include <cmath>
#include <functional>
#include <string_view>

#include "core/concepts.hpp"

namespace tutelage {

/// Why a solver stopped.
enum class Reason { converged, rounding, rounds, time, separable, unbounded, interrupted };

constexpr std::string_view name(Reason reason) {
  switch (reason) {
    case Reason::converged:
      return "converged";
    case Reason::rounding:
      return "rounding";
    case Reason::rounds:
      return "rounds";
    case Reason::time:
      return "time";
    case Reason::separable:
      return "separable";
    case Reason::unbounded:
      return "unbounded";
    case Reason::interrupted:
      return "interrupted";
  }
  return "unknown";
}

constexpr std::string_view sentence(Reason reason) {
  switch (reason) {
    case Reason::converged:
      return "The requested tolerance was reached.";
    case Reason::rounding:
      return "No further progress is possible in floating-point arithmetic.";
    case Reason::rounds:
      return "The limit of rounds was reached before the requested tolerance.";
    case Reason::time:
      return "The time limit was reached before the requested tolerance.";
    case Reason::separable:
      return "The data are separable: without a penalty the loss has no minimum.";
    case Reason::unbounded:
      return "The objective decreases without bound: it has no minimum.";
    case Reason::interrupted:
      return "The fit was interrupted.";
  }
  return "unknown";
}

/// What `gap` measures.
enum class Measure {
  duality,       // primal - dual, an upper bound on the distance to the optimal value
  stationarity,  // largest violation of the optimality conditions, relative to its size at zero coefficients
};

constexpr std::string_view name(Measure measure) { return measure == Measure::duality ? "duality" : "stationarity"; }

struct Certificate {
  double primal = infinity;
  double dual = -infinity;  // -infinity where no dual exists
  double gap = infinity;    // see `measure`
  double passes = 0;        // readings of the whole matrix; a reading of some columns or rows counts as that part
  Index rounds = 0;         // outer rounds of the solver that ran
  double seconds = 0;
  Reason reason = Reason::rounds;
  Measure measure = Measure::duality;
  std::string_view solver;

  /// The number that `tol` is compared with.
  double relative_gap() const {
    if (measure == Measure::stationarity || gap == 0) return gap;
    return gap / std::abs(primal);
  }
};

/// What is left to gain: never negative, which would be rounding, and infinite where a value is not a number.
inline double gap_between(double primal, double dual) {
  const double gap = primal - dual;
  if (std::isnan(gap)) return infinity;
  return gap > 0 ? gap : 0;
}

/// When to stop.
struct Stopping {
  double tol = 1e-6;  // relative gap
  Index max_rounds = 1000;
  double time_limit = infinity;  // seconds
  /// Polled between rounds from the calling thread; true ends the fit. May be empty, may throw.
  std::function<bool()> interrupted{};
};

/// A relative gap at rounding level: who asks for it wants all digits that there are.
inline constexpr double last_digits = 2e-15;

/// Tells when further rounds would only move the last digits: the gap is at the noise of sums as large as `scale`, the
/// primal at zero, and has not fallen for three rounds.
class Stagnation {
 public:
  bool reached(const Certificate& certificate, double scale) {
    if (certificate.measure != Measure::duality) return false;
    if (certificate.gap < 0.9 * best_) {
      best_ = certificate.gap;
      rounds_ = 0;
      return false;
    }
    return ++rounds_ >= 3 && best_ < 1e-12 * std::abs(scale);
  }

 private:
  double best_ = infinity;
  int rounds_ = 0;
};

/// Measures one fit against its limits.
class Watch {
 public:
  explicit Watch(const Stopping& stopping) : stopping_(stopping), start_(std::chrono::steady_clock::now()) {}

  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

  /// True when the time is over: what runs inside a round should end, and the round certify what there is.
  bool late() const { return stopping_.time_limit < infinity && seconds() > stopping_.time_limit; }

  /// True when the fit must end now; then certificate.reason says why (time, interrupted).
  bool expired(Certificate& certificate) const {
    if (stopping_.interrupted && stopping_.interrupted()) {
      certificate.reason = Reason::interrupted;
      return true;
    }
    if (seconds() > stopping_.time_limit) {
      certificate.reason = Reason::time;
      return true;
    }
    return false;
  }

  /// True when the gap is small enough; then certificate.reason says whether by tolerance or by rounding. `scale` is
  /// the primal at zero: below 1e-15 of it a difference of two sums is noise, and the fit ends with what it has. A gap
  /// that is slightly negative is noise too and counts as zero.
  bool converged(Certificate& certificate, double scale) const {
    if (certificate.relative_gap() <= stopping_.tol) {
      certificate.reason = Reason::converged;
      return true;
    }
    if (certificate.measure == Measure::duality && certificate.gap <= 1e-15 * std::abs(scale)) {
      certificate.reason = Reason::rounding;
      return true;
    }
    return false;
  }

 private:
  const Stopping& stopping_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace tutelage
