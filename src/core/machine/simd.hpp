// Packs of doubles of the widest register this variant is compiled for, and the sums and products every matrix uses.
//
// Written with the vector extensions of GCC and Clang, so one source serves SSE2, AVX2, AVX-512 and NEON; intrinsics
// appear only for loads and stores of part of a pack. Every sum is made in an order that depends on the length alone:
// no result depends on alignment, on neighbouring rows or on threads.
#pragma once
#include <array>
#include <cstring>

#include "core/machine/index.hpp"
#include "core/machine/inline.hpp"

#if defined(__AVX512F__) && defined(__AVX512VL__)
#define TUTELAGE_MASKS_512 1
#elif defined(__AVX__)
#define TUTELAGE_MASKS_256 1
#endif
#if defined(TUTELAGE_MASKS_512) || defined(TUTELAGE_MASKS_256)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define TUTELAGE_LANES 8
#elif defined(__AVX__)
#define TUTELAGE_LANES 4
#else
#define TUTELAGE_LANES 2
#endif

// Before a loop of constant length over an array of packs: only when it is unrolled can the packs live in registers.
#if defined(__clang__)
#define TUTELAGE_UNROLL _Pragma("clang loop unroll(full)")
#else
#define TUTELAGE_UNROLL _Pragma("GCC unroll 32")
#endif

namespace tutelage::simd {

inline constexpr int lanes = TUTELAGE_LANES;

#if defined(__AVX512F__) || defined(__aarch64__)
inline constexpr int registers = 32;
#else
inline constexpr int registers = 16;
#endif

typedef double Pack __attribute__((vector_size(lanes * sizeof(double))));
typedef float FloatPack __attribute__((vector_size(lanes * sizeof(float))));

// ---- loads and stores ---------------------------------------------------------------------------------------------

TUTELAGE_INLINE Pack splat(double a) { return a - Pack{}; }

TUTELAGE_INLINE Pack load(const double* p) {
  Pack v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

/// The same numbers as doubles. GCC 12 makes four instructions of the portable form where one does it. (The mask is
/// full; without it GCC's own header provokes a warning.)
TUTELAGE_INLINE Pack widen(FloatPack v) {
#if defined(__AVX512F__)
  return (Pack)_mm512_maskz_cvtps_pd(0xff, (__m256)v);
#elif defined(__AVX__)
  return (Pack)_mm256_cvtps_pd((__m128)v);
#else
  return __builtin_convertvector(v, Pack);
#endif
}

TUTELAGE_INLINE Pack load(const float* p) {
  FloatPack v;
  std::memcpy(&v, p, sizeof v);
  return widen(v);
}

TUTELAGE_INLINE void store(double* p, Pack v) { std::memcpy(p, &v, sizeof v); }

#if defined(TUTELAGE_MASKS_256)
TUTELAGE_INLINE __m256i first_lanes(Index count) {
  alignas(64) static constexpr long long table[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(table + 4 - count));
}
TUTELAGE_INLINE __m128i first_float_lanes(Index count) {
  alignas(64) static constexpr int table[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(table + 4 - count));
}
#endif

/// The first `count` lanes (1 to lanes) from memory and zeros after them; nothing beyond them is touched.
TUTELAGE_INLINE Pack load_part(const double* p, Index count) {
#if defined(TUTELAGE_MASKS_512)
  return (Pack)_mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << count) - 1), p);
#elif defined(TUTELAGE_MASKS_256)
  return (Pack)_mm256_maskload_pd(p, first_lanes(count));
#else
  Pack v{};
  for (Index i = 0; i < count; ++i) v[i] = p[i];
  return v;
#endif
}

TUTELAGE_INLINE Pack load_part(const float* p, Index count) {
#if defined(TUTELAGE_MASKS_512)
  return widen((FloatPack)_mm256_maskz_loadu_ps(static_cast<__mmask8>((1u << count) - 1), p));
#elif defined(TUTELAGE_MASKS_256)
  return widen((FloatPack)_mm_maskload_ps(p, first_float_lanes(count)));
#else
  Pack v{};
  for (Index i = 0; i < count; ++i) v[i] = p[i];
  return v;
#endif
}

TUTELAGE_INLINE void store_part(double* p, Pack v, Index count) {
#if defined(TUTELAGE_MASKS_512)
  _mm512_mask_storeu_pd(p, static_cast<__mmask8>((1u << count) - 1), (__m512d)v);
#elif defined(TUTELAGE_MASKS_256)
  _mm256_maskstore_pd(p, first_lanes(count), (__m256d)v);
#else
  for (Index i = 0; i < count; ++i) p[i] = v[i];
#endif
}

/// a * b + c, in one rounding where the processor has it (both compilers contract this expression).
TUTELAGE_INLINE Pack fma(Pack a, Pack b, Pack c) { return a * b + c; }

// ---- sums across a pack -------------------------------------------------------------------------------------------

/// ((v0 + v1) + (v2 + v3)) + ((v4 + v5) + (v6 + v7)), and shorter for fewer lanes.
TUTELAGE_INLINE double sum(Pack v) {
#if TUTELAGE_LANES == 8
  v += __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6);
  v += __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5);
  return v[0] + v[4];
#elif TUTELAGE_LANES == 4
  v += __builtin_shufflevector(v, v, 1, 0, 3, 2);
  return v[0] + v[2];
#else
  return v[0] + v[1];
#endif
}

/// Lane i is sum(v[i]), to the last bit, for as many packs as a pack has lanes.
TUTELAGE_INLINE Pack sum_each(const Pack* v) {
#if TUTELAGE_LANES == 8
  Pack pairs[4], fours[2];
  TUTELAGE_UNROLL
  for (int i = 0; i < 4; ++i) {
    const Pack a = v[2 * i], b = v[2 * i + 1];
    pairs[i] = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14) +
               __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
  }
  TUTELAGE_UNROLL
  for (int i = 0; i < 2; ++i) {
    const Pack a = pairs[2 * i], b = pairs[2 * i + 1];
    fours[i] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13) +
               __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
  }
  return __builtin_shufflevector(fours[0], fours[1], 0, 1, 2, 3, 8, 9, 10, 11) +
         __builtin_shufflevector(fours[0], fours[1], 4, 5, 6, 7, 12, 13, 14, 15);
#elif TUTELAGE_LANES == 4
  Pack pairs[2];
  TUTELAGE_UNROLL
  for (int i = 0; i < 2; ++i) {
    const Pack a = v[2 * i], b = v[2 * i + 1];
    pairs[i] = __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7);
  }
  return __builtin_shufflevector(pairs[0], pairs[1], 0, 1, 4, 5) +
         __builtin_shufflevector(pairs[0], pairs[1], 2, 3, 6, 7);
#else
  return __builtin_shufflevector(v[0], v[1], 0, 2) + __builtin_shufflevector(v[0], v[1], 1, 3);
#endif
}

/// Turns lanes x lanes numbers over their diagonal: lane j of v[i] becomes lane i of v[j].
TUTELAGE_INLINE void transpose(Pack* v) {
#if TUTELAGE_LANES == 8
  Pack a[8], b[8];
  TUTELAGE_UNROLL
  for (int i = 0; i < 8; i += 2) {
    a[i] = __builtin_shufflevector(v[i], v[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    a[i + 1] = __builtin_shufflevector(v[i], v[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  TUTELAGE_UNROLL
  for (int i = 0; i < 8; i += 4) {
    for (int j = i; j < i + 2; ++j) {
      b[j] = __builtin_shufflevector(a[j], a[j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      b[j + 2] = __builtin_shufflevector(a[j], a[j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  }
  TUTELAGE_UNROLL
  for (int j = 0; j < 4; ++j) {
    v[j] = __builtin_shufflevector(b[j], b[j + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    v[j + 4] = __builtin_shufflevector(b[j], b[j + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
#elif TUTELAGE_LANES == 4
  Pack a[4];
  TUTELAGE_UNROLL
  for (int i = 0; i < 4; i += 2) {
    a[i] = __builtin_shufflevector(v[i], v[i + 1], 0, 4, 2, 6);
    a[i + 1] = __builtin_shufflevector(v[i], v[i + 1], 1, 5, 3, 7);
  }
  TUTELAGE_UNROLL
  for (int j = 0; j < 2; ++j) {
    v[j] = __builtin_shufflevector(a[j], a[j + 2], 0, 1, 4, 5);
    v[j + 2] = __builtin_shufflevector(a[j], a[j + 2], 2, 3, 6, 7);
  }
#else
  const Pack a = v[0], b = v[1];
  v[0] = __builtin_shufflevector(a, b, 0, 2);
  v[1] = __builtin_shufflevector(a, b, 1, 3);
#endif
}

// ---- vectors ------------------------------------------------------------------------------------------------------

/// sum_i term(i), where term(i, load) gives the pack that starts at i; eight running sums hide the latency of addition.
template <class Term>
TUTELAGE_INLINE double accumulate(Index n, Term&& term) {
  constexpr int chains = 8;
  constexpr Index step = chains * lanes;
  Pack total[chains] = {};
  Index i = 0;
  for (; i + step <= n; i += step) {
    TUTELAGE_UNROLL
    for (int c = 0; c < chains; ++c) {
      total[c] = term(i + c * lanes, [](const auto* p) { return load(p); }, total[c]);
    }
  }
  for (int c = 0; i + lanes <= n; i += lanes, ++c) {
    total[c] = term(i, [](const auto* p) { return load(p); }, total[c]);
  }
  if (i < n) {
    const Index rest = n - i;
    total[chains - 1] = term(i, [rest](const auto* p) { return load_part(p, rest); }, total[chains - 1]);
  }
  for (int half = chains / 2; half > 0; half /= 2) {
    for (int c = 0; c < half; ++c) total[c] += total[c + half];
  }
  return sum(total[0]);
}

/// sum_i x_i r_i
template <class T>
inline double dot(const T* x, const double* r, Index n) {
  return accumulate(n, [=](Index i, auto&& get, Pack total) { return fma(get(x + i), get(r + i), total); });
}

/// sum_i c_i x_i r_i
template <class T>
inline double dot(const T* x, const double* r, const double* c, Index n) {
  return accumulate(n,
                    [=](Index i, auto&& get, Pack total) { return fma(get(x + i) * get(c + i), get(r + i), total); });
}

/// sum_i x_i
template <class T>
inline double sum(const T* x, Index n) {
  return accumulate(n, [=](Index i, auto&& get, Pack total) { return total + get(x + i); });
}

/// sums_c += sum_i x_ic, x row by row.
inline void add_column_sums(const double* x, Index rows, Index columns, double* sums) {
  if (columns == 1) {
    sums[0] += sum(x, rows);
    return;
  }
  Index i = 0;
  for (; i + 4 <= rows; i += 4) {  // four rows at a time: a sum waits for its memory once instead of four times
    const double* r = x + i * columns;
#pragma omp simd
    for (Index c = 0; c < columns; ++c) sums[c] += (r[c] + r[columns + c]) + (r[2 * columns + c] + r[3 * columns + c]);
  }
  for (; i < rows; ++i) {
#pragma omp simd
    for (Index c = 0; c < columns; ++c) sums[c] += x[i * columns + c];
  }
}

/// sums_c += sum_i |x_ic|, x row by row.
inline void add_column_sizes(const double* x, Index rows, Index columns, double* sums) {
  if (columns == 1) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (Index i = 0; i < rows; ++i) sum += __builtin_fabs(x[i]);
    sums[0] += sum;
    return;
  }
  for (Index i = 0; i < rows; ++i) {
#pragma omp simd
    for (Index c = 0; c < columns; ++c) sums[c] += __builtin_fabs(x[i * columns + c]);
  }
}

/// sum_i x_i^2
template <class T>
inline double square(const T* x, Index n) {
  return accumulate(n, [=](Index i, auto&& get, Pack total) {
    const Pack v = get(x + i);
    return fma(v, v, total);
  });
}

/// sum_i c_i x_i^2
template <class T>
inline double square(const T* x, const double* c, Index n) {
  return accumulate(n, [=](Index i, auto&& get, Pack total) {
    const Pack v = get(x + i);
    return fma(v * get(c + i), v, total);
  });
}

/// sum_i c_i (x_i - m)^2; c may be null.
template <class T>
inline double centred_square(const T* x, const double* c, double m, Index n) {
  const Pack centre = splat(m);
  const auto squared = [=](auto weighted) {
    return accumulate(n, [=](Index i, auto&& get, Pack total) {
      const Pack v = get(x + i) - centre;
      return fma(v * weighted(i, get), v, total);
    });
  };
  if (c) return squared([c](Index i, auto&& get) { return get(c + i); });
  // Lanes beyond the end hold -m: their squares are taken back by giving them no weight.
  static constexpr auto ones = [] {
    std::array<double, 2 * lanes> v{};
    for (std::size_t i = 0; i < lanes; ++i) v[i] = 1.0;
    return v;
  }();
  const Index whole = n / lanes * lanes;
  return squared([=](Index i, auto&&) { return load(ones.data() + (i < whole ? 0 : lanes - (n - whole))); });
}

/// z += a x
template <class T>
inline void add(double a, const T* x, double* z, Index n) {
  const Pack factor = splat(a);
  Index i = 0;
  for (; i + lanes <= n; i += lanes) store(z + i, fma(factor, load(x + i), load(z + i)));
  if (i < n) store_part(z + i, fma(factor, load_part(x + i, n - i), load_part(z + i, n - i)), n - i);
}

}  // namespace tutelage::simd
