// The multinomial logistic loss, its exponentials computed for many rows side by side: k is often smaller than a vector
// register, so a loop along one row would leave most of it empty.
#pragma once
#include <algorithm>
#include <array>
#include <vector>

#include "core/losses/scores.hpp"

namespace tutelage {

/// log(sum_c exp(z_c)) - z_y
struct Multinomial {
  Index k = 2;

  static LossFacts facts() {
    return {.name = "multinomial",
            .formula = "log(sum_c exp(z_c)) - z_y",
            .targets = Targets::category,
            .calibrated = true,
            .smoothness = 0.5,
            .lipschitz = 0x1.6a09e667f3bcdp0,
            .has_curvature = true,
            .has_conjugate = true};
  }
  static Index targets() { return 1; }

  double value(const double* y, const double* z) const {
    const double top = largest(z);
    double total = 0;
#pragma omp simd reduction(+ : total)
    for (Index c = 0; c < k; ++c) total += numerics::exp_of_negative(z[c] - top);
    return numerics::log(total) + (top - z[Index(y[0])]);
  }
  void slope(const double* y, const double* z, double* out) const {
    probabilities(z, out);
    out[Index(y[0])] -= 1;
  }
  void curvature(const double*, const double* z, double* out) const {
    probabilities(z, out);
#pragma omp simd
    for (Index c = 0; c < k; ++c) out[c] *= 1 - out[c];
  }
  void curvature_times(const double*, const double* z, const double* u, double* out) const {
    probabilities(z, out);
    double mean = 0;
#pragma omp simd reduction(+ : mean)
    for (Index c = 0; c < k; ++c) mean += out[c] * u[c];
#pragma omp simd
    for (Index c = 0; c < k; ++c) out[c] *= u[c] - mean;
  }
  /// p_a (1 if a == b, else 0) - p_a p_b for many rows, from probabilities that are computed once.
  void curvature_pairs(const double* s, const double* z, Index n, double* out, Index stride) const {
    constexpr Index rows = 64;
    std::vector<double> p(std::size_t(rows * k)), row(static_cast<std::size_t>(k));
    for (Index first = 0; first < n; first += rows) {
      const Index count = std::min(rows, n - first);
      for (Index i = 0; i < count; ++i) {
        probabilities(z + (first + i) * k, row.data());
        for (Index c = 0; c < k; ++c) p[std::size_t(c * rows + i)] = row[std::size_t(c)];
      }
      double* to = out + first;
      for (Index b = 0; b < k; ++b) {
        for (Index a = b; a < k; ++a, to += stride) {
          const double *pa = p.data() + a * rows, *pb = p.data() + b * rows;
          const double own = a == b ? 1.0 : 0.0;
#pragma omp simd
          for (Index i = 0; i < count; ++i) to[i] = pa[i] * (own - pb[i]);
          if (s == nullptr) continue;
          for (Index i = 0; i < count; ++i) to[i] = s[first + i] == 0 ? 0.0 : s[first + i] * to[i];
        }
      }
    }
  }
  double conjugate(const double* y, const double* a) const {
    // a + e_y must be a distribution; then the conjugate is its negative entropy.
    const Index label = Index(y[0]);
    double entropy = 0, total = 0;
    bool inside = true;
    for (Index c = 0; c < k; ++c) {
      const double p = a[c] + (c == label ? 1.0 : 0.0);
      inside = inside && p >= -domain_slack;
      total += p;
      entropy += numerics::x_log_x(numerics::positive_part(p));
    }
    return inside && numerics::magnitude(total - 1) <= domain_slack * double(k) ? entropy : infinity;
  }

  /// Many rows; returns the weighted sum of the values.
  template <bool weighted, bool with_slope, bool with_curvature>
  double rows(const double* y, const double* s, const double* z, Index n, double* slope, double* curvature) const {
    if (k > widest_tile) return row_after_row<weighted, with_slope, with_curvature>(y, s, z, n, slope, curvature);
    double sum = 0;
    for (Index first = 0; first < n; first += tile_rows) {
      const Index count = std::min(tile_rows, n - first);
      sum += tile<weighted, with_slope, with_curvature>(y + first, s + (weighted ? first : 0), z + first * k, count,
                                                        slope + (with_slope ? first * k : 0),
                                                        curvature + (with_curvature ? first * k : 0));
    }
    return sum;
  }

 private:
  static constexpr Index tile_rows = 64;
  static constexpr Index widest_tile = 96;  // beyond it a row alone fills the vector registers

  double largest(const double* z) const {
    double top = z[0];
#pragma omp simd reduction(max : top)
    for (Index c = 0; c < k; ++c) top = z[c] > top ? z[c] : top;
    return top;
  }
  void probabilities(const double* z, double* out) const {
    const double top = largest(z);
    double total = 0;
#pragma omp simd reduction(+ : total)
    for (Index c = 0; c < k; ++c) {
      out[c] = numerics::exp_of_negative(z[c] - top);
      total += out[c];
    }
    const double scale = 1 / total;
#pragma omp simd
    for (Index c = 0; c < k; ++c) out[c] *= scale;
  }

  template <bool weighted, bool with_slope, bool with_curvature>
  double row_after_row(const double* y, const double* s, const double* z, Index n, double* slope,
                       double* curvature) const {
    std::vector<double> held(std::size_t(k), 0.0);
    double sum = 0;
    for (Index i = 0; i < n; ++i, z += k) {
      const double weight = weighted ? s[i] : 1.0;
      const Index label = Index(y[i]);
      double* p = with_slope ? slope + i * k : held.data();
      const double top = largest(z);
      double total = 0;
#pragma omp simd reduction(+ : total)
      for (Index c = 0; c < k; ++c) {
        p[c] = numerics::exp_of_negative(z[c] - top);
        total += p[c];
      }
      sum += weight * (numerics::log(total) + (top - z[label]));
      const double scale = 1 / total;
      if constexpr (with_curvature) {
        double* h = curvature + i * k;
#pragma omp simd
        for (Index c = 0; c < k; ++c) h[c] = weight * (p[c] * scale) * (1 - p[c] * scale);
      }
      if constexpr (with_slope) {
#pragma omp simd
        for (Index c = 0; c < k; ++c) p[c] *= weight * scale;
        p[label] -= weight;
      }
    }
    return sum;
  }

  /// Probabilities, in slope or else in curvature, become slopes and curvatures.
  template <bool weighted, bool with_slope, bool with_curvature>
  void finish(const double* y, const double* s, Index count, double* slope, double* curvature) const {
    const double* const p = with_slope ? slope : curvature;
    if constexpr (with_curvature) {
#pragma omp simd
      for (Index i = 0; i < count * k; ++i) curvature[i] = p[i] * (1 - p[i]);
    }
    for (Index r = 0; r < count; ++r) {
      if constexpr (with_slope) slope[r * k + Index(y[r])] -= 1;
      if constexpr (weighted) {
        for (Index c = r * k; c < (r + 1) * k; ++c) {
          if constexpr (with_slope) slope[c] *= s[r];
          if constexpr (with_curvature) curvature[c] *= s[r];
        }
      }
    }
  }

  /// Up to tile_rows rows side by side: scores are transposed, so that row r of the tile is lane r of every loop.
  template <bool weighted, bool with_slope, bool with_curvature>
  double tile(const double* y, const double* s, const double* z, Index count, double* slope, double* curvature) const {
    alignas(64) std::array<double, std::size_t(tile_rows * widest_tile)> e;
    alignas(64) std::array<double, std::size_t(tile_rows)> top, total, own;
    for (Index r = 0; r < count; ++r) own[std::size_t(r)] = z[r * k + Index(y[r])];
    for (Index c = 0; c < k; ++c) {
      double* ec = e.data() + c * tile_rows;
#pragma omp simd
      for (Index r = 0; r < count; ++r) ec[r] = z[r * k + c];
    }
    double* const t = top.data();
    double* const q = total.data();
    for (Index r = 0; r < count; ++r) t[r] = e[std::size_t(r)];
    for (Index c = 1; c < k; ++c) {
      const double* ec = e.data() + c * tile_rows;
#pragma omp simd
      for (Index r = 0; r < count; ++r) t[r] = ec[r] > t[r] ? ec[r] : t[r];
    }
    for (Index r = 0; r < count; ++r) q[r] = 0;
    for (Index c = 0; c < k; ++c) {
      double* ec = e.data() + c * tile_rows;
#pragma omp simd
      for (Index r = 0; r < count; ++r) {
        ec[r] = numerics::exp_of_negative(ec[r] - t[r]);
        q[r] += ec[r];
      }
    }
    double sum = 0;
    const double* const o = own.data();
#pragma omp simd reduction(+ : sum)
    for (Index r = 0; r < count; ++r) {
      const double value = numerics::log(q[r]) + (t[r] - o[r]);
      sum += weighted ? (s[r] == 0 ? 0.0 : s[r] * value) : value;
      q[r] = 1 / q[r];
    }
    if constexpr (with_slope || with_curvature) {
      // Back to rows, once; what remains runs along the rows.
      double* const p = with_slope ? slope : curvature;
      for (Index c = 0; c < k; ++c) {
        const double* ec = e.data() + c * tile_rows;
#pragma omp simd
        for (Index r = 0; r < count; ++r) p[r * k + c] = ec[r] * q[r];
      }
      finish<weighted, with_slope, with_curvature>(y, s, count, slope, curvature);
    }
    return sum;
  }
};

}  // namespace tutelage
