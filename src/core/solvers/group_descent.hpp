// Squared loss of several targets that share their zeros, by block coordinate descent with the whole Gram matrix. With
// H = Xc' C Xc, G_0 = -Xc' C Y and y = tr(Y' C Y) known (C the weights over their sum, Xc and Y centred where there is
// an intercept), X is not needed again:
//
//     risk(W) = y / 2 + <G_0, W> + <W, H W> / 2,      gradient G = G_0 + H W,
//     penalty = sum_j l1 |W_j| + l2 |W_j|^2 / 2,      W_j the k coefficients of feature j.
//
// A block moves to its own minimum, W_j <- v max(0, 1 - l1 / (H_jj |v|)) H_jj / (H_jj + l2) with v = W_j - G_j / H_jj.
// A feature at rest costs k products, one that moves d k. Dual points are the slopes times t, whose value is
//
//     dual(t) = (y + <G_0, W>) t - risk t^2 - penalty*(-t G).
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/machine/numerics.hpp"
#include "core/machine/parallel.hpp"
#include "core/machine/simd.hpp"
#include "core/solvers/certificate.hpp"

namespace tutelage {

class GroupDescent {
 public:
  using Vector = std::vector<double>;

  /// `h` is d x d and whole; `g0` and the point are d x k by rows.
  GroupDescent(const double* h, const double* g0, Index features, Index targets, double square, double l1, double l2)
      : h_(h), g0_(g0), d_(features), k_(targets), square_(square), l1_(l1), l2_(l2) {}

  Certificate solve(Vector& w, const Stopping& stopping) {
    const Watch watch(stopping);
    Certificate c;
    c.solver = "block_coordinate_descent";
    Stagnation stagnation;
    double best = -infinity, scale = 0;
    const Index sweeps = 10;
    for (Index round = 0;; ++round) {
      check_interrupt();
      refresh(w);
      c.rounds = round;
      c.primal = risk(w) + penalty(w);
      if (round == 0) scale = c.primal;
      best = std::max(best, dual(w));
      c.dual = best;
      c.gap = std::max(c.primal - best, 0.0);
      if (watch.converged(c, scale) || watch.expired(c)) break;
      if (round >= stopping.max_rounds) {
        c.reason = Reason::rounds;
        break;
      }
      bool moved = false;
      for (Index s = 0; s < sweeps; ++s) moved = sweep(w, s > 0 && s + 1 < sweeps) || moved;
      if (!moved || stagnation.reached(c, scale)) {
        c.reason = Reason::rounding;
        break;
      }
    }
    c.seconds = watch.seconds();
    return c;
  }

 private:
  static std::size_t at(Index i) { return std::size_t(i); }

  /// G = G_0 + H W, without what rounding has added from move to move.
  void refresh(const Vector& w) {
    g_.assign(g0_, g0_ + d_ * k_);
    for (Index j = 0; j < d_; ++j) {
      for (Index c = 0; c < k_; ++c) {
        if (w[at(j * k_ + c)] != 0) push(j, w.data() + j * k_);
        if (w[at(j * k_ + c)] != 0) break;
      }
    }
  }

  /// G += H_j' step
  void push(Index j, const double* step) {
    const double* row = h_ + j * d_;
    for (Index i = 0; i < d_; ++i) {
      double* g = g_.data() + i * k_;
      for (Index c = 0; c < k_; ++c) g[c] += row[i] * step[c];
    }
  }

  /// Visits all features, or only those in use. Whether any moved.
  bool sweep(Vector& w, bool in_use_only) {
    bool moved = false;
    Vector step(at(k_));
    for (Index j = 0; j < d_; ++j) {
      const double curvature = h_[j * d_ + j];
      double* mine = w.data() + j * k_;
      if (!(curvature > 0)) continue;
      if (in_use_only && norm(mine) == 0) continue;
      for (Index c = 0; c < k_; ++c) step[at(c)] = mine[c] - g_[at(j * k_ + c)] / curvature;
      const double size = norm(step.data()) * curvature;
      const double kept = size > l1_ ? (1 - l1_ / size) * curvature / (curvature + l2_) : 0.0;
      bool changes = false;
      for (Index c = 0; c < k_; ++c) {
        const double fresh = kept * step[at(c)];
        step[at(c)] = fresh - mine[c];
        changes = changes || step[at(c)] != 0;
        mine[c] = fresh;
      }
      if (!changes) continue;
      push(j, step.data());
      moved = true;
    }
    return moved;
  }

  double norm(const double* v) const {
    double sum = 0;
    for (Index c = 0; c < k_; ++c) sum += v[c] * v[c];
    return std::sqrt(sum);
  }

  double inner(const double* a, const double* b) const { return simd::dot(a, b, d_ * k_); }
  double along(const Vector& w) const { return inner(g0_, w.data()); }
  double risk(const Vector& w) const { return std::max(0.0, (square_ + along(w) + inner(g_.data(), w.data())) / 2); }

  double penalty(const Vector& w) const {
    double sum = 0;
    for (Index j = 0; j < d_; ++j) {
      const double size = norm(w.data() + j * k_);
      sum += l1_ * size + l2_ * size * size / 2;
    }
    return sum;
  }

  double dual(const Vector& w) const {
    Vector sizes(at(d_));
    double largest = 0;
    for (Index j = 0; j < d_; ++j) {
      // Features without curvature are constant: their gradient is rounding.
      sizes[at(j)] = h_[j * d_ + j] > 0 ? norm(g_.data() + j * k_) : 0.0;
      largest = std::max(largest, sizes[at(j)]);
    }
    const double value = risk(w), linear = square_ + along(w);
    const auto at_scale = [&](double t) {
      double sum = linear * t - value * t * t;
      for (Index j = 0; j < d_ && l2_ > 0; ++j) {
        const double over = std::max(0.0, t * sizes[at(j)] - l1_);
        sum -= over * over / (2 * l2_);
      }
      return sum;
    };
    const double wish = value > 0 ? linear / (2 * value) : 1.0;
    const double bound = largest > l1_ ? l1_ / largest : 1.0;  // where the penalty's conjugate is certainly zero
    if (!(l2_ > 0)) return at_scale(std::clamp(wish, 0.0, largest > 0 ? l1_ / largest : wish));
    return std::max(
        {at_scale(1.0), at_scale(std::clamp(wish, 0.0, 1.0)), at_scale(std::min(bound, std::max(wish, 0.0)))});
  }

  const double *h_, *g0_;
  const Index d_, k_;
  const double square_, l1_, l2_;
  Vector g_;
};

}  // namespace tutelage
