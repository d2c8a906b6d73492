// Coordinate descent with working sets, screening and a duality gap, for one score per row:
//
//     minimise over w, b:   (1 / S) sum_i s_i loss(y_i, x_i . w + b) + sum_j penalty_j(w_j)
//
// Each round
//   1. makes the intercept exact, so that the weighted slopes sum to zero;
//   2. computes the gradient where it can matter (coordinate/gradients.hpp), a dual point from it and the gap
//      (coordinate/duality.hpp), and stops if that is small enough;
//   3. chooses a working set: the coefficients in use and those that violate their optimality condition most;
//   4. minimises over the working set: a squared loss is its own quadratic model, whose Gram matrix is kept and grown
//      from round to round and along a path; another loss takes damped Newton steps, each a quadratic model
//      (coordinate/models.hpp) minimised by coordinate descent (coordinate/descend.hpp) and followed by a line search.
//      Its Gram matrix is kept and grown too, with the curvatures of the point where it was formed, while the steps
//      contract well enough for its price (coordinate/lagged.hpp).
//
// Cost: a first reading of X, one or two more in all rounds together (a smooth loss: two for each Newton step), m^2 n /
// 2 products for the Gram matrix of the m columns that ever enter the working set, m products for every coefficient
// that moves. Where the solution is not sparse (weak penalties) m grows to d; where m is far above a thousand, or X is
// huge and sparse, the Gram matrix is replaced by the entries of the working set, and sweeps cost as much as readings.
//
// Non-convex penalties (MCP, SCAD, |w|^q) end at a point where no single coefficient can lower the objective; there is
// no dual, so the largest violation is the measure.
#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>

#include "core/solvers/certificate.hpp"
#include "core/solvers/coordinate/duality.hpp"
#include "core/solvers/coordinate/gradients.hpp"
#include "core/solvers/coordinate/lagged.hpp"
#include "core/solvers/coordinate/repair.hpp"
#include "core/solvers/coordinate/working_set.hpp"

namespace tutelage {

/// What is minimised, but for the penalty. Everything is referred to, nothing copied.
struct CoordinateProblem {
  const ColumnProducts& x;
  const double* y;
  const double* s;  // null: every weight is 1
  const AnyLoss& loss;
  bool intercept = true;
};

class CoordinateDescent {
 public:
  using Vector = coordinate::Vector;
  using Indices = coordinate::Indices;

  /// `start` may be null (zero), else columns() coefficients.
  explicit CoordinateDescent(const CoordinateProblem& problem, const double* start = nullptr, double b = 0)
      : problem_(problem),
        x_(problem.x),
        facts_(problem.loss.facts()),
        smooth_(problem.loss, problem.y, problem.s, problem.x.rows()),
        set_(problem.x),
        w_(coordinate::at(x_.columns()), 0.0),
        b_(problem.intercept ? b : 0.0),
        z_(coordinate::at(x_.rows()), b_) {
    if (!facts_.has_curvature && facts_.smoothness == infinity) {
      throw std::invalid_argument("loss '" + std::string(facts_.name) +
                                  "' has no curvature, which coordinate descent "
                                  "needs; choose a smooth loss or another solver");
    }
    if (start) take(start);
    smooth_.evaluate(z_);
    dual_.centred = centre();
    gradients_ = std::make_unique<coordinate::Gradients>(x_, smooth_, problem.intercept);
    shift_.resize(problem.intercept ? w_.size() : 0);
    scattered_.resize(w_.size());
  }

  /// Minimises with this penalty from the present coefficients. `anticipate` >= 1 lets coefficients into the first
  /// working set whose gradient would have to be that much larger to move (the strong rule of a path).
  Certificate solve(const AnyPenalty& penalty, const Stopping& stopping, double anticipate = 1) {
    const Watch watch(stopping);
    begin(penalty);
    Certificate certificate;
    certificate.solver = "coordinate";
    const double passes_before = solved_ ? gradients_->passes : 0;
    solved_ = true;
    double scale = 0;
    Stagnation stagnation;
    for (Index round = 0;; ++round) {
      dual_.centred = centre();
      gradients_->update(smooth_, *loops_, w_, fresh_);
      certificate.rounds = round;
      if (!scales_dual_ && worth_raising(penalty, round, stopping)) raise_dual(penalty, watch);
      coordinate::certify(smooth_, *gradients_, *loops_, penalty, w_, fresh_, dual_, certificate);
      if (round == 0) scale = certificate.primal;
      certificate.passes = gradients_->passes - passes_before;
      // Who asks for the last digits of the value wants those of the coefficients too, which come after.
      const bool settled = stopping.tol > last_digits || dual_.worst_violation <= 1e-14 * gradients_->largest();
      if ((settled && watch.converged(certificate, scale)) || watch.expired(certificate)) break;
      if (round >= stopping.max_rounds) {
        certificate.reason = Reason::rounds;
        break;
      }
      if (stagnation.reached(certificate, scale) ||
          !improve(penalty, certificate, stopping.tol, round == 0 ? anticipate : 1, watch)) {
        certificate.reason = watch.late() ? Reason::time : Reason::rounding;
        break;
      }
    }
    certificate.seconds = watch.seconds();
    return certificate;
  }

  const Vector& coefficients() const { return w_; }
  double intercept() const { return b_; }
  const Vector& scores() const { return z_; }
  const coordinate::Gradients& gradients() const { return *gradients_; }
  /// Makes every gradient exact at the present coefficients.
  const Vector& read_gradients() {
    gradients_->read_all(smooth_);
    return gradients_->g;
  }

 private:
  static std::size_t at(Index i) { return coordinate::at(i); }

  void take(const double* start) {
    Indices js;
    Vector values;
    for (Index j = 0; j < x_.columns(); ++j) {
      w_[at(j)] = start[j];
      if (start[j] == 0) continue;
      js.push_back(j);
      values.push_back(start[j]);
    }
    x_.add(js.data(), static_cast<Index>(js.size()), nullptr, values.data(), z_.data());
  }

  bool centre() { return !problem_.intercept || smooth_.fit_intercept(z_, b_); }

  /// Prepares for a penalty: its loops, and coefficients that it allows.
  void begin(const AnyPenalty& penalty) {
    const PenaltyFacts facts = penalty.facts();
    if (!facts.separable) {
      throw std::invalid_argument("penalty '" + std::string(facts.name) +
                                  "' is not a sum over coefficients, which coordinate descent needs");
    }
    loops_ = coordinate::coordinate_loops(penalty);
    dual_.best = -infinity;
    dual_.violation_scale = 0;
    dual_.exists = facts_.convex && facts_.has_conjugate && facts.convex && facts.has_conjugate;
    scales_dual_ = facts.scales_dual || !dual_.exists;
    if (!scales_dual_)
      dual_.best = smooth_.dual(smooth_.slopes, 0) - penalty.conjugate(Vector(w_.size()).data(), 1, x_.columns());
    caution_ = 0.3;
    last_value_ = infinity;
    Indices js;
    Vector by;
    for (Index j = 0; j < x_.columns(); ++j) {
      const double old = w_[at(j)];
      // A column that says nothing has the coefficient that the penalty likes best; a start outside its domain moves
      // in.
      const bool silent = gradients_->squares[at(j)] == 0;
      if (!silent && std::isfinite(penalty.value_one(j, old))) continue;
      const double fresh = silent ? loops_->prox(j, 0.0, 1.0) : loops_->prox(j, old, 1e-12);
      if (fresh == old) continue;
      js.push_back(j);
      by.push_back(fresh - old);
      w_[at(j)] = fresh;
    }
    if (js.empty()) return;
    move(js, by, gradients_->shift(), z_);
    smooth_.evaluate(z_);
  }

  /// A bent dual point may cost as much as a round: it waits until the value hardly falls any more, or for every tenth
  /// round.
  bool worth_raising(const AnyPenalty& penalty, Index round, const Stopping& stopping) {
    const double value = smooth_.value() + penalty.value(w_.data(), 1, x_.columns());
    const double fell = last_value_ - value;
    last_value_ = value;
    return fell <= 30 * stopping.tol * std::abs(value) || round % 10 == 0 || round >= stopping.max_rounds;
  }

  /// Scaling makes no dual point of the slopes: bends them.
  void raise_dual(const AnyPenalty& penalty, const Watch& watch) {
    if (dual_.centred)
      dual_.best = std::max(dual_.best, coordinate::Repair(x_, smooth_, *gradients_, penalty, z_, watch).dual(w_));
  }

  /// z += sum_t by_t (x_j - shift_j), and the intercept takes what the shift moved.
  void move(const Indices& js, const Vector& by, const double* shift, Vector& z) {
    x_.add(js.data(), static_cast<Index>(js.size()), shift, by.data(), z.data());
    if (!shift) return;
    for (std::size_t t = 0; t < js.size(); ++t) b_ -= by[t] * shift[js[t]];
  }

  /// Steps 3 and 4; false when nothing moved although it should have.
  bool improve(const AnyPenalty& penalty, const Certificate& certificate, double tol, double anticipate,
               const Watch& watch) {
    choose(anticipate);
    if (chosen_.empty()) return false;
    double size = 0;
    for (const double w : w_) size += std::abs(w);
    const double worst = dual_.worst_violation;
    const double wanted =
        dual_.exists ? (size > 0 ? tol * std::abs(certificate.primal) / size : infinity) : tol * dual_.violation_scale;
    if (worst <= caution_ * wanted) caution_ *= 0.1;
    const double least = 1e-16 * gradients_->largest();
    const double accuracy = std::max(std::min(std::max(caution_ * wanted, 0.03 * worst), 0.3 * worst), least);
    const bool moved =
        facts_.quadratic ? solve_model(accuracy, watch) : newton(penalty, accuracy, caution_ * wanted, watch);
    return moved || (worst > 0 && caution_ > 1e-9 && accuracy > least);
  }

  /// The working set: coefficients in use, those the Gram matrix knows already, and the worst of the others.
  void choose(double anticipate) {
    const Index count = static_cast<Index>(fresh_.size());
    Vector violation(fresh_.size());
    const double* g = gradients_->g.data();
    Vector larger;
    if (anticipate > 1) {
      larger = gradients_->g;
      for (double& v : larger) v *= anticipate;
      g = larger.data();
    }
    loops_->violations(fresh_.data(), count, w_.data(), g, gradients_->lipschitz.data(), violation.data());
    chosen_.clear();
    std::vector<std::pair<double, Index>> others;
    Index used = 0;
    for (Index t = 0; t < count; ++t) {
      const Index j = fresh_[at(t)];
      if (w_[at(j)] != 0) ++used;
      if (w_[at(j)] != 0 || (facts_.quadratic && set_.holds(j))) {
        chosen_.push_back(j);
      } else if (violation[at(t)] > 0) {
        // What moving this coefficient alone would gain.
        others.push_back({-violation[at(t)] * violation[at(t)] / gradients_->squares[at(j)], j});
      }
    }
    const double width = std::sqrt(static_cast<double>(x_.columns()));
    const Index first = std::clamp<Index>(static_cast<Index>(4 * width), 32, 400);
    const Index most = std::min(std::max(first, used), static_cast<Index>(others.size()));
    std::nth_element(others.begin(), others.begin() + (most > 0 ? most - 1 : 0), others.end());
    for (Index t = 0; t < most; ++t) chosen_.push_back(others[at(t)].second);
    std::sort(chosen_.begin(), chosen_.end());
  }

  /// Squared loss: the working set's problem is its model.
  bool solve_model(double accuracy, const Watch& watch) {
    Vector g(chosen_.size());
    for (std::size_t t = 0; t < chosen_.size(); ++t) g[t] = gradients_->g[at(chosen_[t])];
    const coordinate::QuadraticTerms terms{.c = smooth_.curvatures.data(),
                                           .shift = gradients_->shift(),
                                           .total = problem_.intercept ? gradients_->scale_of_loss : 0.0,
                                           .same_as_before = true,
                                           .gram = set_.prefers_gram(chosen_, 1)};
    set_.minimise(terms, chosen_, w_, g, *loops_, accuracy, watch, delta_);
    if (!collect_moves()) return false;
    for (std::size_t t = 0; t < moved_.size(); ++t) w_[at(moved_[t])] += by_[t];
    move(moved_, by_, gradients_->shift(), z_);
    smooth_.evaluate(z_);
    return true;
  }

  bool collect_moves() {
    moved_.clear();
    by_.clear();
    for (std::size_t t = 0; t < chosen_.size(); ++t) {
      if (delta_[t] == 0) continue;
      moved_.push_back(chosen_[t]);
      by_.push_back(delta_[t]);
    }
    return !moved_.empty();
  }

  /// Newton steps on the working set until its violations are below `accuracy`; `goal` is what the fit needs in the
  /// end.
  bool newton(const AnyPenalty& penalty, double accuracy, double goal, const Watch& watch) {
    bool moved = false;
    Vector g(chosen_.size());
    for (std::size_t t = 0; t < chosen_.size(); ++t) g[t] = gradients_->g[at(chosen_[t])];
    double worst = worst_of_chosen(g);
    const double price = set_.gram_price(chosen_);
    for (int step = 0; step < 50 && !watch.late(); ++step) {
      const bool gram = set_.prefers_gram(chosen_, lagged_.uses());
      const bool renews = !gram || set_.mostly_new(chosen_) || lagged_.due(worst, goal, price);
      if (renews) lagged_.renew(smooth_.curvatures);
      curvature_means(renews);
      const coordinate::QuadraticTerms terms{.c = lagged_.data(),
                                             .shift = shift_.empty() ? nullptr : shift_.data(),
                                             .total = problem_.intercept ? lagged_.total() : 0,
                                             .same_as_before = !renews,
                                             .gram = gram,
                                             .scale = lagged_.scale(smooth_.curvatures)};
      set_.minimise(terms, chosen_, w_, g, *loops_, std::max(0.3 * accuracy, 0.05 * worst), watch, delta_);
      if (!collect_moves() || !line_search(penalty, g)) {
        if (renews || moved_.empty()) break;
        lagged_.fail();
        continue;
      }
      moved = true;
      centre();
      gradients_->read(smooth_, chosen_, g);
      const double before = worst;
      worst = worst_of_chosen(g);
      lagged_.step(before, worst);
      if (worst <= accuracy) break;
    }
    if (moved) gradients_->store(smooth_, chosen_, g);
    return moved;
  }

  double worst_of_chosen(const Vector& g) {
    Vector violation(chosen_.size());
    for (std::size_t t = 0; t < chosen_.size(); ++t) scattered_[at(chosen_[t])] = g[t];
    loops_->violations(chosen_.data(), static_cast<Index>(chosen_.size()), w_.data(), scattered_.data(),
                       gradients_->lipschitz.data(), violation.data());
    return *std::max_element(violation.begin(), violation.end());
  }

  /// Means of the working set's columns under the curvatures of the model, into shift_: all of them or, when these
  /// curvatures are old, those that the Gram matrix does not know yet.
  void curvature_means(bool all) {
    if (!problem_.intercept) return;
    Indices js;
    for (const Index j : chosen_) {
      if (all || !set_.holds(j)) js.push_back(j);
    }
    Vector sums(js.size());
    x_.sums(js.data(), static_cast<Index>(js.size()), lagged_.data(), sums.data());
    for (std::size_t t = 0; t < js.size(); ++t) shift_[at(js[t])] = lagged_.total() > 0 ? sums[t] / lagged_.total() : 0;
  }

  /// Goes along the step of the model until the objective falls in proportion to what the model promised; false when
  /// rounding hides any fall.
  bool line_search(const AnyPenalty& penalty, const Vector& g) {
    const double* shift = shift_.empty() ? nullptr : shift_.data();
    const Index d = x_.columns();
    const double before = smooth_.value() + penalty.value(w_.data(), 1, d);
    Vector along(z_.size(), 0.0);
    const double old_b = b_;
    move(moved_, by_, shift, along);
    const double b_step = b_ - old_b;
    const Vector old_z = z_;
    Vector old_w(moved_.size());
    double promised = -penalty.value(w_.data(), 1, d);
    for (std::size_t t = 0; t < moved_.size(); ++t) {
      old_w[t] = w_[at(moved_[t])];
      w_[at(moved_[t])] += by_[t];
    }
    promised += penalty.value(w_.data(), 1, d);
    for (std::size_t t = 0; t < chosen_.size(); ++t) promised += g[t] * delta_[t];
    double length = 1;
    for (int halving = 0; halving < 40; ++halving, length /= 2) {
      for (std::size_t t = 0; t < moved_.size(); ++t) w_[at(moved_[t])] = old_w[t] + length * by_[t];
      for (std::size_t i = 0; i < z_.size(); ++i) z_[i] = old_z[i] + length * along[i];
      b_ = old_b + length * b_step;
      smooth_.evaluate(z_);
      const double value = smooth_.value() + penalty.value(w_.data(), 1, d);
      if (value <= before + 1e-3 * length * std::min(promised, 0.0) + 1e-15 * std::abs(before)) return true;
    }
    for (std::size_t t = 0; t < moved_.size(); ++t) w_[at(moved_[t])] = old_w[t];
    z_ = old_z;
    b_ = old_b;
    smooth_.evaluate(z_);
    return false;
  }

  const CoordinateProblem problem_;
  const ColumnProducts& x_;
  const LossFacts facts_;
  coordinate::SmoothPart smooth_;
  std::unique_ptr<coordinate::Gradients> gradients_;
  std::unique_ptr<coordinate::CoordinateLoops> loops_;
  coordinate::WorkingSet set_;
  coordinate::LaggedCurvature lagged_;
  coordinate::DualState dual_;
  Vector w_;
  double b_;
  Vector z_;
  Vector shift_;  // means under the curvatures, where there is an intercept
  Vector scattered_;
  Indices fresh_, chosen_, moved_;
  Vector delta_, by_;
  double caution_ = 0.3;  // how far below the tolerance the working set is solved
  double last_value_ = infinity;
  bool solved_ = false;
  bool scales_dual_ = true;  // see PenaltyFacts
};

}  // namespace tutelage
