// Small problems whose answers are known in closed form, or that solvers must agree on, under the sanitizers. The laws
// over every loss and penalty are in tests/laws, through the bindings.
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "core/losses.hpp"
#include "core/matrices/dense.hpp"
#include "core/matrices/sparse.hpp"
#include "core/penalties.hpp"
#include "core/solvers/augmented_lagrangian.hpp"
#include "core/solvers/newton.hpp"
#include "core/solvers/proximal_gradient.hpp"
#include "core/solvers/truncated_newton.hpp"

using namespace tutelage;

namespace {

/// Numbers in [-1, 1).
Vector numbers(Index count, unsigned seed) {
  Vector v(static_cast<std::size_t>(count));
  for (double& x : v) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<double>(seed >> 16) / 32768 - 1;
  }
  return v;
}

/// 41 rows of 3 columns; the middle column is zero where it is negative, so that a sparse copy is sparse.
struct Data {
  Index n = 41, d = 3;
  Vector x = numbers(123, 1), labels = numbers(41, 2), counts = numbers(41, 3), weights = numbers(41, 4);
  DenseRows<double> dense;
  Vector values;
  std::vector<int> indices, starts{0};

  Data() : dense(x.data(), n, d, d) {
    for (Index i = 0; i < n; ++i) {
      double* row = x.data() + i * d;
      const std::size_t at = static_cast<std::size_t>(i);
      row[1] = std::max(row[1], 0.0);
      labels[at] = row[0] - row[1] + 0.9 * labels[at] > -0.2 ? 1 : -1;
      counts[at] = std::floor(2 + 2 * counts[at]);
      weights[at] = i % 5 == 0 ? 0 : 1 + weights[at];
      for (int j = 0; j < 3; ++j) {
        if (row[j] == 0) continue;
        values.push_back(row[j]);
        indices.push_back(j);
      }
      starts.push_back(static_cast<int>(values.size()));
    }
  }
};

Stopping to(double tol, Index rounds = 5000) {
  Stopping stopping;
  stopping.tol = tol;
  stopping.max_rounds = rounds;
  return stopping;
}

QuasiNewton plan_of(Curvature form) {
  QuasiNewton plan;
  plan.form = form;
  plan.refresh = form == Curvature::full;
  plan.memory = 20;
  return plan;
}

using Solve = Fit (*)(const Risk&, const Stopping&);
Fit by_newton(const Risk& risk, const Stopping& stopping) {
  return QuasiNewtonSolver(risk, plan_of(Curvature::full), stopping).run(Vector(std::size_t(risk.size())), "newton");
}
Fit by_lbfgs(const Risk& risk, const Stopping& stopping) {
  return QuasiNewtonSolver(risk, plan_of(Curvature::diagonal), stopping).run(Vector(std::size_t(risk.size())), "lbfgs");
}
Fit by_truncated_newton(const Risk& risk, const Stopping& stopping) {
  return TruncatedNewton(risk, TruncatedPlan(), stopping).run(Vector(std::size_t(risk.size())));
}
Fit by_proximal_gradient(const Risk& risk, const Stopping& stopping) {
  return ProximalGradient(risk, stopping).run(Vector(std::size_t(risk.size())));
}

bool near(const Vector& a, const Vector& b, double by) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  return a.size() == b.size() && worst <= by;
}

bool true_certificate(const Certificate& certificate, double least) {
  return certificate.primal - least <= certificate.gap + 1e-12 && certificate.dual <= least + 1e-12;
}

}  // namespace

TEST("smooth solvers agree, on dense and sparse rows, with weights of zero, and their proofs are true") {
  const Data data;
  const SparseRows<double, int> sparse(data.values.data(), data.indices.data(), data.starts.data(), data.n, data.d);
  for (const char* name : {"logistic", "poisson", "squared_hinge"}) {
    const std::shared_ptr<AnyLoss> loss = make_loss(name);
    const double* y = std::string(name) == "poisson" ? data.counts.data() : data.labels.data();
    for (const double strength : {0.0, 0.1}) {
      const Separable<L2> penalty(L2{strength});
      const Risk risk({&data.dense, y, data.weights.data()}, *loss, penalty, true);
      Fit first = by_newton(risk, to(1e-12));
      const double least = first.certificate.primal;
      risk.export_point(first.point);
      for (const Solve solve : {by_newton, by_lbfgs, by_truncated_newton, by_proximal_gradient}) {
        for (const Rows* rows : {static_cast<const Rows*>(&data.dense), static_cast<const Rows*>(&sparse)}) {
          const Risk same({rows, y, data.weights.data()}, *loss, penalty, true);
          Fit fit = solve(same, to(1e-9));
          CHECK(fit.certificate.reason == Reason::converged);
          CHECK(true_certificate(fit.certificate, least));
          same.export_point(fit.point);
          CHECK(near(fit.point, first.point, 1e-3));
          for (const Index rounds : {0, 1, 2}) CHECK(true_certificate(solve(same, to(0, rounds)).certificate, least));
        }
      }
    }
  }
}

TEST("one column without an intercept has the answers of a formula") {
  // sum (y - x w)^2 / (2 n) + strength |w|: the soft threshold of the correlation.
  const Vector x{1, -2, 0.5, 3}, y{1.5, -1, 0, 2};
  const DenseRows<double> rows(x.data(), 4, 1, 1);
  double xx = 0, xy = 0;
  for (std::size_t i = 0; i < 4; ++i) xx += x[i] * x[i] / 4, xy += x[i] * y[i] / 4;
  const std::shared_ptr<AnyLoss> squared = make_loss("squared");
  for (const double strength : {0.3, 5.0}) {
    const Separable<L1> penalty(L1{strength});
    const Fit fit = by_proximal_gradient(Risk({&rows, y.data(), nullptr}, *squared, penalty, false), to(1e-13));
    CHECK(near(fit.point, {xy > strength ? (xy - strength) / xx : 0.0}, 1e-6));
  }
  const Separable<NonNegative> sign;
  const Vector opposite{-1.5, 1, 0, -2};
  const Fit fit = by_proximal_gradient(Risk({&rows, opposite.data(), nullptr}, *squared, sign, false), to(1e-10));
  CHECK(fit.point == Vector{0});
  CHECK(fit.certificate.reason == Reason::converged);
}

TEST("a loss with kinks: the weighted median, and its certificate") {
  const Vector y{5, 1, 9, 2, 7}, weights{1, 1, 0, 1, 0.5};
  const DenseRows<double> none(y.data(), 5, 0, 0);
  const std::shared_ptr<AnyLoss> absolute = make_loss("absolute");
  const Separable<NoPenalty> penalty;
  const Risk risk({&none, y.data(), weights.data()}, *absolute, penalty, true);
  const auto inner = [](const Risk& smooth, Vector point, const Stopping& stopping) {
    return QuasiNewtonSolver(smooth, plan_of(Curvature::full), stopping).run(std::move(point), "newton");
  };
  const Fit fit = AugmentedLagrangian(risk, absolute, to(1e-9), inner).run({0});
  CHECK(near(fit.point, {2}, 1e-6));
  CHECK(true_certificate(fit.certificate, (3 + 1 + 0.5 * 5) / 3.5));
  CHECK(fit.certificate.relative_gap() <= 1e-9);
}

TEST("several scores, groups without a price, and classes that a line separates") {
  Data data;
  for (double& label : data.labels) label = label > 0 ? 1 : 0;
  for (std::size_t i = 0; i < 41; i += 3) data.labels[i] = 2;
  const std::shared_ptr<AnyLoss> multinomial = make_loss("multinomial", Index{3});
  GroupL2 groups({{0, 2}});  // the middle column bears nothing
  groups.strength = 0.02;
  const Risk risk({&data.dense, data.labels.data(), nullptr}, *multinomial, groups, true);
  const Fit fit = by_proximal_gradient(risk, to(1e-7));
  CHECK(fit.certificate.reason == Reason::converged);
  CHECK(fit.certificate.measure == Measure::duality);

  for (std::size_t i = 0; i < 41; ++i) data.labels[i] = data.x[3 * i] > 0.1 ? 1 : -1;
  const std::shared_ptr<AnyLoss> logistic = make_loss("logistic");
  const Separable<NoPenalty> none;
  const Separable<L2> weak(L2{1e-6});
  for (const Solve solve : {by_newton, by_lbfgs, by_truncated_newton}) {
    const Risk free({&data.dense, data.labels.data(), nullptr}, *logistic, none, true);
    CHECK(solve(free, to(1e-9)).certificate.reason == Reason::separable);
    const Risk held({&data.dense, data.labels.data(), nullptr}, *logistic, weak, true);
    CHECK(solve(held, to(1e-6)).certificate.reason == Reason::converged);
  }
}

TEST("truncated Newton on several classes ends at the same point whatever its preconditioner and its start") {
  const Index n = 9000, d = 4, k = 3;
  const Vector x = numbers(n * d, 5), noise = numbers(n * k, 6), weights = numbers(n, 7);
  Vector y, s;
  for (Index i = 0; i < n; ++i) {
    const double* row = x.data() + i * d;
    const double z[] = {row[0] + row[1], row[2] - row[0], 0.5};
    Index best = 0;
    for (Index c = 1; c < k; ++c) {
      if (z[c] + noise[std::size_t(i * k + c)] > z[best] + noise[std::size_t(i * k + best)]) best = c;
    }
    y.push_back(double(best));
    s.push_back(1 + weights[std::size_t(i)]);
  }
  const DenseRows<double> rows(x.data(), n, d, d);
  const DenseColumns<double> columns(x.data(), 10, 600, 10);  // wide enough for factors that are kept as floats
  const std::shared_ptr<AnyLoss> loss = make_loss("multinomial", k);
  const Separable<L2> penalty(L2{1e-3});
  const Risk risk({&rows, y.data(), s.data()}, *loss, penalty, true);
  const Fit newton = by_newton(risk, to(1e-13));
  for (const Curvature form : {Curvature::diagonal, Curvature::blocks}) {
    for (const double price : {1.0, 6.0}) {
      for (const Index start : {0, 1000}) {
        const TruncatedPlan plan{form, 200, price, start};
        const Fit fit = TruncatedNewton(risk, plan, to(1e-10)).run(Vector(std::size_t(risk.size())));
        CHECK(fit.certificate.reason == Reason::converged);
        CHECK(true_certificate(fit.certificate, newton.certificate.primal));
        CHECK(near(fit.point, newton.point, 1e-4));
      }
    }
  }
  const Vector labels(y.begin(), y.begin() + 10);
  const Risk wide({&columns, labels.data(), nullptr}, *loss, penalty, false);
  const TruncatedPlan plan{Curvature::blocks, 0, 2.9, 0};
  const Fit fit = TruncatedNewton(wide, plan, to(1e-6)).run(Vector(std::size_t(wide.size())));
  CHECK(fit.certificate.reason == Reason::converged);
}
