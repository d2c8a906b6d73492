// H += sum_i c_i (x_i - m)(x_i - m)', the lower triangle, for a dense matrix in either order.
//
// The layout is that of a fast matrix product (Goto and van de Geijn 2008) with two changes: only tiles that meet the
// lower triangle are computed, and widening from float, subtracting m and multiplying by c happen while packing, where
// they cost one pass over d numbers a row against the d^2 / 2 products that follow. m is subtracted before
// the squares are taken: with columns of mean 1e8 and deviation 1 the other order leaves no digit.
//
// A stretch of `depth` rows is packed twice into panels of a few columns, each column group with its rows adjacent: as
// it is ("left", the rows of H), and times c ("right", the columns of H). The micro-kernel holds P x Q packs of H in
// registers and adds one row of X with Q loads, P broadcasts and P Q products. With at most two packs of columns the
// whole triangle fits in registers, and rows are read where they lie.
#pragma once
#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "core/concepts.hpp"
#include "core/machine/scratch.hpp"
#include "core/machine/simd.hpp"

namespace tutelage::sandwiches {

using simd::lanes;
using simd::Pack;

inline constexpr int tallest = simd::registers == 32 ? 8 : 4;  // P: columns in a left panel; a right one has a pack
inline constexpr int widest = 3;                               // Q: right panels a tile covers
inline constexpr Index depth = 256;                 // rows packed at a time: a left panel stays in the first cache
inline constexpr Index breadth = 24 * lanes;        // columns of H at a time: right panels stay in the second
inline constexpr Index direct_columns = 2 * lanes;  // with so few the triangle stays in registers

/// Where a tile lies: its first entry, how many columns it has, and how far its first row is below the diagonal.
struct Place {
  double* h;
  Index ldh;
  Index width;
  Index diagonal;  // entry (p, q) of the tile is in the triangle when q <= p + diagonal
};

template <int P, int Q>
inline void add_tile(const Pack (&total)[P][Q], const Place& to) {
  if (to.width >= Q * lanes && to.diagonal >= Q * lanes - 1) {
    TUTELAGE_UNROLL
    for (int p = 0; p < P; ++p) {
      TUTELAGE_UNROLL
      for (int q = 0; q < Q; ++q) {
        double* target = to.h + p * to.ldh + q * lanes;
        simd::store(target, simd::load(target) + total[p][q]);
      }
    }
    return;
  }
  TUTELAGE_UNROLL
  for (int p = 0; p < P; ++p) {
    const Index end = std::min(to.width, to.diagonal + p + 1);
    TUTELAGE_UNROLL
    for (int q = 0; q < Q; ++q) {
      double* target = to.h + p * to.ldh + q * lanes;
      const Index count = std::min<Index>(lanes, end - q * lanes);
      if (count > 0) simd::store_part(target, simd::load_part(target, count) + total[p][q], count);
    }
  }
}

/// tile(p, q) += sum_i left[i][p] right[i][q]
template <int P, int Q>
void micro_kernel(Index rows, const double* left, const double* right, Place to) {
  Pack total[P][Q] = {};
  for (Index i = 0; i < rows; ++i) {
    Pack b[Q];
    TUTELAGE_UNROLL
    for (int q = 0; q < Q; ++q) b[q] = simd::load(right + (q * rows + i) * lanes);
    TUTELAGE_UNROLL
    for (int p = 0; p < P; ++p) {
      const Pack a = simd::splat(left[i * tallest + p]);
      TUTELAGE_UNROLL
      for (int q = 0; q < Q; ++q) total[p][q] = simd::fma(a, b[q], total[p][q]);
    }
  }
  add_tile(total, to);
}

using Kernel = void (*)(Index, const double*, const double*, Place);

template <int... N>
constexpr std::array<Kernel, sizeof...(N)> kernels(std::integer_sequence<int, N...>) {
  return {&micro_kernel<N / widest + 1, N % widest + 1>...};
}
inline constexpr auto kernel_table = kernels(std::make_integer_sequence<int, tallest * widest>{});

/// Adds the tiles of one left panel of P columns against `columns` columns of right panels.
inline void add_panel(Index rows, int P, const double* left, const double* right, Index columns, Place to) {
  const Index last = std::min(columns, to.diagonal + P);  // columns that meet the triangle
  Index left_over = (last + lanes - 1) / lanes;
  while (left_over > 0) {
    const Index Q = left_over == 4 || left_over == 2 ? 2 : std::min<Index>(left_over, widest);
    kernel_table[static_cast<std::size_t>((P - 1) * widest + Q - 1)](rows, left, right, to);
    left_over -= Q;
    right += Q * lanes * rows;
    to.h += Q * lanes;
    to.width -= Q * lanes;
    to.diagonal -= Q * lanes;
  }
}

/// H[p][q] += ... for p in `down`, q in `across`, q <= p; h points at H[down.first][across.first].
///
/// pack(width, first_row, rows, first_column, columns, weighted, out) writes panels of `width` columns, each rows x
/// width; what stands in columns beyond the last is never used.
template <class PackPanels>
inline void add(Block block, Block down, Block across, PackPanels&& pack, double* h, Index ldh) {
  struct Left;
  struct Right;
  across.count = std::min(across.count, down.first + down.count - across.first);
  if (block.count <= 0 || down.count <= 0 || across.count <= 0) return;
  const Index deepest = std::min(depth, block.count);
  double* left = scratch<Left>((down.count + tallest - 1) / tallest * tallest * deepest);
  double* right = scratch<Right>((std::min(breadth, across.count) + lanes - 1) / lanes * lanes * deepest);
  const std::integral_constant<int, tallest> left_width{};
  const std::integral_constant<int, lanes> right_width{};
  for (Index i = 0; i < block.count; i += depth) {
    const Index rows = std::min(depth, block.count - i);
    pack(left_width, block.first + i, rows, down.first, down.count, false, left);
    for (Index group = 0; group < across.count; group += breadth) {
      const Index columns = std::min(breadth, across.count - group);
      pack(right_width, block.first + i, rows, across.first + group, columns, true, right);
      for (Index p = 0; p < down.count; p += tallest) {
        const int P = static_cast<int>(std::min<Index>(tallest, down.count - p));
        add_panel(rows, P, left + p * rows, right, columns,
                  {h + p * ldh + group, ldh, columns, down.first + p - (across.first + group)});
      }
    }
  }
}

// ---- few columns --------------------------------------------------------------------------------------------------

/// The whole triangle of D columns in registers: rows of x stand `stride` apart, `part` lanes in the last pack.
template <int D>
void direct_kernel(Index rows, const double* x, Index stride, const double* c, double* h, Index ldh) {
  constexpr int Q = (D + lanes - 1) / lanes;
  constexpr int part = D - (Q - 1) * lanes;
  constexpr int chains = D <= 4 ? 2 : 1;  // two rows at a time where one does not hide the latency of an addition
  Pack total[chains][D][Q] = {};
  const auto add_row = [&](Index i, Pack(&sum)[D][Q]) {
    const double* row = x + i * stride;
    const Pack weight = simd::splat(c[i]);
    Pack b[Q];
    TUTELAGE_UNROLL
    for (int q = 0; q < Q; ++q) {
      b[q] =
          weight * (q == Q - 1 && part < lanes ? simd::load_part(row + q * lanes, part) : simd::load(row + q * lanes));
    }
    TUTELAGE_UNROLL
    for (int p = 0; p < D; ++p) {
      const Pack a = simd::splat(row[p]);
      TUTELAGE_UNROLL
      for (int q = 0; q < Q; ++q) {
        if (q <= p / lanes) sum[p][q] = simd::fma(a, b[q], sum[p][q]);
      }
    }
  };
  Index i = 0;
  for (; i + chains <= rows; i += chains) {
    TUTELAGE_UNROLL
    for (int t = 0; t < chains; ++t) add_row(i + t, total[t]);
  }
  for (; i < rows; ++i) add_row(i, total[0]);
  TUTELAGE_UNROLL
  for (int p = 0; p < D; ++p) {
    TUTELAGE_UNROLL
    for (int q = 0; q < Q; ++q) {
      if (q > p / lanes) continue;
      TUTELAGE_UNROLL
      for (int t = 1; t < chains; ++t) total[0][p][q] += total[t][p][q];
      const int count = std::min(lanes, p + 1 - q * lanes);
      double* target = h + p * ldh + q * lanes;
      simd::store_part(target, simd::load_part(target, count) + total[0][p][q], count);
    }
  }
}

using DirectKernel = void (*)(Index, const double*, Index, const double*, double*, Index);

template <int... N>
constexpr std::array<DirectKernel, sizeof...(N)> direct_kernels(std::integer_sequence<int, N...>) {
  return {&direct_kernel<N + 1>...};
}
inline constexpr auto direct_table = direct_kernels(std::make_integer_sequence<int, direct_columns>{});

inline void add_direct(Index rows, Index columns, const double* x, Index stride, const double* c, double* h,
                       Index ldh) {
  if (columns > 0) direct_table[static_cast<std::size_t>(columns - 1)](rows, x, stride, c, h, ldh);
}

// ---- packing ------------------------------------------------------------------------------------------------------

/// Packs panels of Width columns from a C-ordered matrix whose rows stand `stride` apart. A few rows at a time: one row
/// across all panels would write to addresses that compete for the same few places in the first cache.
template <int Width, class T>
inline void pack_rows(const T* x, Index stride, Index rows, Index columns, const double* c, const double* shift,
                      double* out) {
  constexpr Index group = 16;
  for (Index start = 0; start < rows; start += group) {
    const Index end = std::min(rows, start + group);
    for (Index j = 0; j < columns; j += lanes) {
      const Index count = columns - j;
      double* to = out + j / Width * Width * rows + j % Width;
      const auto line = [&](auto get) {
        const Pack m = shift ? get(shift + j) : Pack{};
        for (Index i = start; i < end; ++i) {
          const T* from = x + i * stride + j;
          __builtin_prefetch(from + 2 * group * stride);
          Pack v = get(from) - m;
          if (c) v *= simd::splat(c[i]);
          simd::store(to + i * Width, v);
        }
      };
      if (count >= lanes) {
        line([](const auto* p) { return simd::load(p); });
      } else {
        line([count](const auto* p) { return simd::load_part(p, count); });
      }
    }
  }
}

/// Packs panels of Width columns from a Fortran-ordered matrix whose columns stand `stride` apart.
template <int Width, class T>
inline void pack_columns(const T* x, Index stride, Index rows, Index columns, const double* c, const double* shift,
                         double* out) {
  const auto square = [&](Index i, Index j, auto whole, Index width, Index height, auto get) {  // lanes x lanes numbers
    Pack v[lanes] = {};
    const Pack weight = c ? get(c + i) : Pack{};
    TUTELAGE_UNROLL
    for (int t = 0; t < lanes; ++t) {
      if (!whole() && t >= width) continue;
      v[t] = get(x + (j + t) * stride + i);
      if (shift) v[t] -= simd::splat(shift[j + t]);
      if (c) v[t] *= weight;
    }
    simd::transpose(v);
    double* to = out + j / Width * Width * rows + i * Width + j % Width;
    TUTELAGE_UNROLL
    for (int t = 0; t < lanes; ++t) {
      if (t < height) simd::store(to + t * Width, v[t]);
    }
  };
  const auto strip = [&](Index j, auto whole, Index width) {
    Index i = 0;
    for (; i + lanes <= rows; i += lanes)
      square(i, j, whole, width, lanes, [](const auto* p) { return simd::load(p); });
    if (i < rows) {
      const Index rest = rows - i;
      square(i, j, whole, width, rest, [rest](const auto* p) { return simd::load_part(p, rest); });
    }
  };
  Index j = 0;
  for (; j + lanes <= columns; j += lanes) strip(j, std::true_type{}, lanes);
  if (j < columns) strip(j, std::false_type{}, columns - j);
}

}  // namespace tutelage::sandwiches
