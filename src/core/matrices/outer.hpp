// The register tile that both products with several scores are made of:
//
//     tile(p, q) = sum_t s(p, t) b(t, q)       p < P,  q < Q packs
//
// One step of t loads Q packs, broadcasts P numbers and makes P Q products: with 8 x 3 the arithmetic units are the
// limit even when the packs straddle cache lines. s(p, t) stands at s[p * s_p + t * s_t] and pack q of b at
// b + t * b_t + q * lanes; either may be float.
#pragma once
#include <cstring>

#include "core/machine/simd.hpp"
#include "core/machine/turn.hpp"

namespace tutelage::outer {

using simd::lanes;
using simd::Pack;
using simd::turn;

inline constexpr int tallest = simd::registers == 32 ? 8 : 4;  // P
inline constexpr int widest = 3;                               // Q, when P is tallest

template <int P, int Q>
struct Tile {
  Pack at[P][Q];
};

/// The last pack of b holds `last` numbers when Part.
template <int P, int Q, bool Part, class S, class B>
TUTELAGE_INLINE Tile<P, Q> sum(Index length, const S* s, Index s_p, Index s_t, const B* b, Index b_t, Index last) {
  Tile<P, Q> total{};
  for (Index t = 0; t < length; ++t) {
    Pack right[Q];
    TUTELAGE_UNROLL
    for (int q = 0; q < Q; ++q) {
      const B* from = b + t * b_t + q * lanes;
      right[q] = Part && q == Q - 1 ? simd::load_part(from, last) : simd::load(from);
    }
    TUTELAGE_UNROLL
    for (int p = 0; p < P; ++p) {
      const Pack left = simd::splat(static_cast<double>(s[p * s_p + t * s_t]));
      TUTELAGE_UNROLL
      for (int q = 0; q < Q; ++q) total.at[p][q] = simd::fma(left, right[q], total.at[p][q]);
    }
  }
  return total;
}

/// out(p, q) = (or +=, when Add) the tile, its packs along memory: entry (p, j) at out[p * ldo + j], j < width.
template <bool Add, int P, int Q>
TUTELAGE_INLINE void write(const Tile<P, Q>& tile, double* out, Index ldo, Index width) {
  TUTELAGE_UNROLL
  for (int p = 0; p < P; ++p) {
    TUTELAGE_UNROLL
    for (int q = 0; q < Q; ++q) {
      double* to = out + p * ldo + q * lanes;
      const Index count = width - q * lanes;
      if (count >= lanes) {
        simd::store(to, Add ? simd::load(to) + tile.at[p][q] : tile.at[p][q]);
      } else if (count > 0) {
        simd::store_part(to, Add ? simd::load_part(to, count) + tile.at[p][q] : tile.at[p][q], count);
      }
    }
  }
}

/// The tile turned: entry (p, j) at out[j * ldo + p], j < width.
template <bool Add, int P, int Q>
TUTELAGE_INLINE void write_turned(const Tile<P, Q>& tile, double* out, Index ldo, Index width) {
  double flat[P * Q * lanes];
  std::memcpy(flat, &tile, sizeof flat);
  turn<Add>(flat, Q * lanes, P, width, out, ldo);
}

}  // namespace tutelage::outer
