#include "core/solvers/coordinate.hpp"

#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/bind.hpp"
#include "core/solvers/coordinate/matrices.hpp"
#include "core/solvers/path.hpp"

namespace {

using namespace tutelage;

nb::dict as_dict(const Certificate& c) {
  nb::dict out;
  out["primal"] = c.primal;
  out["dual"] = c.dual;
  out["gap"] = c.gap;
  out["measure"] = name(c.measure);
  out["rounds"] = c.rounds;
  out["passes"] = c.passes;
  out["seconds"] = c.seconds;
  out["reason"] = name(c.reason);
  out["solver"] = c.solver;
  return out;
}

void check_rows(const Columns& x, const Numbers& y, const std::optional<Numbers>& weights) {
  if (Index(y.size()) != x.rows()) throw nb::value_error("y must have one entry for each row of X");
  if (weights && Index(weights->size()) != x.rows())
    throw nb::value_error("weights must have one entry for each row of X");
}

const double* pointer(const std::optional<Numbers>& numbers) { return numbers ? numbers->data() : nullptr; }

nb::tuple coordinate_descent(const Columns& x, Numbers y, std::optional<Numbers> weights, const AnyLoss& loss,
                             const AnyPenalty& penalty, bool intercept, std::optional<Numbers> start,
                             double start_intercept, double tol, Index max_rounds, double time_limit) {
  check_rows(x, y, weights);
  if (start && Index(start->size()) != x.columns())
    throw nb::value_error("start must have one entry for each column of X");
  NewNumbers coefficients = new_numbers({std::size_t(x.columns())});
  double b = 0;
  Certificate certificate;
  {
    const nb::gil_scoped_release released;
    const auto products = column_products(x);
    CoordinateDescent solver({*products, y.data(), pointer(weights), loss, intercept}, pointer(start), start_intercept);
    certificate = solver.solve(penalty, {.tol = tol, .max_rounds = max_rounds, .time_limit = time_limit});
    std::copy(solver.coefficients().begin(), solver.coefficients().end(), coefficients.data());
    b = solver.intercept();
  }
  return nb::make_tuple(coefficients, b, as_dict(certificate));
}

template <class T>
auto as_array(std::vector<T> values) {
  auto* kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

using PenaltyFunction = std::function<std::shared_ptr<AnyPenalty>(double)>;

/// The path as a sparse matrix with a column for each strength: values, indices, starts; then intercepts, strengths and
/// certificates.
nb::tuple coordinate_path(const Columns& x, Numbers y, std::optional<Numbers> weights, const AnyLoss& loss,
                          PenaltyFunction penalty, bool intercept, std::optional<std::vector<double>> strengths,
                          double ratio, Index count, std::optional<Numbers> penalty_weights, double tol,
                          Index max_rounds, double time_limit) {
  check_rows(x, y, weights);
  if (penalty_weights && Index(penalty_weights->size()) != x.columns())
    throw nb::value_error("penalty_weights must have one entry for each column of X");
  std::vector<double> values, intercepts, used;
  std::vector<Index> columns, starts{0};
  std::vector<Certificate> certificates;
  {
    const nb::gil_scoped_release released;
    const auto products = column_products(x);
    const CoordinateProblem problem{*products, y.data(), pointer(weights), loss, intercept};
    const Stopping stopping{.tol = tol, .max_rounds = max_rounds, .time_limit = time_limit};
    const auto keep = [&](const PathPoint& point) {
      values.insert(values.end(), point.values.begin(), point.values.end());
      columns.insert(columns.end(), point.columns.begin(), point.columns.end());
      starts.push_back(Index(columns.size()));
      intercepts.push_back(point.intercept);
      used.push_back(point.strength);
      certificates.push_back(point.certificate);
      return true;
    };
    const auto follow = [&](auto&& solver) {
      const std::vector<double> grid =
          strengths ? *strengths
                    : strength_grid(strongest(solver, penalty, pointer(penalty_weights), x.columns(), stopping), ratio,
                                    count);
      follow_path(solver, penalty, grid, stopping, keep);
    };
    if (prefers_gram_space(problem, strengths ? Index(strengths->size()) : count)) {
      follow(GramDescent(gram_problem(problem)));
    } else {
      follow(CoordinateDescent(problem));
    }
  }
  nb::list proofs;
  for (const Certificate& certificate : certificates) proofs.append(as_dict(certificate));
  return nb::make_tuple(as_array(std::move(values)), as_array(std::move(columns)), as_array(std::move(starts)),
                        as_array(std::move(intercepts)), as_array(std::move(used)), proofs);
}

}  // namespace

void bind_coordinate(nb::module_& m) {
  m.def("coordinate_descent", &coordinate_descent, nb::arg("x"), nb::arg("y"), nb::arg("weights").none(),
        nb::arg("loss"), nb::arg("penalty"), nb::arg("intercept"), nb::arg("start").none() = nb::none(),
        nb::arg("start_intercept") = 0.0, nb::arg("tol") = 1e-6, nb::arg("max_rounds") = 1000,
        nb::arg("time_limit") = infinity,
        "Coordinate descent with working sets: coefficients, intercept and certificate of one fit.");
  m.def("coordinate_path", &coordinate_path, nb::arg("x"), nb::arg("y"), nb::arg("weights").none(), nb::arg("loss"),
        nb::arg("penalty"), nb::arg("intercept"), nb::arg("strengths").none() = nb::none(), nb::arg("ratio") = 1e-3,
        nb::arg("count") = 100, nb::arg("penalty_weights").none() = nb::none(), nb::arg("tol") = 1e-6,
        nb::arg("max_rounds") = 1000, nb::arg("time_limit") = infinity,
        "Coordinate descent along decreasing strengths, or along a geometric grid from the strongest that matters: "
        "values, "
        "columns and starts of the coefficients as a CSC matrix, intercepts, strengths and certificates.");
}
