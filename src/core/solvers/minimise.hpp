// One door to the batch solvers that read X by rows: which of them can minimise a risk, and which of those should.
//
// What can:   closed_form        the squared loss and a quadratic penalty
//             newton             a loss with curvature, a quadratic penalty, coefficients few enough for their Hessian
//             truncated_newton   a loss with curvature, a quadratic penalty
//             lbfgs              a loss with curvature, a quadratic penalty
//             proximal_gradient  a loss with curvature, any penalty with a prox
// What should, when asked to choose ("automatic"): the first of these that is cheapest by the count of its work, which
// docs/notes/solvers.md explains.
#pragma once
#include <stdexcept>
#include <string>

#include "core/solvers/closed_form.hpp"
#include "core/solvers/newton.hpp"
#include "core/solvers/proximal_gradient.hpp"
#include "core/solvers/truncated_newton.hpp"

namespace tutelage {

enum class Solver { automatic, closed_form, newton, truncated_newton, lbfgs, proximal_gradient };

inline Solver solver_named(const std::string& name) {
  if (name == "auto") return Solver::automatic;
  if (name == "closed_form") return Solver::closed_form;
  if (name == "newton") return Solver::newton;
  if (name == "truncated_newton") return Solver::truncated_newton;
  if (name == "lbfgs") return Solver::lbfgs;
  if (name == "proximal_gradient") return Solver::proximal_gradient;
  throw std::invalid_argument("no batch solver is called '" + name + "'");
}

/// Why a solver cannot minimise a risk: half a sentence, empty when it can.
inline std::string objection(Solver solver, const LossFacts& loss, const PenaltyFacts& penalty) {
  const std::string its_loss = "the " + std::string(loss.name) + " loss", its_penalty = "the " + std::string(penalty.name) + " penalty";
  if (!loss.trainable) return its_loss + " can only be evaluated, not minimised";
  if (solver == Solver::closed_form && loss.name != "squared" && loss.name != "squared_scores") {
    return "it solves the squared loss only, not " + its_loss;
  }
  if (solver != Solver::closed_form && !loss.has_curvature) return its_loss + " has no curvature";
  if (solver != Solver::proximal_gradient && !penalty.quadratic) return its_penalty + " is not quadratic";
  return "";
}

namespace minimise_detail {

/// How many rows settle a sampled metric: enough for each of its columns, in thousands at least.
inline Index sample_rows(const Risk& risk, Curvature form) {
  const Index side = form == Curvature::full ? risk.size() : risk.columns();
  return std::max<Index>({4000, (form == Curvature::full ? 10 : 6) * side, risk.rows() / 40});
}

inline QuasiNewton newton_plan(const Risk& risk) {
  QuasiNewton plan;
  const Index side = risk.columns() + (risk.intercept() ? 1 : 0);
  if (risk.size() <= 1500 || (risk.scores() == 1 && side <= 5000)) {
    plan.form = Curvature::full;
  } else if (!risk.sample().x->sparse() && side <= 3000) {
    plan.form = Curvature::blocks;
  } else {
    plan.form = Curvature::diagonal;
  }
  plan.sample_rows = sample_rows(risk, plan.form);
  return plan;
}

/// Multiply-adds to make and factor one Hessian, relative to those of one pass of gradients.
inline double hessian_price(const Risk& risk) {
  const double n = double(risk.rows()), d = double(risk.columns()), k = double(risk.scores());
  const double entries = double(risk.sample().x->stored()) / std::max(1.0, n);
  const double pass = 4 * n * entries * k;
  const double rows = std::min(n, double(sample_rows(risk, Curvature::full)));
  const double speed = risk.sample().x->sparse() ? 1.0 : 0.25;  // dense products run near peak, passes at memory speed
  return (speed * rows * entries * entries * k * (k + 1) / 2 + 0.3 * (k * d) * (k * d) * (k * d)) / std::max(1.0, pass);
}

}  // namespace minimise_detail

inline Solver choose(const Risk& risk) {
  const PenaltyFacts penalty = risk.penalty().facts();
  const LossFacts loss = risk.loss().facts();
  if (!penalty.quadratic) return Solver::proximal_gradient;
  if (objection(Solver::closed_form, loss, penalty).empty()) {
    // Sparse and wide: n d^2 products and a d x d matrix are too many, conjugate gradients take a few passes.
    const double side = double(std::min(risk.rows(), risk.columns()));
    if (!risk.sample().x->sparse() || side <= 2000) return Solver::closed_form;
    return Solver::truncated_newton;
  }
  if (!risk.sample().x->sparse()) return Solver::newton;
  return minimise_detail::hessian_price(risk) < 20 && risk.size() <= 2000 ? Solver::newton : Solver::truncated_newton;
}

/// Minimises a risk from a start in the coordinates of the caller (coefficients, then intercepts); the answer is in the
/// same coordinates.
inline Fit minimise(const Risk& risk, Solver solver, Vector start, const Stopping& stopping) {
  if (solver == Solver::automatic) solver = choose(risk);
  const std::string reason = objection(solver, risk.loss().facts(), risk.penalty().facts());
  if (!reason.empty()) throw std::invalid_argument(reason);
  risk.import_point(start);
  Fit fit;
  switch (solver) {
    case Solver::automatic:
    case Solver::closed_form: fit = ClosedForm(risk, stopping).run(); break;
    case Solver::newton:
      fit = QuasiNewtonSolver(risk, minimise_detail::newton_plan(risk), stopping).run(std::move(start), "newton");
      break;
    case Solver::truncated_newton: fit = TruncatedNewton(risk, stopping).run(std::move(start)); break;
    case Solver::lbfgs: {
      QuasiNewton plan;
      plan.form = Curvature::diagonal;
      plan.refresh = false;
      plan.memory = 20;
      fit = QuasiNewtonSolver(risk, plan, stopping).run(std::move(start), "lbfgs");
      break;
    }
    case Solver::proximal_gradient: fit = ProximalGradient(risk, stopping).run(std::move(start)); break;
  }
  risk.export_point(fit.point);
  return fit;
}

}  // namespace tutelage
