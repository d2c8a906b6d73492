// Matrices: handles on NumPy and SciPy memory, read where it lies, and the products that the tests compare with
// NumPy's.
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bind/bind.hpp"
#include "core/matrices/augmented.hpp"
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

/// A vector handed over to NumPy without a copy.
template <class... Sizes>
auto as_array(std::vector<double> values, Sizes... sizes) {
  auto* kept = new std::vector<double>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return nb::ndarray<nb::numpy, double>(kept->data(), {static_cast<std::size_t>(sizes)...}, owner);
}

std::vector<double> zeros(Index size) { return std::vector<double>(static_cast<std::size_t>(size), 0.0); }

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

auto rows_times(const Rows& x, const Matrix& w) {
  demand(length(w, 1) == x.columns(), "w must have a number for each column of X.");
  const Index k = length(w);
  std::vector<double> z = zeros(x.rows() * k);
  {
    const nb::gil_scoped_release released;
    times(x, w.data(), k, z.data());
  }
  return as_array(std::move(z), x.rows(), k);
}

auto rows_transpose_times(const Rows& x, const Matrix& s) {
  demand(length(s) == x.rows(), "s must have a row for each row of X.");
  const Index k = length(s, 1);
  std::vector<double> g = zeros(x.columns() * k);
  {
    const nb::gil_scoped_release released;
    add_transpose_times(x, s.data(), k, g.data());
  }
  return as_array(std::move(g), k, x.columns());
}

auto rows_sandwich(const Rows& x, const Vector& c, std::optional<Vector> shift) {
  demand(length(c) == x.rows(), "c must have a number for each row of X.");
  demand(!shift || length(*shift) == x.columns(), "shift must have a number for each column of X.");
  demand(!shift || !x.sparse(), "shift must be None for a sparse matrix.");
  std::vector<double> h = zeros(x.columns() * x.columns());
  {
    const nb::gil_scoped_release released;
    sandwich(x, c.data(), shift ? shift->data() : nullptr, h.data());
  }
  return as_array(std::move(h), x.columns(), x.columns());
}

template <class Handle>
auto statistics(const Handle& x, std::optional<Vector> weights) {
  demand(!weights || length(*weights) == x.rows(), "weights must have a number for each row of X.");
  ColumnStatistics found;
  {
    const nb::gil_scoped_release released;
    found = column_statistics(x, weights ? weights->data() : nullptr);
  }
  const Index d = x.columns();
  return nb::make_tuple(as_array(std::move(found.mean), d), as_array(std::move(found.variance), d));
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
            std::vector<double> sum(z.data(), z.data() + z.size());
            x.add(j, a, sum.data());
            return as_array(std::move(sum), x.rows());
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
