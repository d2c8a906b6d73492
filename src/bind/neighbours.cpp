// Searches for neighbours: over dense rows by panels, trees or products, over sparse rows, strings and distances.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/bind.hpp"
#include "core/neighbours/choose.hpp"
#include "core/neighbours/products.hpp"

namespace {

using namespace tutelage;
using namespace tutelage::neighbours;
using Dense = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using Doubles = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Line = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Integers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Letters = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Index length(const auto& array, std::size_t axis = 0) { return static_cast<Index>(array.shape(axis)); }

void demand(bool fact, const char* sentence) {
  if (!fact) throw std::invalid_argument(sentence);
}

template <class E>
nb::object owned(std::vector<E>&& values) {
  auto* kept = new std::vector<E>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<E>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, E, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

nb::object two_dimensional(auto* kept, Index rows, Index columns) {
  using E = typename std::remove_pointer_t<decltype(kept)>::value_type;
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<E>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, E, nb::ndim<2>>(
      kept->data(), {static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)}, owner));
}

/// Distances and rows, count x k, that find(distances, rows) filled in without the GIL.
template <class Find>
nb::tuple nearest_of(Index count, Index k, Index available, Find&& find) {
  demand(k >= 1 && k <= available, "k must be at least 1 and at most the number of rows there are.");
  auto distances = std::make_unique<std::vector<double>>(static_cast<std::size_t>(count * k));
  auto rows = std::make_unique<std::vector<std::int64_t>>(static_cast<std::size_t>(count * k));
  {
    const nb::gil_scoped_release released;
    find(distances->data(), rows->data());
  }
  nb::object first = two_dimensional(distances.release(), count, k);
  return nb::make_tuple(first, two_dimensional(rows.release(), count, k));
}

template <class Find>
nb::tuple within_of(Index count, const Line& radii, Find&& find) {
  demand(length(radii) == count, "there must be a radius for each query.");
  Within found;
  {
    const nb::gil_scoped_release released;
    found = find();
  }
  return nb::make_tuple(owned(std::move(found.starts)), owned(std::move(found.rows)),
                        owned(std::move(found.distances)));
}

template <class Use>
auto with_table(const Dense& x, Use&& use) {
  demand(x.shape(1) <= 1 || x.stride(1) == 1, "X must have its rows in one piece of memory; copy it first.");
  const auto table = [&]<class T>(const T* data) {
    return use(Table<T>{data, length(x), length(x, 1), static_cast<Index>(x.stride(0))});
  };
  if (x.dtype() == nb::dtype<double>()) return table(static_cast<const double*>(x.data()));
  demand(x.dtype() == nb::dtype<float>(), "X must hold float32 or float64; convert it first.");
  return table(static_cast<const float*>(x.data()));
}

std::unique_ptr<Search> panel_search(const Doubles& x, const std::string& metric, double p,
                                     const std::string& algorithm, Index leaf_size) {
  const nb::gil_scoped_release released;
  return make_search(metric, p, {x.data(), length(x), length(x, 1), length(x, 1)}, algorithm, leaf_size);
}

std::unique_ptr<Search> product_search(const Dense& x, const std::string& form, const Line& mean, const Doubles& basis,
                                       double scale) {
  demand(length(mean) == length(x, 1), "mean must have a number for each column of X.");
  demand(length(basis) == 0 || length(basis, 1) == length(x, 1), "basis must have a number for each column of X.");
  Image image;
  image.mean.assign(mean.data(), mean.data() + mean.size());
  image.basis.assign(basis.data(), basis.data() + basis.size());
  image.scale = scale;
  image.directions = length(basis);
  Euclidean metric;
  if (form == "sqeuclidean") metric.form = Euclidean::Form::square;
  if (form == "half_sqeuclidean") metric.form = Euclidean::Form::half;
  return with_table(x, [&]<class T>(const Table<T>& table) -> std::unique_ptr<Search> {
    const nb::gil_scoped_release released;
    return std::make_unique<ProductSearch<T>>(metric, table, std::move(image));
  });
}

/// A source over rows that are no panels, and what it refers to.
template <class Source>
nb::tuple source_nearest(const Source& source, Index count, bool are_rows, Index k) {
  return nearest_of(count, k, source.rows() - are_rows,
                    [&](double* d, Index* r) { scan_nearest(source, count, are_rows, k, d, r); });
}
template <class Source>
nb::tuple source_within(const Source& source, Index count, bool are_rows, const Line& radii, bool by_distance) {
  return within_of(count, radii, [&] { return scan_within(source, count, are_rows, radii.data(), by_distance); });
}

Csr csr(const Line& data, const Integers& indices, const Integers& indptr) {
  demand(length(indptr) >= 1 && indptr.data()[length(indptr) - 1] <= length(data) && data.size() == indices.size(),
         "data, indices and indptr must be those of a CSR matrix.");
  return {data.data(), indices.data(), indptr.data(), length(indptr) - 1};
}
Strings strings(const Letters& letters, const Integers& starts) {
  demand(length(starts) >= 1 && starts.data()[length(starts) - 1] <= length(letters),
         "starts must have one entry more than there are strings.");
  return {letters.data(), starts.data(), length(starts) - 1};
}

void bind_sources(nb::module_& m) {
  m.def(
      "nearest_of_distances",
      [](const Doubles& distances, bool are_rows, Index k) {
        return source_nearest(Block(distances.data(), length(distances, 1)), length(distances), are_rows, k);
      },
      nb::arg("distances"), nb::arg("are_rows"), nb::arg("k"), "The k least of each row: distances and columns.");
  m.def(
      "within_of_distances",
      [](const Doubles& distances, bool are_rows, const Line& radii, bool by_distance) {
        return source_within(Block(distances.data(), length(distances, 1)), length(distances), are_rows, radii,
                             by_distance);
      },
      nb::arg("distances"), nb::arg("are_rows"), nb::arg("radii"), nb::arg("by_distance"),
      "What is at most the radius of each row: starts, columns and distances.");
  const auto sparse = [](const Line& data, const Integers& indices, const Integers& indptr, const Line& own_data,
                         const Integers& own_indices, const Integers& own_indptr, const std::string& metric,
                         auto&& use) {
    const Csr x = csr(data, indices, indptr), queries = csr(own_data, own_indices, own_indptr);
    return with_sparse_metric(metric, [&]<class M>(const M& one) -> nb::tuple {
      return use(SparseSource<M>(one, x, queries), queries.rows);
    });
  };
  m.def(
      "nearest_sparse",
      [=](const Line& data, const Integers& indices, const Integers& indptr, const Line& own_data,
          const Integers& own_indices, const Integers& own_indptr, const std::string& metric, bool are_rows, Index k) {
        return sparse(data, indices, indptr, own_data, own_indices, own_indptr, metric,
                      [&](const auto& source, Index count) { return source_nearest(source, count, are_rows, k); });
      },
      "The k nearest rows of a CSR matrix to those of another: distances and rows.");
  m.def(
      "within_sparse",
      [=](const Line& data, const Integers& indices, const Integers& indptr, const Line& own_data,
          const Integers& own_indices, const Integers& own_indptr, const std::string& metric, bool are_rows,
          const Line& radii, bool by_distance) {
        return sparse(data, indices, indptr, own_data, own_indices, own_indptr, metric,
                      [&](const auto& source, Index count) {
                        return source_within(source, count, are_rows, radii, by_distance);
                      });
      },
      "The rows of a CSR matrix within a radius of those of another: starts, rows and distances.");
  m.def(
      "nearest_strings",
      [](const Letters& letters, const Integers& starts, const Letters& own_letters, const Integers& own_starts,
         bool are_rows, Index k) {
        const EditSource source(strings(letters, starts), strings(own_letters, own_starts));
        return source_nearest(source, length(own_starts) - 1, are_rows, k);
      },
      "The k nearest strings by edit distance: distances and rows.");
  m.def(
      "within_strings",
      [](const Letters& letters, const Integers& starts, const Letters& own_letters, const Integers& own_starts,
         bool are_rows, const Line& radii, bool by_distance) {
        const EditSource source(strings(letters, starts), strings(own_letters, own_starts));
        return source_within(source, length(own_starts) - 1, are_rows, radii, by_distance);
      },
      "The strings within an edit distance: starts, rows and distances.");
}

}  // namespace

void bind_neighbours(nb::module_& m) {
  nb::class_<Search>(m, "Search", "A matrix that can be searched for neighbours.")
      .def_prop_ro(
          "shape", [](const Search& s) { return nb::make_tuple(s.rows(), s.columns()); }, "Rows and columns.")
      .def(
          "nearest",
          [](const Search& s, const Doubles& queries, bool are_rows, Index k) {
            demand(length(queries, 1) == s.columns(), "queries must have a number for each column of X.");
            demand(!are_rows || length(queries) <= s.rows(), "there are more queries than rows that they could be.");
            return nearest_of(length(queries), k, s.rows() - are_rows, [&](double* d, Index* r) {
              s.nearest({queries.data(), length(queries), are_rows}, k, d, r);
            });
          },
          nb::arg("queries"), nb::arg("are_rows"), nb::arg("k"),
          "Distances and rows of the k nearest; where are_rows, query i is row i and not its own neighbour.")
      .def(
          "within",
          [](const Search& s, const Doubles& queries, bool are_rows, const Line& radii, bool by_distance) {
            demand(length(queries, 1) == s.columns(), "queries must have a number for each column of X.");
            return within_of(length(queries), radii, [&] {
              return s.within({queries.data(), length(queries), are_rows}, radii.data(), by_distance);
            });
          },
          nb::arg("queries"), nb::arg("are_rows"), nb::arg("radii"), nb::arg("by_distance"),
          "All rows within the radius of each query: starts, rows and distances, by row or by distance.");
  m.def("panel_search", &panel_search, nb::arg("X").noconvert(), nb::arg("metric"), nb::arg("p"), nb::arg("algorithm"),
        nb::arg("leaf_size"), "Brute force, a KD tree or a ball tree over prepared rows, of which it keeps a copy.");
  m.def("product_search", &product_search, nb::arg("X").noconvert(), nb::arg("form"), nb::arg("mean"), nb::arg("basis"),
        nb::arg("scale"), nb::keep_alive<0, 1>(),
        "Euclidean search by float32 products of images of the rows, exact in the end.");
  bind_sources(m);
}
