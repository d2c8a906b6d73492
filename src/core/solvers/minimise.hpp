// One door to the batch solvers that read X by rows: which of them can minimise a risk, and which of those should.
//
// What can:   closed_form        the squared loss and a quadratic penalty
//             newton             a loss with curvature, a quadratic penalty, coefficients few enough for their Hessian
//             truncated_newton   a loss with curvature, a quadratic penalty
//             lbfgs              a smooth loss, a quadratic penalty
//             proximal_gradient  a smooth loss, any penalty with a prox
//             coordinate_descent a loss of one score with curvature, a separable penalty, X readable by columns
//             augmented_lagrangian   a loss with kinks and a prox, any penalty with a prox
// What should, when asked to choose ("automatic"): the first of these that is cheapest by the count of its work, which
// docs/notes/solvers.md explains.
#pragma once
#include <stdexcept>
#include <string>

#include "core/solvers/augmented_lagrangian.hpp"
#include "core/solvers/closed_form.hpp"
#include "core/solvers/coordinate.hpp"
#include "core/solvers/coordinate/matrices.hpp"
#include "core/solvers/newton.hpp"
#include "core/solvers/proximal_gradient.hpp"
#include "core/solvers/truncated_newton.hpp"

namespace tutelage {

enum class Solver {
  automatic,
  closed_form,
  newton,
  truncated_newton,
  lbfgs,
  proximal_gradient,
  coordinate_descent,
  augmented_lagrangian
};

inline Solver solver_named(const std::string& name) {
  if (name == "auto") return Solver::automatic;
  if (name == "closed_form") return Solver::closed_form;
  if (name == "newton") return Solver::newton;
  if (name == "truncated_newton") return Solver::truncated_newton;
  if (name == "lbfgs") return Solver::lbfgs;
  if (name == "proximal_gradient") return Solver::proximal_gradient;
  if (name == "coordinate_descent") return Solver::coordinate_descent;
  if (name == "augmented_lagrangian") return Solver::augmented_lagrangian;
  throw std::invalid_argument("no batch solver is called '" + name + "'");
}

/// A loss with kinks: no curvature, but a prox. (With neither, a loss is taken to be smooth: a user gave its slope.)
inline bool has_kinks(const LossFacts& loss) { return !loss.has_curvature && loss.has_prox; }

/// Why a solver cannot minimise a risk: half a sentence, empty when it can.
inline std::string objection(Solver solver, const LossFacts& loss, const PenaltyFacts& penalty, Index scores) {
  const std::string its_loss = "the " + std::string(loss.name) + " loss";
  const std::string its_penalty = "the " + std::string(penalty.name) + " penalty";
  if (!loss.trainable) return its_loss + " can only be evaluated, not minimised";
  const bool second_order = solver == Solver::newton || solver == Solver::truncated_newton;
  if (solver == Solver::coordinate_descent) {
    if (!loss.has_curvature) return its_loss + " has no curvature";
    if (scores > 1) return "it moves the coefficients of one score for each row, not of several";
    return penalty.separable && penalty.has_prox ? "" : its_penalty + " is not a sum over coefficients";
  }
  const bool any_penalty = solver == Solver::proximal_gradient || solver == Solver::augmented_lagrangian;
  if (solver == Solver::closed_form && !(loss.quadratic && loss.name == "squared")) {
    return "it solves the squared loss only, not " + its_loss;
  }
  if (solver == Solver::augmented_lagrangian && !has_kinks(loss)) {
    return its_loss + (loss.has_prox ? " has no kinks to smooth" : " has no proximal operator");
  }
  if (second_order && !loss.has_curvature) return its_loss + " has no curvature";
  if (solver != Solver::automatic && solver != Solver::augmented_lagrangian && has_kinks(loss)) {
    return its_loss + " has kinks";
  }
  if (solver != Solver::automatic && !any_penalty && !penalty.quadratic) return its_penalty + " is not quadratic";
  if (!penalty.quadratic && !penalty.has_prox) return its_penalty + " has no proximal operator";
  return "";
}

namespace minimise_detail {

/// Coordinate descent works in the caller's coordinates; this risk's may be centred.
inline Fit descend_by_coordinates(const Risk& risk, Vector start, const Stopping& stopping) {
  const auto* columns = dynamic_cast<const Columns*>(risk.sample().x);
  if (columns == nullptr || risk.scores() != 1) {
    throw std::invalid_argument(
        "coordinate descent needs one score for each row and a matrix that can be read by columns");
  }
  risk.export_point(start);
  const auto products = column_products(*columns);
  CoordinateDescent descent({*products, risk.sample().y, risk.sample().weights, risk.loss(), risk.intercept()},
                            start.data(), risk.intercept() ? start.back() : 0);
  Fit fit;
  fit.certificate = descent.solve(risk.penalty(), stopping);
  fit.certificate.solver = "coordinate_descent";
  fit.point = descent.coefficients();
  if (risk.intercept()) fit.point.push_back(descent.intercept());
  risk.import_point(fit.point);
  risk.count_passes(fit.certificate.passes);
  return fit;
}

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

/// Truncated Newton: where X is dense, one matrix a score as preconditioner, as long as it is small beside X.
inline TruncatedPlan truncated_plan(const Risk& risk) {
  TruncatedPlan plan;
  const Index n = std::max<Index>(1, risk.rows()), d = risk.columns(), k = risk.scores();
  const double room = std::max(8e6, 2 * double(risk.sample().x->stored()));
  if (risk.sample().x->sparse() || d > 3000 || BlockFactors::bytes(k, d) > room) return plan;
  plan.form = Curvature::blocks;
  // Enough rows for each of its columns; where that costs less than a product or two, more.
  plan.metric_rows = std::max<Index>({2000, 4 * d, std::min(3 * n / std::max<Index>(1, d), n / 8)});
  const bool sampled = n >= 2 * plan.metric_rows;
  const double rows = double(sampled ? plan.metric_rows : n);
  // Multiply-adds of the matrices and their factors, then the pass for their diagonal, relative to one product.
  plan.price = double(d) * (rows + double(d)) / (4 * double(n)) + (sampled ? 1.5 : 0);
  if (k > 1) plan.start_rows = std::max<Index>(2000, 2 * d);
  return plan;
}

/// L-BFGS: a diagonal metric and a memory.
inline QuasiNewton lbfgs_plan(const Risk& risk) {
  QuasiNewton plan;
  plan.form = risk.loss().facts().has_curvature ? Curvature::diagonal : Curvature::none;
  plan.refresh = false;
  plan.memory = 20;
  return plan;
}

/// Newton's method, after L-BFGS where that looks cheaper. On many columns a Hessian costs as much as many passes.
inline Fit newton_or_less(const Risk& risk, Vector start, const Stopping& stopping) {
  const QuasiNewton plan = newton_plan(risk);
  const double n = std::max(1.0, double(risk.rows())), d = double(risk.columns());
  // Without a penalty only Newton's steps end at the solution of least norm where columns are collinear.
  const bool one_solution = risk.penalty().facts().strong_convexity > 0;
  if (risk.scores() == 1 && !risk.sample().x->sparse() && risk.sample().x->stored() > 1'000'000 && one_solution) {
    const bool sampled = risk.rows() >= 3 * plan.sample_rows;
    // A pass waits for memory: in the time that brings one number a product does 60 multiply-adds.
    const double one = (sampled ? double(plan.sample_rows) / n : 1) * d / 60 + d * d / (200 * n);
    QuasiNewton cheap = lbfgs_plan(risk);
    cheap.patience = (sampled ? 2 : 3) * one;
    if (cheap.patience > 3) {
      QuasiNewtonSolver solver(risk, cheap, stopping);
      Fit fit = solver.run(start, "lbfgs");
      if (!solver.impatient()) return fit;
      Stopping rest = stopping;
      rest.max_rounds -= fit.certificate.rounds;
      rest.time_limit -= fit.certificate.seconds;
      const Certificate before = fit.certificate;
      fit = QuasiNewtonSolver(risk, plan, rest).run(std::move(fit.point), "newton");
      fit.certificate.rounds += before.rounds;
      fit.certificate.seconds += before.seconds;
      return fit;
    }
  }
  return QuasiNewtonSolver(risk, plan, stopping).run(std::move(start), "newton");
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

/// Whether coordinate descent can take this risk: one score, a separable penalty, columns within reach.
inline bool by_coordinates(const Risk& risk) {
  return risk.scores() == 1 && risk.loss().targets() <= 2 && !risk.loss().whole() &&
         objection(Solver::coordinate_descent, risk.loss().facts(), risk.penalty().facts(), risk.scores()).empty() &&
         dynamic_cast<const Columns*>(risk.sample().x) != nullptr;
}

inline Solver choose(const Risk& risk) {
  const PenaltyFacts penalty = risk.penalty().facts();
  const LossFacts loss = risk.loss().facts();
  if (has_kinks(loss)) return Solver::augmented_lagrangian;
  if (!penalty.quadratic) return by_coordinates(risk) ? Solver::coordinate_descent : Solver::proximal_gradient;
  if (!loss.has_curvature) return Solver::lbfgs;
  if (objection(Solver::closed_form, loss, penalty, risk.scores()).empty()) {
    // Sparse and wide: n d^2 products and a d x d matrix are too many, conjugate gradients take a few passes.
    const double side = double(std::min(risk.rows(), risk.columns()));
    if (!risk.sample().x->sparse() || side <= 2000) return Solver::closed_form;
    return Solver::truncated_newton;
  }
  // A metric of one matrix a score leaves out how scores curve together: conjugate gradients on the Hessian itself,
  // which it preconditions, need fewer readings than quasi-Newton steps on it.
  if (!risk.sample().x->sparse()) {
    const double k = double(risk.scores()), d = double(risk.columns());
    // With all pairs of scores a Hessian costs k d / 4 products with it, with each score alone d / 2 and a few
    // products.
    if (risk.scores() > 1 && loss.relative && k * d > 2 * d + 24) return Solver::truncated_newton;
    const bool whole = minimise_detail::newton_plan(risk).form == Curvature::full;
    return whole ? Solver::newton : Solver::truncated_newton;
  }
  return minimise_detail::hessian_price(risk) < 20 && risk.size() <= 2000 ? Solver::newton : Solver::truncated_newton;
}

/// Minimises a risk from a start in its internal coordinates. The loss is shared, since its envelope may outlive the
/// call.
inline Fit minimise_inside(const Risk& risk, const std::shared_ptr<const AnyLoss>& loss, Solver solver, Vector start,
                           const Stopping& stopping) {
  const bool asked = solver != Solver::automatic;
  if (!asked) solver = choose(risk);
  switch (solver) {
    case Solver::automatic:
    case Solver::closed_form:
      return ClosedForm(risk, stopping).run();
    case Solver::newton:
      if (!asked) return minimise_detail::newton_or_less(risk, std::move(start), stopping);
      return QuasiNewtonSolver(risk, minimise_detail::newton_plan(risk), stopping).run(std::move(start), "newton");
    case Solver::truncated_newton:
      return TruncatedNewton(risk, minimise_detail::truncated_plan(risk), stopping).run(std::move(start));
    case Solver::lbfgs:
      return QuasiNewtonSolver(risk, minimise_detail::lbfgs_plan(risk), stopping).run(std::move(start), "lbfgs");
    case Solver::proximal_gradient:
      return ProximalGradient(risk, stopping).run(std::move(start));
    case Solver::coordinate_descent:
      return minimise_detail::descend_by_coordinates(risk, std::move(start), stopping);
    case Solver::augmented_lagrangian:
      return AugmentedLagrangian(risk, loss, stopping,
                                 [](const Risk& smooth, Vector point, const Stopping& inner) {
                                   return minimise_inside(smooth, nullptr, Solver::automatic, std::move(point), inner);
                                 })
          .run(std::move(start));
  }
  throw std::logic_error("a solver without a case");
}

/// Minimises a risk from a start in the coordinates of the caller (coefficients, then intercepts); the answer is in the
/// same coordinates.
inline Fit minimise(const Risk& risk, const std::shared_ptr<const AnyLoss>& loss, Solver solver, Vector start,
                    const Stopping& stopping) {
  const std::string reason = objection(solver, risk.loss().facts(), risk.penalty().facts(), risk.scores());
  if (!reason.empty()) throw std::invalid_argument(reason);
  risk.import_point(start);
  Fit fit = minimise_inside(risk, loss, solver, std::move(start), stopping);
  // Where classes can be separated the coefficients themselves end up as a direction that lowers every loss for ever.
  const Reason reached = fit.certificate.reason;
  const bool stuck = reached == Reason::rounding || reached == Reason::rounds || reached == Reason::time;
  if (stuck && Proof(risk).recedes(fit.point)) fit.certificate.reason = Reason::separable;
  risk.export_point(fit.point);
  return fit;
}

}  // namespace tutelage
