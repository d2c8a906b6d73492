// A matrix turned over its diagonal while it is copied, by squares of lanes x lanes numbers in registers.
#pragma once
#include <algorithm>

#include "core/machine/simd.hpp"

namespace tutelage::simd {

/// to(j, i) = (or +=, when Add) from(i, j): from(i, j) stands at from[i * ldf + j], i < rows, j < columns.
template <bool Add>
__attribute__((noinline)) inline void turn(const double* from, Index ldf, Index rows, Index columns, double* to,
                                           Index ldt) {
  for (Index i = 0; i < rows; i += lanes) {
    const Index height = std::min<Index>(lanes, rows - i);
    for (Index j = 0; j < columns; j += lanes) {
      const Index width = std::min<Index>(lanes, columns - j);
      Pack v[lanes];
      if (height == lanes && width == lanes) {
        TUTELAGE_UNROLL
        for (int t = 0; t < lanes; ++t) v[t] = load(from + (i + t) * ldf + j);
        transpose(v);
        TUTELAGE_UNROLL
        for (int t = 0; t < lanes; ++t) {
          double* target = to + (j + t) * ldt + i;
          store(target, Add ? load(target) + v[t] : v[t]);
        }
        continue;
      }
      TUTELAGE_UNROLL
      for (int t = 0; t < lanes; ++t) v[t] = t < height ? load_part(from + (i + t) * ldf + j, width) : Pack{};
      transpose(v);
      TUTELAGE_UNROLL
      for (int t = 0; t < lanes; ++t) {
        double* target = to + (j + t) * ldt + i;
        if (t < width) store_part(target, Add ? load_part(target, height) + v[t] : v[t], height);
      }
    }
  }
}

}  // namespace tutelage::simd
