// Truncated Newton: Newton's equations solved by conjugate gradients as far as they deserve, for many coefficients.
//
//   1. On many rows, solve the problem roughly on every m-th block of them first.
//   2. g = gradient; stop when the proof says so.
//   3. Conjugate gradients on (H + Q) step = -g, preconditioned by a metric M, until the residual in the norm of M^-1
//   is
//      below min(0.3, sqrt(|g| / |g_0|)) |g|: rough far from the optimum, quadratic near it (Dembo, Eisenstat, Steihaug
//      1982); and no further than the gap that is asked for needs.
//   4. One pass for value, gradient and scores at the new point.
//
// Cost: one reading of X for each step of conjugate gradients, one for each round. H is never formed, so there may be
// millions of columns. M is a diagonal or, where X is dense, one matrix for each score. The latter is made when the
// products with H since the last metric have cost as much as it does: then the total is at most twice that of who
// knows in advance whether it pays. Fails slowly where columns are badly scaled and correlated and M is a diagonal: the
// steps grow with the square root of the condition number.
#pragma once
#include <algorithm>
#include <cmath>

#include "core/matrices/statistics.hpp"
#include "core/risk.hpp"
#include "core/solvers/conjugate_gradients.hpp"
#include "core/solvers/newton.hpp"

namespace tutelage {

/// How truncated Newton gets its preconditioner.
struct TruncatedPlan {
  Curvature form = Curvature::diagonal;  // diagonal or blocks
  Index metric_rows = 0;                 // make it from a sample of about so many rows; 0: all
  double price = 10;                     // products with the Hessian that cost as much as making it
  Index start_rows = 0;                  // begin with about this many rows; 0: all
};

class TruncatedNewton {
 public:
  TruncatedNewton(const Risk& risk, const TruncatedPlan& plan, const Stopping& stopping)
      : risk_(risk), plan_(plan), stopping_(stopping), watch_(stopping), proof_(risk), scores_(proof_.scores()) {}

  Fit run(Vector start) {
    Fit fit;
    fit.certificate.solver = "truncated_newton";
    point_ = std::move(start);
    if (stopping_.max_rounds > 0) begin();
    risk_.evaluate(point_, local_, true, Curvature::none, scores_.data());
    consider_metric(false);
    const double scale = local_.value;
    double asked = stopping_.tol;
    Index round = 0;
    for (;; ++round) {
      const bool last = round >= stopping_.max_rounds || watch_.expired(fit.certificate);
      const double decrement = half_decrement();
      // The metric sees too little of the curvature's spread to bound the gap, so it asks the proof a little early.
      const double expected = std::max(decrement, proof_.expected_gap(point_, local_.gradient));
      if (last) {  // where the rounds ended the fit must go on when it is started again
        if (round >= stopping_.max_rounds) fit.certificate.reason = Reason::rounds;
        proof_.write_here(point_, metric_, fit.certificate);
        watch_.converged(fit.certificate, scale);
        break;
      }
      if (expected <= asked * std::abs(local_.value) || decrement <= 1e-17 * scale) {
        proof_.write(point_, metric_, fit.certificate, true);
        if (watch_.converged(fit.certificate, scale)) {
          if (stopping_.tol <= 1e-14) polish(fit.certificate);
          break;
        }
        if (decrement <= 1e-17 * scale) {
          fit.certificate.reason = proof_.recedes(point_) ? Reason::separable : Reason::rounding;
          break;
        }
        asked = expected / std::abs(local_.value) *
                std::clamp(0.5 * stopping_.tol / fit.certificate.relative_gap(), 1e-4, 0.3);
        refresh(fit.certificate);
      }
      consider_metric(expected < 10 * asked * std::abs(local_.value));
      // The gap falls with the decrement.
      const Vector step = newton_step(asked * std::abs(local_.value) * std::min(1.0, half_decrement() / expected));
      if (round > 15 && round % 5 == 0 && proof_.recedes(step)) {
        proof_.write(point_, metric_, fit.certificate);
        fit.certificate.reason = Reason::separable;
        break;
      }
      if (!advance(step)) {
        proof_.write(point_, metric_, fit.certificate);
        if (!watch_.converged(fit.certificate, scale)) fit.certificate.reason = Reason::rounding;
        break;
      }
    }
    fit.point = std::move(point_);
    fit.certificate.rounds = round;
    fit.certificate.passes = risk_.passes();
    fit.certificate.seconds = watch_.seconds();
    return fit;
  }

 private:
  /// Step 1: the minimum on a sample of m rows is within the statistical error of that on all rows, (coefficients / m),
  /// so a tenth of it will do. It begins on a sample of its own.
  void begin() {
    if (plan_.start_rows <= 0 || risk_.rows() < 3 * plan_.start_rows || risk_.has_coefficients(point_)) return;
    const Index stride = std::min<Index>(8, risk_.rows() / plan_.start_rows);
    const ThinnedSample thin(risk_.sample(), risk_.loss().targets(), stride);
    if (2 * thin.sample().x->rows() > risk_.rows()) return;  // it has too few blocks to choose from
    Risk risk(thin.sample(), risk_.loss(), risk_.penalty(), risk_.intercept(), risk_.shift());
    risk.divide_as(risk_);
    Stopping rough = stopping_;
    rough.tol = std::clamp(0.1 * double(risk.size()) / double(risk.rows()), 1e-4, 0.2);
    rough.max_rounds = 12;
    TruncatedPlan plan = plan_;
    plan.price *= double(stride);
    TruncatedNewton solver(risk, plan, rough);
    solver.point_ = point_;
    solver.begin();
    solver.rough(point_);
    // A column that hardly varies in the sample may have any coefficient there, and one that is far from right here.
    const Vector here = column_statistics(*risk_.sample().x, risk_.sample().weights).variance;
    const Vector there = column_statistics(*thin.sample().x, thin.sample().weights).variance;
    for (Index i = 0; i < risk_.scores() * risk_.columns(); ++i) {
      const std::size_t j = std::size_t(i % risk_.columns());
      if (2 * there[j] < here[j]) point_[std::size_t(i)] *= 2 * there[j] / here[j];
    }
    risk_.count_passes(2 + risk.passes() * double(risk.rows()) / double(risk_.rows()));
  }

  /// A few rounds without proof.
  void rough(Vector& point) {
    risk_.evaluate(point_, local_, true, Curvature::none, scores_.data());
    consider_metric(false);
    for (Index round = 0; round < stopping_.max_rounds; ++round) {
      const double enough = stopping_.tol * std::abs(local_.value);
      if (!(half_decrement() > enough)) break;
      consider_metric(false);
      if (!advance(newton_step(enough))) break;
    }
    point = point_;
  }

  /// Makes the metric anew where that has earned its price. A dear one is put off, since a diagonal may do, and is
  /// not made for the last few steps.
  void consider_metric(bool near) {
    const bool dear = plan_.form == Curvature::blocks && plan_.price > 3;
    if (metric_.empty()) return renew_metric(dear ? Curvature::diagonal : plan_.form);
    if (spent_ > plan_.price && !(dear && near)) return renew_metric(plan_.form);
    if (metric_.form() == Curvature::diagonal && spent_ > renewed_ + 10) renew_metric(Curvature::diagonal);
  }
  void renew_metric(Curvature form) {
    metric_ = metric_at(risk_, point_, form, form == Curvature::diagonal ? 0 : plan_.metric_rows);
    spent_ = form == plan_.form ? 0 : spent_;
    renewed_ = spent_;
  }

  double half_decrement() const {
    Vector solved(local_.gradient);
    metric_.solve(solved);
    return dot(solved, local_.gradient) / 2;
  }

  /// The proof may have moved the intercept, and the scores with it.
  void refresh(const Certificate& certificate) {
    local_.value = certificate.primal;
    local_.gradient = proof_.gradient();
    risk_.penalty().add_gradient(point_.data(), risk_.scores(), risk_.columns(), local_.gradient.data());
  }

  /// A gap at rounding level leaves coefficients half their digits; one more step brings the others.
  void polish(const Certificate& certificate) {
    refresh(certificate);
    const Vector step = newton_step(0);
    Vector next(point_);
    for (std::size_t i = 0; i < next.size(); ++i) next[i] += step[i];
    Risk::Local there;
    risk_.evaluate(next, there);
    const bool level = there.value <= local_.value + 1e-14 * std::abs(local_.value);
    if (level && norm(there.gradient) < norm(local_.gradient)) point_.swap(next);
  }

  /// Step 3, where a decrement of `enough` is as good as zero.
  Vector newton_step(double enough) {
    Vector residual(local_.gradient), step(residual.size(), 0.0);
    for (double& r : residual) r = -r;
    const auto apply = [&](const Vector& v, Vector& out) {
      risk_.hessian_times(scores_.data(), v, out);
      risk_.penalty().add_hessian_times(v.data(), risk_.scores(), risk_.columns(), out.data());
    };
    const auto expired = [&] {
      Certificate unused;
      return watch_.expired(unused);
    };
    double start = -1;
    const auto small = [&](const Vector&, double square) {
      if (start < 0) {
        start = square;
        if (first_ < 0) first_ = square;
        return !(square > 0);
      }
      const double forcing = std::min(0.09, std::sqrt(start / first_));
      return square <= std::max(forcing * start, 0.2 * enough);
    };
    const auto precondition = [&](Vector& v) { metric_.solve(v); };
    spent_ += conjugate_gradients_until(residual, step, apply, precondition, small, 250, expired, true);
    return step;
  }

  /// Moves along the step; false when nothing lowers the value.
  bool advance(const Vector& step) {
    const double slope = dot(step, local_.gradient);
    if (!(slope < 0)) return false;
    Vector next(point_);
    Risk::Local there;
    double t = 1;
    for (int halving = 0;; ++halving) {
      for (std::size_t i = 0; i < next.size(); ++i) next[i] = point_[i] + t * step[i];
      risk_.evaluate(next, there, true, Curvature::none, scores_.data());
      if (there.value <= local_.value + 1e-4 * t * slope) break;
      if (halving == 30) return false;
      const double fitted = -slope * t * t / (2 * (there.value - local_.value - slope * t));
      t = std::isfinite(there.value) && std::isfinite(fitted) ? std::clamp(fitted, 0.1 * t, 0.5 * t) : 0.1 * t;
    }
    point_.swap(next);
    std::swap(local_, there);
    return true;
  }

  const Risk& risk_;
  TruncatedPlan plan_;
  const Stopping& stopping_;
  Watch watch_;
  Proof proof_;
  Metric metric_;
  Vector& scores_;  // of point_
  Vector point_;
  Risk::Local local_;
  double spent_ = 0;    // products with the Hessian since a metric of the planned form was made
  double renewed_ = 0;  // of these, when a diagonal was made in its place
  double first_ = -1;   // |gradient|^2 in the norm of the metric at the first step
};

}  // namespace tutelage
