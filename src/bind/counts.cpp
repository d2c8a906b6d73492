// Counts and moments of the classes: what naive Bayes and the discriminants know of X.
#include "core/counts/sums.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>

#include "bind/arrays.hpp"
#include "bind/bind.hpp"
#include "core/counts/gaussian.hpp"
#include "core/counts/moments.hpp"
#include "core/counts/products.hpp"
#include "core/counts/scatter.hpp"

namespace {

using namespace tutelage;
using Codes = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Weights = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void demand(bool fact, const char* sentence) {
  if (!fact) throw std::invalid_argument(sentence);
}

Classes classes_of(const Codes& codes, const std::optional<Weights>& weights, Index count) {
  demand(!weights || weights->size() == codes.size(), "weights must have a number for each row of X.");
  return {codes.data(), weights ? weights->data() : nullptr, static_cast<Index>(codes.size()), count};
}

void check_table(const Table& table, Index rows, Index columns) {
  demand(static_cast<Index>(table.shape(0)) == rows && static_cast<Index>(table.shape(1)) == columns,
         "a table must have a row for each class and a column for each column of X.");
}

/// Numbers handed over to NumPy without a copy.
nb::object handed_over(std::vector<double> values, std::initializer_list<std::size_t> shape) {
  auto* kept = new std::vector<double>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return nb::cast(NewNumbers(kept->data(), shape, owner));
}

/// Memory that the core will fill, so that pages are first touched by the threads that use them.
NewNumbers empty_numbers(std::initializer_list<std::size_t> shape) {
  std::size_t count = 1;
  for (const std::size_t length : shape) count *= length;
  auto* const data = new double[count];
  const nb::capsule owner(data, [](void* held) noexcept { delete[] static_cast<double*>(held); });
  return NewNumbers(data, shape, owner);
}

nb::tuple sums(const Rows& x, const Codes& codes, std::optional<Weights> weights, Index classes,
               std::optional<double> threshold) {
  const auto k = static_cast<std::size_t>(classes), d = static_cast<std::size_t>(x.columns());
  NewNumbers total = empty_numbers({k}), made = empty_numbers({k, d});
  {
    const nb::gil_scoped_release released;
    class_sums(x, classes_of(codes, weights, classes), threshold ? &*threshold : nullptr, total.data(), made.data());
  }
  return nb::make_tuple(total, made);
}

nb::tuple moments(const Rows& x, const Codes& codes, std::optional<Weights> weights, Index classes, bool missing) {
  ClassMoments made;
  {
    const nb::gil_scoped_release released;
    made = class_moments(x, classes_of(codes, weights, classes), missing);
  }
  const auto k = static_cast<std::size_t>(classes), d = static_cast<std::size_t>(x.columns());
  return nb::make_tuple(handed_over(std::move(made.total), {k, d}), handed_over(std::move(made.mean), {k, d}),
                        handed_over(std::move(made.square), {k, d}));
}

nb::object scatter(const Rows& x, const Codes& codes, std::optional<Weights> weights, const Table& means, bool own) {
  const auto k = means.shape(0), d = means.shape(1);
  check_table(means, static_cast<Index>(k), x.columns());
  std::vector<double> made;
  {
    const nb::gil_scoped_release released;
    const Classes classes = classes_of(codes, weights, static_cast<Index>(k));
    made = own ? own_scatter(x, classes, means.data()) : shared_scatter(x, classes, means.data());
  }
  return own ? handed_over(std::move(made), {k, d, d}) : handed_over(std::move(made), {d, d});
}

NewNumbers scores(const Rows& x, const nb::ndarray<const double, nb::c_contig, nb::device::cpu>& base,
                  const Table& means, const Table& precisions, bool missing) {
  const auto k = static_cast<Index>(means.shape(0));
  check_table(means, k, x.columns());
  check_table(precisions, k, x.columns());
  demand(static_cast<Index>(base.size()) == (missing ? k * x.columns() : k), "base has the wrong size.");
  NewNumbers z = new_numbers({static_cast<std::size_t>(x.rows()), static_cast<std::size_t>(k)});
  const nb::gil_scoped_release released;
  gaussian_scores(x, base.data(), means.data(), precisions.data(), k, missing, z.data());
  return z;
}

NewNumbers products(const Rows& x, const Table& table) {
  const auto k = static_cast<Index>(table.shape(0));
  check_table(table, k, x.columns());
  NewNumbers z = new_numbers({static_cast<std::size_t>(x.rows()), static_cast<std::size_t>(k)});
  const nb::gil_scoped_release released;
  class_products(x, table.data(), k, z.data());
  return z;
}

NewNumbers distances(const Rows& x, const Codes& codes, const Table& means, const Table& precisions) {
  const auto k = static_cast<Index>(means.shape(0));
  check_table(means, k, x.columns());
  check_table(precisions, k, x.columns());
  NewNumbers out = new_numbers({static_cast<std::size_t>(x.rows())});
  const nb::gil_scoped_release released;
  class_distances(x, classes_of(codes, std::nullopt, k), means.data(), precisions.data(), out.data());
  return out;
}

}  // namespace

void bind_counts(nb::module_& m) {
  m.def("class_sums", &sums, nb::arg("rows"), nb::arg("codes"), nb::arg("weights").none(), nb::arg("classes"),
        nb::arg("threshold").none() = nb::none(),
        "The weight of each class and the weighted sums of its rows; with a threshold, of whether they exceed it.");
  m.def("class_moments", &moments, nb::arg("rows"), nb::arg("codes"), nb::arg("weights").none(), nb::arg("classes"),
        nb::arg("missing") = false,
        "Weights, means and sums of squared deviations of each column in each class; NaN is left out if missing.");
  m.def("class_scatter", &scatter, nb::arg("rows"), nb::arg("codes"), nb::arg("weights").none(), nb::arg("means"),
        nb::arg("own") = false,
        "The lower triangle of the scatter of rows around the means of their classes; one for each class if own.");
  m.def("gaussian_scores", &scores, nb::arg("rows"), nb::arg("base"), nb::arg("means"), nb::arg("precisions"),
        nb::arg("missing") = false,
        "base - 1/2 sum_j precision_j (x_j - mean_j)^2 of each row and class; NaN is left out if missing.");
  m.def("class_products", &products, nb::arg("rows"), nb::arg("table"),
        "X table' for a table of classes; quick for sparse rows of very many columns.");
  m.def("class_distances", &distances, nb::arg("rows"), nb::arg("codes"), nb::arg("means"), nb::arg("precisions"),
        "sum_j precision_j (x_j - mean_j)^2 of each row for its own class.");
}
