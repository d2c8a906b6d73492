// Coordinate descent on a quadratic model with a separable penalty, to a given accuracy.
//
// A sweep minimises over one coefficient after the other, exactly: w_a <- prox(w_a - q_a / H_aa, 1 / H_aa). The
// violation |w_a - prox(...)| H_aa, in units of the gradient, tells how far a coefficient stood from its optimality
// condition, and the loop ends after a sweep of all coefficients whose largest violation is below `accuracy`. The
// violations are then measured once more, all at one point: in a sweep along nearly dependent columns, many small moves
// in one direction add up to a large violation that nobody meets.
//
// Sweeps converge slowly where columns are nearly dependent, and two things are done about it:
//   - Anderson extrapolation of every few sweeps (anderson.hpp), kept when the model's value falls;
//   - with H at hand and a penalty of smooth pieces, a Newton step on the coefficients that are not at a kink, cut back
//     to the piece it started on. Once the support is right that step is the solution. It costs m^3 / 3 products, so it
//     is tried when the sweeps that their present rate of convergence calls for would cost more.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/machine/cholesky.hpp"
#include "core/machine/interrupt.hpp"
#include "core/solvers/certificate.hpp"
#include "core/solvers/coordinate/anderson.hpp"
#include "core/solvers/coordinate/terms.hpp"

namespace tutelage::coordinate {

struct Descent {
  double violation = 0;  // largest of the last sweep of all live coefficients
  Index sweeps = 0;
  bool moved = false;
};

template <class Term, class Model>
class Descender {
 public:
  Descender(const Term& term, Model& model, double accuracy, const Watch& watch)
      : term_(term), model_(model), accuracy_(accuracy), watch_(watch) {}

  Descent run(Index most_sweeps) {
    model_.begin();
    Descent result;
    Anderson anderson;
    Indices active;
    double before = infinity;
    Index next_newton = 12;
    while (result.sweeps < most_sweeps && !watch_.late()) {
      check_interrupt();
      result.violation = sweep(model_.live, result.moved);
      ++result.sweeps;
      if (result.violation <= accuracy_) {
        result.violation = largest_violation();
        if (result.violation <= (Model::zeros_are_free ? 1 : 2) * accuracy_) break;
      }
      find_active(active);
      Index inner = 1;
      if constexpr (!Model::zeros_are_free) {
        // Looking at a zero is as dear as moving it: stay with the others until they have settled.
        const double settled = std::max(0.3 * result.violation, accuracy_ / 2);
        for (; inner < 10 && static_cast<Index>(active.size()) < static_cast<Index>(model_.live.size()); ++inner) {
          if (watch_.late() || sweep(active, result.moved) <= settled) break;
          if (anderson.push(model_.w, active)) extrapolate(anderson, active);
        }
        result.sweeps += inner - 1;
      }
      if (anderson.push(model_.w, active)) extrapolate(anderson, active);
      if constexpr (Model::zeros_are_free && Term::has_pieces) {
        if (result.sweeps >= next_newton) {
          const double rate = result.violation / before;
          next_newton = result.sweeps + 12;
          if (newton_pays(rate, result.violation, static_cast<double>(active.size()))) {
            if (newton()) anderson.restart();
          }
        }
        if (result.sweeps % 12 == 0) before = result.violation;
      }
    }
    return result;
  }

 private:
  /// Returns the largest violation met.
  double sweep(const Indices& positions, bool& moved) {
    double worst = 0;
    for (const Index a : positions) {
      const double curvature = model_.curvature(a);
      if (!(curvature > 0)) continue;
      const double old = model_.w[at(a)];
      const double fresh = term_.prox(model_.features[at(a)], old - model_.gradient(a) / curvature, 1 / curvature);
      if (fresh == old) continue;
      const double by = fresh - old;
      model_.move(a, by);
      model_.w[at(a)] = fresh;
      moved = true;
      worst = std::max(worst, std::abs(by) * curvature);
    }
    return worst;
  }

  /// Of the present point. What a sweep meets may be much less: many small moves in one direction add up.
  double largest_violation() const {
    double worst = 0;
    for (const Index a : model_.live) {
      const double curvature = model_.curvature(a);
      if (!(curvature > 0)) continue;
      const double w = model_.w[at(a)];
      const double by = w - term_.prox(model_.features[at(a)], w - model_.gradient(a) / curvature, 1 / curvature);
      worst = std::max(worst, std::abs(by) * curvature);
    }
    return worst;
  }

  void find_active(Indices& active) const {
    active.clear();
    for (const Index a : model_.live) {
      if (model_.w[at(a)] != 0) active.push_back(a);
    }
  }

  double value(const Indices& positions) const {
    double sum = model_.smooth_value();
    for (const Index a : positions) sum += term_.value(model_.features[at(a)], model_.w[at(a)]);
    return sum;
  }

  void put(const Indices& positions, const Vector& w) {
    for (std::size_t p = 0; p < positions.size(); ++p) {
      const Index a = positions[p];
      const double by = w[p] - model_.w[at(a)];
      if (by == 0) continue;
      model_.move(a, by);
      model_.w[at(a)] = w[p];
    }
  }

  /// Moves to `trial` on `positions` if that lowers the model; otherwise leaves everything as it was.
  bool try_point(const Indices& positions, const Vector& trial) {
    const double old_value = value(positions);
    old_state_ = model_.state();
    old_w_.resize(positions.size());
    for (std::size_t p = 0; p < positions.size(); ++p) old_w_[p] = model_.w[at(positions[p])];
    put(positions, trial);
    if (value(positions) < old_value) return true;
    model_.state() = old_state_;
    for (std::size_t p = 0; p < positions.size(); ++p) model_.w[at(positions[p])] = old_w_[p];
    return false;
  }

  void extrapolate(Anderson& anderson, const Indices& active) {
    if (anderson.extrapolate(trial_)) try_point(active, trial_);
    anderson.push(model_.w, active);
  }

  /// Whether m^3 / 3 products are fewer than the sweeps (m^2 products each) still to come at this rate per 12 sweeps.
  /// The factor says how much faster the products of a factorisation run.
  bool newton_pays(double rate, double violation, double m) const {
    if (m > 4000) return false;
    if (!(rate < 1)) return true;
    const double sweeps = 12 * std::log(violation / accuracy_) / -std::log(rate);
    return sweeps * m * m > m * m * m / 3 / 4;
  }

  /// A Newton step on the coefficients that stand on a smooth piece, halved until the model falls. A coefficient that
  /// would change its sign stops at zero.
  bool newton() {
    Indices smooth;
    Vector step;
    Vector curvature;
    for (const Index a : model_.live) {
      const double w = model_.w[at(a)];
      if (!(model_.curvature(a) > 0)) continue;
      const Piece piece = term_.piece(model_.features[at(a)], w);
      if (!piece.smooth) continue;
      smooth.push_back(a);
      step.push_back(-(model_.gradient(a) + piece.slope));
      curvature.push_back(piece.curvature);
    }
    if (smooth.empty()) return false;
    if constexpr (Model::zeros_are_free) {
      const Index n = static_cast<Index>(smooth.size());
      Vector h(at(n * n));
      for (Index p = 0; p < n; ++p) {
        const double* row = model_.h->row(smooth[at(p)]);
        for (Index q = 0; q < n; ++q) h[at(p * n + q)] = model_.scale * row[smooth[at(q)]];
        // Dependent columns (duplicates, more columns than rows) have a direction without curvature: a little is added.
        h[at(p * n + p)] = h[at(p * n + p)] * (1 + 1e-11) + curvature[at(p)];
      }
      if (!cholesky(h.data(), n, 1e-13)) return false;
      cholesky_solve(h.data(), n, step.data());
    }
    Vector trial(smooth.size());
    for (double length = 1; length > 0.1; length /= 2) {
      for (std::size_t p = 0; p < smooth.size(); ++p) {
        const double w = model_.w[at(smooth[p])];
        const double to = w + length * step[p];
        trial[p] = w * to < 0 ? 0.0 : to;
      }
      if (try_point(smooth, trial)) return true;
    }
    return false;
  }

  const Term& term_;
  Model& model_;
  const double accuracy_;
  const Watch& watch_;
  Vector trial_, old_state_, old_w_;
};

/// The loops over coefficients, behind one virtual call for each loop.
class CoordinateLoops {
 public:
  virtual ~CoordinateLoops() = default;
  virtual Descent descend(GramModel& model, double accuracy, Index most_sweeps, const Watch& watch) const = 0;
  virtual Descent descend(DenseModel& model, double accuracy, Index most_sweeps, const Watch& watch) const = 0;
  virtual Descent descend(SparseModel& model, double accuracy, Index most_sweeps, const Watch& watch) const = 0;
  virtual double prox(Index j, double v, double step) const = 0;
  /// out[t] = |w_j - prox(w_j - g_j / L_j, 1 / L_j)| L_j for j = js[t]; zero where L_j is zero.
  virtual void violations(const Index* js, Index count, const double* w, const double* g, const double* lipschitz,
                          double* out) const = 0;
  /// Of the coefficients js, those that are not zero or would not be held at zero by every gradient |g_j| <= bound_j.
  virtual Index candidates(const Index* js, Index count, const double* w, const double* bound, const double* lipschitz,
                           Index* out) const = 0;
};

template <class Term>
class Loops final : public CoordinateLoops {
 public:
  explicit Loops(const Term& term) : term_(term) {}

  Descent descend(GramModel& model, double accuracy, Index most, const Watch& watch) const override {
    return Descender<Term, GramModel>(term_, model, accuracy, watch).run(most);
  }
  Descent descend(DenseModel& model, double accuracy, Index most, const Watch& watch) const override {
    return Descender<Term, DenseModel>(term_, model, accuracy, watch).run(most);
  }
  Descent descend(SparseModel& model, double accuracy, Index most, const Watch& watch) const override {
    return Descender<Term, SparseModel>(term_, model, accuracy, watch).run(most);
  }
  double prox(Index j, double v, double step) const override { return term_.prox(j, v, step); }
  void violations(const Index* js, Index count, const double* w, const double* g, const double* lipschitz,
                  double* out) const override {
    for (Index t = 0; t < count; ++t) {
      const Index j = js[t];
      const double l = lipschitz[j];
      out[t] = l > 0 ? std::abs(w[j] - term_.prox(j, w[j] - g[j] / l, 1 / l)) * l : 0.0;
    }
  }
  Index candidates(const Index* js, Index count, const double* w, const double* bound, const double* lipschitz,
                   Index* out) const override {
    Index found = 0;
    for (Index t = 0; t < count; ++t) {
      const Index j = js[t];
      const double l = lipschitz[j];
      const bool rests =
          w[j] == 0 && term_.prox(j, bound[j] / l, 1 / l) == 0 && term_.prox(j, -bound[j] / l, 1 / l) == 0;
      if (!rests) out[found++] = j;
    }
    return found;
  }

 private:
  Term term_;
};

inline std::unique_ptr<CoordinateLoops> coordinate_loops(const AnyPenalty& penalty) {
  std::unique_ptr<CoordinateLoops> loops;
  with_term(penalty, [&](auto term) { loops = std::make_unique<Loops<decltype(term)>>(term); });
  return loops;
}

}  // namespace tutelage::coordinate
