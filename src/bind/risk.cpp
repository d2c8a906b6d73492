#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bind/bind.hpp"
#include "bind/certificate.hpp"
#include "core/solvers/minimise.hpp"

namespace {

using namespace tutelage;
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::tuple minimise_rows(const Rows& rows, Numbers y, std::optional<Numbers> weights,
                        const std::shared_ptr<AnyLoss>& loss, const AnyPenalty& penalty, bool intercept,
                        std::optional<Numbers> start, const std::string& solver, double tol, Index max_rounds,
                        double time_limit) {
  if (Index(y.size()) != rows.rows() * loss->targets())
    throw std::invalid_argument("y does not have a target for each row");
  if (weights && Index(weights->size()) != rows.rows())
    throw std::invalid_argument("there is not a weight for each row");
  Stopping stopping;
  stopping.tol = tol;
  stopping.max_rounds = max_rounds;
  stopping.time_limit = time_limit;
  stopping.interrupted = [] {
    check_interrupt();
    return false;
  };
  Fit fit;
  {
    const nb::gil_scoped_release released;
    const Risk risk({&rows, y.data(), weights ? weights->data() : nullptr}, *loss, penalty, intercept);
    Vector point(std::size_t(risk.size()), 0.0);
    if (start) {
      if (Index(start->size()) != risk.size())
        throw std::invalid_argument("start does not have the size of the answer");
      point.assign(start->data(), start->data() + start->size());
    }
    fit = minimise(risk, loss, solver_named(solver), std::move(point), stopping);
  }
  auto* kept = new Vector(std::move(fit.point));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Vector*>(p); });
  nb::ndarray<nb::numpy, double, nb::ndim<1>> point(kept->data(), {kept->size()}, owner);
  return nb::make_tuple(point, certificate_as_dict(fit.certificate));
}

}  // namespace

void bind_risk(nb::module_& m) {
  m.def("minimise", &minimise_rows, nb::arg("rows"), nb::arg("y"), nb::arg("weights").none(), nb::arg("loss"),
        nb::arg("penalty"), nb::arg("intercept"), nb::arg("start").none(), nb::arg("solver"), nb::arg("tol"),
        nb::arg("max_rounds"), nb::arg("time_limit"),
        "Minimise a risk; returns the point (coefficients, then intercepts) and its certificate.");
  m.def(
      "objection",
      [](const std::string& solver, const AnyLoss& loss, const AnyPenalty& penalty) {
        return objection(solver_named(solver), loss.facts(), penalty.facts(), loss.scores());
      },
      "Why a solver cannot minimise a loss with a penalty: half a sentence, empty when it can.");
}
