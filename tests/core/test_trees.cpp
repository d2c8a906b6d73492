// Trees under the sanitizers: parts of their own, missing values, every form of a column, and pruning.
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "check.hpp"
#include "core/trees/absolute.hpp"
#include "core/trees/grow.hpp"
#include "core/trees/pruning.hpp"

using namespace tutelage;
using namespace tutelage::trees;

namespace {

struct Examples {
  std::vector<double> x;
  Targets targets;
  Cells cells;
};

/// Rows whose label is a matter of their columns; one column of few values, one of many, some of either missing.
std::unique_ptr<Examples> examples(Index rows, bool labels) {
  auto made = std::make_unique<Examples>();
  const Index columns = 3;
  unsigned seed = 7;
  for (Index i = 0; i < rows * columns; ++i) {
    seed = seed * 1664525u + 1013904223u;
    const double number = i % columns == 0 ? seed >> 29 : seed >> 8;
    made->x.push_back((seed >> 4) % 50 == 0 ? std::numeric_limits<double>::quiet_NaN() : number);
  }
  Targets& t = made->targets;
  t.rows = rows;
  for (Index i = 0; i < rows; ++i) {
    const double a = made->x[i * columns], b = made->x[i * columns + 1];
    const bool one = (std::isnan(a) || a > 3) != (b > 1e7);
    if (labels)
      t.labels.push_back(one);
    else
      t.numbers.push_back(one ? 2.5 : static_cast<double>(i % 3));
  }
  if (labels) t.classes = {2};
  made->cells.rows = rows;
  made->cells.columns = columns;
  made->cells.data = made->x.data();
  made->cells.row_stride = columns;
  made->cells.column_stride = 1;
  return made;
}

double error(const Grown& tree, const Examples& examples) {
  const auto steps = steps_of(tree.left.data(), tree.right.data(), tree.feature.data(), tree.threshold.data(),
                              tree.missing_left.data(), tree.nodes());
  std::vector<std::int64_t> leaves(static_cast<std::size_t>(examples.cells.rows));
  apply(steps, examples.cells, leaves.data());
  double sum = 0;
  for (Index i = 0; i < examples.cells.rows; ++i) {
    const double* const value = tree.value.data() + leaves[i] * tree.value_width;
    sum += examples.targets.classes.empty() ? std::abs(value[0] - examples.targets.numbers[i])
                                            : std::abs(value[1] - examples.targets.labels[i]);
  }
  return sum;
}

}  // namespace

TEST("a grown tree answers its own rows") {
  for (const Index rows : {1, 2, 700, 30000}) {
    const auto one = examples(rows, true);
    for (const auto use : {Table::Use::every_column, Table::Use::some_columns}) {
      Rules rules;
      rules.features = use == Table::Use::every_column ? 3 : 2;
      for (const bool random : {false, true}) {
        if (random && use == Table::Use::every_column) continue;
        rules.random = random;
        Table table(one->cells, use, most_bins);
        const Grown tree = grow(table, std::make_unique<SearchBy<TwoLabels>>(TwoLabels(one->targets)), rules, true);
        CHECK(error(tree, *one) == 0);
      }
    }
  }
}

TEST("histograms and weights are within their arrays") {
  const auto one = examples(5000, true);
  Targets weighted = one->targets;
  for (Index i = 0; i < weighted.rows; ++i) weighted.weights.push_back(static_cast<double>(i % 3));
  Rules rules;
  rules.features = 3;
  for (const std::uint32_t bins : {2u, 16u, 255u}) {
    Table table(one->cells, Table::Use::histogram, bins);
    const Grown tree =
        grow(table, std::make_unique<SearchBy<Labels<true, true>>>(Labels<true, true>(weighted, nullptr)), rules, true);
    CHECK(tree.nodes() % 2 == 1);
    double weight = 0;
    for (Index i = 0; i < tree.nodes(); ++i)
      if (tree.left[i] < 0) weight += tree.weight[i];
    CHECK(weight == tree.weight[0]);
  }
}

TEST("medians and best first") {
  const auto one = examples(300, false);
  Rules rules;
  rules.features = 3;
  Table table(one->cells, Table::Use::every_column, most_bins);
  CHECK(error(grow(table, std::make_unique<AbsoluteSearch>(one->targets), rules, true), *one) == 0);
  rules.max_leaves = 9;
  Table again(one->cells, Table::Use::every_column, most_bins);
  const Grown small =
      grow(again, std::make_unique<SearchBy<Squared<false>>>(Squared<false>(one->targets)), rules, true);
  CHECK(small.nodes() == 17);
}

TEST("pruning ends at the root") {
  const std::vector<std::int64_t> left{1, 2, -1, -1, -1}, right{4, 3, -1, -1, -1};
  const std::vector<double> cost{1.2, 0.5, 0.1, 0.2, 0.3};
  const Pruning all = prune(left.data(), right.data(), cost.data(), 5, 1e9);
  CHECK(all.alphas.size() == 3);
  CHECK(all.leaf[0] == 1);
  const Pruning some = prune(left.data(), right.data(), cost.data(), 5, 0.195);
  CHECK(some.leaf[1] == 0);
  CHECK(some.leaf[0] == 0);
}
