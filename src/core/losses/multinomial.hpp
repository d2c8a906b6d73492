// The multinomial logistic loss, its exponentials computed for many rows side by side: k is often smaller than a vector
// register, so a loop along one row would leave most of it empty.
#pragma once
#include <algorithm>
#include <array>
#include <vector>

#include "core/losses/scores.hpp"
#include "core/machine/turn.hpp"

namespace tutelage {

/// log(sum_c exp(z_c)) - z_y
struct Multinomial {
  Index k = 2;

  static LossFacts facts() {
    return {.name = "multinomial",
            .formula = "log(sum_c exp(z_c)) - z_y",
            .targets = Targets::category,
            .calibrated = true,
            .relative = true,
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
      sum += tile_of_rows<weighted, with_slope, with_curvature>(y + first, s + (weighted ? first : 0), z + first * k,
                                                                count, slope + (with_slope ? first * k : 0),
                                                                curvature + (with_curvature ? first * k : 0));
    }
    return sum;
  }

  /// curvature_times for many rows.
  void products(const double* y, const double* s, const double* z, const double* u, Index n, double* out) const {
    if (k <= widest_tile) {
      for (Index i = 0; i < n; i += tile_rows) {
        const double* weights = s == nullptr ? nullptr : s + i;
        tile_of_products(weights, z + i * k, u + i * k, std::min(tile_rows, n - i), out + i * k);
      }
      return;
    }
    for (Index i = 0; i < n; ++i) {
      curvature_times(y + i, z + i * k, u + i * k, out + i * k);
      for (Index c = i * k; s != nullptr && c < (i + 1) * k; ++c) out[c] *= s[i];
    }
  }

  /// out(a, b) += sum_i s_i (p_a [a == b] - p_a p_b), the lower triangle of a k x k matrix.
  void curvature_sum(const double* s, const double* z, Index n, double* out) const {
    std::vector<double> turned(std::size_t(k * tile_rows)), weighted(turned), row(static_cast<std::size_t>(k));
    for (Index first = 0; first < n; first += tile_rows) {
      const Index count = std::min(tile_rows, n - first);
      for (Index r = 0; r < count; ++r) {
        probabilities(z + (first + r) * k, row.data());
        const double weight = s == nullptr ? 1.0 : s[first + r];
        for (Index c = 0; c < k; ++c) {
          turned[std::size_t(c * tile_rows + r)] = row[std::size_t(c)];
          weighted[std::size_t(c * tile_rows + r)] = weight == 0 ? 0.0 : weight * row[std::size_t(c)];
        }
      }
      for (Index a = 0; a < k; ++a) {
        const double* pa = weighted.data() + a * tile_rows;
        for (Index b = 0; b <= a; ++b) {
          const double* pb = turned.data() + b * tile_rows;
          const double own = a == b ? 1.0 : 0.0;
          double sum = 0;
#pragma omp simd reduction(+ : sum)
          for (Index r = 0; r < count; ++r) sum += pa[r] * (own - pb[r]);
          out[a * k + b] += sum;
        }
      }
    }
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

  /// Up to tile_rows rows side by side: scores are turned, so that row r of the tile is lane r of every loop.
  struct Tile {
    alignas(64) std::array<double, std::size_t(tile_rows* widest_tile)> p;  // class c of row r at c * tile_rows + r
    alignas(64) std::array<double, std::size_t(tile_rows)> top, total;
    double* of(Index c) { return p.data() + c * tile_rows; }
  };

  /// exp(z - top), the largest score and the sum of the exponentials of each row.
  void exponentials(const double* z, Index count, Tile& tile) const {
    double* const t = tile.top.data();
    double* const q = tile.total.data();
    simd::turn<false>(z, k, count, k, tile.of(0), tile_rows);
    std::copy_n(tile.of(0), count, t);
    for (Index c = 1; c < k; ++c) {
      const double* e = tile.of(c);
#pragma omp simd
      for (Index r = 0; r < count; ++r) t[r] = e[r] > t[r] ? e[r] : t[r];
    }
    std::fill_n(q, count, 0.0);
    for (Index c = 0; c < k; ++c) {
      double* e = tile.of(c);
#pragma omp simd
      for (Index r = 0; r < count; ++r) {
        e[r] = numerics::exp_of_negative(e[r] - t[r]);
        q[r] += e[r];
      }
    }
  }

  template <bool weighted, bool with_slope, bool with_curvature>
  double tile_of_rows(const double* y, const double* s, const double* z, Index count, double* slope,
                      double* curvature) const {
    Tile tile;
    exponentials(z, count, tile);
    alignas(64) std::array<double, std::size_t(tile_rows)> own;
    for (Index r = 0; r < count; ++r) own[std::size_t(r)] = z[r * k + Index(y[r])];
    double sum = 0;
    const double* const t = tile.top.data();
    const double* const o = own.data();
    double* const q = tile.total.data();
#pragma omp simd reduction(+ : sum)
    for (Index r = 0; r < count; ++r) {
      const double value = numerics::log(q[r]) + (t[r] - o[r]);
      sum += weighted ? (s[r] == 0 ? 0.0 : s[r] * value) : value;
      q[r] = 1 / q[r];
    }
    if constexpr (with_curvature) {
      Tile bent;
      for (Index c = 0; c < k; ++c) {
        const double* e = tile.of(c);
        double* h = bent.of(c);
#pragma omp simd
        for (Index r = 0; r < count; ++r) h[r] = (weighted ? s[r] : 1.0) * (e[r] * q[r] * (1 - e[r] * q[r]));
      }
      simd::turn<false>(bent.of(0), tile_rows, k, count, curvature, k);
    }
    if constexpr (with_slope) {
      for (Index c = 0; c < k; ++c) {
        double* e = tile.of(c);
#pragma omp simd
        for (Index r = 0; r < count; ++r) e[r] *= (weighted ? s[r] : 1.0) * q[r];
      }
      simd::turn<false>(tile.of(0), tile_rows, k, count, slope, k);
      for (Index r = 0; r < count; ++r) slope[r * k + Index(y[r])] -= weighted ? s[r] : 1.0;
    }
    return sum;
  }

  void tile_of_products(const double* s, const double* z, const double* u, Index count, double* out) const {
    Tile tile, moved;
    exponentials(z, count, tile);
    simd::turn<false>(u, k, count, k, moved.of(0), tile_rows);
    double* const mean = moved.total.data();
    double* const q = tile.total.data();
    std::fill_n(mean, count, 0.0);
    for (Index c = 0; c < k; ++c) {
      const double *e = tile.of(c), *v = moved.of(c);
#pragma omp simd
      for (Index r = 0; r < count; ++r) mean[r] += e[r] * v[r];
    }
#pragma omp simd
    for (Index r = 0; r < count; ++r) {
      q[r] = 1 / q[r];
      mean[r] *= q[r];
      if (s != nullptr) q[r] *= s[r];
    }
    for (Index c = 0; c < k; ++c) {
      const double* e = tile.of(c);
      double* v = moved.of(c);
#pragma omp simd
      for (Index r = 0; r < count; ++r) v[r] = s != nullptr && s[r] == 0 ? 0.0 : e[r] * q[r] * (v[r] - mean[r]);
    }
    simd::turn<false>(moved.of(0), tile_rows, k, count, out, k);
  }
};

}  // namespace tutelage
