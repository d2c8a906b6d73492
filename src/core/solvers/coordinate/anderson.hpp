// Anderson extrapolation for coordinate descent (Bertrand and Massias 2021): near the solution the support is fixed and
// a sweep is an affine map, so a combination of the last few iterates, with weights that sum to one and make the
// combined step smallest, is far nearer the fixed point than the last of them.
#pragma once
#include <array>
#include <cmath>

#include "core/solvers/coordinate/models.hpp"

namespace tutelage::coordinate {

class Anderson {
 public:
  static constexpr int depth = 5;

  void restart() { count_ = 0; }

  /// Notes an iterate; true when there are enough for an extrapolation.
  bool push(const Vector& w, const Indices& positions) {
    if (count_ > 0 && iterates_[0].size() != positions.size()) restart();
    Vector& to = iterates_[static_cast<std::size_t>(count_)];
    to.resize(positions.size());
    for (std::size_t p = 0; p < positions.size(); ++p) to[p] = w[at(positions[p])];
    return ++count_ == depth + 1;
  }

  /// The extrapolated iterate; false when the steps are dependent. Begins anew either way.
  bool extrapolate(Vector& out) {
    restart();
    const std::size_t n = iterates_[0].size();
    std::array<std::array<double, depth + 1>, depth> system{};
    double trace = 0;
    for (int i = 0; i < depth; ++i) {
      for (int j = 0; j <= i; ++j) {
        double sum = 0;
        for (std::size_t p = 0; p < n; ++p) sum += step(i, p) * step(j, p);
        entry(system, i, j) = entry(system, j, i) = sum;
      }
      trace += entry(system, i, i);
    }
    if (!(trace > 0)) return false;
    for (int i = 0; i < depth; ++i) {
      entry(system, i, i) += 1e-14 * trace;
      entry(system, i, depth) = 1;
    }
    if (!eliminate(system)) return false;
    double total = 0;
    for (int i = 0; i < depth; ++i) total += entry(system, i, depth);
    if (!(std::abs(total) > 0) || !std::isfinite(total)) return false;
    out.assign(n, 0.0);
    for (int i = 0; i < depth; ++i) {
      const double weight = entry(system, i, depth) / total;
      const Vector& from = iterates_[static_cast<std::size_t>(i) + 1];
      for (std::size_t p = 0; p < n; ++p) out[p] += weight * from[p];
    }
    return true;
  }

 private:
  using System = std::array<std::array<double, depth + 1>, depth>;
  static double& entry(System& s, int i, int j) { return s[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]; }
  double step(int i, std::size_t p) const {
    return iterates_[static_cast<std::size_t>(i) + 1][p] - iterates_[static_cast<std::size_t>(i)][p];
  }

  /// Gauss elimination with the largest pivot; the last column becomes the solution.
  static bool eliminate(System& s) {
    for (int k = 0; k < depth; ++k) {
      int best = k;
      for (int i = k + 1; i < depth; ++i) {
        if (std::abs(entry(s, i, k)) > std::abs(entry(s, best, k))) best = i;
      }
      if (entry(s, best, k) == 0 || !std::isfinite(entry(s, best, k))) return false;
      std::swap(s[static_cast<std::size_t>(k)], s[static_cast<std::size_t>(best)]);
      for (int i = 0; i < depth; ++i) {
        if (i == k) continue;
        const double factor = entry(s, i, k) / entry(s, k, k);
        for (int j = k; j <= depth; ++j) entry(s, i, j) -= factor * entry(s, k, j);
      }
    }
    for (int k = 0; k < depth; ++k) entry(s, k, depth) /= entry(s, k, k);
    return true;
  }

  std::array<Vector, depth + 1> iterates_;
  int count_ = 0;
};

}  // namespace tutelage::coordinate
