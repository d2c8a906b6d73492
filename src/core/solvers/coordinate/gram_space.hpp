// Squared loss with the whole Gram matrix: once H = Xc' C Xc, g_0 = -Xc' C y and y' C y are known (C the weights over
// their sum, Xc and y centred where there is an intercept), X is not needed again:
//
//     risk(w) = y'Cy / 2 + g_0'w + w'Hw / 2,      gradient g = g_0 + H w,
//     dual(t) = (y'Cy + g_0'w) t - risk(w) t^2 - penalty*(-t g)
//
// at the slopes of w times t. A coefficient at rest costs nothing, one that moves d products, whatever n is: with many
// more rows than columns this is how to follow a path, or to fit many subsets of the rows whose sums can be subtracted.
//
// Sums of squares cancel where the fit is nearly perfect: what rounding may have taken from the risk is added to the
// gap.
#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "core/solvers/certificate.hpp"
#include "core/solvers/coordinate/descend.hpp"
#include "core/solvers/coordinate/duality.hpp"

namespace tutelage {

/// What the squared loss needs of X, y and the weights.
struct GramProblem {
  coordinate::Gram h;
  coordinate::Vector g0;
  double square = 0;         // y'Cy
  coordinate::Vector means;  // of the columns; empty without an intercept
  double mean = 0;           // of y
};

class GramDescent {
 public:
  using Vector = coordinate::Vector;

  explicit GramDescent(GramProblem problem) : problem_(std::move(problem)) {
    const Index d = static_cast<Index>(problem_.g0.size());
    model_.h = &problem_.h;
    model_.features.resize(problem_.g0.size());
    std::iota(model_.features.begin(), model_.features.end(), Index{0});
    model_.w.assign(problem_.g0.size(), 0.0);
    lipschitz_.resize(problem_.g0.size());
    for (Index j = 0; j < d; ++j) {
      lipschitz_[coordinate::at(j)] = problem_.h.row(j)[j];
      if (problem_.h.row(j)[j] > 0) model_.live.push_back(j);
    }
    gradient();
  }

  Certificate solve(const AnyPenalty& penalty, const Stopping& stopping, double = 1) {
    const Watch watch(stopping);
    const std::unique_ptr<coordinate::CoordinateLoops> loops = coordinate::coordinate_loops(penalty);
    const PenaltyFacts facts = penalty.facts();
    const bool dual_exists = facts.convex && facts.has_conjugate;
    Certificate certificate;
    certificate.solver = "coordinate";
    double caution = 0.3, scale = 0, violation_scale = 0, best = -infinity;
    Stagnation stagnation;
    for (Index round = 0;; ++round) {
      certificate.rounds = round;
      const double worst = worst_violation(*loops);
      certificate.primal = risk() + penalty.value(model_.w.data(), 1, size());
      if (round == 0) scale = certificate.primal, violation_scale = worst;
      if (dual_exists) {
        best = std::max(best, dual(penalty));
        certificate.dual = best;
        certificate.gap = std::max(certificate.primal - best, 0.0) + 4e-16 * problem_.square;
      } else {
        certificate.measure = Measure::stationarity;
        certificate.gap = violation_scale > 0 ? worst / violation_scale : 0;
      }
      const bool settled = stopping.tol > last_digits || worst <= 1e-14 * largest_slope_;
      if ((settled && watch.converged(certificate, scale)) || watch.expired(certificate)) break;
      if (round >= stopping.max_rounds) break;
      double norm = 0;
      for (const double w : model_.w) norm += std::abs(w);
      const double wanted = dual_exists ? (norm > 0 ? stopping.tol * certificate.primal / norm : 0.03 * worst)
                                        : stopping.tol * violation_scale;
      if (worst <= caution * wanted) caution *= 0.1;
      const double accuracy = std::max(std::min(caution * wanted, 0.3 * worst), 1e-17 * largest_slope_);
      const bool moved = loops->descend(model_, accuracy, 2000, watch).moved;
      gradient();
      if (stagnation.reached(certificate, scale) || (!moved && (worst == 0 || caution < 1e-9))) {
        certificate.reason = Reason::rounding;
        break;
      }
    }
    certificate.seconds = watch.seconds();
    return certificate;
  }

  const Vector& coefficients() const { return model_.w; }
  double intercept() const {
    double b = problem_.mean;
    for (std::size_t j = 0; j < problem_.means.size(); ++j) b -= problem_.means[j] * model_.w[j];
    return b;
  }
  /// Exact everywhere, always.
  const Vector& read_gradients() { return model_.g; }

 private:
  Index size() const { return static_cast<Index>(problem_.g0.size()); }

  /// g = g_0 + H w
  void gradient() {
    model_.g = problem_.g0;
    for (Index j = 0; j < size(); ++j) {
      const double w = model_.w[coordinate::at(j)];
      if (w != 0) simd::add(w, problem_.h.row(j), model_.g.data(), size());
    }
    model_.start = model_.w;
    largest_slope_ = 0;
    for (const double g : model_.g) largest_slope_ = std::max(largest_slope_, std::abs(g));
  }

  double along() const { return simd::dot(problem_.g0.data(), model_.w.data(), size()); }
  double risk() const {
    return std::max(0.0, (problem_.square + along() + simd::dot(model_.g.data(), model_.w.data(), size())) / 2);
  }

  double worst_violation(const coordinate::CoordinateLoops& loops) const {
    Vector out(model_.live.size());
    loops.violations(model_.live.data(), static_cast<Index>(out.size()), model_.w.data(), model_.g.data(),
                     lipschitz_.data(), out.data());
    return out.empty() ? 0.0 : *std::max_element(out.begin(), out.end());
  }

  double dual(const AnyPenalty& penalty) const {
    Vector v(model_.g.size(), 0.0);
    for (const Index j : model_.live) v[coordinate::at(j)] = -model_.g[coordinate::at(j)];
    const double value = risk(), linear = problem_.square + along();
    return coordinate::best_dual(
        penalty, v, [=](double t) { return linear * t - value * t * t; }, value > 0 ? linear / (2 * value) : 1.0);
  }

  GramProblem problem_;
  coordinate::GramModel model_;
  Vector lipschitz_;
  double largest_slope_ = 0;
};

}  // namespace tutelage
