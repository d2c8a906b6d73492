// Duality and optimality of a penalty known only by what it can be asked: those written in Python.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/concepts.hpp"

namespace tutelage {

/// dual_scale by bisection on conjugate, whose domain is convex; 0 without a conjugate.
inline double bisected_dual_scale(const AnyPenalty& penalty, const double* v, Index k, Index d) {
  if (!penalty.facts().has_conjugate) return 0;
  std::vector<double> scaled(std::size_t(k * d));
  const auto inside = [&](double t) {
    for (Index j = 0; j < k * d; ++j) scaled[std::size_t(j)] = t * v[j];
    return penalty.conjugate(scaled.data(), k, d) < infinity;
  };
  if (inside(1)) return 1;
  double low = 0, high = 1;
  for (int round = 0; round < 60; ++round) {
    const double middle = low + (high - low) / 2;
    (inside(middle) ? low : high) = middle;
  }
  return low;
}

/// max |g + slope(w)|, for a smooth penalty.
inline double slope_stationarity(const AnyPenalty& penalty, const double* w, const double* g, Index k, Index d) {
  std::vector<double> slope(g, g + k * d);
  penalty.add_gradient(w, k, d, slope.data());
  double worst = 0;
  for (const double part : slope) worst = std::max(worst, std::abs(part));
  return worst;
}

/// max |w - prox(w - g, 1)|: not the distance to the subdifferential, but zero with it.
inline double prox_stationarity(const AnyPenalty& penalty, const double* w, const double* g, Index k, Index d) {
  std::vector<double> moved(std::size_t(k * d));
  for (Index j = 0; j < k * d; ++j) moved[std::size_t(j)] = w[j] - g[j];
  penalty.prox(moved.data(), 1, k, d, moved.data());
  double worst = 0;
  for (Index j = 0; j < k * d; ++j) worst = std::max(worst, std::abs(w[j] - moved[std::size_t(j)]));
  return worst;
}

}  // namespace tutelage
