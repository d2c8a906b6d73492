// The best split of a node by one column.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "core/machine/index.hpp"
#include "core/trees/columns.hpp"
#include "core/trees/criteria.hpp"

namespace tutelage::trees {

/// What bounds the growth of a tree.
struct Rules {
  Index max_depth = std::numeric_limits<Index>::max();
  Index min_split = 2, min_leaf = 1;
  double min_weight = 0;        // of a leaf
  double min_decrease = 0;      // of impurity, as a share of the weight of all rows
  Index max_leaves = 0;         // 0: no limit, and depth first
  Index features = 0;           // how many columns a node looks at
  bool random = false;          // thresholds drawn at random
  bool ties_by_chance = false;  // among equally good columns; otherwise the first
  std::uint64_t seed = 0;
  const std::int8_t* monotone = nullptr;  // for each column
};

struct Split {
  double score = -std::numeric_limits<double>::infinity();
  Index column = -1;
  std::uint32_t low = 0, high = 0;          // the codes on both sides of the cut
  std::uint32_t low_row = 0, high_row = 0;  // rows that have them
  double threshold = 0;                     // of random cuts alone, where it is drawn
  bool infinite = false;                    // all values go left, what is missing goes right
  bool missing_left = false;
  bool constant = true;
  double left_value = 0, right_value = 0;
};

/// A column as one node sees it.
struct View {
  const Column* column;
  Index number;
  const std::uint8_t* bytes = nullptr;  // by row of the part
  const std::uint32_t* ranks = nullptr;
  const Entry* entries = nullptr;  // those of the node, in order
};

/// SplitMix64: a number from a number, as good as random.
inline std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
inline double unit_interval(std::uint64_t x) { return static_cast<double>(mixed(x) >> 11) * 0x1p-53; }

/// The search for splits with the criterion inside: one virtual call for each node and column.
class Search {
 public:
  virtual ~Search() = default;
  virtual const Targets& targets() const = 0;
  virtual std::unique_ptr<Search> part(const std::uint32_t* rows, Index count) const = 0;
  virtual void measure(const std::uint32_t* rows, Index count, Node& node) const = 0;
  virtual void best(const Node& node, const Rules& rules, const View& view, const std::uint32_t* rows,
                    Split& found) const = 0;
  /// What a score is worth: the decrease of weight times impurity.
  virtual double gain(const Node& node, double score) const = 0;
};

/// The entries of a node in order of their codes, missing ones last.
struct Sequence {
  const Entry* entries;
  Index present, missing;
};

inline Sequence sequence(const View& view, const std::uint32_t* rows, Index count) {
  thread_local std::vector<Entry> made, spare;
  const std::uint32_t bins = view.column->bins;
  const Entry* entries = view.entries;
  if (!entries) {
    if (made.size() < static_cast<std::size_t>(count)) made.resize(static_cast<std::size_t>(count));
    for (Index i = 0; i < count; ++i) made[i] = {rows[i], view.bytes ? view.bytes[rows[i]] : view.ranks[rows[i]]};
    sort_by_code(made.data(), count, std::bit_width(bins - !view.column->missing), spare);
    entries = made.data();
  }
  Index present = count;
  if (view.column->missing)
    present = std::partition_point(entries, entries + count, [&](const Entry& e) { return e.code < bins; }) - entries;
  return {entries, present, count - present};
}

template <class C>
class SearchBy final : public Search {
 public:
  explicit SearchBy(C criterion) : c_(std::move(criterion)) {}

  const Targets& targets() const override { return c_.targets(); }
  std::unique_ptr<Search> part(const std::uint32_t* rows, Index count) const override {
    return std::make_unique<SearchBy>(c_.part(rows, count));
  }
  void measure(const std::uint32_t* rows, Index count, Node& node) const override { c_.measure(rows, count, node); }
  double gain(const Node& node, double score) const override { return c_.gain(node, score); }

  void best(const Node& node, const Rules& rules, const View& view, const std::uint32_t* rows,
            Split& found) const override {
    found.column = view.number;
    const std::uint32_t bins = view.column->bins;
    const Index count = node.count();
    if (rules.random) return draw(node, rules, view, rows, found);
    // Sums of bins cost a walk over all bins, a sort of the rows some steps for each.
    const Index cells = static_cast<Index>(bins) * (c_.width() + 2);
    if (cells <= 5 * count && view.bytes) return over_bins(node, rules, view, view.bytes, rows, found);
    if (cells <= 5 * count && view.ranks) return over_bins(node, rules, view, view.ranks, rows, found);
    over_rows(node, rules, view, sequence(view, rows, count), found);
  }

 private:
  /// Whether a cut may stand where the scan is.
  bool allowed(const typename C::Scan& scan, const Node& node, const Rules& rules, Index left, int sign) const {
    if (left < rules.min_leaf || node.count() - left < rules.min_leaf) return false;
    if (scan.left_weight() < rules.min_weight || scan.right_weight() < rules.min_weight) return false;
    if (!rules.monotone) return true;
    const double l = scan.left_value(), r = scan.right_value();
    return std::min(l, r) >= node.lower && std::max(l, r) <= node.upper && (l - r) * sign <= 0;
  }
  static int sign_of(const Rules& rules, const View& view) { return rules.monotone ? rules.monotone[view.number] : 0; }
  void consider(const typename C::Scan& scan, Split& found, bool& better) const {
    const double score = scan.score();
    better = score > found.score;
    if (better) {
      found.score = score;
      found.left_value = scan.left_value();
      found.right_value = scan.right_value();
    }
  }

  void over_rows(const Node& node, const Rules& rules, const View& view, Sequence s, Split& found) const {
    const Entry* const e = s.entries;
    const int sign = sign_of(rules, view);
    found.constant = s.present == 0 || (s.missing == 0 && e[0].code == e[s.present - 1].code);
    if (found.constant) return;
    for (int missing_left = 0; missing_left <= (s.missing > 0); ++missing_left) {
      typename C::Scan scan(c_, node);
      Index left = 0;
      if (missing_left)
        for (; left < s.missing; ++left) scan.add(e[s.present + left].row);
      for (Index i = 0; i < s.present; ++i) {
        scan.add(e[i].row);
        const bool last = i + 1 == s.present;
        if (last ? s.missing == 0 || missing_left : e[i + 1].code == e[i].code) continue;
        if (!scan.beats(found.score) || !allowed(scan, node, rules, left + i + 1, sign)) continue;
        bool better;
        consider(scan, found, better);
        if (!better) continue;
        found.low = e[i].code;
        found.low_row = e[i].row;
        found.infinite = last;
        found.missing_left = missing_left;
        if (!last) {
          found.high = e[i + 1].code;
          found.high_row = e[i + 1].row;
        }
      }
    }
  }

  template <class Code>
  void over_bins(const Node& node, const Rules& rules, const View& view, const Code* codes, const std::uint32_t* rows,
                 Split& found) const {
    const Index width = c_.width(), bins = static_cast<Index>(view.column->bins);
    thread_local std::vector<double> kept;
    kept.assign(static_cast<std::size_t>((bins + 1) * width), 0.0);
    double* const cells = kept.data();
    if constexpr (requires { c_.fill(cells, bins, codes, rows, width, node); })
      c_.fill(cells, bins + view.column->missing, codes, rows, node.count(), node);
    else
      for (Index i = 0; i < node.count(); ++i)
        c_.put(cells + static_cast<Index>(codes[rows[i]]) * width, rows[i], node);
    const int sign = sign_of(rules, view);
    const double* const missing = cells + bins * width;
    Index first = 0, last = bins - 1;
    while (first < bins && cells[first * width] == 0) ++first;
    while (last > first && cells[last * width] == 0) --last;
    found.constant = first == bins || (missing[0] == 0 && first == last);
    if (found.constant) return;
    for (int missing_left = 0; missing_left <= (missing[0] > 0); ++missing_left) {
      typename C::Scan scan(c_, node);
      auto left = static_cast<Index>(missing_left ? missing[0] : 0.0);
      if (missing_left) scan.add_cell(missing);
      for (Index b = first, next; b <= last; b = next) {
        scan.add_cell(cells + b * width);
        left += static_cast<Index>(cells[b * width]);
        for (next = b + 1; next <= last && cells[next * width] == 0;) ++next;
        const bool at_end = b == last;
        if (at_end && (missing[0] == 0 || missing_left)) break;
        if (!scan.beats(found.score) || !allowed(scan, node, rules, left, sign)) continue;
        bool better;
        consider(scan, found, better);
        if (!better) continue;
        found.low = static_cast<std::uint32_t>(b);
        found.high = static_cast<std::uint32_t>(next);
        found.infinite = at_end;
        found.missing_left = missing_left;
      }
    }
  }

  /// One cut between the least and the greatest value, drawn at random.
  void draw(const Node& node, const Rules& rules, const View& view, const std::uint32_t* rows, Split& found) const {
    const Column& column = *view.column;
    const auto code = [&](Index i) -> std::uint32_t { return view.bytes ? view.bytes[rows[i]] : view.ranks[rows[i]]; };
    std::uint32_t least = column.bins, most = 0;
    Index missing = 0;
    for (Index i = 0; i < node.count(); ++i) {
      const std::uint32_t at = code(i);
      if (at == column.bins) {
        ++missing;
        continue;
      }
      least = std::min(least, at);
      most = std::max(most, at);
    }
    found.constant = least == column.bins || (least == most && missing == 0);
    if (found.constant) return;
    const std::uint64_t seed = mixed(node.key ^ mixed(static_cast<std::uint64_t>(view.number)));
    found.missing_left = missing > 0 && (seed & 1);
    std::uint32_t cut = least;
    found.threshold = column.lows[least];
    if (least == most) {
      found.missing_left = false;  // it is the values that go left
    } else {
      const double low = column.lows[least], high = column.lows[most];
      double t = low + unit_interval(seed) * (high - low);
      if (!(t >= low && t < high)) t = low;
      cut = static_cast<std::uint32_t>(std::upper_bound(column.lows.begin() + least, column.lows.begin() + most, t) -
                                       column.lows.begin() - 1);
      found.threshold = t;
    }
    typename C::Scan scan(c_, node);
    Index left = 0;
    for (Index i = 0; i < node.count(); ++i) {
      const std::uint32_t at = code(i);
      if (at == column.bins ? found.missing_left : at <= cut) {
        scan.add(rows[i]);
        ++left;
      }
    }
    if (!allowed(scan, node, rules, left, sign_of(rules, view))) return;
    bool better;
    consider(scan, found, better);
    found.low = cut;
  }

  C c_;
};

}  // namespace tutelage::trees
