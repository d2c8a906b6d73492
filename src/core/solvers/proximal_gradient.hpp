// Accelerated proximal gradient (FISTA) for smooth losses and any penalty with a proximal operator.
//
//     v = u - t gradient(u),  w_next = prox(v, t),  u = w_next + momentum (w_next - w)
//
// For a convex sum over coefficients each has a step of its own, t over the mean square of its (centred) column: the
// units of the columns then do not matter.
//
// The step t comes from backtracking on the quadratic upper bound and may grow again; momentum restarts when it points
// uphill (O'Donoghue and Candes 2015), which gives linear convergence near the optimum without knowing its rate. The
// intercept is a coordinate without penalty. With a penalty that is not convex the same iteration without momentum
// still descends and ends at a stationary point; the certificate then says "stationarity".
//
// Cost: one pass for a round, and a few for each proof. Fails slowly on columns that are nearly
// dependent, and on badly scaled ones where the penalty is not a sum over coefficients.
#pragma once
#include <algorithm>
#include <cmath>

#include "core/risk.hpp"
#include "core/solvers/newton.hpp"

namespace tutelage {

class ProximalGradient {
 public:
  ProximalGradient(const Risk& risk, const Stopping& stopping, bool accelerated = true)
      : risk_(risk), stopping_(stopping), watch_(stopping), proof_(risk), accelerated_(accelerated) {}

  Fit run(Vector point) {
    Fit fit;
    fit.certificate.solver = "proximal_gradient";
    const PenaltyFacts facts = risk_.penalty().facts();
    const bool momentum = accelerated_ && facts.convex && risk_.loss().facts().convex;
    const Index k = risk_.scores(), d = risk_.columns();
    if (!std::isfinite(risk_.penalty().value(point.data(), k, d))) {  // into the feasible set
      risk_.penalty().prox(point.data(), 1.0, k, d, point.data());
    }
    find_units(facts);
    Vector ahead(point), next(point);
    Risk::Local here, there;
    double step = first_step(point), weight = 1, scale = -1;
    Index round = 0, next_proof = 0, period = 5;
    for (;; ++round) {
      const bool last = round >= stopping_.max_rounds || watch_.expired(fit.certificate);
      if (round >= next_proof || last) {
        if (last && round >= stopping_.max_rounds) fit.certificate.reason = Reason::rounds;
        if (last) {  // where the rounds ended the fit must go on when it is started again
          proof_.write_here(point, Metric(), fit.certificate);
        } else {
          proof_.write(point, Metric(), fit.certificate);
        }
        if (scale < 0) scale = fit.certificate.primal;
        if (watch_.converged(fit.certificate, scale) || last) break;
        // The closer to the goal, the sooner it is asked again.
        period = std::clamp<Index>(Index(5 * std::log10(1 + fit.certificate.relative_gap() / stopping_.tol)), 3, 50);
        next_proof = round + period;
      }
      risk_.evaluate(ahead, here);
      const double loss = here.loss;
      const Vector slope = loss_gradient(here, ahead);
      bool moved = false;
      for (int halving = 0; halving < 60; ++halving) {
        for (std::size_t i = 0; i < next.size(); ++i) next[i] = ahead[i] - step / units_[i] * slope[i];
        prox(next, step);
        double linear = 0, square = 0;
        for (std::size_t i = 0; i < next.size(); ++i) {
          const double by = next[i] - ahead[i];
          linear += slope[i] * by;
          square += units_[i] * by * by;
        }
        if (square == 0) break;
        risk_.evaluate(next, there, false);
        if (there.loss <= loss + linear + square / (2 * step) + 1e-15 * std::abs(loss)) {
          moved = true;
          break;
        }
        step *= 0.5;
      }
      double uphill = 0;
      for (std::size_t i = 0; i < next.size(); ++i) uphill += units_[i] * (ahead[i] - next[i]) * (next[i] - point[i]);
      if (!moved && next == point) {
        proof_.write(point, Metric(), fit.certificate);
        if (!watch_.converged(fit.certificate, scale)) fit.certificate.reason = Reason::rounding;
        break;
      }
      const double grown = momentum && uphill <= 0 ? (1 + std::sqrt(1 + 4 * weight * weight)) / 2 : 1.0;
      const double carry = momentum && uphill <= 0 ? (weight - 1) / grown : 0.0;
      for (std::size_t i = 0; i < next.size(); ++i) ahead[i] = next[i] + carry * (next[i] - point[i]);
      weight = grown;
      point.swap(next);
      step *= 1.05;
    }
    fit.point = std::move(point);
    fit.certificate.rounds = round;
    fit.certificate.passes = risk_.passes();
    fit.certificate.seconds = watch_.seconds();
    return fit;
  }

 private:
  /// The gradient of the loss alone: a quadratic penalty goes through its prox like any other.
  Vector loss_gradient(const Risk::Local& local, const Vector& point) const {
    Vector g(local.gradient);
    if (!risk_.penalty().facts().quadratic) return g;
    Vector penalty(g.size(), 0.0);
    risk_.penalty().add_gradient(point.data(), risk_.scores(), risk_.columns(), penalty.data());
    for (std::size_t i = 0; i < g.size(); ++i) g[i] -= penalty[i];
    return g;
  }

  /// Mean squares of the columns, from some of the rows where there are many; ones where the penalty takes one step for
  /// all.
  void find_units(const PenaltyFacts& penalty) {
    const Index n = risk_.rows(), k = risk_.scores(), d = risk_.columns();
    units_.assign(std::size_t(risk_.size()), 1.0);
    own_steps_ = penalty.separable && penalty.convex;
    if (!own_steps_ || n == 0) return;
    const Rows& x = *risk_.sample().x;
    const Index some = 1 << 12, stride = std::max<Index>(1, n / 65536) * some;
    Vector squares(std::size_t(d), 0.0), sums(squares), weights;
    double total = 0;
    for (Index first = 0; first < n; first += stride) {
      const Block block{first, std::min(some, n - first)};
      weights.assign(std::size_t(block.count), 1.0);
      if (const double* s = risk_.sample().weights) weights.assign(s + first, s + first + block.count);
      for (const double weight : weights) total += weight;
      x.add_squares(block, weights.data(), squares.data());
      x.add_transpose_times(block, weights.data(), 1, sums.data());
    }
    double largest = 0;
    for (std::size_t j = 0; j < squares.size(); ++j) {
      squares[j] /= total;
      if (risk_.intercept()) squares[j] -= (sums[j] / total) * (sums[j] / total);
      if (std::isfinite(squares[j])) largest = std::max(largest, squares[j]);
    }
    for (Index i = 0; largest > 0 && i < k * d; ++i) {
      const double square = squares[std::size_t(i % d)];
      units_[std::size_t(i)] = std::isfinite(square) ? std::max(square, 1e-8 * largest) : largest;
    }
  }

  void prox(Vector& point, double step) const {
    const Index k = risk_.scores(), d = risk_.columns();
    if (!own_steps_) return risk_.penalty().prox(point.data(), step, k, d, point.data());
    for (Index j = 0; j < k * d; ++j) {
      double& w = point[std::size_t(j)];
      w = risk_.penalty().prox_one(j, w, step / units_[std::size_t(j)]);
    }
  }

  /// One over the curvature along the first gradient.
  double first_step(const Vector& point) const {
    Risk::Local here, there;
    risk_.evaluate(point, here);
    const Vector g = loss_gradient(here, point);
    double length = 0;
    for (std::size_t i = 0; i < g.size(); ++i) length += g[i] * g[i] / units_[i];
    if (length == 0) return 1;
    Vector probe(point);
    const double by = 1e-3 / std::sqrt(length);
    for (std::size_t i = 0; i < probe.size(); ++i) probe[i] -= by * g[i] / units_[i];
    risk_.evaluate(probe, there);
    const Vector other = loss_gradient(there, probe);
    double change = 0;
    for (std::size_t i = 0; i < g.size(); ++i) change += (g[i] - other[i]) * (g[i] - other[i]) / units_[i];
    return change > 0 ? 1e-3 / std::sqrt(change) : 1.0;
  }

  const Risk& risk_;
  const Stopping& stopping_;
  Watch watch_;
  Proof proof_;
  bool accelerated_;
  Vector units_;
  bool own_steps_ = false;
};

}  // namespace tutelage
