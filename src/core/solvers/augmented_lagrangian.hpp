// Losses with kinks: a sequence of smooth problems whose answers converge to the exact one.
//
// Copy the scores, u = X w + b, and let multipliers alpha pay for the copies (Hestenes 1969, Powell 1969). Minimising
// over u in closed form leaves a smooth loss, the envelope (losses/envelope.hpp), and any solver for smooth losses does
// the rest:
//
//   1. minimise the risk of the envelope, warm-started;
//   2. alpha = the slopes there, which are subgradients of the loss;
//   3. prove: the envelope lies below the loss, so a lower bound for its risk is one for the risk itself, and the
//   primal
//      is the risk itself at the point. If the gap is not small enough, sharpen sigma when it shrinks slowly, and
//      repeat.
//
// For losses made of lines and parabolas the active pieces settle after a few rounds and the answer is then exact.
// Cost: 5 to 15 smooth fits, each warm. Where X'DX over the active rows is singular and there is no penalty, the inner
// Newton steps lean on a small multiple of the identity and more rounds are needed.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include "core/losses/envelope.hpp"
#include "core/risk.hpp"
#include "core/solvers/newton.hpp"
#include "core/solvers/proof.hpp"

namespace tutelage {

class AugmentedLagrangian {
 public:
  /// Minimises a smooth risk from a start in its internal coordinates.
  using Inner = std::function<Fit(const Risk&, Vector, const Stopping&)>;

  AugmentedLagrangian(const Risk& risk, std::shared_ptr<const AnyLoss> loss, const Stopping& stopping, Inner inner)
      : risk_(risk), loss_(std::move(loss)), stopping_(stopping), watch_(stopping), inner_(std::move(inner)) {}

  Fit run(Vector point) {
    const Index n = risk_.rows(), k = risk_.scores(), own = loss_->targets();
    const Sample& sample = risk_.sample();
    Vector rows(std::size_t(n * (own + k)), 0.0);  // targets, then multipliers
    for (Index i = 0; i < n; ++i) std::copy_n(sample.y + i * own, own, rows.begin() + i * (own + k));
    Fit best;
    best.certificate.solver = "augmented_lagrangian";
    best.point = point;
    const double scale = best.certificate.primal = risk_.value(point);
    Proof proof(risk_);
    best.certificate.measure = proof.has_dual() ? Measure::duality : Measure::stationarity;
    best.certificate.dual = proof.has_dual() ? proof.least_value() : -infinity;
    double sigma = first_sigma(), before = infinity, residual = infinity, passes = risk_.passes();
    Index round = 0, stalled = 0;
    for (;; ++round) {
      const bool dual = best.certificate.measure == Measure::duality;
      best.certificate.gap = dual ? gap_between(best.certificate.primal, best.certificate.dual) : residual;
      if (watch_.converged(best.certificate, scale)) break;
      if (round >= stopping_.max_rounds || watch_.expired(best.certificate)) {
        if (round >= stopping_.max_rounds) best.certificate.reason = Reason::rounds;
        break;
      }
      const double shrunk = best.certificate.gap / before;
      if (shrunk > 0.3) sigma *= 4;
      stalled = shrunk > 0.999 ? stalled + 1 : 0;
      if (stalled > 20) {
        best.certificate.reason = Reason::rounding;
        break;
      }
      before = best.certificate.gap;

      const std::shared_ptr<AnyLoss> envelope = make_envelope(loss_, sigma);
      const Risk smooth({sample.x, rows.data(), sample.weights}, *envelope, risk_.penalty(), risk_.intercept(),
                        risk_.shift());
      Stopping inner = stopping_;
      inner.tol = std::max(0.2 * stopping_.tol, std::min(1e-2, 0.02 * best.certificate.relative_gap()));
      inner.time_limit = std::max(0.0, stopping_.time_limit - watch_.seconds());
      Fit fit = inner_(smooth, point, inner);
      point = std::move(fit.point);

      Vector scores(std::size_t(n * k)), slopes(scores.size());
      smooth.all_scores(point, scores.data());
      envelope->evaluate(rows.data(), nullptr, scores.data(), n, slopes.data(), nullptr);
      for (Index i = 0; i < n; ++i) std::copy_n(slopes.begin() + i * k, k, rows.begin() + i * (own + k) + own);
      const double loss = loss_->evaluate(sample.y, sample.weights, scores.data(), n, nullptr, nullptr);
      const double primal = loss / risk_.total_weight() + risk_.penalty().value(point.data(), k, risk_.columns());
      passes += smooth.passes();
      if (primal < best.certificate.primal) {
        best.certificate.primal = primal;
        best.point = point;
      }
      if (fit.certificate.measure == Measure::duality && proof.has_dual()) {
        best.certificate.dual = std::max(best.certificate.dual, fit.certificate.dual);
      } else {
        // No dual: the envelope's problem is stationary to its own measure, and so far below the risk is the envelope.
        best.certificate.measure = Measure::stationarity;
        best.certificate.dual = -infinity;
        const double below = std::max(0.0, primal - fit.certificate.primal) / std::max(std::abs(primal), 1e-300);
        residual = std::max(fit.certificate.gap, below);
        best.certificate.primal = primal;
        best.point = point;
      }
      if (fit.certificate.reason == Reason::separable) {
        best.certificate.reason = Reason::separable;
        break;
      }
    }
    best.certificate.rounds = round;
    best.certificate.passes = passes;
    best.certificate.seconds = watch_.seconds();
    return best;
  }

 private:
  /// The envelope rounds a kink over a width of about lipschitz / sigma: begin with a tenth of the spread of the
  /// targets (a median, which far-off targets do not move), or half a margin for labels.
  double first_sigma() const {
    const LossFacts facts = loss_->facts();
    double width = 0.5;
    const Index count = risk_.rows() * loss_->targets();
    if (facts.targets == Targets::real && count > 0) {
      Vector y(risk_.sample().y, risk_.sample().y + count);
      const auto middle = y.begin() + count / 2;
      std::nth_element(y.begin(), middle, y.end());
      const double median = *middle;
      for (double& v : y) v = std::abs(v - median);
      std::nth_element(y.begin(), middle, y.end());
      width = 0.1 * (*middle > 0 ? *middle : std::max(1e-3, std::abs(median)));
    }
    return (std::isfinite(facts.lipschitz) ? facts.lipschitz : 1.0) / width;
  }

  const Risk& risk_;
  std::shared_ptr<const AnyLoss> loss_;
  const Stopping& stopping_;
  Watch watch_;
  Inner inner_;
};

}  // namespace tutelage
