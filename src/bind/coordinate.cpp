#include "core/solvers/coordinate.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>

#include <optional>

#include "bind/arrays.hpp"
#include "bind/bind.hpp"
#include "core/solvers/coordinate/matrices.hpp"

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

nb::tuple coordinate_descent(const Columns& x, Numbers y, std::optional<Numbers> weights, const AnyLoss& loss,
                             const AnyPenalty& penalty, bool intercept, std::optional<Numbers> start,
                             double start_intercept, double tol, Index max_rounds, double time_limit) {
  if (Index(y.size()) != x.rows()) throw nb::value_error("y must have one entry for each row of X");
  if (weights && Index(weights->size()) != x.rows())
    throw nb::value_error("weights must have one entry for each row of X");
  if (start && Index(start->size()) != x.columns())
    throw nb::value_error("start must have one entry for each column of X");
  const std::size_t d = std::size_t(x.columns());
  NewNumbers coefficients = new_numbers({d});
  double b = 0;
  Certificate certificate;
  {
    const nb::gil_scoped_release released;
    const auto products = column_products(x);
    CoordinateDescent solver({*products, y.data(), weights ? weights->data() : nullptr, loss, intercept},
                             start ? start->data() : nullptr, start_intercept);
    certificate = solver.solve(penalty, {.tol = tol, .max_rounds = max_rounds, .time_limit = time_limit});
    std::copy(solver.coefficients().begin(), solver.coefficients().end(), coefficients.data());
    b = solver.intercept();
  }
  return nb::make_tuple(coefficients, b, as_dict(certificate));
}

}  // namespace

void bind_coordinate(nb::module_& m) {
  m.def("coordinate_descent", &coordinate_descent, nb::arg("x"), nb::arg("y"), nb::arg("weights").none(),
        nb::arg("loss"), nb::arg("penalty"), nb::arg("intercept"), nb::arg("start").none() = nb::none(),
        nb::arg("start_intercept") = 0.0, nb::arg("tol") = 1e-6, nb::arg("max_rounds") = 1000,
        nb::arg("time_limit") = infinity,
        "Coordinate descent with working sets: coefficients, intercept and certificate of one fit.");
}
