// Mixtures of many lines, for one or several sets of weights:
//
//     out(c, t) = sum_r s(r, c) a(r, t)        a: R x T, lines contiguous
//
// With a C-ordered X these are gradients (lines are rows, s = S); with a Fortran-ordered X scores (lines are columns,
// s = W'). Packs run along t; a tile of `out` stays in registers while the lines pass. One set of weights and long
// lines: eight lines at a time stream through `out` instead, which reads memory in long runs.
#pragma once
#include <algorithm>
#include <utility>

#include "core/machine/simd.hpp"
#include "core/matrices/outer.hpp"

namespace tutelage::mixtures {

using simd::lanes;
using simd::Pack;

/// Sets of weights up to which a tile is wide in t instead of tall in c, and its packs then.
inline constexpr int few = 3;
inline constexpr int few_packs = simd::registers == 32 ? 8 : 4;
/// Lines a tile sums before it moves on, when several groups of weights pass over them.
inline constexpr Index panel = 64;

/// s(r, c) at s[r * r_stride + c * c_stride].
struct Weights {
  const double* s;
  Index r_stride, c_stride;

  Weights from(Index r, Index c) const { return {s + r * r_stride + c * c_stride, r_stride, c_stride}; }
};

/// out(c, t) at out[c * stride + t], or turned, at out[t * stride + c].
struct Target {
  double* out;
  Index stride;
  bool turned;

  Target from(Index c, Index t) const { return {turned ? out + t * stride + c : out + c * stride + t, stride, turned}; }
};

template <int C, int D, bool Part, bool Add, class T>
void tile(const T* a, Index lda, Index lines, Weights w, Index width, Target to) {
  const Index last = width - (D - 1) * lanes;
  const auto total = outer::sum<C, D, Part>(lines, w.s, w.c_stride, w.r_stride, a, lda, last);
  if (to.turned) {
    outer::write_turned<Add>(total, to.out, to.stride, width);
  } else {
    outer::write<Add>(total, to.out, to.stride, width);
  }
}

/// A tile of any width up to D packs.
template <int C, int D, bool Add, class T>
inline void tile_up_to(const T* a, Index lda, Index lines, Weights w, Index width, Target to) {
  if constexpr (D > 0) {
    if (width == D * lanes) {
      tile<C, D, false, Add>(a, lda, lines, w, width, to);
    } else if (width > (D - 1) * lanes) {
      tile<C, D, true, Add>(a, lda, lines, w, width, to);
    } else {
      tile_up_to<C, D - 1, Add>(a, lda, lines, w, width, to);
    }
  }
}

/// out += R lines at once, for one set of weights: lines stream, `out` stays in cache.
template <int R, class T>
inline void stream(const T* a, Index lda, const double* s, Index s_stride, Index length, double* out) {
  Pack factor[R];
  TUTELAGE_UNROLL
  for (int r = 0; r < R; ++r) factor[r] = simd::splat(s[r * s_stride]);
  const auto mixed = [&](Index t, auto get) __attribute__((always_inline)) {
    Pack total = get(out + t);
    TUTELAGE_UNROLL
    for (int r = 0; r < R; ++r) total = simd::fma(factor[r], get(a + r * lda + t), total);
    return total;
  };
  Index t = 0;
  for (; t + lanes <= length; t += lanes) simd::store(out + t, mixed(t, [](const auto* p) { return simd::load(p); }));
  if (t < length) {
    const Index rest = length - t;
    simd::store_part(out + t, mixed(t, [rest](const auto* p) { return simd::load_part(p, rest); }), rest);
  }
}

/// Calls f(integral constant c) for the c in 1 ... Most that equals `size`.
template <int Most, class F>
inline void with_constant(Index size, F&& f) {
  if constexpr (Most > 0) {
    if (size == Most) {
      f(std::integral_constant<int, Most>{});
    } else {
      with_constant<Most - 1>(size, f);
    }
  }
}

template <bool Add, class T>
inline void panel_products(const T* a, Index lda, Index lines, Weights w, Index sets, Index length, Target to) {
  if (sets <= few) {
    constexpr Index width = few_packs * lanes;
    with_constant<few>(sets, [&](auto size) {
      constexpr int C = decltype(size)::value;
      for (Index t = 0; t < length; t += width) {
        tile_up_to<C, few_packs, Add>(a + t, lda, lines, w, std::min(width, length - t), to.from(0, t));
      }
    });
    return;
  }
  constexpr Index width = outer::widest * lanes;
  const Index groups = (sets + outer::tallest - 1) / outer::tallest;
  for (Index t = 0; t < length; t += width) {
    for (Index group = 0; group < groups; ++group) {
      const Index c = group * sets / groups, end = (group + 1) * sets / groups;
      with_constant<outer::tallest>(end - c, [&](auto size) {
        tile_up_to<decltype(size)::value, outer::widest, Add>(a + t, lda, lines, w.from(0, c),
                                                              std::min(width, length - t), to.from(c, t));
      });
    }
  }
}

/// out(c, t) = (or +=, when Add) sum_r s(r, c) a(r, t).
template <bool Add, class T>
inline void products(const T* a, Index lda, Index lines, Weights w, Index sets, Index length, Target to) {
  if (sets == 1 && length > few_packs * lanes && !(to.turned && to.stride != 1)) {
    if (!Add) std::fill_n(to.out, length, 0.0);
    constexpr int height = 8;
    Index r = 0;
    for (; r + height <= lines; r += height) {
      stream<height>(a + r * lda, lda, w.s + r * w.r_stride, w.r_stride, length, to.out);
    }
    for (; r < lines; ++r) stream<1>(a + r * lda, lda, w.s + r * w.r_stride, w.r_stride, length, to.out);
    return;
  }
  const Index height = sets <= few ? std::max<Index>(lines, 1) : panel;
  for (Index r = 0; r == 0 || r < lines; r += height) {
    const Index size = std::min(height, lines - r);
    if (Add || r > 0) {
      panel_products<true>(a + r * lda, lda, size, w.from(r, 0), sets, length, to);
    } else {
      panel_products<false>(a + r * lda, lda, size, w.from(r, 0), sets, length, to);
    }
  }
}

// ---- squares ------------------------------------------------------------------------------------------------------

/// out_t += sum_r s_r (a(r, t) - m_t)^2 over R lines; m may be null.
template <int R, class T>
inline void square_lines(const T* a, Index lda, const double* s, const double* m, Index length, double* out) {
  const auto squared = [&](Index t, auto get) __attribute__((always_inline)) {
    Pack total = get(out + t);
    const Pack centre = m ? get(m + t) : Pack{};
    TUTELAGE_UNROLL
    for (int r = 0; r < R; ++r) {
      const Pack x = get(a + r * lda + t) - centre;
      total = simd::fma(simd::splat(s[r]) * x, x, total);
    }
    return total;
  };
  Index t = 0;
  for (; t + lanes <= length; t += lanes) simd::store(out + t, squared(t, [](const auto* p) { return simd::load(p); }));
  if (t < length) {
    const Index rest = length - t;
    simd::store_part(out + t, squared(t, [rest](const auto* p) { return simd::load_part(p, rest); }), rest);
  }
}

template <class T>
inline void squares(const T* a, Index lda, Index lines, const double* s, const double* m, Index length, double* out) {
  Index r = 0;
  for (; r + 4 <= lines; r += 4) square_lines<4>(a + r * lda, lda, s + r, m, length, out);
  for (; r < lines; ++r) square_lines<1>(a + r * lda, lda, s + r, m, length, out);
}

}  // namespace tutelage::mixtures
