// A copy of a C-ordered matrix in Fortran order, for solvers that read columns again and again.
#pragma once
#include <algorithm>

#include "core/machine/index.hpp"
#include "core/machine/parallel.hpp"

namespace tutelage {

/// out[j * rows + i] = x[i * stride + j]. Squares of 16 x 16 are read and written in whole cache lines; a task owns a
/// run of rows, so that X is read once from memory.
template <class T>
void copy_by_columns(const T* x, Index stride, Index rows, Index columns, T* out) {
  constexpr Index side = 16;
  const Index run = std::max<Index>(side, 64 * 1024 / std::max<Index>(1, columns) / side * side);
  parallel_for((rows + run - 1) / run, [&](Index task) {
    const Index end = std::min(rows, (task + 1) * run);
    for (Index j = 0; j < columns; j += side) {
      const Index across = std::min(side, columns - j);
      for (Index i = task * run; i < end; i += side) {
        const Index down = std::min(side, end - i);
        for (Index q = 0; q < across; ++q) {
          for (Index p = 0; p < down; ++p) out[(j + q) * rows + i + p] = x[(i + p) * stride + j + q];
        }
      }
    }
  });
}

}  // namespace tutelage
