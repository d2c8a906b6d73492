// What a loss says row by row, without weights: for those who look at losses rather than fit with them.
#pragma once
#include "core/concepts.hpp"

namespace tutelage {

/// out_i = value(y_i, z_i)
inline void loss_values(const AnyLoss& loss, const double* y, const double* z, Index n, double* out) {
  const Index k = loss.scores(), t = loss.targets();
  for (Index i = 0; i < n; ++i) out[i] = loss.evaluate(y + i * t, nullptr, z + i * k, 1, nullptr, nullptr);
}

/// out_i = conjugate(y_i, a_i)
inline void loss_conjugates(const AnyLoss& loss, const double* y, const double* a, Index n, double* out) {
  const Index k = loss.scores(), t = loss.targets();
  for (Index i = 0; i < n; ++i) out[i] = loss.conjugate(y + i * t, nullptr, a + i * k, 1);
}

}  // namespace tutelage
