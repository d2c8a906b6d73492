#pragma once
#include "core/concepts.hpp"
#include "core/machine/parallel.hpp"
namespace tutelage {
inline void sandwich(const Rows& x, const double* c, const double* shift, double* h) {
  x.add_sandwich({0, x.rows()}, c, shift, h);
}
}  // namespace tutelage
