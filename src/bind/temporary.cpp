#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include "bind/bind.hpp"
#include "core/losses.hpp"
#include "core/matrices/dense.hpp"
#include "core/matrices/sparse.hpp"
#include "core/penalties.hpp"
using namespace tutelage;
void bind_temporary(nb::module_& m) {
  nb::class_<Rows>(m, "Rows");
  m.def(
      "rows",
      [](nb::ndarray<const double, nb::ndim<2>, nb::c_contig> x) {
        return std::shared_ptr<Rows>(new DenseRows<double>(x.data(), x.shape(0), x.shape(1), x.shape(1)));
      },
      nb::keep_alive<0, 1>());
  m.def(
      "rows",
      [](nb::ndarray<const double, nb::ndim<2>, nb::f_contig> x) {
        return std::shared_ptr<Rows>(new DenseColumns<double>(x.data(), x.shape(0), x.shape(1), x.shape(0)));
      },
      nb::keep_alive<0, 1>());
  m.def(
      "rows",
      [](nb::ndarray<const float, nb::ndim<2>, nb::c_contig> x) {
        return std::shared_ptr<Rows>(new DenseRows<float>(x.data(), x.shape(0), x.shape(1), x.shape(1)));
      },
      nb::keep_alive<0, 1>());
  m.def(
      "rows",
      [](nb::ndarray<const float, nb::ndim<2>, nb::f_contig> x) {
        return std::shared_ptr<Rows>(new DenseColumns<float>(x.data(), x.shape(0), x.shape(1), x.shape(0)));
      },
      nb::keep_alive<0, 1>());
  m.def(
      "csr",
      [](nb::ndarray<const double, nb::ndim<1>> v, nb::ndarray<const int, nb::ndim<1>> i,
         nb::ndarray<const int, nb::ndim<1>> s, Index n,
         Index d) { return std::shared_ptr<Rows>(new SparseRows<double, int>(v.data(), i.data(), s.data(), n, d)); },
      nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>());
}
