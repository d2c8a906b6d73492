// A path: the solutions along a decreasing sequence of strengths, each started from the one before.
//
// From one strength to the next the solution moves little, so the solver keeps everything it has: coefficients, scores,
// gradients with the drift since they were computed (most columns are then not read again), and for a squared loss the
// Gram matrix of every column that ever mattered. The strong rule (Tibshirani et al. 2012) puts into the first working
// set what is about to enter, |g_j| >= 2 strength - previous strength; being only a rule, it is followed by the safe
// check that every fit makes.
//
// A grid falls geometrically from the smallest strength whose solution is zero,
//
//     strongest = max_j |x_j' s slope(y, b_0)| / (S weight_j)
//
// at the best intercept b_0 (and the best unpenalised coefficients, where there are any).
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "core/solvers/coordinate.hpp"
#include "core/solvers/coordinate/gram_space.hpp"

namespace tutelage {

/// The penalty at a strength. Two strengths give penalties that differ by that factor in what holds a zero at zero.
using PenaltyAt = std::function<std::shared_ptr<AnyPenalty>(double strength)>;

struct PathPoint {
  double strength = 0;
  double intercept = 0;
  Certificate certificate;
  // The coefficients that are not zero.
  std::vector<Index> columns;
  std::vector<double> values;
};

/// Geometric grid from strongest to ratio * strongest.
inline std::vector<double> strength_grid(double strongest, double ratio, Index count) {
  std::vector<double> grid(static_cast<std::size_t>(count), strongest);
  for (Index t = 1; t < count; ++t)
    grid[static_cast<std::size_t>(t)] =
        strongest * std::pow(ratio, static_cast<double>(t) / static_cast<double>(count - 1));
  return grid;
}

/// The smallest strength at which all penalised coefficients are zero, for penalties whose strength multiplies
/// weight_j |w_j| (plus what is smooth at zero). `weights` may be null (all 1). The solver is left at that solution.
template <class Solver>
double strongest(Solver& solver, const PenaltyAt& penalty, const double* weights, Index columns,
                 const Stopping& stopping) {
  bool free = false;
  for (Index j = 0; j < columns && weights; ++j) free = free || weights[j] == 0;
  if (free) solver.solve(*penalty(1e100), stopping);
  const coordinate::Vector& g = solver.read_gradients();
  double most = 0;
  for (Index j = 0; j < columns; ++j) {
    const double weight = weights ? weights[j] : 1.0;
    if (weight > 0) most = std::max(most, std::abs(g[static_cast<std::size_t>(j)]) / weight);
  }
  return most;
}

/// Solutions at these strengths, in this order. `each` receives every point as soon as it is known; false ends the
/// path.
template <class Solver>
void follow_path(Solver& solver, const PenaltyAt& penalty, const std::vector<double>& strengths,
                 const Stopping& stopping, const std::function<bool(PathPoint)>& each) {
  const Watch watch(stopping);
  double previous = 0;
  for (const double strength : strengths) {
    check_interrupt();
    Stopping left = stopping;
    left.time_limit = stopping.time_limit - watch.seconds();
    PathPoint point;
    const double anticipate = previous > strength && strength > 0 ? previous / strength : 1.0;
    point.certificate = solver.solve(*penalty(strength), left, anticipate);
    point.strength = strength;
    point.intercept = solver.intercept();
    const auto& w = solver.coefficients();
    for (Index j = 0; j < static_cast<Index>(w.size()); ++j) {
      const double value = w[static_cast<std::size_t>(j)];
      if (value == 0) continue;
      point.columns.push_back(j);
      point.values.push_back(value);
    }
    previous = strength;
    const Reason reason = point.certificate.reason;
    if (!each(std::move(point)) || reason == Reason::interrupted) return;
  }
}

/// Whether a path of so many strengths is cheaper with the whole Gram matrix: a step of the path without it reads about
/// two thirds of X, at the speed of memory, some 15 times slower per number than the products in registers of a Gram
/// matrix.
inline bool prefers_gram_space(const CoordinateProblem& problem, Index strengths) {
  const Index d = problem.x.columns();
  if (!problem.loss.facts().quadratic || problem.loss.scores() != 1) return false;
  const double memory = static_cast<double>(d) * static_cast<double>(d);
  if (memory > std::max(4e6, static_cast<double>(problem.x.stored()) / 2)) return false;
  std::vector<Index> all(static_cast<std::size_t>(d));
  std::iota(all.begin(), all.end(), Index{0});
  return problem.x.gram_cost(all.data(), d) <
         10.0 * static_cast<double>(strengths) * static_cast<double>(problem.x.stored());
}

/// The sums that the squared loss needs, from two readings of X.
inline GramProblem gram_problem(const CoordinateProblem& problem) {
  using coordinate::at;
  const Index n = problem.x.rows(), d = problem.x.columns();
  coordinate::SmoothPart smooth(problem.loss, problem.y, problem.s, n);
  coordinate::Vector z(at(n), 0.0);
  GramProblem out;
  smooth.evaluate(z);
  if (problem.intercept) smooth.fit_intercept(z, out.mean);
  const coordinate::Gradients gradients(problem.x, smooth, problem.intercept);
  out.square = 2 * smooth.value();
  out.g0 = gradients.g;
  out.means = gradients.means;
  out.h.resize(d);
  std::vector<Index> all(at(d));
  std::iota(all.begin(), all.end(), Index{0});
  problem.x.gram(all.data(), 0, d, smooth.curvatures.data(), gradients.shift(), out.h.row(0), out.h.stride());
  for (Index j = 0; j < d; ++j) {
    if (gradients.squares[at(j)] > 0) continue;  // a constant column: not a direction
    for (Index k = 0; k < d; ++k) out.h.row(j)[k] = out.h.row(k)[j] = 0;
  }
  return out;
}

}  // namespace tutelage
