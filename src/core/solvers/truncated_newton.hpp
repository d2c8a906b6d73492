// Truncated Newton: Newton's equations solved by conjugate gradients as far as they deserve, for many columns.
//
//   1. g = gradient; stop when the proof says so.
//   2. Conjugate gradients on (H + Q) step = -g, preconditioned by the diagonal, until the residual is below
//      min(0.3, sqrt(|g| / |g_0|)) |g|: rough far from the optimum, quadratic near it (Dembo, Eisenstat, Steihaug
//      1982).
//   3. The scores of the step are computed once; the line search then moves along scores and never reads X.
//
// Cost: two readings of X for each conjugate-gradient step, three more for each round. H is never formed, so d may be
// millions. Fails slowly where columns are badly scaled and correlated: the count of inner steps grows with the square
// root of the condition number.
#pragma once
#include <algorithm>
#include <cmath>

#include "core/risk.hpp"
#include "core/solvers/conjugate_gradients.hpp"
#include "core/solvers/newton.hpp"

namespace tutelage {

class TruncatedNewton {
 public:
  /// The preconditioner: a form of the curvature, from a sample of about so many rows (0: all).
  TruncatedNewton(const Risk& risk, Curvature form, Index sample_rows, const Stopping& stopping)
      : risk_(risk),
        form_(form),
        sample_rows_(sample_rows),
        stopping_(stopping),
        watch_(stopping),
        proof_(risk),
        scores_(proof_.scores()),
        length_(std::size_t(risk.rows() * risk.scores())) {}

  Fit run(Vector start) {
    Fit fit;
    fit.certificate.solver = "truncated_newton";
    point_ = std::move(start);
    Risk::Local local;
    risk_.evaluate(point_, local, true, Curvature::none, scores_.data());
    metric_ = metric_at(risk_, point_, form_, sample_rows_);
    value_ = local.value;
    gradient_ = std::move(local.gradient);
    const double scale = value_, first = norm(gradient_);
    double asked = stopping_.tol;
    Index round = 0;
    for (;; ++round) {
      const bool last = round >= stopping_.max_rounds || watch_.expired(fit.certificate);
      Vector solved(gradient_);
      metric_.solve(solved);
      // The diagonal sees too little of the curvature's spread to bound the gap, so it asks the proof a little early.
      const double decrement = dot(solved, gradient_) / 2;
      const double expected = std::max(decrement, proof_.expected_gap(point_, gradient_));
      if (last) {  // where the rounds ended the fit must go on when it is started again
        if (round >= stopping_.max_rounds) fit.certificate.reason = Reason::rounds;
        proof_.write_here(point_, metric_, fit.certificate);
        watch_.converged(fit.certificate, scale);
        break;
      }
      if (expected <= asked * std::abs(value_) || decrement <= 1e-17 * scale) {
        proof_.write(point_, metric_, fit.certificate, true);
        if (watch_.converged(fit.certificate, scale)) break;
        if (decrement <= 1e-17 * scale) {
          fit.certificate.reason = proof_.recedes(point_) ? Reason::separable : Reason::rounding;
          break;
        }
        asked =
            expected / std::abs(value_) * std::clamp(0.5 * stopping_.tol / fit.certificate.relative_gap(), 1e-4, 0.3);
        refresh(fit.certificate);
      }
      const double forcing = std::min(0.3, std::sqrt(norm(gradient_) / first));
      if (inner_ > 10) metric_ = metric_at(risk_, point_, form_, sample_rows_);
      const Vector step = newton_step(forcing);
      if (round > 15 && round % 5 == 0 && proof_.recedes(step)) {
        proof_.write(point_, metric_, fit.certificate);
        fit.certificate.reason = Reason::separable;
        break;
      }
      if (!search(step)) {
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
  /// The proof may have moved the intercept, and the scores with it.
  void refresh(const Certificate& certificate) {
    value_ = certificate.primal;
    gradient_ = proof_.gradient();
    risk_.penalty().add_gradient(point_.data(), risk_.scores(), risk_.columns(), gradient_.data());
  }

  Vector newton_step(double forcing) {
    Vector residual(gradient_), step(gradient_.size(), 0.0);
    for (double& r : residual) r = -r;
    const auto apply = [&](const Vector& v, Vector& out) {
      risk_.hessian_times(scores_.data(), v, out);
      risk_.penalty().add_hessian_times(v.data(), risk_.scores(), risk_.columns(), out.data());
    };
    const auto expired = [&] {
      Certificate unused;
      return watch_.expired(unused);
    };
    inner_ = conjugate_gradients(
        residual, step, apply, [&](Vector& v) { metric_.solve(v); }, forcing * norm(residual), 250, expired, true);
    return step;
  }

  /// Moves along the step; false when nothing lowers the value.
  bool search(const Vector& step) {
    const Index k = risk_.scores(), d = risk_.columns();
    const double slope = dot(step, gradient_);
    if (!(slope < 0)) return false;
    along_.resize(length_);
    risk_.all_scores(step, along_.data());
    Vector next(point_);
    double t = 1;
    for (int halving = 0;; ++halving) {
      for (std::size_t i = 0; i < next.size(); ++i) next[i] = point_[i] + t * step[i];
      const double loss = risk_.loss_along(scores_.data(), along_.data(), t);
      const double value = loss / risk_.total_weight() + risk_.penalty().value(next.data(), k, d);
      if (value <= value_ + 1e-4 * t * slope) {
        value_ = value;
        break;
      }
      if (halving == 30) return false;
      const double fitted = -slope * t * t / (2 * (value - value_ - slope * t));
      t = std::isfinite(value) && std::isfinite(fitted) ? std::clamp(fitted, 0.1 * t, 0.5 * t) : 0.1 * t;
    }
    point_.swap(next);
    for (std::size_t i = 0; i < length_; ++i) scores_[i] += t * along_[i];
    risk_.evaluate_at(scores_.data(), gradient_, slopes_);
    risk_.penalty().add_gradient(point_.data(), k, d, gradient_.data());
    return true;
  }

  const Risk& risk_;
  Curvature form_;
  Index sample_rows_;
  int inner_ = 0;  // steps of conjugate gradients that the last round took
  const Stopping& stopping_;
  Watch watch_;
  Proof proof_;
  Metric metric_;
  Vector& scores_;  // of point_
  std::size_t length_;
  Vector point_, gradient_, along_, slopes_;
  double value_ = infinity;
};

}  // namespace tutelage
