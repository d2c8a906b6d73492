// Matrices that are read by columns.
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>

#include <cstdint>
#include <memory>

#include "bind/bind.hpp"
#include "core/matrices/dense.hpp"
#include "core/matrices/sparse.hpp"

namespace {

using namespace tutelage;

template <class T>
using Dense = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using List = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::shared_ptr<Columns> dense(Dense<T> x) {
  const Index rows = Index(x.shape(0)), columns = Index(x.shape(1));
  if (x.stride(0) == 1 || rows <= 1)
    return std::make_shared<DenseColumns<T>>(x.data(), rows, columns, columns > 1 ? Index(x.stride(1)) : rows);
  if (x.stride(1) == 1 || columns <= 1)
    return std::make_shared<DenseRows<T>>(x.data(), rows, columns, Index(x.stride(0)));
  throw nb::value_error("X must have contiguous rows or contiguous columns");
}

template <class T, class I>
std::shared_ptr<Columns> sparse(List<T> values, List<I> indices, List<I> starts, Index rows, Index columns) {
  if (values.size() != indices.size() || Index(starts.size()) != columns + 1)
    throw nb::value_error("values and indices must have one length, and starts one entry more than there are columns");
  return std::make_shared<SparseColumns<T, I>>(values.data(), indices.data(), starts.data(), rows, columns);
}

template <class T>
void bind_type(nb::module_& m) {
  m.def("dense_columns", &dense<T>, nb::arg("x").noconvert(), nb::keep_alive<0, 1>(),
        "A dense matrix in either order, read where it is.");
  const auto bind_sparse = [&](auto index) {
    m.def("sparse_columns", &sparse<T, decltype(index)>, nb::arg("values").noconvert(), nb::arg("indices").noconvert(),
          nb::arg("starts").noconvert(), nb::arg("rows"), nb::arg("columns"), nb::keep_alive<0, 1>(),
          nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>(), "A CSC matrix without repeated entries, read where it is.");
  };
  bind_sparse(std::int32_t{});
  bind_sparse(std::int64_t{});
}

}  // namespace

void bind_columns(nb::module_& m) {
  nb::class_<Columns>(m, "Columns", "A matrix that is read by columns.")
      .def_prop_ro("rows", &Columns::rows, "How many rows it has.")
      .def_prop_ro("columns", &Columns::columns, "How many columns it has.");
  bind_type<double>(m);
  bind_type<float>(m);
}
