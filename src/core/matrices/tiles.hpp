// The two tall-skinny products on a dense block, both made of register tiles:
//
//     dots:      out(r, c) = sum_t a(r, t) b(c, t)        a: R x T, rows contiguous; b: C x T, rows contiguous
//     mixtures:  out(c, t) += sum_r s(r, c) a(r, t)       a: R x T, rows contiguous; out: C x T, rows contiguous
//
// With a C-ordered X, `a` is X: scores are dots and gradients are mixtures. With a Fortran-ordered X, `a` is X': scores
// are mixtures and gradients are dots. A tile of up to 8 x 3 running packs loads 8 + 3 operands for 24 products, so the
// arithmetic units and not the loads are the limit when `a` is in cache, and `a` is read once when it is not.
#pragma once
#include <algorithm>
#include <utility>

#include "core/machine/simd.hpp"

namespace tutelage::tiles {

using simd::lanes;
using simd::Pack;

/// Height of a tile of dots, for one and for several scores.
inline constexpr int dot_height(int scores) { return scores == 1 || simd::registers == 32 ? 8 : 4; }
/// Packs a tile of mixtures is wide.
inline constexpr int mixture_width = simd::registers == 32 ? 8 : 4;
/// Scores (columns of S or W) a tile serves at once.
inline constexpr int most_scores = 3;
/// A panel of the long dimension of the dots: 8 rows of it stay in the first-level cache.
inline constexpr Index dot_panel = 512;
/// Rows of `a` a tile of mixtures sums before it moves on, when several groups of scores pass over them.
inline constexpr Index mixture_panel = 64;

// ---- dots ---------------------------------------------------------------------------------------------------------

/// Every dot is summed in the same order whatever R and C: packs in sequence, then simd::sum.
template <int R, int C, bool Add, class T>
inline void dot_tile(const T* a, Index lda, const double* b, Index ldb, Index length, double* out, Index ldr,
                     Index ldc) {
  constexpr int padded = (R * C + lanes - 1) / lanes * lanes;
  Pack total[padded] = {};
  Index t = 0;
  for (; t + lanes <= length; t += lanes) {
    Pack right[C];
    for (int c = 0; c < C; ++c) right[c] = simd::load(b + c * ldb + t);
    for (int r = 0; r < R; ++r) {
      const Pack left = simd::load(a + r * lda + t);
      for (int c = 0; c < C; ++c) total[r * C + c] = simd::fma(left, right[c], total[r * C + c]);
    }
  }
  if (t < length) {
    const Index rest = length - t;
    Pack right[C];
    for (int c = 0; c < C; ++c) right[c] = simd::load_part(b + c * ldb + t, rest);
    for (int r = 0; r < R; ++r) {
      const Pack left = simd::load_part(a + r * lda + t, rest);
      for (int c = 0; c < C; ++c) total[r * C + c] = simd::fma(left, right[c], total[r * C + c]);
    }
  }
  double sums[padded];
  if constexpr (R * C == 1) {
    sums[0] = simd::sum(total[0]);
  } else {
    for (int i = 0; i < padded; i += lanes) simd::store(sums + i, simd::sum_each(total + i));
  }
  for (int r = 0; r < R; ++r) {
    for (int c = 0; c < C; ++c) {
      double& target = out[r * ldr + c * ldc];
      target = Add ? target + sums[r * C + c] : sums[r * C + c];
    }
  }
}

template <int C, bool Add, class T>
inline void dot_rows(const T* a, Index lda, Index rows, const double* b, Index ldb, Index length, double* out,
                     Index ldr, Index ldc) {
  constexpr int height = dot_height(C);
  Index r = 0;
  for (; r + height <= rows; r += height) {
    dot_tile<height, C, Add>(a + r * lda, lda, b, ldb, length, out + r * ldr, ldr, ldc);
  }
  for (; r < rows; ++r) dot_tile<1, C, Add>(a + r * lda, lda, b, ldb, length, out + r * ldr, ldr, ldc);
}

/// Calls f(first, size constant) for groups of 3, 2 or 1 scores, never a lone one when k > 1.
template <class F>
inline void score_groups(Index k, F&& f) {
  Index c = 0;
  while (c < k) {
    const Index left = k - c;
    if (left == 1) {
      f(c, std::integral_constant<int, 1>{});
      c += 1;
    } else if (left == 2 || left == 4) {
      f(c, std::integral_constant<int, 2>{});
      c += 2;
    } else {
      f(c, std::integral_constant<int, 3>{});
      c += 3;
    }
  }
}

/// out(r, c) = (or +=, when Add) sum_t a(r, t) b(c, t); out(r, c) stands at r ldr + c ldc.
template <bool Add, class T>
inline void dots(const T* a, Index lda, Index rows, const double* b, Index ldb, Index k, Index length, double* out,
                 Index ldr, Index ldc) {
  if (k == 1) return dot_rows<1, Add>(a, lda, rows, b, ldb, length, out, ldr, ldc);
  const Index panels = std::max<Index>(1, (length + dot_panel / 2) / dot_panel);
  const Index width = ((length + panels - 1) / panels + lanes - 1) / lanes * lanes;
  const Index group = dot_height(2);
  for (Index t = 0; t < length || t == 0; t += width) {
    const Index size = std::min(width, length - t);
    for (Index r = 0; r < rows; r += group) {
      const Index height = std::min(group, rows - r);
      score_groups(k, [&](Index c, auto scores) {
        constexpr int C = decltype(scores)::value;
        const T* left = a + r * lda + t;
        const double* right = b + c * ldb + t;
        double* target = out + r * ldr + c * ldc;
        if (Add || t > 0) {
          dot_rows<C, true>(left, lda, height, right, ldb, size, target, ldr, ldc);
        } else {
          dot_rows<C, false>(left, lda, height, right, ldb, size, target, ldr, ldc);
        }
      });
    }
    if (length == 0) break;
  }
}

// ---- mixtures -----------------------------------------------------------------------------------------------------

/// One tile of C x D packs over `rows` rows; the last pack of each holds `last` lanes when Part.
template <int C, int D, bool Part, class T>
inline void mixture_tile(const T* a, Index lda, Index rows, const double* s, Index s_row, Index s_score, double* out,
                         Index ldo, Index last) {
  Pack total[C][D] = {};
  for (Index r = 0; r < rows; ++r) {
    Pack factor[C];
    for (int c = 0; c < C; ++c) factor[c] = simd::splat(s[r * s_row + c * s_score]);
    const T* row = a + r * lda;
    for (int t = 0; t < D; ++t) {
      const Pack x = Part && t == D - 1 ? simd::load_part(row + t * lanes, last) : simd::load(row + t * lanes);
      for (int c = 0; c < C; ++c) total[c][t] = simd::fma(factor[c], x, total[c][t]);
    }
  }
  for (int c = 0; c < C; ++c) {
    for (int t = 0; t < D; ++t) {
      double* target = out + c * ldo + t * lanes;
      if (Part && t == D - 1) {
        simd::store_part(target, simd::load_part(target, last) + total[c][t], last);
      } else {
        simd::store(target, simd::load(target) + total[c][t]);
      }
    }
  }
}

/// The columns that are left when whole tiles are done: 1 to mixture_width packs, the last one perhaps partly filled.
template <int C, int D, class T>
inline void mixture_rest(Index columns, const T* a, Index lda, Index rows, const double* s, Index s_row, Index s_score,
                         double* out, Index ldo) {
  if constexpr (D == 0) {
    return;
  } else {
    if (columns > (D - 1) * lanes) {
      mixture_tile<C, D, true>(a, lda, rows, s, s_row, s_score, out, ldo, columns - (D - 1) * lanes);
    } else {
      mixture_rest<C, D - 1>(columns, a, lda, rows, s, s_row, s_score, out, ldo);
    }
  }
}

/// out += several rows at once, for one score: rows stream, `out` stays in cache.
template <int R, class T>
inline void mixture_stream(const T* a, Index lda, const double* s, Index s_row, Index length, double* out) {
  Pack factor[R];
  for (int r = 0; r < R; ++r) factor[r] = simd::splat(s[r * s_row]);
  Index t = 0;
  for (; t + lanes <= length; t += lanes) {
    Pack total = simd::load(out + t);
    for (int r = 0; r < R; ++r) total = simd::fma(factor[r], simd::load(a + r * lda + t), total);
    simd::store(out + t, total);
  }
  if (t < length) {
    const Index rest = length - t;
    Pack total = simd::load_part(out + t, rest);
    for (int r = 0; r < R; ++r) total = simd::fma(factor[r], simd::load_part(a + r * lda + t, rest), total);
    simd::store_part(out + t, total, rest);
  }
}

/// out(c, t) += sum_r s(r, c) a(r, t); s(r, c) stands at r s_row + c s_score, out(c, t) at c ldo + t.
template <class T>
inline void mixtures(const T* a, Index lda, Index rows, const double* s, Index s_row, Index s_score, Index k,
                     Index length, double* out, Index ldo) {
  constexpr Index width = mixture_width * lanes;
  if (k == 1 && length > width) {
    constexpr int height = 8;
    Index r = 0;
    for (; r + height <= rows; r += height) {
      mixture_stream<height>(a + r * lda, lda, s + r * s_row, s_row, length, out);
    }
    for (; r < rows; ++r) mixture_stream<1>(a + r * lda, lda, s + r * s_row, s_row, length, out);
    return;
  }
  const Index panel = k <= most_scores ? std::max<Index>(rows, 1) : mixture_panel;
  for (Index r = 0; r < rows; r += panel) {
    const Index height = std::min(panel, rows - r);
    for (Index t = 0; t < length; t += width) {
      score_groups(k, [&](Index c, auto scores) {
        constexpr int C = decltype(scores)::value;
        const T* left = a + r * lda + t;
        const double* factor = s + r * s_row + c * s_score;
        double* target = out + c * ldo + t;
        if (t + width <= length) {
          mixture_tile<C, mixture_width, false>(left, lda, height, factor, s_row, s_score, target, ldo, 0);
        } else {
          mixture_rest<C, mixture_width>(length - t, left, lda, height, factor, s_row, s_score, target, ldo);
        }
      });
    }
  }
}

}  // namespace tutelage::tiles
