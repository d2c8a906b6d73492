#include "core/curvature.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <stdexcept>

#include "bind/bind.hpp"
#include "core/risk.hpp"

namespace {

using namespace tutelage;
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <int dimensions>
using Answer = nb::ndarray<nb::numpy, double, nb::ndim<dimensions>>;

/// A vector handed over to NumPy without a copy.
template <int dimensions>
Answer<dimensions> handed_over(Vector values, std::initializer_list<std::size_t> shape) {
  auto* kept = new Vector(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Vector*>(p); });
  return Answer<dimensions>(kept->data(), shape, owner);
}

nb::tuple curvature(const Rows& rows, Numbers y, std::optional<Numbers> weights, const AnyLoss& loss,
                    const AnyPenalty& penalty, bool intercept, Numbers point) {
  if (Index(y.size()) != rows.rows() * loss.targets()) {
    throw std::invalid_argument("y does not have a target for each row");
  }
  if (weights && Index(weights->size()) != rows.rows()) {
    throw std::invalid_argument("there is not a weight for each row");
  }
  Risk::Local local;
  Vector shift;
  std::size_t size = 0;
  {
    const nb::gil_scoped_release released;
    const Risk risk({&rows, y.data(), weights ? weights->data() : nullptr}, loss, penalty, intercept);
    size = std::size_t(risk.size());
    if (point.size() != size) throw std::invalid_argument("the point does not have the size of the answer");
    Vector inside(point.data(), point.data() + point.size());
    risk.import_point(inside);
    risk.evaluate(inside, local, false, Curvature::full);
    shift = risk.shift().empty() ? Vector(std::size_t(rows.columns()), 0.0) : risk.shift();
  }
  const std::size_t columns = shift.size();
  return nb::make_tuple(handed_over<2>(std::move(local.curvature), {size, size}),
                        handed_over<1>(std::move(shift), {columns}));
}

}  // namespace

void bind_curvature(nb::module_& m) {
  m.def(
      "curvature", &curvature, nb::arg("rows"), nb::arg("y"), nb::arg("weights").none(), nb::arg("loss"),
      nb::arg("penalty"), nb::arg("intercept"), nb::arg("point"),
      "The Hessian of the mean loss at a point, lower triangle, the rows shifted by the vector that comes with it; the "
      "penalty adds nothing.");
}
