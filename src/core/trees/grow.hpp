// Growing a tree: depth first, or best first where the number of leaves is limited.
//
// The rows of a node are one range of a part: of its list of rows, and of every sorted column. A split marks the rows
// that go left, and cuts each range in two without changing the order on either side; while a column is in the cache,
// the best splits of both children are looked for in it. Large nodes are worked on one after another, their columns in
// parallel. A node small enough for the cache becomes a part of its own, with rows numbered 0, 1, ..., and parts grow
// in parallel. What is small depends on the table alone, so the tree is the same on any number of threads.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

#include "core/machine/index.hpp"
#include "core/machine/interrupt.hpp"
#include "core/machine/parallel.hpp"
#include "core/trees/columns.hpp"
#include "core/trees/criteria.hpp"
#include "core/trees/search.hpp"
#include "core/trees/tree.hpp"

namespace tutelage::trees {

/// Some rows of a table, with the memory that moves when nodes split.
struct Part {
  const Table* table = nullptr;
  std::vector<std::uint32_t> order;     // the rows, node by node, each node's in increasing order
  std::vector<std::uint32_t> original;  // the number of a row in the table; empty: its own
  std::vector<std::vector<std::uint8_t>> bytes;
  std::vector<std::vector<std::uint32_t>> ranks;
  std::vector<std::vector<Entry>> entries;

  Index origin(std::uint32_t row) const { return original.empty() ? row : original[row]; }
  const Column& column(Index c) const { return table->columns()[static_cast<std::size_t>(c)]; }
  Index columns() const { return static_cast<Index>(table->columns().size()); }
  const std::uint8_t* bytes_of(Index c) const { return original.empty() ? column(c).bytes.data() : bytes[c].data(); }
  const std::uint32_t* ranks_of(Index c) const { return original.empty() ? column(c).ranks.data() : ranks[c].data(); }

  View view(Index c, const Node& node) const {
    View made{&column(c), c};
    if (made.column->form == Form::bytes) made.bytes = bytes_of(c);
    if (made.column->form == Form::ranks) made.ranks = ranks_of(c);
    if (made.column->form == Form::sorted) made.entries = entries[c].data() + node.begin;
    return made;
  }
};

class Growth {
 public:
  Growth(Part part, std::unique_ptr<Search> search, const Rules& rules, double all_weight)
      : part_(std::move(part)),
        search_(std::move(search)),
        rules_(rules),
        all_weight_(all_weight),
        goes_left_(static_cast<std::size_t>(search_->targets().rows)),
        places_(static_cast<std::size_t>(search_->targets().rows)),
        drawn_(static_cast<std::size_t>(part_.columns())) {
    std::iota(drawn_.begin(), drawn_.end(), 0);
    tree_.value_width = search_->targets().value_width();
  }

  Grown grow() {
    Open root;
    root.node.end = static_cast<Index>(part_.order.size());
    root.node.key = mixed(rules_.seed);
    if (rules_.features >= part_.columns()) {
      root.node.live.resize(static_cast<std::size_t>(part_.columns()));
      std::iota(root.node.live.begin(), root.node.live.end(), 0u);
    }
    measure(root);
    if (rules_.max_leaves > 0) {
      best_first(std::move(root));
      return std::move(tree_);
    }
    const Index small = small_enough();
    // Nothing to cut up; or so few columns looked at that a node never sees most of what would be copied for it.
    const bool whole = root.node.count() <= small || 12 * rules_.features < part_.columns();
    depth_first(std::move(root), whole ? 0 : small);
    if (waiting_.empty()) return std::move(tree_);
    std::vector<Grown> grown(waiting_.size());
    parallel_for(static_cast<Index>(waiting_.size()), [&](Index task) { grown[task] = branch(waiting_[task].second); });
    for (std::size_t i = 0; i < grown.size(); ++i) tree_.graft(waiting_[i].first, grown[i]);
    return tree_.preorder();
  }

 private:
  struct Open {
    Node node;
    Split split;
    Index parent = -1;
    bool is_left = false, leaf = false, searched = false;
    std::vector<Index> looked_at;  // columns, where only some are
  };

  /// So many rows of all columns fit into the second cache of a processor.
  Index small_enough() const {
    Index bytes = 16;
    for (Index c = 0; c < part_.columns(); ++c) {
      const Form form = part_.column(c).form;
      bytes += form == Form::bytes ? 1 : form == Form::ranks ? 4 : 8;
    }
    return std::clamp<Index>(500'000 / bytes, 256, 8192);
  }

  void measure(Open& open) {
    Node& node = open.node;
    search_->measure(part_.order.data() + node.begin, node.count(), node);
    open.leaf = node.depth >= rules_.max_depth || node.count() < rules_.min_split ||
                node.count() < 2 * rules_.min_leaf || node.weight < 2 * rules_.min_weight ||
                node.impurity <= std::numeric_limits<double>::epsilon();
  }

  Index record(const Open& open) {
    const Node& node = open.node;
    std::vector<double> value = node.value;
    if (rules_.monotone) {
      value[0] = std::clamp(value[0], node.lower, node.upper);
      if (!search_->targets().classes.empty() && value.size() > 1) value[1] = 1.0 - value[0];
    }
    const Index at = tree_.add(node.count(), node.weight, node.impurity, value.data());
    if (open.parent >= 0) (open.is_left ? tree_.left : tree_.right)[open.parent] = at;
    return at;
  }

  double decrease(const Open& open) const { return search_->gain(open.node, open.split.score) / all_weight_; }

  /// Whether the node has a split that the rules admit.
  bool splits(const Open& open) const {
    if (open.leaf || open.split.score == -std::numeric_limits<double>::infinity()) return false;
    return !(decrease(open) + std::numeric_limits<double>::epsilon() < rules_.min_decrease);
  }

  void describe(Index at, const Open& open) {
    const Split& s = open.split;
    const Column& column = part_.column(s.column);
    double t = s.threshold;
    if (s.infinite)
      t = std::numeric_limits<double>::infinity();
    else if (!rules_.random && column.form == Form::sorted)
      t = Column::between(part_.table->cells().at(part_.origin(s.low_row), s.column),
                          part_.table->cells().at(part_.origin(s.high_row), s.column));
    else if (!rules_.random)
      t = column.threshold(s.low, s.high);
    tree_.feature[at] = s.column;
    tree_.threshold[at] = t;
  }

  void depth_first(Open root, Index small) {
    std::vector<Open> stack;
    if (!root.leaf) find({&root, nullptr}, small == 0);
    stack.push_back(std::move(root));
    while (!stack.empty()) {
      Open open = std::move(stack.back());
      stack.pop_back();
      const Index at = record(open);
      if (small > 0 && !open.leaf && !open.searched) {
        waiting_.emplace_back(at, std::move(open.node));
        continue;
      }
      if (!splits(open)) continue;
      describe(at, open);
      auto [left, right] = divide(open, at);
      const bool now_left = !left.leaf && left.node.count() > small,
                 now_right = !right.leaf && right.node.count() > small;
      move_and_find(open.node, left, right, now_left, now_right, small == 0);
      stack.push_back(std::move(right));
      stack.push_back(std::move(left));
      if (small > 0) check_interrupt();
    }
  }

  void best_first(Open root) {
    struct Worse {
      bool operator()(const std::pair<double, Index>& a, const std::pair<double, Index>& b) const {
        return a.first != b.first ? a.first < b.first : a.second > b.second;
      }
    };
    std::priority_queue<std::pair<double, Index>, std::vector<std::pair<double, Index>>, Worse> queue;
    std::vector<Open> opens;  // by node
    const auto enter = [&](Open open) {
      const Index at = record(open);
      if (splits(open)) queue.emplace(decrease(open), at);
      opens.push_back(std::move(open));
    };
    if (!root.leaf) find({&root, nullptr}, false);
    enter(std::move(root));
    for (Index leaves = 1; leaves < rules_.max_leaves && !queue.empty(); ++leaves) {
      const Index at = queue.top().second;
      queue.pop();
      describe(at, opens[at]);
      auto [left, right] = divide(opens[at], at);
      move_and_find(opens[at].node, left, right, !left.leaf, !right.leaf, false);
      opens[at] = {};
      enter(std::move(left));
      enter(std::move(right));
      check_interrupt();
    }
  }

  /// The two children, measured; their rows marked and the list of rows cut in two.
  std::pair<Open, Open> divide(const Open& open, Index at) {
    const Node& node = open.node;
    const Split& s = open.split;
    std::uint32_t* const rows = part_.order.data() + node.begin;
    const View view = part_.view(s.column, node);
    const std::uint32_t bins = view.column->bins;
    bool misses = false;
    const auto side = [&](std::uint32_t code) {
      misses |= code == bins;
      return static_cast<std::uint8_t>(code == bins ? s.missing_left : s.infinite || code <= s.low);
    };
    if (view.entries) {
      for (Index i = 0; i < node.count(); ++i) goes_left_[view.entries[i].row] = side(view.entries[i].code);
    } else {
      for (Index i = 0; i < node.count(); ++i)
        goes_left_[rows[i]] = side(view.bytes ? view.bytes[rows[i]] : view.ranks[rows[i]]);
    }
    thread_local std::vector<std::uint32_t> spare;
    const Index middle =
        node.begin + cut(rows, node.count(), spare, [&](std::uint32_t row) { return goes_left_[row]; });
    Open left, right;
    left.node.begin = node.begin;
    left.node.end = right.node.begin = middle;
    right.node.end = node.end;
    left.parent = right.parent = at;
    left.is_left = true;
    left.node.depth = right.node.depth = node.depth + 1;
    left.node.key = mixed(node.key ^ 1);
    right.node.key = mixed(node.key ^ 2);
    left.node.live = right.node.live = node.live;
    left.node.lower = right.node.lower = node.lower;
    left.node.upper = right.node.upper = node.upper;
    if (rules_.monotone && rules_.monotone[s.column] != 0) {
      const double between = (s.left_value + s.right_value) / 2;
      (rules_.monotone[s.column] > 0 ? left.node.upper : left.node.lower) = between;
      (rules_.monotone[s.column] > 0 ? right.node.lower : right.node.upper) = between;
    }
    measure(left);
    measure(right);
    // Where no row of the node misses the value, one that does goes where most rows go.
    tree_.missing_left[at] = misses ? s.missing_left : left.node.count() > right.node.count();
    return {std::move(left), std::move(right)};
  }

  /// Cuts items into those that go left and the others, in their order; answers how many go left.
  template <class Item, class Left>
  static Index cut(Item* items, Index count, std::vector<Item>& spare, Left&& left) {
    if (spare.size() < static_cast<std::size_t>(count)) spare.resize(static_cast<std::size_t>(count));
    Item* const others = spare.data();
    Index l = 0, r = 0;
    for (Index i = 0; i < count; ++i) {  // no branch: both places are written, and one of them counts
      const Item item = items[i];
      const Index goes = left(item);
      items[l] = item;
      others[r] = item;
      l += goes;
      r += 1 - goes;
    }
    std::copy_n(others, r, items + l);
    return l;
  }

  void move_and_find(const Node& node, Open& left, Open& right, bool now_left, bool now_right, bool alone) {
    if (left.leaf && right.leaf) return;
    if (!now_left && !now_right) {  // both wait, and need their ranges
      for (const std::uint32_t c : node.live) cut_column(node, c);
      return;
    }
    find(
        {now_left ? &left : nullptr, now_right ? &right : nullptr}, alone, [&](Index c) { cut_column(node, c); },
        node.count());
  }

  void cut_column(const Node& node, Index c) {
    if (part_.column(c).form != Form::sorted) return;
    thread_local std::vector<Entry> spare;
    cut(part_.entries[c].data() + node.begin, node.count(), spare, [&](const Entry& e) { return goes_left_[e.row]; });
  }

  void find(std::pair<Open*, Open*> nodes, bool alone) {
    find(nodes, alone, [](Index) {}, 0);
  }

  /// The best splits of up to two nodes, column by column, each column moved first.
  template <class Move>
  void find(std::pair<Open*, Open*> nodes, bool alone, Move&& move, Index moved) {
    const Index d = part_.columns();
    const bool every = rules_.features >= d;
    Open* const both[] = {nodes.first, nodes.second};
    if (!every) {  // no column is sorted, so there is nothing to move
      for (Open* open : both)
        if (open) find_among_some(*open, alone);
      return;
    }
    const std::vector<std::uint32_t> live = (both[0] ? both[0] : both[1])->node.live;  // siblings have the same
    const auto many = static_cast<Index>(live.size());
    std::vector<Split> found(static_cast<std::size_t>(2 * many));
    const auto task = [&](Index j) {
      move(live[j]);
      for (Index i = 0; i < 2; ++i)
        if (both[i]) look(both[i]->node, live[j], found[2 * j + i]);
    };
    const Index rows = (both[0] ? both[0]->node.count() : 0) + (both[1] ? both[1]->node.count() : 0) + moved;
    if (alone || rows * many < 20'000)
      for (Index j = 0; j < many; ++j) task(j);
    else
      parallel_for(many, task);
    for (Index i = 0; i < 2; ++i) {
      if (!both[i]) continue;
      both[i]->searched = true;
      std::vector<std::uint32_t>& kept = both[i]->node.live;
      kept.clear();  // what is constant here is constant below
      const Index first =
          rules_.ties_by_chance ? static_cast<Index>(both[i]->node.key % static_cast<std::uint64_t>(many)) : 0;
      for (Index k = 0; k < many; ++k) {
        const Split& one = found[2 * ((first + k) % many) + i];
        if (one.score > both[i]->split.score) both[i]->split = one;
        if (!found[2 * k + i].constant) kept.push_back(live[k]);
      }
    }
  }

  void look(const Node& node, Index c, Split& found) const {
    search_->best(node, rules_, part_.view(c, node), part_.order.data() + node.begin, found);
  }

  /// Columns drawn without replacement; more of them while all are constant in the node.
  void find_among_some(Open& open, bool alone) {
    open.searched = true;
    const Index d = part_.columns();
    std::uint64_t state = open.node.key;
    std::vector<Index> swapped;  // undone at the end, so that what is drawn depends on the node alone
    const auto next = [&] {
      const auto taken = static_cast<Index>(swapped.size());
      state = mixed(state + 0x632be59bd9b4e019u);
      swapped.push_back(taken + static_cast<Index>(state % static_cast<std::uint64_t>(d - taken)));
      std::swap(drawn_[taken], drawn_[swapped.back()]);
      return drawn_[taken];
    };
    const auto left = [&] { return d - static_cast<Index>(swapped.size()); };
    std::vector<Index> chosen;
    bool constant = true;
    for (Index wanted = rules_.features; constant && left() > 0; wanted = 1) {
      chosen.clear();
      while (static_cast<Index>(chosen.size()) < wanted && left() > 0) chosen.push_back(next());
      std::vector<Split> found(chosen.size());
      const auto many = static_cast<Index>(chosen.size());
      if (alone || open.node.count() * many < 20'000)
        for (Index i = 0; i < many; ++i) look(open.node, chosen[i], found[i]);
      else
        parallel_for(many, [&](Index i) { look(open.node, chosen[i], found[i]); });
      for (const Split& one : found) {
        constant &= one.constant;
        if (one.score > open.split.score) open.split = one;
      }
    }
    for (; !swapped.empty(); swapped.pop_back()) std::swap(drawn_[swapped.size() - 1], drawn_[swapped.back()]);
  }

  /// A small node grown as a part of its own.
  Grown branch(const Node& node) const {
    const std::uint32_t* const rows = part_.order.data() + node.begin;
    const Index count = node.count();
    Part small;
    small.table = part_.table;
    small.order.resize(static_cast<std::size_t>(count));
    std::iota(small.order.begin(), small.order.end(), 0u);
    small.original.resize(static_cast<std::size_t>(count));
    for (Index i = 0; i < count; ++i) {
      small.original[i] = static_cast<std::uint32_t>(part_.origin(rows[i]));
      places_[rows[i]] = static_cast<std::uint32_t>(i);
    }
    const auto d = static_cast<std::size_t>(part_.columns());
    small.bytes.resize(d);
    small.ranks.resize(d);
    small.entries.resize(d);
    const auto take = [&](const auto* from, auto& to) {
      to.resize(static_cast<std::size_t>(count));
      for (Index i = 0; i < count; ++i) to[i] = from[rows[i]];
    };
    std::vector<std::uint32_t> wanted = node.live;
    if (wanted.empty()) {
      wanted.resize(d);
      std::iota(wanted.begin(), wanted.end(), 0u);
    }
    for (const std::uint32_t c : wanted) {
      const Form form = part_.column(c).form;
      if (form == Form::bytes) take(part_.bytes_of(c), small.bytes[c]);
      if (form == Form::ranks) take(part_.ranks_of(c), small.ranks[c]);
      if (form != Form::sorted) continue;
      const Entry* const from = part_.entries[c].data() + node.begin;
      small.entries[c].resize(static_cast<std::size_t>(count));
      for (Index i = 0; i < count; ++i) small.entries[c][i] = {places_[from[i].row], from[i].code};
    }
    Growth growth(std::move(small), search_->part(rows, count), rules_, all_weight_);
    Open root;
    root.node = node;
    root.node.begin = 0;
    root.node.end = count;
    growth.measure(root);
    growth.depth_first(std::move(root), 0);
    return std::move(growth.tree_);
  }

  Part part_;
  std::unique_ptr<Search> search_;
  Rules rules_;
  double all_weight_;
  Grown tree_;
  std::vector<std::uint8_t> goes_left_;
  mutable std::vector<std::uint32_t> places_;  // of rows in the part they go to; parts have no row in common
  std::vector<Index> drawn_;
  std::vector<std::pair<Index, Node>> waiting_;
};

/// Grows a tree on the rows whose weight is not zero. The last tree of a table may take its sorted columns away.
inline Grown grow(Table& table, std::unique_ptr<Search> search, const Rules& rules, bool last) {
  const Targets& targets = search->targets();
  const bool weighted = !targets.weights.empty();
  Part part;
  part.table = &table;
  double all_weight = 0;
  for (Index i = 0; i < targets.rows; ++i) {
    const double w = weighted ? targets.weights[i] : 1.0;
    if (w == 0) continue;
    all_weight += w;
    part.order.push_back(static_cast<std::uint32_t>(i));
  }
  part.entries.resize(table.columns().size());
  const bool all = static_cast<Index>(part.order.size()) == targets.rows;
  parallel_for(part.columns(), [&](Index c) {
    if (part.column(c).form != Form::sorted) return;
    std::vector<Entry>& to = part.entries[c];
    to = last ? table.taken(c) : part.column(c).entries;
    if (!all) std::erase_if(to, [&](const Entry& e) { return targets.weights[e.row] == 0; });
  });
  return Growth(std::move(part), std::move(search), rules, all_weight).grow();
}

}  // namespace tutelage::trees
