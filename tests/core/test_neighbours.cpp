// The search for neighbours at the edges of panels, leaves and nodes, under the sanitizers: trees find what panels
// find, and panels what two loops find.
#include <algorithm>
#include <vector>

#include "check.hpp"
#include "core/neighbours/panel_search.hpp"
#include "core/neighbours/scan.hpp"

using namespace tutelage;
using namespace tutelage::neighbours;

namespace {

std::size_t size(Index n) { return static_cast<std::size_t>(n); }

/// Small whole numbers, so that there are ties and distances are exact.
std::vector<double> numbers(Index count, unsigned seed) {
  std::vector<double> v(size(count));
  for (double& x : v) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<double>(seed >> 30);
  }
  return v;
}

struct Found {
  std::vector<double> distances;
  std::vector<Index> rows;
  bool operator==(const Found&) const = default;
};

Found search(const Search& index, const std::vector<double>& queries, Index count, Index k, bool are_rows) {
  Found out{std::vector<double>(size(count * k)), std::vector<Index>(size(count * k))};
  index.nearest({queries.data(), count, are_rows}, k, out.distances.data(), out.rows.data());
  return out;
}

Found by_loops(const std::vector<double>& x, Index n, Index d, const std::vector<double>& queries, Index count, Index k,
               bool are_rows) {
  Found out;
  for (Index i = 0; i < count; ++i) {
    std::vector<Neighbour> all;
    for (Index r = 0; r < n; ++r) {
      double sum = 0;
      for (Index j = 0; j < d; ++j) {
        const double gap = x[size(r * d + j)] - queries[size(i * d + j)];
        sum += gap * gap;
      }
      if (!are_rows || r != i) all.push_back({sum, r});
    }
    std::sort(all.begin(), all.end());
    for (Index r = 0; r < k; ++r) {
      out.distances.push_back(std::sqrt(all[size(r)].rank));
      out.rows.push_back(all[size(r)].row);
    }
  }
  return out;
}

}  // namespace

TEST("panels, boxes and balls find what two loops find") {
  for (const Index n : {1, 7, 8, 9, 64, 65, 130, 700}) {
    for (const Index d : {1, 3, 7, 8, 9, 17}) {
      const std::vector<double> x = numbers(n * d, 3), queries = numbers(20 * d, 5);
      const Table<double> table{x.data(), n, d, d};
      const Euclidean metric;
      const PanelSearch<Euclidean> panels(metric, table, 0, Bound::box), boxes(metric, table, 8, Bound::box),
          balls(metric, table, 16, Bound::ball);
      for (const bool are_rows : {false, true}) {
        const Index count = are_rows ? std::min<Index>(n, 20) : 20;
        const std::vector<double>& asked = are_rows ? x : queries;
        const Index k = std::min<Index>(n - are_rows, 5);
        if (k < 1) continue;
        const Found wanted = by_loops(x, n, d, asked, count, k, are_rows);
        CHECK(search(panels, asked, count, k, are_rows) == wanted);
        CHECK(search(boxes, asked, count, k, are_rows) == wanted);
        CHECK(search(balls, asked, count, k, are_rows) == wanted);
      }
    }
  }
}

TEST("what lies within a radius is the same down a tree") {
  const std::vector<double> x = numbers(500 * 3, 1), radii(30, 1.5);
  const Table<double> table{x.data(), 500, 3, 3};
  const PanelSearch<Manhattan> panels({}, table, 0, Bound::box), boxes({}, table, 8, Bound::box);
  const Within a = panels.within({x.data(), 30, true}, radii.data(), true);
  const Within b = boxes.within({x.data(), 30, true}, radii.data(), true);
  CHECK(a.starts == b.starts && a.rows == b.rows && a.distances == b.distances);
  CHECK(!a.rows.empty());
}

TEST("edits are counted from either end") {
  const std::vector<std::int32_t> kitten{1, 2, 3, 3, 4, 5}, sitting{6, 2, 3, 3, 2, 5, 7};
  std::vector<Index> row;
  CHECK(edit_distance(kitten.data(), 6, sitting.data(), 7, row) == 3);
  CHECK(edit_distance(kitten.data(), 6, kitten.data(), 0, row) == 6);
  CHECK(edit_distance(kitten.data(), 6, kitten.data(), 6, row) == 0);
}
