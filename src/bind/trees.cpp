// Decision trees: the coding of columns, growing, the way down, pruning.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/bind.hpp"
#include "core/trees/absolute.hpp"
#include "core/trees/forest.hpp"
#include "core/trees/grow.hpp"
#include "core/trees/pruning.hpp"

namespace {

using namespace tutelage;
using namespace tutelage::trees;
using Dense = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using Line = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Plane = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using LabelPlane = nb::ndarray<const std::uint16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Integers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Signs = nb::ndarray<const std::int8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Places = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Flags = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void demand(bool fact, const char* sentence) {
  if (!fact) throw std::invalid_argument(sentence);
}

Cells dense(const Dense& x) {
  Cells made;
  made.rows = static_cast<Index>(x.shape(0));
  made.columns = static_cast<Index>(x.shape(1));
  made.data = x.data();
  made.single = x.dtype() == nb::dtype<float>();
  made.row_stride = static_cast<Index>(x.stride(0));
  made.column_stride = static_cast<Index>(x.stride(1));
  demand(made.single || x.dtype() == nb::dtype<double>(), "X must hold float32 or float64; convert it first.");
  return made;
}

Cells compressed(const Line& data, const Integers& where, const Integers& starts, Index rows, Index columns) {
  demand(data.size() == where.size(), "data and indices of a sparse matrix must have one length.");
  Cells made;
  made.rows = rows;
  made.columns = columns;
  made.data = data.data();
  made.starts = starts.data();
  made.where = where.data();
  return made;
}

Table::Use use_of(const std::string& name) {
  if (name == "every") return Table::Use::every_column;
  demand(name == "some" || name == "histogram", "use must be 'every', 'some' or 'histogram'.");
  return name == "some" ? Table::Use::some_columns : Table::Use::histogram;
}

/// A table, and the arrays its columns look values up in.
struct Coded {
  std::vector<nb::object> kept;
  std::unique_ptr<Table> table;
};

Coded code(const Cells& x, const std::string& use, Index bins) {
  demand(x.rows <= std::numeric_limits<std::int32_t>::max(), "X must have at most 2^31 - 1 rows.");
  demand(bins >= 2 && bins <= static_cast<Index>(most_bins), "bins must be at least 2 and at most 255.");
  const nb::gil_scoped_release released;
  Coded made;
  made.table = std::make_unique<Table>(x, use_of(use), static_cast<std::uint32_t>(bins));
  return made;
}

std::unique_ptr<Search> search_by(const std::string& criterion, Targets t) {
  const bool labels = !t.classes.empty(), weighted = !t.weights.empty(), entropy = criterion == "entropy";
  if (criterion == "absolute_error") return std::make_unique<AbsoluteSearch>(std::move(t));
  if (t.outputs > 1 || criterion == "poisson") {
    const Sums::Kind kind = labels ? (entropy ? Sums::Kind::entropy : Sums::Kind::gini)
                                   : (criterion == "poisson" ? Sums::Kind::poisson : Sums::Kind::squared);
    return std::make_unique<SearchBy<Sums>>(Sums(std::move(t), kind));
  }
  if (!labels) {
    if (weighted) return std::make_unique<SearchBy<Squared<true>>>(Squared<true>(std::move(t)));
    return std::make_unique<SearchBy<Squared<false>>>(Squared<false>(std::move(t)));
  }
  const auto of_labels = [&]<bool e, bool w>() -> std::unique_ptr<Search> {
    Logs logs = e && !w ? table_of_logs(t.rows) : nullptr;
    return std::make_unique<SearchBy<Labels<e, w>>>(Labels<e, w>(std::move(t), std::move(logs)));
  };
  if (!entropy && !weighted && t.classes[0] == 2) return std::make_unique<SearchBy<TwoLabels>>(TwoLabels(std::move(t)));
  if (entropy) return weighted ? of_labels.operator()<true, true>() : of_labels.operator()<true, false>();
  return weighted ? of_labels.operator()<false, true>() : of_labels.operator()<false, false>();
}

template <class E>
nb::object owned(std::vector<E>&& values) {
  auto* kept = new std::vector<E>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<E>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, E, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

Rules rules_of(const nb::dict& given, const std::optional<Signs>& monotone, Index columns) {
  Rules rules;
  rules.max_depth = nb::cast<Index>(given["max_depth"]);
  rules.min_split = nb::cast<Index>(given["min_split"]);
  rules.min_leaf = nb::cast<Index>(given["min_leaf"]);
  rules.min_weight = nb::cast<double>(given["min_weight"]);
  rules.min_decrease = nb::cast<double>(given["min_decrease"]);
  rules.max_leaves = nb::cast<Index>(given["max_leaves"]);
  rules.features = nb::cast<Index>(given["features"]);
  rules.random = nb::cast<bool>(given["random"]);
  rules.seed = nb::cast<std::uint64_t>(given["seed"]);
  if (monotone) {
    demand(static_cast<Index>(monotone->size()) == columns, "monotone must have a sign for each column.");
    rules.monotone = monotone->data();
  }
  return rules;
}

nb::dict as_dict(Grown&& grown) {
  nb::dict made;
  made["children_left"] = owned(std::move(grown.left));
  made["children_right"] = owned(std::move(grown.right));
  made["feature"] = owned(std::move(grown.feature));
  made["threshold"] = owned(std::move(grown.threshold));
  made["impurity"] = owned(std::move(grown.impurity));
  made["n_node_samples"] = owned(std::move(grown.count));
  made["weighted_n_node_samples"] = owned(std::move(grown.weight));
  made["missing_go_to_left"] = owned(std::move(grown.missing_left));
  made["value"] = owned(std::move(grown.value));
  return made;
}

Targets targets_of(const std::optional<LabelPlane>& labels, const std::optional<Plane>& numbers,
                   const std::optional<Line>& weights, const std::vector<Index>& classes, Index rows) {
  Targets t;
  t.rows = rows;
  t.classes = classes;
  const auto take = [&](const auto& plane, auto& to) {
    demand(static_cast<Index>(plane.shape(0)) == rows, "y must have a row for each row of X.");
    t.outputs = static_cast<Index>(plane.shape(1));
    to.assign(plane.data(), plane.data() + plane.size());
  };
  labels ? take(*labels, t.labels) : take(numbers.value(), t.numbers);
  demand(!labels || static_cast<Index>(classes.size()) == t.outputs, "classes must say how many each output has.");
  if (weights) {
    demand(static_cast<Index>(weights->size()) == rows, "weights must have a number for each row of X.");
    t.weights.assign(weights->data(), weights->data() + weights->size());
  }
  return t;
}

std::vector<Index> integers(const nb::handle& list) {
  std::vector<Index> made;
  for (const nb::handle item : nb::borrow<nb::sequence>(list)) made.push_back(nb::cast<Index>(item));
  return made;
}

nb::dict grow_tree(Coded& coded, const std::string& criterion, std::optional<LabelPlane> labels,
                   std::optional<Plane> numbers, const nb::sequence& classes, std::optional<Line> weights,
                   const nb::dict& rules, std::optional<Signs> monotone) {
  demand(coded.table != nullptr, "the columns of this table went into a tree already; code them again.");
  Targets t = targets_of(labels, numbers, weights, integers(classes), coded.table->rows());
  const Rules bounds = rules_of(rules, monotone, static_cast<Index>(coded.table->columns().size()));
  Grown grown;
  {
    const nb::gil_scoped_release released;
    grown = grow(*coded.table, search_by(criterion, std::move(t)), bounds, true);
    coded.table.reset();
  }
  return as_dict(std::move(grown));
}

Drawing drawing_of(Index draws, bool balanced, const std::optional<Places>& order,
                   const std::optional<Line>& cumulated) {
  Drawing made{draws, balanced, {}, {}};
  if (order) made.order.assign(order->data(), order->data() + order->size());
  demand(draws == 0 || order, "order must say in which order the rows are drawn.");
  if (cumulated) made.cumulated.assign(cumulated->data(), cumulated->data() + cumulated->size());
  return made;
}

nb::list grow_trees(Coded& coded, const std::string& criterion, std::optional<LabelPlane> labels,
                    std::optional<Plane> numbers, const nb::sequence& classes, std::optional<Line> weights,
                    const nb::dict& rules, std::optional<Signs> monotone, Index draws, bool balanced,
                    std::optional<Places> order, std::optional<Line> cumulated, const Integers& seeds) {
  demand(coded.table != nullptr, "the columns of this table went into a tree already; code them again.");
  const Targets t = targets_of(labels, numbers, weights, integers(classes), coded.table->rows());
  const Rules bounds = rules_of(rules, monotone, static_cast<Index>(coded.table->columns().size()));
  std::vector<Grown> grown;
  {
    const nb::gil_scoped_release released;
    grown = grow_forest(*coded.table, t, bounds, drawing_of(draws, balanced, order, cumulated),
                        std::vector<std::uint64_t>(seeds.data(), seeds.data() + seeds.size()),
                        [&](Targets of_tree) { return search_by(criterion, std::move(of_tree)); });
  }
  nb::list made;
  for (Grown& one : grown) made.append(as_dict(std::move(one)));
  return made;
}

using Steps = std::vector<Step>;

/// Trees that answer together.
struct Forest {
  std::vector<Voter> voters;
  Index width = 1;
};

nb::tuple sums_of(const Forest& forest, const Cells& x, const Drawing& drawing) {
  for (const Voter& voter : forest.voters)
    for (const Step& step : voter.steps) demand(step.feature < x.columns, "X must have the columns of the fit.");
  demand(drawing.draws == 0 || static_cast<Index>(drawing.order.size()) == x.rows, "X must have the rows of the fit.");
  NewNumbers sums = new_numbers({static_cast<std::size_t>(x.rows), static_cast<std::size_t>(forest.width)});
  NewNumbers voters = new_numbers({drawing.draws > 0 ? static_cast<std::size_t>(x.rows) : 0});
  {
    const nb::gil_scoped_release released;
    add_up(forest.voters, x, forest.width, drawing, sums.data(), voters.data());
  }
  return nb::make_tuple(sums, voters);
}

void check_columns(const Cells& x, const Steps& steps) {
  for (const Step& step : steps) demand(step.feature < x.columns, "X must have the columns of the fit.");
}

nb::object leaves_of(const Steps& steps, const Cells& x) {
  check_columns(x, steps);
  std::vector<std::int64_t> leaves(static_cast<std::size_t>(x.rows));
  {
    const nb::gil_scoped_release released;
    apply(steps, x, leaves.data());
  }
  return owned(std::move(leaves));
}

}  // namespace

void bind_trees(nb::module_& m) {
  nb::class_<Coded>(m, "CodedColumns", "The columns of X as codes in the order of their values.");
  m.def(
      "code_columns",
      [](const Dense& x, const std::string& use, Index bins) {
        Coded made = code(dense(x), use, bins);
        made.kept.push_back(nb::cast(x));
        return made;
      },
      nb::arg("X").noconvert(), nb::arg("use"), nb::arg("bins"),
      "Codes for a tree that looks at every column, at some of them, or at histograms.");
  m.def(
      "code_sparse_columns",
      [](const Line& data, const Integers& where, const Integers& starts, Index rows, const std::string& use,
         Index bins) {
        demand(starts.size() >= 1, "indptr must have an entry more than there are columns.");
        Coded made = code(compressed(data, where, starts, rows, static_cast<Index>(starts.size()) - 1), use, bins);
        made.kept.push_back(nb::make_tuple(nb::cast(data), nb::cast(where), nb::cast(starts)));
        return made;
      },
      nb::arg("data"), nb::arg("indices"), nb::arg("indptr"), nb::arg("rows"), nb::arg("use"), nb::arg("bins"),
      "The same of a CSC matrix.");
  m.def("grow_tree", &grow_tree, nb::arg("columns"), nb::arg("criterion"), nb::arg("labels").none(),
        nb::arg("numbers").none(), nb::arg("classes"), nb::arg("weights").none(), nb::arg("rules"),
        nb::arg("monotone").none(), "A tree as arrays of nodes; it takes the coded columns with it.");
  m.def("grow_trees", &grow_trees, nb::arg("columns"), nb::arg("criterion"), nb::arg("labels").none(),
        nb::arg("numbers").none(), nb::arg("classes"), nb::arg("weights").none(), nb::arg("rules"),
        nb::arg("monotone").none(), nb::arg("draws"), nb::arg("balanced"), nb::arg("order").none(),
        nb::arg("cumulated").none(), nb::arg("seeds"), "Trees of a forest, one for each seed, as arrays of nodes.");
  m.def(
      "order_by_content",
      [](const Coded& coded, std::optional<LabelPlane> labels, std::optional<Plane> numbers,
         const nb::sequence& classes) {
        demand(coded.table != nullptr, "the columns of this table went into a tree already; code them again.");
        const Targets t = targets_of(labels, numbers, std::nullopt, integers(classes), coded.table->rows());
        return owned(order_by_content(coded.table->cells(), t));
      },
      nb::arg("columns"), nb::arg("labels").none(), nb::arg("numbers").none(), nb::arg("classes"),
      "Rows in the order of a hash of what they hold.");
  m.def(
      "times_drawn",
      [](std::uint64_t seed, Index rows, Index draws, const std::optional<Places>& order,
         const std::optional<Line>& cumulated) {
        demand(order && static_cast<Index>(order->size()) == rows, "order must have a place for each row.");
        return owned(drawn(seed, rows, drawing_of(draws, false, order, cumulated)));
      },
      nb::arg("seed"), nb::arg("rows"), nb::arg("draws"), nb::arg("order").none(), nb::arg("cumulated").none(),
      "How often the tree of this seed has drawn each row.");
  nb::class_<Forest>(m, "Forest", "Trees that answer together.")
      .def(
          "__init__",
          [](Forest* made, Index width) {
            new (made) Forest();
            made->width = width;
          },
          nb::arg("width"))
      .def(
          "add",
          [](Forest& forest, const Integers& left, const Integers& right, const Integers& feature,
             const Line& threshold, const Flags& missing_left, const Numbers& value, std::uint64_t seed) {
            const auto nodes = static_cast<Index>(left.size());
            demand(static_cast<Index>(value.size()) == nodes * forest.width, "value must have a row for each node.");
            forest.voters.push_back(
                {steps_of(left.data(), right.data(), feature.data(), threshold.data(), missing_left.data(), nodes),
                 {value.data(), value.data() + value.size()},
                 seed});
          },
          "One more tree.")
      .def(
          "sums",
          [](const Forest& forest, const Dense& x, Index draws, const std::optional<Places>& order,
             const std::optional<Line>& cumulated) {
            return sums_of(forest, dense(x), drawing_of(draws, false, order, cumulated));
          },
          nb::arg("X").noconvert(), nb::arg("draws"), nb::arg("order").none(), nb::arg("cumulated").none(),
          "The sum of all values for each row; where draws > 0, of trees that have not drawn it, and their number.")
      .def(
          "sums_sparse",
          [](const Forest& forest, const Line& data, const Integers& where, const Integers& starts, Index columns,
             Index draws, const std::optional<Places>& order, const std::optional<Line>& cumulated) {
            return sums_of(forest, compressed(data, where, starts, static_cast<Index>(starts.size()) - 1, columns),
                           drawing_of(draws, false, order, cumulated));
          },
          nb::arg("data"), nb::arg("indices"), nb::arg("indptr"), nb::arg("columns"), nb::arg("draws"),
          nb::arg("order").none(), nb::arg("cumulated").none(), "The same for the rows of a CSR matrix.");
  nb::class_<Steps>(m, "TreeSteps", "A tree as prediction reads it.")
      .def(
          "apply", [](const Steps& steps, const Dense& x) { return leaves_of(steps, dense(x)); },
          nb::arg("X").noconvert(), "The leaf of each row.")
      .def(
          "apply_sparse",
          [](const Steps& steps, const Line& data, const Integers& where, const Integers& starts, Index columns) {
            return leaves_of(steps, compressed(data, where, starts, static_cast<Index>(starts.size()) - 1, columns));
          },
          nb::arg("data"), nb::arg("indices"), nb::arg("indptr"), nb::arg("columns"),
          "The leaf of each row of a CSR matrix.");
  m.def(
      "tree_steps",
      [](const Integers& left, const Integers& right, const Integers& feature, const Line& threshold,
         const Flags& missing_left) {
        return steps_of(left.data(), right.data(), feature.data(), threshold.data(), missing_left.data(),
                        static_cast<Index>(left.size()));
      },
      "A tree made ready for prediction.");
  m.def(
      "prune_tree",
      [](const Integers& left, const Integers& right, const Line& cost, double alpha) {
        Pruning made = prune(left.data(), right.data(), cost.data(), static_cast<Index>(left.size()), alpha);
        return nb::make_tuple(owned(std::move(made.alphas)), owned(std::move(made.impurities)),
                              owned(std::move(made.leaf)));
      },
      nb::arg("left"), nb::arg("right"), nb::arg("cost"), nb::arg("alpha"),
      "Prices and costs along the pruning path up to a price, and which nodes are leaves then.");
}
