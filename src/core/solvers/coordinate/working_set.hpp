// Builds the quadratic model of a working set in the cheapest of its three forms and minimises it.
#pragma once
#include <algorithm>
#include <cmath>

#include "core/solvers/coordinate/descend.hpp"

namespace tutelage::coordinate {

/// The quadratic model around the present point: curvatures c by row, columns centred by `shift` (their means under c;
/// null without an intercept), gradients g of the working set.
struct QuadraticTerms {
  const double* c = nullptr;
  const double* shift = nullptr;
  double total = 0;             // sum of c where there is an intercept, else 0
  bool same_as_before = false;  // c and shift are those of the last call: its Gram matrix holds
  bool gram = false;            // see prefers_gram
  double scale = 1;             // of H, with a Gram matrix
};

class WorkingSet {
 public:
  explicit WorkingSet(const ColumnProducts& x) : x_(x), place_(at(x.columns()), -1) {
    // The Gram matrix may take half as much memory as X, and 32 MB in any case.
    most_ = static_cast<Index>(std::sqrt(std::max(4e6, static_cast<double>(x.stored()) / 2)));
  }

  /// Minimises the model over `set`; delta[t] is what w changes by at set[t].
  Descent minimise(const QuadraticTerms& terms, const Indices& set, const Vector& w, const Vector& g,
                   const CoordinateLoops& loops, double accuracy, const Watch& watch, Vector& delta) {
    if (!terms.same_as_before) clear();
    if (terms.gram) return with_gram(terms, set, w, g, loops, accuracy, watch, delta);
    if (x_.sparse()) return with_entries(terms, set, w, g, loops, accuracy, watch, delta);
    return with_columns(terms, set, w, g, loops, accuracy, watch, delta);
  }

  bool holds(Index j) const { return place_[at(j)] >= 0; }
  /// Whether the Gram matrix would have to be formed for most of the set anyway.
  bool mostly_new(const Indices& set) const { return missing(set) > 0.7 * static_cast<double>(set.size()); }

  /// Compares the products of the two ways, in units of one that streams from the cache, for a Gram matrix that serves
  /// `uses` models. Those of a Gram matrix, formed in registers, take a fifth of it; those that follow an index take
  /// eight.
  bool prefers_gram(const Indices& set, double uses) const {
    const Index m = static_cast<Index>(set.size());
    if (m > most_) return false;
    const double news = missing(set);
    if (news == 0) return true;
    const double share = news / static_cast<double>(m);
    const double form = 0.2 * x_.gram_cost(set.data(), m) * share * (2 - share);
    const double each = x_.sparse() ? 8 : 1;
    const double residual = entries(set) * each * (1 + usual_sweeps);
    return form / uses + sweeps(m) <= residual;
  }

  /// What a new Gram matrix costs, in steps of two readings and a descent.
  double gram_price(const Indices& set) const {
    const Index m = static_cast<Index>(set.size());
    const double step = 2 * entries(set) + sweeps(m);
    return step > 0 ? 0.2 * x_.gram_cost(set.data(), m) / step : 0;
  }

 private:
  static constexpr double usual_sweeps = 40;

  double missing(const Indices& set) const {
    return static_cast<double>(std::count_if(set.begin(), set.end(), [this](Index j) { return !holds(j); }));
  }
  double entries(const Indices& set) const {
    double count = 0;
    for (const Index j : set) count += static_cast<double>(x_.stored(j));
    return count;
  }
  /// Products of the usual sweeps over a Gram matrix, where half of the coefficients move.
  static double sweeps(Index m) { return usual_sweeps / 2 * static_cast<double>(m) * static_cast<double>(m); }

  void clear() {
    for (const Index j : gram_model_.features) place_[at(j)] = -1;
    gram_model_.features.clear();
    gram_.resize(0);
  }

  Descent with_gram(const QuadraticTerms& terms, const Indices& set, const Vector& w, const Vector& g,
                    const CoordinateLoops& loops, double accuracy, const Watch& watch, Vector& delta) {
    hold(terms, set);
    GramModel& model = gram_model_;
    const std::size_t held = model.features.size();
    model.h = &gram_;
    model.scale = terms.scale;
    model.w.resize(held);
    model.g.assign(held, 0.0);
    for (std::size_t p = 0; p < held; ++p) model.w[p] = w[at(model.features[p])];
    model.start = model.w;
    model.live.clear();
    for (std::size_t t = 0; t < set.size(); ++t) {
      const Index p = place_[at(set[t])];
      model.g[at(p)] = g[t];
      model.live.push_back(p);
    }
    std::sort(model.live.begin(), model.live.end());
    const Descent descent = loops.descend(model, accuracy, 2000, watch);
    delta.resize(set.size());
    for (std::size_t t = 0; t < set.size(); ++t) {
      const Index p = place_[at(set[t])];
      delta[t] = model.w[at(p)] - model.start[at(p)];
    }
    return descent;
  }

  /// Grows the Gram matrix by the columns of `set` it lacks; if it would become too large, what is not in `set` goes.
  void hold(const QuadraticTerms& terms, const Indices& set) {
    Indices& features = gram_model_.features;
    Indices missing;
    for (const Index j : set) {
      if (!holds(j)) missing.push_back(j);
    }
    if (missing.empty()) return;
    if (static_cast<Index>(features.size() + missing.size()) > most_) {
      std::vector<char> wanted(at(x_.columns()), 0);
      for (const Index j : set) wanted[at(j)] = 1;
      Indices kept, rest;
      for (std::size_t p = 0; p < features.size(); ++p) {
        if (wanted[at(features[p])]) {
          kept.push_back(static_cast<Index>(p));
          rest.push_back(features[p]);
        } else {
          place_[at(features[p])] = -1;
        }
      }
      gram_.keep(kept);
      features = std::move(rest);
      for (std::size_t p = 0; p < features.size(); ++p) place_[at(features[p])] = static_cast<Index>(p);
    }
    const Index first = static_cast<Index>(features.size());
    for (const Index j : missing) {
      place_[at(j)] = static_cast<Index>(features.size());
      features.push_back(j);
    }
    const Index count = static_cast<Index>(features.size());
    gram_.resize(count);
    x_.gram(features.data(), first, count, terms.c, terms.shift, gram_.row(0), gram_.stride());
  }

  Descent with_columns(const QuadraticTerms& terms, const Indices& set, const Vector& w, const Vector& g,
                       const CoordinateLoops& loops, double accuracy, const Watch& watch, Vector& delta) {
    DenseModel model;
    const Index m = static_cast<Index>(set.size());
    model.rows = x_.rows();
    start(model, set, w, g);
    model.columns.resize(at(m * model.rows));
    x_.gather(set.data(), m, terms.c, terms.shift, model.columns.data());
    model.squares.resize(at(m));
    for (Index a = 0; a < m; ++a) {
      model.squares[at(a)] = simd::square(model.columns.data() + a * model.rows, model.rows);
    }
    return finish(model, loops, accuracy, watch, delta);
  }

  Descent with_entries(const QuadraticTerms& terms, const Indices& set, const Vector& w, const Vector& g,
                       const CoordinateLoops& loops, double accuracy, const Watch& watch, Vector& delta) {
    SparseModel model;
    const Index m = static_cast<Index>(set.size());
    model.rows = x_.rows();
    start(model, set, w, g);
    Index stored = 0;
    for (const Index j : set) stored += x_.stored(j);
    model.indices.resize(at(stored));
    model.values.resize(at(stored));
    model.starts.assign(1, 0);
    for (const Index j : set) {
      const Index from = model.starts.back();
      model.starts.push_back(from + x_.gather(j, terms.c, model.indices.data() + from, model.values.data() + from));
    }
    model.total = terms.total;
    model.squares.resize(at(m));
    for (Index a = 0; a < m; ++a) {
      const Index from = model.starts[at(a)];
      double square = simd::square(model.values.data() + from, model.starts[at(a) + 1] - from);
      if (terms.shift) {
        const double mean = terms.shift[set[at(a)]];
        model.means.push_back(mean);
        square -= terms.total * mean * mean;
      }
      model.squares[at(a)] = square;
    }
    return finish(model, loops, accuracy, watch, delta);
  }

  template <class Model>
  static void start(Model& model, const Indices& set, const Vector& w, const Vector& g) {
    model.features = set;
    model.live.resize(set.size());
    model.w.resize(set.size());
    for (std::size_t t = 0; t < set.size(); ++t) {
      model.live[t] = static_cast<Index>(t);
      model.w[t] = w[at(set[t])];
    }
    model.start = model.w;
    model.g = g;
  }

  template <class Model>
  static Descent finish(Model& model, const CoordinateLoops& loops, double accuracy, const Watch& watch,
                        Vector& delta) {
    const Descent descent = loops.descend(model, accuracy, 200, watch);
    delta.resize(model.w.size());
    for (std::size_t t = 0; t < delta.size(); ++t) delta[t] = model.w[t] - model.start[t];
    return descent;
  }

  const ColumnProducts& x_;
  Index most_;
  Gram gram_;
  GramModel gram_model_;
  Indices place_;  // of each column of X in the Gram matrix, or -1
};

}  // namespace tutelage::coordinate
