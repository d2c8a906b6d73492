// Coordinate descent on problems with known answers, in each layout it reads, under the sanitizers.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "check.hpp"
#include "core/losses.hpp"
#include "core/matrices/dense.hpp"
#include "core/matrices/sparse.hpp"
#include "core/penalties.hpp"
#include "core/solvers/coordinate.hpp"
#include "core/solvers/coordinate/matrices.hpp"

using namespace tutelage;

namespace {

using Vector = std::vector<double>;

Stopping to(double tol) {
  Stopping stopping;
  stopping.tol = tol;
  return stopping;
}

/// The columns of a Hadamard matrix of order 8, but the constant one: orthogonal, of mean zero.
Vector hadamard() {
  Vector x;
  for (unsigned j = 1; j < 8; ++j) {
    for (unsigned i = 0; i < 8; ++i) x.push_back(__builtin_popcount(i & j) % 2 == 0 ? 1 : -1);
  }
  return x;
}

const Vector targets{3, -1, 4, 1, -5, 9, 2, -6};

double correlation(const Vector& x, Index j) {
  double sum = 0;
  for (std::size_t i = 0; i < 8; ++i) sum += x[std::size_t(8 * j) + i] * targets[i] / 8;
  return sum;
}

template <class Check>
void in_each_layout(Check&& check) {
  const Vector x = hadamard();
  Vector rows(x.size());
  std::vector<int> indices, starts;
  for (int j = 0; j <= 7; ++j) starts.push_back(8 * j);
  for (std::size_t e = 0; e < x.size(); ++e) {
    rows[e % 8 * 7 + e / 8] = x[e];
    indices.push_back(static_cast<int>(e % 8));
  }
  check(DenseColumns<double>(x.data(), 8, 7, 8));
  check(DenseRows<double>(rows.data(), 8, 7, 7));
  check(SparseColumns<double, int>(x.data(), indices.data(), starts.data(), 8, 7));
}

}  // namespace

TEST("orthogonal columns: the lasso and the non-negative fit are thresholds") {
  const Vector x = hadamard();
  const std::shared_ptr<AnyLoss> squared = make_loss("squared");
  in_each_layout([&](const Columns& columns) {
    const auto products = column_products(columns);
    for (const bool signs : {false, true}) {
      const double strength = signs ? 0.0 : 0.8;
      const std::unique_ptr<AnyPenalty> penalty = signs ? std::unique_ptr<AnyPenalty>(new Separable<NonNegative>())
                                                        : std::unique_ptr<AnyPenalty>(new Separable<L1>(L1{strength}));
      CoordinateDescent descent({*products, targets.data(), nullptr, *squared, true});
      const Certificate certificate = descent.solve(*penalty, to(1e-10));
      CHECK(certificate.reason == Reason::converged);
      CHECK(std::abs(descent.intercept() - 7.0 / 8) < 1e-9);
      for (Index j = 0; j < 7; ++j) {
        const double c = correlation(x, j);
        const double answer = signs ? std::max(c, 0.0) : std::copysign(std::max(std::abs(c) - strength, 0.0), c);
        CHECK(std::abs(descent.coefficients()[std::size_t(j)] - answer) < 1e-6);
      }
    }
  });
}

TEST("a smooth loss by coordinates: rows of weight zero say nothing, and the slopes say that it is the optimum") {
  const Vector labels{1, -1, 1, 1, -1, 1, -1, -1}, weights{1, 2, 0, 1, 1, 3, 1, 1};
  const std::shared_ptr<AnyLoss> loss = make_loss("logistic");
  const Separable<ElasticNet> penalty(ElasticNet{0.02, 0.1});
  in_each_layout([&](const Columns& columns) {
    const auto products = column_products(columns);
    CoordinateDescent descent({*products, labels.data(), weights.data(), *loss, true});
    CHECK(descent.solve(penalty, to(1e-12)).reason == Reason::converged);
    const Vector& w = descent.coefficients();
    Vector slopes(8);
    loss->evaluate(labels.data(), weights.data(), descent.scores().data(), 8, slopes.data(), nullptr);
    double sum = 0;
    for (double& slope : slopes) sum += slope /= 10;
    Vector g(7);
    for (Index j = 0; j < 7; ++j) g[std::size_t(j)] = columns.dot(j, slopes.data());
    CHECK(std::abs(sum) < 1e-9);
    CHECK(penalty.stationarity(w.data(), g.data(), 1, 7) < 1e-5);
  });
}

TEST("penalties that are not convex end where no coefficient can gain alone") {
  const std::shared_ptr<AnyLoss> squared = make_loss("squared");
  const Separable<MCP> penalty;
  in_each_layout([&](const Columns& columns) {
    const auto products = column_products(columns);
    CoordinateDescent descent({*products, targets.data(), nullptr, *squared, true});
    const Certificate certificate = descent.solve(penalty, to(1e-8));
    CHECK(certificate.measure == Measure::stationarity);
    CHECK(certificate.gap <= 1e-8);
  });
}

TEST("the Gram matrix of sparse columns, frequent and rare, in any order of rows, is that of the dense ones") {
  constexpr Index n = 700, d = 90, known = 37;  // more than two stretches of rows; grown from `known` columns
  Vector dense(static_cast<std::size_t>(n * d), 0.0), values;
  std::vector<int> rows, starts{0};
  std::uint32_t state = 12345;
  const auto draw = [&] { return static_cast<double>((state = state * 1664525u + 1013904223u) >> 8) / (1 << 24); };
  for (Index j = 0; j < d; ++j) {
    const double density = j % 3 == 0 ? 0.5 : 0.04;
    for (Index t = 0; t < n; ++t) {
      const Index i = j % 2 == 0 ? t : n - 1 - t;
      if (draw() > density) continue;
      const double value = 2 * draw() - 1;
      dense[static_cast<std::size_t>(j * n + i)] = value;
      rows.push_back(static_cast<int>(i));
      values.push_back(value);
    }
    starts.push_back(static_cast<int>(rows.size()));
  }
  const DenseColumns<double> full(dense.data(), n, d, n);
  const SparseColumns<double, int> stored(values.data(), rows.data(), starts.data(), n, d);
  const auto one = column_products(full), other = column_products(stored);
  Vector c(n), shift(d);
  double total = 0;
  for (double& weight : c) total += weight = draw();
  std::vector<Index> js;
  for (Index j = d - 1; j >= 0; --j) js.push_back(j);
  one->sums(js.data(), d, c.data(), shift.data());
  std::reverse(shift.begin(), shift.end());
  for (double& mean : shift) mean /= total;
  const Index m = static_cast<Index>(js.size());
  for (const bool centred : {false, true}) {
    Vector a(static_cast<std::size_t>(m * m)), b(a);
    const double* by = centred ? shift.data() : nullptr;
    one->gram(js.data(), 0, m, c.data(), by, a.data(), m);
    other->gram(js.data(), 0, known, c.data(), by, b.data(), m);
    other->gram(js.data(), known, m, c.data(), by, b.data(), m);
    double furthest = 0;
    for (std::size_t e = 0; e < a.size(); ++e) furthest = std::max(furthest, std::abs(a[e] - b[e]));
    CHECK(furthest < 1e-9);
  }
}

TEST("the columns of a Gram matrix may stand in any order") {
  const Index n = 70, d = 40;
  Vector by_columns(static_cast<std::size_t>(n * d)), by_rows(by_columns.size());
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < d; ++j) {
      const double value = std::sin(static_cast<double>(i * d + j));
      by_columns[static_cast<std::size_t>(j * n + i)] = by_rows[static_cast<std::size_t>(i * d + j)] = value;
    }
  }
  const DenseColumns<double> columns(by_columns.data(), n, d, n);
  const DenseRows<double> rows(by_rows.data(), n, d, d);
  const auto one = column_products(columns), other = column_products(rows);
  // Sets whose first and last columns are as far apart as if those between were all there.
  for (const std::vector<Index>& js :
       {std::vector<Index>{0, 7}, {0, 3}, {5, 9, 2, 1, 30, 31, 6, 12}, {3, 4, 5, 6, 7, 8, 9, 10}}) {
    const Index m = static_cast<Index>(js.size());
    Vector a(static_cast<std::size_t>(m * m)), b(a);
    one->gram(js.data(), 0, m, nullptr, nullptr, a.data(), m);
    other->gram(js.data(), 0, m, nullptr, nullptr, b.data(), m);
    for (std::size_t e = 0; e < a.size(); ++e) CHECK(std::abs(a[e] - b[e]) < 1e-10);
  }
}
