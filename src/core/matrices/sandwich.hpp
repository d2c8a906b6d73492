// H += sum_i c_i (x_i - m)(x_i - m)', the lower triangle, for a dense matrix in either order.
//
// The layout is that of a fast matrix product (Goto and van de Geijn 2008) with two changes: only tiles that meet the
// lower triangle are computed, and widening from float, subtracting m and multiplying by c happen while packing, where
// they cost one pass over d numbers a row against the d^2 / 2 products that follow. m is subtracted before
// the squares are taken: with columns of mean 1e8 and deviation 1 the other order leaves no digit.
//
// A stretch of `depth` rows is packed twice: into tall panels (P columns wide, the rows of H) and, times c, into wide
// panels (Q packs wide, the columns of H). The micro-kernel holds P x Q packs of H in registers and adds one row of X
// with Q loads, P broadcasts and P Q products.
#pragma once
#include <algorithm>

#include "core/concepts.hpp"
#include "core/machine/scratch.hpp"
#include "core/machine/simd.hpp"

namespace tutelage::sandwiches {

using simd::lanes;
using simd::Pack;

inline constexpr int tall = simd::registers == 32 ? 8 : 4;  // P
inline constexpr int packs = 3;                             // Q
inline constexpr int wide = packs * lanes;
inline constexpr Index depth = 256;                  // rows packed at a time: a tall panel stays in the first cache
inline constexpr Index breadth = 192 / wide * wide;  // columns of H at a time: their wide panels stay in the second

/// tile(p, q) += sum_i left[i][p] right[i][q] for Q packs of q, written for rows p < height and q <= p + diagonal only.
template <int Q>
inline void micro_kernel(Index rows, const double* left, const double* right, double* h, Index ldh, Index height,
                         Index width, Index diagonal) {
  Pack total[tall][Q] = {};
  for (Index i = 0; i < rows; ++i) {
    Pack b[Q];
    for (int q = 0; q < Q; ++q) b[q] = simd::load(right + i * wide + q * lanes);
    for (int p = 0; p < tall; ++p) {
      const Pack a = simd::splat(left[i * tall + p]);
      for (int q = 0; q < Q; ++q) total[p][q] = simd::fma(a, b[q], total[p][q]);
    }
  }
  const bool whole = height == tall && width >= Q * lanes && diagonal >= Q * lanes - 1;
  for (int p = 0; p < tall; ++p) {
    if (p >= height) break;
    for (int q = 0; q < Q; ++q) {
      double* target = h + p * ldh + q * lanes;
      const Index count = std::min(width, diagonal + p + 1) - q * lanes;
      if (whole || count >= lanes) {
        simd::store(target, simd::load(target) + total[p][q]);
      } else if (count > 0) {
        simd::store_part(target, simd::load_part(target, count) + total[p][q], count);
      }
    }
  }
}

/// H[p][q] += ... for p in `down`, q in `across`, q <= p; h points at H[down.first][across.first].
///
/// pack(first_row, rows, first_column, columns, width, weighted, out) writes panels of `width` columns, each rows x
/// width, padded with zeros.
template <class PackPanels>
inline void add(Block block, Block down, Block across, PackPanels&& pack, double* h, Index ldh) {
  struct Tall;
  struct Wide;
  across.count = std::min(across.count, down.first + down.count - across.first);
  if (block.count <= 0 || down.count <= 0 || across.count <= 0) return;
  const Index deepest = std::min(depth, block.count);
  double* left = scratch<Tall>((down.count + tall - 1) / tall * tall * deepest);
  double* right = scratch<Wide>((std::min(breadth, across.count) + wide - 1) / wide * wide * deepest);
  for (Index i = 0; i < block.count; i += depth) {
    const Index rows = std::min(depth, block.count - i);
    pack(block.first + i, rows, down.first, down.count, tall, false, left);
    for (Index group = 0; group < across.count; group += breadth) {
      const Index columns = std::min(breadth, across.count - group);
      pack(block.first + i, rows, across.first + group, columns, wide, true, right);
      for (Index p = 0; p < down.count; p += tall) {
        const Index height = std::min<Index>(tall, down.count - p);
        const Index last = down.first + p + height - (across.first + group);  // columns that meet the triangle
        for (Index q = 0; q < std::min(columns, last); q += wide) {
          const Index width = std::min<Index>(wide, columns - q);
          const Index diagonal = down.first + p - (across.first + group + q);
          const Index needed = std::min(width, last - q);
          double* target = h + p * ldh + group + q;
          const double* a = left + p * rows;
          const double* b = right + q * rows;
          if (needed > 2 * lanes) {
            micro_kernel<3>(rows, a, b, target, ldh, height, width, diagonal);
          } else if (needed > lanes) {
            micro_kernel<2>(rows, a, b, target, ldh, height, width, diagonal);
          } else {
            micro_kernel<1>(rows, a, b, target, ldh, height, width, diagonal);
          }
        }
      }
    }
  }
}

/// Packs panels from a C-ordered matrix.
template <class T>
inline void pack_rows(const T* x, Index ld, Index rows, Index first, Index columns, Index width, const double* c,
                      const double* shift, double* out) {
  for (Index j = 0; j < columns; j += width) {
    const Index filled = std::min(width, columns - j);
    const double* m = shift ? shift + first + j : nullptr;
    for (Index i = 0; i < rows; ++i) {
      const T* row = x + i * ld + first + j;
      const double weight = c ? c[i] : 1.0;
      for (Index t = 0; t < filled; ++t) {
        const double value = m ? static_cast<double>(row[t]) - m[t] : static_cast<double>(row[t]);
        out[t] = weight * value;
      }
      for (Index t = filled; t < width; ++t) out[t] = 0;
      out += width;
    }
  }
}

/// Packs panels from a Fortran-ordered matrix.
template <class T>
inline void pack_columns(const T* x, Index ld, Index rows, Index first, Index columns, Index width, const double* c,
                         const double* shift, double* out) {
  for (Index j = 0; j < columns; j += width) {
    for (Index t = 0; t < width; ++t) {
      if (j + t >= columns) {
        for (Index i = 0; i < rows; ++i) out[i * width + t] = 0;
        continue;
      }
      const T* column = x + (first + j + t) * ld;
      const double m = shift ? shift[first + j + t] : 0.0;
      for (Index i = 0; i < rows; ++i) {
        const double value = static_cast<double>(column[i]) - m;
        out[i * width + t] = c ? c[i] * value : value;
      }
    }
    out += rows * width;
  }
}

}  // namespace tutelage::sandwiches
