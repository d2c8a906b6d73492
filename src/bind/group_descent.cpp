#include "core/solvers/group_descent.hpp"

#include "bind/arrays.hpp"
#include "bind/bind.hpp"
#include "bind/certificate.hpp"

namespace {

using namespace tutelage;

nb::tuple group_descent(Numbers h, Numbers g0, double square, double l1, double l2, Numbers start, double tol,
                        Index max_rounds, double time_limit) {
  if (g0.ndim() != 2 || h.size() != g0.shape(0) * g0.shape(0) || start.size() != g0.size()) {
    throw std::invalid_argument("the Gram matrix, the gradient and the start do not have the same features");
  }
  const Index d = Index(g0.shape(0)), k = Index(g0.shape(1));
  GroupDescent::Vector w(start.data(), start.data() + start.size());
  Certificate certificate;
  {
    const nb::gil_scoped_release released;
    Stopping stopping;
    stopping.tol = tol, stopping.max_rounds = max_rounds, stopping.time_limit = time_limit;
    certificate = GroupDescent(h.data(), g0.data(), d, k, square, l1, l2).solve(w, stopping);
  }
  NewNumbers out = new_numbers({std::size_t(d), std::size_t(k)});
  std::copy(w.begin(), w.end(), out.data());
  return nb::make_tuple(out, certificate_as_dict(certificate));
}

}  // namespace

void bind_group_descent(nb::module_& m) {
  m.def("group_descent", &group_descent, nb::arg("h"), nb::arg("g0"), nb::arg("square"), nb::arg("l1"), nb::arg("l2"),
        nb::arg("start"), nb::arg("tol"), nb::arg("max_rounds"), nb::arg("time_limit"),
        "Squared loss of several targets with a penalty on the norm of each feature's coefficients, from the sums of "
        "squares and products: the coefficients by features, and the certificate.");
}
