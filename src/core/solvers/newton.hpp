// Newton's method for smooth losses and quadratic penalties, from a sample of the rows to all of them.
//
// One loop serves Newton, sampled Newton and L-BFGS: a limited-memory quasi-Newton iteration whose first matrix is a
// `Metric`. With the Hessian of the current point as metric a step is Newton's; with one from an earlier point or from
// a sample of the rows it is a chord step that the memory corrects; with a diagonal it is L-BFGS.
//
//   1. On many rows, solve the problem on every m-th block of them first, unless a start is given. Its minimum is
//   within the statistical error
//      of the full one, and its Hessian is the metric to continue with.
//   2. Each round: one pass for value and gradient at w + step. The pass brings a new Hessian when the last step
//      contracted the error badly and the Hessian's price is worth it.
//   3. When the decrement g'M^-1 g / 2 says that the gap may be small enough, `Proof` finds out. If it is not, go on.
//
// Where Hessians are dear, `minimise` lets L-BFGS try first, with a patience: it is given up when the rounds that seem
// to be missing cost more than Newton's method would, so that both together never cost much more than the better of
// them.
//
// Cost: about 4 passes for each digit-doubling on a sampled metric; n d^2 / 2 multiply-adds where the Hessian is made.
// Fails: where the loss has no minimum (separable labels, no penalty); `Proof::recedes` names it.
#pragma once
#include <algorithm>
#include <cmath>
#include <deque>

#include "core/matrices/thinned.hpp"
#include "core/risk.hpp"
#include "core/solvers/certificate.hpp"
#include "core/solvers/metric.hpp"
#include "core/solvers/proof.hpp"

namespace tutelage {

/// A point (coefficients, then intercepts, in the risk's internal coordinates) and its certificate.
struct Fit {
  Vector point;
  Certificate certificate;
};

/// How a quasi-Newton iteration gets its metric.
struct QuasiNewton {
  Curvature form = Curvature::full;  // of the metric; none: scaled identity
  bool refresh = true;               // may make the metric anew at later points
  Index sample_rows = 0;             // begin with about this many rows; 0: all
  Index memory = 10;
  double patience = infinity;  // leaves when more rounds than this seem to be missing; see `impatient`
};

namespace quasi_newton_detail {

/// The inverse Hessian as a metric and the last few differences of points and gradients (Nocedal 1980).
class Memory {
 public:
  explicit Memory(Index length) : length_(length) {}
  void clear() { pairs_.clear(); }
  void add(Vector step, Vector change) {
    const double product = dot(step, change);
    if (!(product > 1e-14 * norm(step) * norm(change))) return;
    pairs_.push_back({std::move(step), std::move(change), 1 / product});
    if (Index(pairs_.size()) > length_) pairs_.pop_front();
  }
  void solve(Vector& v, const Metric& metric) const {
    Vector alpha(pairs_.size());
    for (std::size_t p = pairs_.size(); p-- > 0;) {
      alpha[p] = pairs_[p].rho * dot(pairs_[p].step, v);
      for (std::size_t i = 0; i < v.size(); ++i) v[i] -= alpha[p] * pairs_[p].change[i];
    }
    if (!metric.empty()) {
      metric.solve(v);
    } else if (!pairs_.empty()) {
      const double scale = 1 / (pairs_.back().rho * dot(pairs_.back().change, pairs_.back().change));
      for (double& x : v) x *= scale;
    }
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
      const double beta = pairs_[p].rho * dot(pairs_[p].change, v);
      for (std::size_t i = 0; i < v.size(); ++i) v[i] += (alpha[p] - beta) * pairs_[p].step[i];
    }
  }

 private:
  struct Pair {
    Vector step, change;
    double rho;
  };
  Index length_;
  std::deque<Pair> pairs_;
};

}  // namespace quasi_newton_detail

class QuasiNewtonSolver {
 public:
  QuasiNewtonSolver(const Risk& risk, QuasiNewton plan, const Stopping& stopping)
      : risk_(risk), plan_(plan), stopping_(stopping), watch_(stopping), memory_(plan.memory), proof_(risk) {}

  Fit run(Vector point, std::string_view solver) {
    Fit fit;
    fit.certificate.solver = solver;
    if (stopping_.max_rounds > 0) begin(point);
    fit.point = point_ = std::move(point);
    const Curvature first = metric_.empty() ? plan_.form : need_floor_ ? Curvature::diagonal : Curvature::none;
    risk_.evaluate(point_, local_, true, first, proof_.scores().data());
    take_curvature(first);
    const double scale = local_.value;
    Index round = 0;
    double asked = stopping_.tol;
    for (;; ++round) {
      Vector direction = descent();
      double decrement = -dot(direction, local_.gradient) / 2;
      const bool last = round >= stopping_.max_rounds || watch_.expired(fit.certificate);
      if (last) {  // where the rounds ended the fit must go on when it is started again
        if (round >= stopping_.max_rounds) fit.certificate.reason = Reason::rounds;
        proof_.write_here(point_, metric_, fit.certificate);
        watch_.converged(fit.certificate, scale);
        break;
      }
      const double expected = std::max(decrement, proof_.expected_gap(point_, local_.gradient));
      if (!(expected > asked * std::abs(local_.value)) || decrement <= 1e-16 * scale) {
        const Vector asked_at(point_);
        proof_.write(point_, metric_, fit.certificate, scores_known_);
        scores_known_ = true;
        const bool exhausted = decrement <= 1e-16 * scale;
        if (watch_.converged(fit.certificate, scale) || exhausted) {
          if (exhausted && fit.certificate.reason != Reason::converged) fit.certificate.reason = Reason::rounding;
          if (exhausted || (stopping_.tol <= 1e-14 && decrement <= 1e-13 * std::abs(local_.value))) {
            point_ = asked_at;
            polish(direction);
          } else if (decrement <= 1e-13 * std::abs(local_.value)) {
            // A step this short moves the value by less than its rounding, so nobody needs to look.
            for (std::size_t i = 0; i < point_.size(); ++i) point_[i] = asked_at[i] + direction[i];
          }
          break;
        }
        // The gap is wider than the decrement said: aim at what is missing, with some to spare.
        asked = std::min(asked, expected / std::abs(local_.value)) *
                std::clamp(0.3 * stopping_.tol / fit.certificate.relative_gap(), 1e-6, 0.1);
        if (point_ != asked_at) {  // the proof has moved the intercept
          local_.value = fit.certificate.primal;
          local_.gradient = proof_.gradient();
          risk_.penalty().add_gradient(point_.data(), risk_.scores(), risk_.columns(), local_.gradient.data());
          direction = descent();
          decrement = -dot(direction, local_.gradient) / 2;
        }
      }
      if (round > 15 && round % 5 == 0 && proof_.recedes(direction)) {
        proof_.write(point_, metric_, fit.certificate);
        fit.certificate.reason = Reason::separable;
        break;
      }
      impatient_ = round >= 4 && rounds_missing(decrement, asked * std::abs(local_.value)) > plan_.patience;
      if (impatient_) break;
      decrements_.push_back(decrement);
      if (!advance(direction, decrement)) {
        proof_.write(point_, metric_, fit.certificate);
        if (!watch_.converged(fit.certificate, scale)) fit.certificate.reason = Reason::rounding;
        break;
      }
    }
    fit.point = point_;
    fit.certificate.rounds = round;
    fit.certificate.passes = risk_.passes();
    fit.certificate.seconds = watch_.seconds();
    return fit;
  }

  /// Whether the last run left because of its plan's patience; its certificate then says nothing.
  bool impatient() const { return impatient_; }

 private:
  /// Step 1: the same problem on a sample of the rows gives a point and a metric.
  void begin(Vector& point) {
    if (plan_.sample_rows <= 0 || risk_.rows() < 3 * plan_.sample_rows || plan_.form == Curvature::none) return;
    const ThinnedSample thin(risk_.sample(), risk_.loss().targets(), risk_.rows() / plan_.sample_rows);
    const Risk risk(thin.sample(), risk_.loss(), risk_.penalty(), risk_.intercept(), risk_.shift());
    Stopping rough = stopping_;
    rough.tol = 1e-3;
    rough.max_rounds = risk_.has_coefficients(point) ? 0 : 12;  // a start that was given is near enough
    QuasiNewton plan = plan_;
    plan.sample_rows = 0;
    QuasiNewtonSolver solver(risk, plan, rough);
    solver.rough(point);
    metric_ = std::move(solver.unfactored_);
    need_floor_ = true;
    contraction_ = 0;  // the sample's metric has earned a few steps
    risk_.count_passes(risk.passes() * double(thin.sample().x->rows()) / double(risk_.rows()));
  }

  /// A few rounds without proof; leaves the metric of the last point in unfactored_.
  void rough(Vector& point) {
    point_ = point;
    if (stopping_.max_rounds > 0) {
      risk_.evaluate(point_, local_, true, plan_.form);
      take_curvature(plan_.form);
      contraction_ = 0;  // goes on with the Hessian of the start until a step disappoints
    }
    for (Index round = 0; round < stopping_.max_rounds; ++round) {
      const Vector direction = descent();
      const double decrement = -dot(direction, local_.gradient) / 2;
      if (!(decrement > stopping_.tol * std::abs(local_.value)) || !advance(direction, decrement)) break;
    }
    point = point_;
    Risk::Local last;
    risk_.evaluate(point_, last, false, plan_.form);
    unfactored_ = Metric(risk_, plan_.form, std::move(last.curvature));
  }

  /// Values end at rounding where the point still has half its digits to gain; the gradient knows them.
  void polish(Vector step) {
    Vector next(point_);
    Risk::Local there;
    for (int round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < next.size(); ++i) next[i] = point_[i] + step[i];
      risk_.evaluate(next, there);
      const bool level = there.value <= local_.value + 1e-14 * std::abs(local_.value);
      if (!level || !(norm(there.gradient) < norm(local_.gradient))) return;
      point_.swap(next);
      std::swap(local_, there);
      step = descent();
    }
  }

  /// How many rounds more it takes until the decrement has fallen to `wanted`, if it goes on as in the last four.
  double rounds_missing(double decrement, double wanted) const {
    if (decrement <= wanted) return 0;
    const double fall = std::log(decrements_[decrements_.size() - 4] / decrement) / 4;
    return fall > 0 ? std::log(decrement / wanted) / fall : infinity;
  }

  Vector descent() const {
    Vector direction(local_.gradient);
    memory_.solve(direction, metric_);
    for (double& x : direction) x = -x;
    return direction;
  }

  void take_curvature(Curvature form) {
    if (form == Curvature::none) return;
    Metric fresh(risk_, form, std::move(local_.curvature));
    if (need_floor_ && form == Curvature::diagonal) {
      metric_.raise_diagonal(fresh.diagonal());
    } else {
      metric_ = std::move(fresh);
    }
    need_floor_ = false;
    metric_.factor();
    memory_.clear();
  }

  /// Steps 2: moves point_ and local_, or says that no step along the direction lowers the value.
  bool advance(const Vector& direction, double decrement) {
    const Curvature form = wants_curvature() ? plan_.form : Curvature::none;
    const double slope = -2 * decrement, before = local_.value;
    Vector next(point_);
    Risk::Local there;
    double t = 1;
    for (int halving = 0; halving < 40; ++halving) {
      for (std::size_t i = 0; i < next.size(); ++i) next[i] = point_[i] + t * direction[i];
      risk_.evaluate(next, there, true, form, proof_.scores().data());
      const bool lower = there.value <= before + 1e-4 * t * slope;
      const bool level = std::abs(there.value - before) <= 4e-16 * std::abs(before) * std::sqrt(double(risk_.rows())) &&
                         std::abs(dot(there.gradient, direction)) < 0.9 * std::abs(slope);
      if (lower || level) break;
      if (halving == 39 || t * norm(direction) < 1e-16 * norm(point_)) {
        scores_known_ = false;  // those kept are of a point that was refused
        return false;
      }
      const double fitted = -slope * t * t / (2 * (there.value - before - slope * t));
      t = std::isfinite(there.value) && std::isfinite(fitted) ? std::clamp(fitted, 0.1 * t, 0.5 * t) : 0.1 * t;
    }
    Vector step(direction), change(there.gradient);
    for (std::size_t i = 0; i < step.size(); ++i) step[i] *= t;
    for (std::size_t i = 0; i < change.size(); ++i) change[i] -= local_.gradient[i];
    point_.swap(next);
    local_ = std::move(there);
    memory_.add(std::move(step), std::move(change));
    if (form != Curvature::none) take_curvature(form);
    Vector solved(local_.gradient);
    memory_.solve(solved, metric_);
    contraction_ = dot(solved, local_.gradient) / 2 / std::max(decrement, 1e-300);
    return true;
  }

  /// A Hessian costs as much as `price` gradient passes; with it the error is squared, without it contracts as before.
  bool wants_curvature() const {
    if (plan_.form == Curvature::none || !plan_.refresh) return false;
    if (plan_.form == Curvature::diagonal) return contraction_ > 0.9;
    const double entries = double(risk_.sample().x->stored()) / std::max(1.0, double(risk_.rows()));
    const double price = 0.1 * entries * (plan_.form == Curvature::full ? double(risk_.scores() + 1) / 2 : 1.0) +
                         double(risk_.size()) * double(risk_.size()) * double(risk_.size()) /
                             (60.0 * double(risk_.sample().x->stored() + 1));
    return contraction_ > std::pow(0.02, 1 / std::max(1.0, price));
  }

  const Risk& risk_;
  QuasiNewton plan_;
  const Stopping& stopping_;
  Watch watch_;
  quasi_newton_detail::Memory memory_;
  Proof proof_;
  Metric metric_, unfactored_;
  Vector point_;
  Risk::Local local_;
  Vector decrements_;  // of the rounds so far
  bool need_floor_ = false, scores_known_ = true, impatient_ = false;
  double contraction_ = 1;
};

}  // namespace tutelage
