// A loss behind one virtual call for each block of rows: the only loops over samples that losses have.
#pragma once
#include <memory>

#include "core/losses/envelope.hpp"
#include "core/losses/scores.hpp"
#include "core/losses/shapes.hpp"

namespace tutelage {

/// A loss of one score per row.
template <Loss L>
class Erased final : public AnyLoss {
 public:
  explicit Erased(L loss = {}) : loss_(loss) {}

  LossFacts facts() const override {
    LossFacts facts = loss_.facts();
    facts.has_curvature = SmoothLoss<L>;
    facts.has_conjugate = DualLoss<L> && facts.has_conjugate;
    facts.has_prox = ProximalLoss<L>;
    return facts;
  }
  const L& loss() const { return loss_; }

  double evaluate(const double* y, const double* s, const double* z, Index n, double* slope,
                  double* curvature) const override {
    if (s) return with_outputs<true>(y, s, z, n, slope, curvature);
    return with_outputs<false>(y, s, z, n, slope, curvature);
  }

  void curvature_times(const double* y, const double* s, const double* z, const double* u, Index n,
                       double* out) const override {
    const L loss = loss_;
    if constexpr (SmoothLoss<L>) {
      if (s) {
#pragma omp simd
        for (Index i = 0; i < n; ++i) out[i] = s[i] * loss.curvature(y[i], z[i]) * u[i];
      } else {
#pragma omp simd
        for (Index i = 0; i < n; ++i) out[i] = loss.curvature(y[i], z[i]) * u[i];
      }
    } else {
      for (Index i = 0; i < n; ++i) out[i] = 0;
    }
  }

  double conjugate(const double* y, const double* s, const double* a, Index n) const override {
    if constexpr (DualLoss<L>) {
      const L loss = loss_;
      double sum = 0;
      if (s) {
        // A row of weight zero has no say, not even an infinite one.
#pragma omp simd reduction(+ : sum)
        for (Index i = 0; i < n; ++i) sum += s[i] == 0 ? 0.0 : s[i] * loss.conjugate(y[i], a[i]);
      } else {
#pragma omp simd reduction(+ : sum)
        for (Index i = 0; i < n; ++i) sum += loss.conjugate(y[i], a[i]);
      }
      return sum;
    }
    return infinity;
  }

  void prox(const double* y, const double* z, double step, Index n, double* out) const override {
    if constexpr (ProximalLoss<L>) {
      const L loss = loss_;
#pragma omp simd
      for (Index i = 0; i < n; ++i) out[i] = loss.prox(y[i], z[i], step);
    } else {
      AnyLoss::prox(y, z, step, n, out);
    }
  }
  void prox_slope_times(const double* y, const double* z, double step, const double* u, Index n,
                        double* out) const override {
    if constexpr (ProximalLoss<L>) {
      const L loss = loss_;
#pragma omp simd
      for (Index i = 0; i < n; ++i) out[i] = prox_slope(loss, y[i], z[i], step) * u[i];
    } else {
      AnyLoss::prox_slope_times(y, z, step, u, n, out);
    }
  }
  std::unique_ptr<AnyLoss> envelope([[maybe_unused]] double sigma) const override {
    if constexpr (ProximalLoss<L>) return std::make_unique<Envelope<L>>(loss_, sigma);
    return nullptr;
  }

 private:
  template <bool weighted>
  double with_outputs(const double* y, const double* s, const double* z, Index n, double* slope,
                      double* curvature) const {
    if (slope && curvature) return pass<weighted, true, true>(y, s, z, n, slope, curvature);
    if (slope) return pass<weighted, true, false>(y, s, z, n, slope, curvature);
    if (curvature) return pass<weighted, false, true>(y, s, z, n, slope, curvature);
    return pass<weighted, false, false>(y, s, z, n, slope, curvature);
  }

  template <bool weighted, bool with_slope, bool with_curvature>
  double pass(const double* y, const double* s, const double* z, Index n, double* slope, double* curvature) const {
    const L loss = loss_;  // a copy: a parameter read through `this` might alias the outputs
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (Index i = 0; i < n; ++i) {
      // Everything is computed before anything is stored: what the three have in common (an exponential) is then
      // computed once, where a store might have changed y or z as far as the compiler knows.
      const double yi = y[i], zi = z[i];
      const double weight = weighted ? s[i] : 1.0;
      const double value = loss.value(yi, zi);
      double first = 0, second = 0;
      if constexpr (with_slope) first = loss.slope(yi, zi);
      if constexpr (with_curvature && SmoothLoss<L>) second = loss.curvature(yi, zi);
      // A row of weight zero has no say, not even an infinite one.
      const bool counts = !weighted || weight != 0;
      sum += counts ? weight * value : 0.0;
      if constexpr (with_slope) slope[i] = counts ? weight * first : 0.0;
      if constexpr (with_curvature) curvature[i] = counts ? weight * second : 0.0;
    }
    return sum;
  }

  L loss_;
};

/// A loss of k scores per row.
template <ScoresLoss L>
class ErasedScores final : public AnyLoss {
 public:
  explicit ErasedScores(L loss) : loss_(loss) {}

  LossFacts facts() const override {
    LossFacts facts = loss_.facts();
    facts.has_curvature = SmoothScoresLoss<L>;
    facts.has_conjugate = DualScoresLoss<L>;
    facts.has_prox = ProximalScoresLoss<L>;
    return facts;
  }
  Index scores() const override { return loss_.k; }
  Index targets() const override { return loss_.targets(); }
  const L& loss() const { return loss_; }

  double evaluate(const double* y, const double* s, const double* z, Index n, double* slope,
                  double* curvature) const override {
    if (s) return with_outputs<true>(y, s, z, n, slope, curvature);
    return with_outputs<false>(y, s, z, n, slope, curvature);
  }

  void curvature_times(const double* y, const double* s, const double* z, const double* u, Index n,
                       double* out) const override {
    const Index k = loss_.k, t = loss_.targets();
    if constexpr (requires { loss_.products(y, s, z, u, n, out); }) {
      loss_.products(y, s, z, u, n, out);
      return;
    }
    for (Index i = 0; i < n; ++i) {
      if constexpr (SmoothScoresLoss<L>) {
        loss_.curvature_times(y + i * t, z + i * k, u + i * k, out + i * k);
        if (s) scale(s[i], out + i * k);
      } else {
        scale(0, out + i * k);
      }
    }
  }

  void curvature_sum(const double* y, const double* s, const double* z, Index n, double* out) const override {
    if constexpr (requires { loss_.curvature_sum(s, z, n, out); }) {
      loss_.curvature_sum(s, z, n, out);
    } else {
      AnyLoss::curvature_sum(y, s, z, n, out);
    }
  }

  void curvature_pairs(const double* y, const double* s, const double* z, Index n, double* out,
                       Index stride) const override {
    if constexpr (requires { loss_.curvature_pairs(s, z, n, out, stride); }) {
      loss_.curvature_pairs(s, z, n, out, stride);
    } else {
      AnyLoss::curvature_pairs(y, s, z, n, out, stride);
    }
  }

  void prox(const double* y, const double* z, double step, Index n, double* out) const override {
    if constexpr (ProximalScoresLoss<L>) {
      for (Index i = 0; i < n; ++i) loss_.prox(y + i * loss_.targets(), z + i * loss_.k, step, out + i * loss_.k);
    } else {
      AnyLoss::prox(y, z, step, n, out);
    }
  }

  void prox_slope_times(const double* y, const double* z, double step, const double* u, Index n,
                        double* out) const override {
    if constexpr (ProximalScoresLoss<L>) {
      const Index k = loss_.k;
      for (Index i = 0; i < n; ++i) {
        loss_.prox_slope_times(y + i * loss_.targets(), z + i * k, step, u + i * k, out + i * k);
      }
    } else {
      AnyLoss::prox_slope_times(y, z, step, u, n, out);
    }
  }

  double conjugate(const double* y, const double* s, const double* a, Index n) const override {
    if constexpr (DualScoresLoss<L>) {
      double sum = 0;
      for (Index i = 0; i < n; ++i) {
        const double weight = s ? s[i] : 1.0;
        if (weight != 0) sum += weight * loss_.conjugate(y + i * loss_.targets(), a + i * loss_.k);
      }
      return sum;
    }
    return infinity;
  }

 private:
  void scale(double by, double* row) const {
    for (Index c = 0; c < loss_.k; ++c) row[c] = by == 0 ? 0.0 : by * row[c];
  }

  template <bool weighted>
  double with_outputs(const double* y, const double* s, const double* z, Index n, double* slope,
                      double* curvature) const {
    if (slope && curvature) return pass<weighted, true, true>(y, s, z, n, slope, curvature);
    if (slope) return pass<weighted, true, false>(y, s, z, n, slope, curvature);
    if (curvature) return pass<weighted, false, true>(y, s, z, n, slope, curvature);
    return pass<weighted, false, false>(y, s, z, n, slope, curvature);
  }

  template <bool weighted, bool with_slope, bool with_curvature>
  double pass(const double* y, const double* s, const double* z, Index n, double* slope, double* curvature) const {
    if constexpr (requires { loss_.template rows<true, true, true>(y, s, z, n, slope, curvature); }) {
      return loss_.template rows<weighted, with_slope, with_curvature>(y, s, z, n, slope, curvature);
    } else {
      const Index k = loss_.k, t = loss_.targets();
      double sum = 0;
      for (Index i = 0; i < n; ++i) {
        const double weight = weighted ? s[i] : 1.0;
        const double* yi = y + i * t;
        const double* zi = z + i * k;
        if (weight != 0) sum += weight * loss_.value(yi, zi);
        if constexpr (with_slope) {
          loss_.slope(yi, zi, slope + i * k);
          if (weighted) scale(weight, slope + i * k);
        }
        if constexpr (with_curvature) {
          if constexpr (SmoothScoresLoss<L>) {
            loss_.curvature(yi, zi, curvature + i * k);
            if (weighted) scale(weight, curvature + i * k);
          } else {
            scale(0, curvature + i * k);
          }
        }
      }
      return sum;
    }
  }

  L loss_;
};

}  // namespace tutelage
