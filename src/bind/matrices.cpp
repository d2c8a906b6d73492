// Matrices: handles on NumPy and SciPy memory, read where it lies, and the products that the tests compare with
// NumPy's.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/bind.hpp"
#include "core/matrices/augmented.hpp"
#include "core/matrices/copy.hpp"
#include "core/matrices/dense.hpp"
#include "core/matrices/products.hpp"
#include "core/matrices/sparse.hpp"
#include "core/matrices/standardised.hpp"
#include "core/matrices/statistics.hpp"

namespace {

using namespace tutelage;
using Dense = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using List = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Shape = std::pair<Index, Index>;

Index length(const auto& array, std::size_t axis = 0) { return static_cast<Index>(array.shape(axis)); }

void demand(bool fact, const char* sentence) {
  if (!fact) throw std::invalid_argument(sentence);
}

template <class Handle, class T>
std::shared_ptr<Handle> dense_of(const Dense& x) {
  const auto* data = static_cast<const T*>(x.data());
  const Index n = length(x, 0), d = length(x, 1);
  const auto down = static_cast<Index>(x.stride(0)), across = static_cast<Index>(x.stride(1));
  if (down == 1 && n > 1 && d == 1) return std::make_shared<DenseColumns<T>>(data, n, d, across);
  if (across == 1 || d <= 1) return std::make_shared<DenseRows<T>>(data, n, d, down);
  demand(down == 1 || n <= 1, "X must have its rows or its columns in one piece of memory; copy it first.");
  return std::make_shared<DenseColumns<T>>(data, n, d, across);
}

template <class Handle>
std::shared_ptr<Handle> dense(const Dense& x) {
  if (x.dtype() == nb::dtype<double>()) return dense_of<Handle, double>(x);
  demand(x.dtype() == nb::dtype<float>(), "X must hold float32 or float64; convert it first.");
  return dense_of<Handle, float>(x);
}

/// Calls make(values, indices, starts) with the arrays as what they are.
template <class Make>
auto with_types(const List& data, const List& indices, const List& starts, Make&& make) {
  demand(indices.dtype() == starts.dtype(), "X's indices and indptr must be of one integer type; convert them first.");
  demand(indices.size() >= data.size(), "X has fewer indices than data; build the matrix again.");
  const auto with_indices = [&](const auto* values) {
    const auto call = [&](auto kind) {
      using I = decltype(kind);
      return make(values, static_cast<const I*>(indices.data()), static_cast<const I*>(starts.data()));
    };
    if (indices.dtype() == nb::dtype<std::int32_t>()) return call(std::int32_t{});
    demand(indices.dtype() == nb::dtype<std::int64_t>(), "X's indices must be int32 or int64; convert them first.");
    return call(std::int64_t{});
  };
  if (data.dtype() == nb::dtype<double>()) return with_indices(static_cast<const double*>(data.data()));
  demand(data.dtype() == nb::dtype<float>(), "X must hold float32 or float64; convert it first.");
  return with_indices(static_cast<const float*>(data.data()));
}

std::shared_ptr<Rows> sparse_rows(const List& data, const List& indices, const List& starts, Shape shape) {
  demand(length(starts) == shape.first + 1, "X's indptr must have one entry more than X has rows.");
  return with_types(data, indices, starts, [&]<class T, class I>(const T* values, const I* index, const I* start) {
    const nb::gil_scoped_release released;
    const bool canonical = SparseLines<T, I>{values, index, start, shape.first}.check(shape.second, length(data));
    return std::shared_ptr<Rows>(
        std::make_shared<SparseRows<T, I>>(values, index, start, shape.first, shape.second, canonical));
  });
}

std::shared_ptr<Columns> sparse_columns(const List& data, const List& indices, const List& starts, Shape shape) {
  demand(length(starts) == shape.second + 1, "X's indptr must have one entry more than X has columns.");
  return with_types(data, indices, starts, [&]<class T, class I>(const T* values, const I* index, const I* start) {
    const nb::gil_scoped_release released;
    SparseLines<T, I>{values, index, start, shape.second}.check(shape.first, length(data));
    return std::shared_ptr<Columns>(
        std::make_shared<SparseColumns<T, I>>(values, index, start, shape.first, shape.second));
  });
}

/// data, indices and indptr of the other compression.
nb::tuple other_compression(const List& data, const List& indices, const List& starts, Index across) {
  return with_types(data, indices, starts, [&]<class T, class I>(const T* values, const I* index, const I* start) {
    const SparseLines<T, I> lines{values, index, start, length(starts) - 1};
    auto* kept = new Compressed<T, I>;
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Compressed<T, I>*>(p); });
    {
      const nb::gil_scoped_release released;
      lines.check(across, length(data));
      *kept = transpose(lines, across);
    }
    const auto array = [&]<class E>(std::vector<E>& v) {
      return nb::ndarray<nb::numpy, E, nb::ndim<1>>(v.data(), {v.size()}, owner);
    };
    return nb::make_tuple(array(kept->values), array(kept->indices), array(kept->starts));
  });
}

// ---- products -----------------------------------------------------------------------------------------------------

NewNumbers matrix(Index rows, Index columns) {
  return new_numbers({static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)});
}

NewNumbers rows_times(const Rows& x, const Matrix& w) {
  demand(length(w, 1) == x.columns(), "w must have a number for each column of X.");
  NewNumbers z = matrix(x.rows(), length(w));
  const nb::gil_scoped_release released;
  times(x, w.data(), length(w), z.data());
  return z;
}

NewNumbers rows_transpose_times(const Rows& x, const Matrix& s) {
  demand(length(s) == x.rows(), "s must have a row for each row of X.");
  NewNumbers g = matrix(length(s, 1), x.columns());
  const nb::gil_scoped_release released;
  add_transpose_times(x, s.data(), length(s, 1), g.data());
  return g;
}

NewNumbers rows_sandwich(const Rows& x, const Vector& c, std::optional<Vector> shift) {
  demand(length(c) == x.rows(), "c must have a number for each row of X.");
  demand(!shift || length(*shift) == x.columns(), "shift must have a number for each column of X.");
  demand(!shift || !x.sparse(), "shift must be None for a sparse matrix.");
  NewNumbers h = matrix(x.columns(), x.columns());
  const nb::gil_scoped_release released;
  sandwich(x, c.data(), shift ? shift->data() : nullptr, h.data());
  return h;
}

template <class Handle>
nb::tuple statistics(const Handle& x, std::optional<Vector> weights) {
  demand(!weights || length(*weights) == x.rows(), "weights must have a number for each row of X.");
  ColumnStatistics found;
  {
    const nb::gil_scoped_release released;
    found = column_statistics(x, weights ? weights->data() : nullptr);
  }
  return nb::make_tuple(copied(found.mean.data(), x.columns(), 1), copied(found.variance.data(), x.columns(), 1));
}

template <class T>
nb::object copy_in_fortran_order(const Dense& x) {
  const auto n = x.shape(0), d = x.shape(1);
  auto* const data = new T[n * d];
  const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  {
    const nb::gil_scoped_release released;
    copy_by_columns(static_cast<const T*>(x.data()), static_cast<Index>(x.stride(0)), static_cast<Index>(n),
                    static_cast<Index>(d), data);
  }
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<2>>(data, {n, d}, owner, {1, static_cast<std::int64_t>(n)}));
}

nb::object fortran_copy(const Dense& x) {
  demand(x.stride(1) == 1, "X must have its rows in one piece of memory; copy it first.");
  if (x.dtype() == nb::dtype<double>()) return copy_in_fortran_order<double>(x);
  demand(x.dtype() == nb::dtype<float>(), "X must hold float32 or float64; convert it first.");
  return copy_in_fortran_order<float>(x);
}

std::shared_ptr<Rows> standardised(const Rows& x, const Vector& mean, const Vector& scale) {
  demand(length(mean) == x.columns() && length(scale) == x.columns(),
         "mean and scale must have a number for each column of X.");
  return std::make_shared<StandardisedRows>(
      x, Affine({mean.data(), mean.data() + mean.size()}, {scale.data(), scale.data() + scale.size()}));
}

void bind_rows(nb::module_& m) {
  m.def("rows", &dense<Rows>, nb::arg("X").noconvert(), nb::keep_alive<0, 1>(),
        "A dense matrix read by rows, where it lies: float32 or float64, its rows or its columns in one piece.");
  m.def("rows", &sparse_rows, nb::arg("data").noconvert(), nb::arg("indices").noconvert(),
        nb::arg("indptr").noconvert(), nb::arg("shape"), nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(),
        nb::keep_alive<0, 3>(), "A CSR matrix, where it lies; the indices are checked.");
  m.def("other_compression", &other_compression, nb::arg("data").noconvert(), nb::arg("indices").noconvert(),
        nb::arg("indptr").noconvert(), nb::arg("across"),
        "data, indices and indptr of the same matrix in CSC when it came in CSR, and the reverse.");
  m.def("fortran_copy", &fortran_copy, nb::arg("X").noconvert(), "A copy of a C-ordered matrix in Fortran order.");
  nb::class_<Rows>(m, "Rows", "A matrix that products read by blocks of rows.")
      .def_prop_ro(
          "shape", [](const Rows& x) { return nb::make_tuple(x.rows(), x.columns()); }, "Rows and columns.")
      .def_prop_ro(
          "stored", [](const Rows& x) { return x.stored(); }, "Entries in memory.")
      .def_prop_ro("sparse", &Rows::sparse, "Whether entries that are zero are left out.")
      .def_prop_ro("block_rows", &Rows::block_rows, "Rows read at a time.")
      .def("times", &rows_times, nb::arg("w"), "X w' for w of shape (k, columns); shape (rows, k).")
      .def("transpose_times", &rows_transpose_times, nb::arg("s"), "s' X for s of shape (rows, k); shape (k, columns).")
      .def("sandwich", &rows_sandwich, nb::arg("c"), nb::arg("shift").none() = nb::none(),
           "The lower triangle of (X - shift)' diag(c) (X - shift); zeros above it.")
      .def("statistics", &statistics<Rows>, nb::arg("weights").none() = nb::none(),
           "Weighted means and variances of the columns.")
      .def("standardised", &standardised, nb::arg("mean"), nb::arg("scale"), nb::keep_alive<0, 1>(),
           "(X - mean) / scale, without a copy.")
      .def(
          "augmented", [](const Rows& x) { return std::shared_ptr<Rows>(std::make_shared<AugmentedRows>(x)); },
          nb::keep_alive<0, 1>(), "X with a column of ones behind it, without a copy.");
}

void bind_columns(nb::module_& m) {
  m.def("columns", &dense<Columns>, nb::arg("X").noconvert(), nb::keep_alive<0, 1>(),
        "A dense matrix read by columns, where it lies; quick when its columns are in one piece.");
  m.def("columns", &sparse_columns, nb::arg("data").noconvert(), nb::arg("indices").noconvert(),
        nb::arg("indptr").noconvert(), nb::arg("shape"), nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(),
        nb::keep_alive<0, 3>(), "A CSC matrix, where it lies; the indices are checked.");
  const auto check = [](const Columns& x, Index j) {
    demand(j >= 0 && j < x.columns(), "j must be the number of a column of X.");
  };
  const auto check_rows = [](const Columns& x, const Vector& v) {
    demand(length(v) == x.rows(), "a vector must have a number for each row of X.");
  };
  nb::class_<Columns>(m, "Columns", "A matrix that products read column by column.")
      .def_prop_ro(
          "shape", [](const Columns& x) { return nb::make_tuple(x.rows(), x.columns()); }, "Rows and columns.")
      .def_prop_ro(
          "stored", [](const Columns& x) { return x.stored(); }, "Entries in memory.")
      .def(
          "stored_in",
          [=](const Columns& x, Index j) {
            check(x, j);
            return x.stored(j);
          },
          nb::arg("j"), "Entries of column j in memory.")
      .def(
          "dot",
          [=](const Columns& x, Index j, const Vector& r) {
            check(x, j);
            check_rows(x, r);
            return x.dot(j, r.data());
          },
          nb::arg("j"), nb::arg("r"), "The inner product of column j with r.")
      .def(
          "add",
          [=](const Columns& x, Index j, double a, const Vector& z) {
            check(x, j);
            check_rows(x, z);
            NewNumbers sum = new_numbers({z.size()});
            std::copy_n(z.data(), z.size(), sum.data());
            x.add(j, a, sum.data());
            return sum;
          },
          nb::arg("j"), nb::arg("a"), nb::arg("z"), "z + a times column j.")
      .def(
          "weighted_dot",
          [=](const Columns& x, Index j, const Vector& c, const Vector& r) {
            check(x, j);
            check_rows(x, c);
            check_rows(x, r);
            return x.weighted_dot(j, c.data(), r.data());
          },
          nb::arg("j"), nb::arg("c"), nb::arg("r"), "sum_i c_i x_ij r_i.")
      .def(
          "weighted_square",
          [=](const Columns& x, Index j, std::optional<Vector> c) {
            check(x, j);
            if (c) check_rows(x, *c);
            return x.weighted_square(j, c ? c->data() : nullptr);
          },
          nb::arg("j"), nb::arg("c").none() = nb::none(), "sum_i c_i x_ij^2.")
      .def("statistics", &statistics<Columns>, nb::arg("weights").none() = nb::none(),
           "Weighted means and variances of the columns.");
}

}  // namespace

void bind_matrices(nb::module_& m) {
  bind_rows(m);
  bind_columns(m);
}
