// Vectors of numbers, as points and gradients are.
#pragma once
#include <cmath>
#include <vector>

namespace tutelage {

using Vector = std::vector<double>;

inline double dot(const Vector& a, const Vector& b) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
inline double norm(const Vector& a) { return std::sqrt(dot(a, a)); }

}  // namespace tutelage
