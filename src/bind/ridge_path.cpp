#include "core/solvers/ridge_path.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <utility>

#include "bind/bind.hpp"
#include "bind/certificate.hpp"
#include "core/losses.hpp"
#include "core/penalties.hpp"
#include "core/solvers/closed_form.hpp"

namespace {

using namespace tutelage;
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <std::size_t ndim>
nb::ndarray<nb::numpy, double, nb::ndim<ndim>> give(Vector&& numbers, const std::size_t (&shape)[ndim]) {
  auto* kept = new Vector(std::move(numbers));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Vector*>(p); });
  return nb::ndarray<nb::numpy, double, nb::ndim<ndim>>(kept->data(), ndim, shape, owner);
}

/// A risk of the squared loss of k outputs, with all that it refers to.
struct SquaredRisk {
  SquaredRisk(const Rows& rows, const Table& y, const std::optional<Numbers>& weights, bool intercept)
      : loss(make_loss("squared", Index(y.shape(1)))) {
    if (Index(y.shape(0)) != rows.rows()) throw std::invalid_argument("y does not have a target for each row");
    if (weights && Index(weights->size()) != rows.rows()) {
      throw std::invalid_argument("there is not a weight for each row");
    }
    risk = std::make_unique<Risk>(Sample{&rows, y.data(), weights ? weights->data() : nullptr}, *loss, none, intercept);
  }
  std::shared_ptr<AnyLoss> loss;
  Separable<NoPenalty> none;
  std::unique_ptr<Risk> risk;
};

struct BoundPath {
  BoundPath(const Rows& rows, Table y, std::optional<Numbers> weights, bool intercept, bool by_kernel)
      : y_(y), weights_(weights), squared(rows, y, weights, intercept) {
    const nb::gil_scoped_release released;
    path = std::make_unique<RidgePath>(*squared.risk, by_kernel);
  }

  /// One alpha an output.
  Vector solve(const Vector& alphas) const {
    const Index d = squared.risk->columns(), k = path->outputs();
    if (Index(alphas.size()) != k) throw std::invalid_argument("there is not an alpha for each output");
    Vector point(std::size_t(squared.risk->size()), 0.0);
    for (Index c = 0; c < k; ++c) {
      const double b = path->solve(c, alphas[std::size_t(c)], point.data() + c * d);
      if (squared.risk->intercept()) point[std::size_t(k * d + c)] = b;
    }
    return point;
  }

  Table y_;
  std::optional<Numbers> weights_;
  SquaredRisk squared;
  std::unique_ptr<RidgePath> path;
};

}  // namespace

void bind_ridge_path(nb::module_& m) {
  nb::class_<BoundPath>(m, "RidgePath", "Ridge fits of one data set, from one factorisation.")
      .def(nb::init<const Rows&, Table, std::optional<Numbers>, bool, bool>(), nb::keep_alive<1, 2>(), nb::arg("rows"),
           nb::arg("y"), nb::arg("weights").none(), nb::arg("intercept"), nb::arg("by_kernel"))
      .def(
          "solve",
          [](const BoundPath& self, const Vector& alphas) {
            std::pair<Vector, Certificate> out;
            {
              const nb::gil_scoped_release released;
              out.first = self.solve(alphas);
              out.second = self.path->certify(out.first, alphas);
            }
            const std::size_t size = out.first.size();
            return nb::make_tuple(give<1>(std::move(out.first), {size}), certificate_as_dict(out.second));
          },
          nb::arg("alphas"), "The fit with an alpha for each output: the point and its certificate.")
      .def(
          "coefficients",
          [](const BoundPath& self, const Vector& alphas) {
            Vector point;
            {
              const nb::gil_scoped_release released;
              point = self.solve(alphas);
            }
            const std::size_t size = point.size();
            return give<1>(std::move(point), {size});
          },
          nb::arg("alphas"), "The fit with an alpha for each output, without a certificate.")
      .def(
          "leave_one_out",
          [](const BoundPath& self, const Vector& alphas, bool keep_residuals) {
            RidgePath::LeftOut out;
            {
              const nb::gil_scoped_release released;
              out = self.path->leave_one_out(alphas, keep_residuals);
            }
            const std::size_t a = alphas.size(), k = std::size_t(self.path->outputs());
            nb::object squares = nb::cast(give<2>(std::move(out.squares), {a, k}));
            if (!keep_residuals) return nb::make_tuple(squares, nb::none());
            const std::size_t n = std::size_t(self.squared.risk->rows());
            return nb::make_tuple(squares, give<3>(std::move(out.residuals), {n, k, a}));
          },
          nb::arg("alphas"), nb::arg("keep_residuals"),
          "Weighted squares of the left-out residuals (alphas x outputs), and the residuals (rows x outputs x "
          "alphas).");

  nb::class_<Spectrum>(m, "Spectrum", "The singular values of a matrix, found when they are asked for.")
      .def("values",
           [](Spectrum& self) {
             Vector values;
             {
               const nb::gil_scoped_release released;
               values = self.values();
             }
             const std::size_t size = values.size();
             return give<1>(std::move(values), {size});
           })
      .def(
          "moments",
          [](const Spectrum& self) {
            Vector gram = self.gram(), means = self.means();
            const std::size_t side = means.size();
            return nb::make_tuple(give<2>(std::move(gram), {side, side}), give<1>(std::move(means), {side}));
          },
          "The Gram matrix of the centred X over the sum of the weights, its lower triangle, and the means; both empty "
          "where the fit did not make them.");

  m.def(
      "least_squares",
      [](const Rows& rows, Table y, std::optional<Numbers> weights, bool intercept) {
        Fit fit;
        Spectrum spectrum;
        {
          const nb::gil_scoped_release released;
          const SquaredRisk squared(rows, y, weights, intercept);
          ClosedForm solver(*squared.risk, Stopping{}, true);
          fit = solver.run();
          squared.risk->export_point(fit.point);
          spectrum = solver.take_spectrum();
        }
        const std::size_t size = fit.point.size();
        return nb::make_tuple(give<1>(std::move(fit.point), {size}), certificate_as_dict(fit.certificate),
                              nb::cast(std::move(spectrum)));
      },
      nb::arg("rows"), nb::arg("y"), nb::arg("weights").none(), nb::arg("intercept"),
      "Least squares of several outputs without a penalty: the point, its certificate and the spectrum of X.");
}
