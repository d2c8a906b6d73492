// Dot products of many long lines with a few vectors:
//
//     out(r, c) = sum_t a(r, t) b(c, t)        a: R x T, lines contiguous
//
// With a C-ordered X these are the scores (lines are rows, b = W); with a Fortran-ordered X the gradient (lines are
// columns, b = S'). Up to three vectors: packs run along t and are summed across at the end. More: b is packed with the
// c of one t adjacent, packs run along c, and the numbers of a are broadcast; nothing is summed across.
#pragma once
#include <algorithm>
#include <utility>

#include "core/machine/scratch.hpp"
#include "core/machine/simd.hpp"
#include "core/matrices/outer.hpp"

namespace tutelage::dots {

using simd::lanes;
using simd::Pack;

/// Vectors up to which packs run along t.
inline constexpr Index few = 3;
/// Lines in a tile, for one and for several vectors.
inline constexpr int height(int vectors) { return vectors == 1 || simd::registers == 32 ? 8 : 4; }
/// Bytes of packed b that stay in the second-level cache while lines pass over them.
inline constexpr Index packed_bytes = 256 * 1024;

/// Where out(r, c) stands, and whether it is added to.
struct Target {
  double* out;
  Index r, c;

  Target from(Index row, Index column) const { return {out + row * r + column * c, r, c}; }
};

// ---- few vectors --------------------------------------------------------------------------------------------------

/// Every dot is summed in the same order whatever R and C: packs in sequence, then simd::sum.
template <int R, int C, bool Add, class T>
inline void tile(const T* a, Index lda, const double* b, Index ldb, Index length, Target target) {
  constexpr int padded = (R * C + lanes - 1) / lanes * lanes;
  Pack total[padded] = {};
  const auto step = [&](Index t, auto get) __attribute__((always_inline)) {
    Pack right[C];
    TUTELAGE_UNROLL
    for (int c = 0; c < C; ++c) right[c] = get(b + c * ldb + t);
    TUTELAGE_UNROLL
    for (int r = 0; r < R; ++r) {
      const Pack left = get(a + r * lda + t);
      TUTELAGE_UNROLL
      for (int c = 0; c < C; ++c) total[r * C + c] = simd::fma(left, right[c], total[r * C + c]);
    }
  };
  Index t = 0;
  for (; t + lanes <= length; t += lanes) step(t, [](const auto* p) { return simd::load(p); });
  if (t < length) step(t, [rest = length - t](const auto* p) { return simd::load_part(p, rest); });
  if (!Add && C == 1 && R == lanes && target.r == 1) {
    simd::store(target.out, simd::sum_each(total));
    return;
  }
  double sums[padded];
  if constexpr (R * C == 1) {
    sums[0] = simd::sum(total[0]);
  } else {
    TUTELAGE_UNROLL
    for (int i = 0; i < padded; i += lanes) simd::store(sums + i, simd::sum_each(total + i));
  }
  TUTELAGE_UNROLL
  for (int r = 0; r < R; ++r) {
    TUTELAGE_UNROLL
    for (int c = 0; c < C; ++c) {
      double& to = target.out[r * target.r + c * target.c];
      to = Add ? to + sums[r * C + c] : sums[r * C + c];
    }
  }
}

template <int C, bool Add, class T>
inline void with_few(const T* a, Index lda, Index lines, const double* b, Index ldb, Index length, Target to) {
  constexpr int R = height(C);
  Index r = 0;
  for (; r + R <= lines; r += R) tile<R, C, Add>(a + r * lda, lda, b, ldb, length, to.from(r, 0));
  for (; r < lines; ++r) tile<1, C, Add>(a + r * lda, lda, b, ldb, length, to.from(r, 0));
}

// ---- many vectors -------------------------------------------------------------------------------------------------

/// b(t, c) at b[t * stride_t + c * stride_c] into groups of up to 3 packs of c, the packs of one t adjacent; one of the
/// strides is 1.
inline void pack(const double* b, Index stride_t, Index stride_c, Index length, Index vectors, double* out) {
  for (Index c = 0; c < vectors; c += lanes) {
    const Index group = c / (outer::widest * lanes) * (outer::widest * lanes);
    const Index packs = std::min<Index>(outer::widest, (vectors - group + lanes - 1) / lanes);
    double* to = out + group * length + (c - group);
    const Index step = packs * lanes, count = std::min<Index>(lanes, vectors - c);
    const double* from = b + c * stride_c;
    if (stride_c == 1) {
      for (Index t = 0; t < length; ++t) simd::store(to + t * step, simd::load_part(from + t * stride_t, count));
    } else {
      outer::turn<false>(from, stride_c, count, length, to, step);
      for (Index t = 0; t < length && count < lanes; ++t) std::fill(to + t * step + count, to + t * step + lanes, 0.0);
    }
  }
}

template <int P, int Q, bool Add, class T>
void packed_tile(const T* a, Index lda, const double* b, Index length, Index width, Target to) {
  const auto total = outer::sum<P, Q, false>(length, a, lda, Index{1}, b, Q * lanes, 0);
  if (to.c == 1) {
    outer::write<Add>(total, to.out, to.r, width);
  } else {
    outer::write_turned<Add>(total, to.out, to.c, width);
  }
}

template <int P, bool Add, class T>
inline void packed_line(const T* a, Index lda, const double* b, Index length, Index vectors, Target to) {
  for (Index c = 0; c < vectors; c += outer::widest * lanes) {
    const Index width = std::min<Index>(outer::widest * lanes, vectors - c);
    const double* group = b + c * length;
    if (width > 2 * lanes) {
      packed_tile<P, 3, Add>(a, lda, group, length, width, to.from(0, c));
    } else if (width > lanes) {
      packed_tile<P, 2, Add>(a, lda, group, length, width, to.from(0, c));
    } else {
      packed_tile<P, 1, Add>(a, lda, group, length, width, to.from(0, c));
    }
  }
}

template <bool Add, class T>
inline void with_packed(const T* a, Index lda, Index lines, const double* b, Index length, Index vectors, Target to) {
  Index r = 0;
  const auto lines_of = [&](auto size) {
    constexpr int P = decltype(size)::value;
    for (; r + P <= lines; r += P) packed_line<P, Add>(a + r * lda, lda, b, length, vectors, to.from(r, 0));
  };
  lines_of(std::integral_constant<int, outer::tallest>{});
  if constexpr (outer::tallest > 4) lines_of(std::integral_constant<int, 4>{});
  lines_of(std::integral_constant<int, 2>{});
  lines_of(std::integral_constant<int, 1>{});
}

// ---- any number ---------------------------------------------------------------------------------------------------

/// out(r, c) = (or +=, when Add) sum_t a(r, t) b(t, c), with b(t, c) at b[t * stride_t + c * stride_c]; stride_t or
/// stride_c is 1.
template <bool Add, class T>
inline void products(const T* a, Index lda, Index lines, const double* b, Index stride_t, Index stride_c, Index vectors,
                     Index length, Target to) {
  struct Vectors;
  if (vectors <= few) {
    if (stride_t != 1) {
      double* turned = scratch<Vectors>(vectors * length);
      outer::turn<false>(b, stride_t, length, vectors, turned, length);
      b = turned;
      stride_c = length;
    }
    if (vectors == 1) with_few<1, Add>(a, lda, lines, b, stride_c, length, to);
    if (vectors == 2) with_few<2, Add>(a, lda, lines, b, stride_c, length, to);
    if (vectors == 3) with_few<3, Add>(a, lda, lines, b, stride_c, length, to);
    return;
  }
  const Index padded = (vectors + lanes - 1) / lanes * lanes;
  const Index panel = std::max<Index>(64, packed_bytes / static_cast<Index>(sizeof(double)) / padded);
  double* packed = scratch<Vectors>(padded * std::min(panel, std::max<Index>(length, 1)));
  for (Index t = 0; t == 0 || t < length; t += panel) {
    const Index size = std::min(panel, length - t);
    pack(b + t * stride_t, stride_t, stride_c, size, vectors, packed);
    if (Add || t > 0) {
      with_packed<true>(a + t, lda, lines, packed, size, vectors, to);
    } else {
      with_packed<false>(a + t, lda, lines, packed, size, vectors, to);
    }
  }
}

}  // namespace tutelage::dots
