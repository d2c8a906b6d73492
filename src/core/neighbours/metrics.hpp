// Distances, as scalar mathematics: what one coordinate of a pair of rows adds, and what the sums amount to.
//
// A metric owns no loop. `add` puts the coordinates a and b of two rows into a few running parts, for V a double or a
// pack of eight; `rank` is a number that orders pairs as their distance does and costs less; `distance` is the distance
// itself. Coordinates that are zero in both rows add nothing, so sparse rows visit stored entries alone, and short rows
// may be filled up.
//
// Parts are summed (Chebyshev: maximised) in one order everywhere: coordinate j into accumulator j mod 8, accumulators
// by halves. Brute force, trees and sparse rows therefore give the same bits, on every processor; the files that use
// this header are compiled without contraction of products and sums.
#pragma once
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/machine/index.hpp"
#include "core/machine/inline.hpp"
#include "core/machine/simd.hpp"

// Packs of eight doubles are passed only between functions of one object, so that it does not matter how.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

namespace tutelage::neighbours {

inline constexpr Index width = 8;  // rows in a panel, accumulators in a sum: the same on every processor
typedef double Lanes __attribute__((vector_size(width * sizeof(double))));
typedef long long LaneMask __attribute__((vector_size(width * sizeof(double))));

namespace scalar {

template <class V>
TUTELAGE_INLINE V larger(V a, V b) {
  return a < b ? b : a;
}
template <class V>
TUTELAGE_INLINE V magnitude(V a) {
  return larger(a, -a);
}
/// 1 where the fact holds, 0 elsewhere.
TUTELAGE_INLINE double one_where(bool fact) { return fact ? 1.0 : 0.0; }
TUTELAGE_INLINE Lanes one_where(LaneMask fact) { return fact ? Lanes{} + 1.0 : Lanes{}; }
template <class V>
TUTELAGE_INLINE V zero_unless_number(V a) {
  return a == a ? a : V{};
}
inline double power(double a, double p) { return std::pow(a, p); }
TUTELAGE_INLINE Lanes power(Lanes a, double p) {
  for (Index l = 0; l < width; ++l) a[l] = std::pow(a[l], p);
  return a;
}

}  // namespace scalar

/// How parts of two accumulators become one.
struct Sums {
  template <class V>
  TUTELAGE_INLINE static V join(V a, V b) {
    return a + b;
  }
};

/// Metrics whose rank is their one part.
struct OnePart : Sums {
  static constexpr int parts = 1;
  static double rank(const double* s) { return s[0]; }
};

template <class M>
concept Metric = requires(const M m, double* parts, const double* done, double number) {
  { M::parts } -> std::convertible_to<int>;
  { M::box } -> std::convertible_to<bool>;       // grows with |a - b| in every coordinate: boxes bound it from below
  { M::triangle } -> std::convertible_to<bool>;  // obeys the triangle inequality: balls bound it from below
  m.add(parts, number, number);
  { m.rank(done) } -> std::same_as<double>;
  { m.distance(number) } -> std::same_as<double>;  // of a rank
  { m.reach(number) } -> std::same_as<double>;     // of a distance: no rank above it belongs to that distance
};

/// sqrt(sum (a - b)^2), or its square or half its square.
struct Euclidean : OnePart {
  enum class Form { root, square, half } form = Form::root;
  static constexpr bool box = true;
  bool triangle_holds() const { return form == Form::root; }
  static constexpr bool triangle = true;

  template <class V>
  TUTELAGE_INLINE void add(V* s, V a, V b) const {
    const V gap = a - b;
    s[0] += gap * gap;
  }
  double distance(double rank) const {
    return form == Form::root ? std::sqrt(rank) : form == Form::square ? rank : rank / 2;
  }
  double reach(double distance) const {
    return (form == Form::root ? distance * distance : form == Form::square ? distance : 2 * distance) * (1 + 1e-14);
  }
};

/// sum |a - b|
struct Manhattan : OnePart {
  static constexpr bool box = true, triangle = true;
  template <class V>
  TUTELAGE_INLINE void add(V* s, V a, V b) const {
    s[0] += scalar::magnitude(V(a - b));
  }
  double distance(double rank) const { return rank; }
  double reach(double distance) const { return distance; }
};

/// max |a - b|
struct Chebyshev : OnePart {
  static constexpr bool box = true, triangle = true;
  template <class V>
  TUTELAGE_INLINE static V join(V a, V b) {
    return scalar::larger(a, b);
  }
  template <class V>
  TUTELAGE_INLINE void add(V* s, V a, V b) const {
    s[0] = scalar::larger(s[0], scalar::magnitude(V(a - b)));
  }
  double distance(double rank) const { return rank; }
  double reach(double distance) const { return distance; }
};

/// (sum |a - b|^p)^(1/p)
struct Minkowski : OnePart {
  double p = 3;
  static constexpr bool box = true, triangle = true;
  template <class V>
  TUTELAGE_INLINE void add(V* s, V a, V b) const {
    s[0] += scalar::power(scalar::magnitude(V(a - b)), p);
  }
  double distance(double rank) const { return std::pow(rank, 1 / p); }
  double reach(double distance) const { return std::pow(distance, p) * (1 + 1e-12); }
};

/// sum |a - b| / (|a| + |b|), where 0 / 0 is 0
struct Canberra : OnePart {
  static constexpr bool box = false, triangle = true;
  template <class V>
  TUTELAGE_INLINE void add(V* s, V a, V b) const {
    s[0] += scalar::zero_unless_number(V(scalar::magnitude(V(a - b)) / (scalar::magnitude(a) + scalar::magnitude(b))));
  }
  double distance(double rank) const { return rank; }
  double reach(double distance) const { return distance; }
};

/// The share of coordinates that differ.
struct Hamming : OnePart {
  double columns = 1;
  static constexpr bool box = false, triangle = true;
  template <class V>
  TUTELAGE_INLINE void add(V* s, V a, V b) const {
    s[0] += scalar::one_where(a != b);
  }
  double distance(double rank) const { return rank / columns; }
  double reach(double distance) const { return distance * columns * (1 + 1e-14); }
};

/// Metrics whose rank is the distance, made of several parts.
struct Ratio : Sums {
  static double distance(double rank) { return rank; }
  static double reach(double distance) { return distance; }
  /// 0 / 0 is 0: rows that have nothing to tell them apart.
  static double ratio(double above, double below) { return above == 0 ? 0.0 : above / below; }
};

/// sum |a - b| / sum |a + b|
struct BrayCurtis : Ratio {
  static constexpr int parts = 2;
  static constexpr bool box = false, triangle = false;
  template <class V>
  TUTELAGE_INLINE void add(V* s, V a, V b) const {
    s[0] += scalar::magnitude(V(a - b));
    s[1] += scalar::magnitude(V(a + b));
  }
  double rank(const double* s) const { return ratio(s[0], s[1]); }
};

/// Rows of zeros and ones, compared by how often they agree on one (both) and differ (either way).
struct Boolean : Ratio {
  enum class Formula { jaccard, dice, rogers_tanimoto, russell_rao, sokal_sneath, yule } formula = Formula::jaccard;
  double columns = 1;
  static constexpr int parts = 3;
  static constexpr bool box = false, triangle = true;
  bool triangle_holds() const {
    return formula == Formula::jaccard || formula == Formula::rogers_tanimoto || formula == Formula::sokal_sneath;
  }

  template <class V>
  TUTELAGE_INLINE void add(V* s, V a, V b) const {
    const V both = a * b;
    s[0] += both;
    s[1] += a - both;
    s[2] += b - both;
  }
  double rank(const double* s) const {
    const double both = s[0], differ = s[1] + s[2], cross = s[1] * s[2];
    switch (formula) {
      case Formula::jaccard:
        return ratio(differ, both + differ);
      case Formula::dice:
        return ratio(differ, 2 * both + differ);
      case Formula::rogers_tanimoto:
        return 2 * differ / (columns + differ);
      case Formula::russell_rao:
        return (columns - both) / columns;
      case Formula::sokal_sneath:
        return ratio(differ, both / 2 + differ);
      default:
        return ratio(2 * cross, both * (columns - both - differ) + cross);
    }
  }
};

/// sqrt(d / seen * sum (a - b)^2) over the coordinates that neither row lacks; rows that share none are at infinity.
struct EuclideanOfSeen : Sums {
  double columns = 1;
  static constexpr int parts = 2;
  static constexpr bool box = false, triangle = false;
  template <class V>
  TUTELAGE_INLINE void add(V* s, V a, V b) const {
    const V gap = a - b;
    s[0] += scalar::zero_unless_number(V(gap * gap));
    s[1] += scalar::one_where(gap == gap);
  }
  double rank(const double* s) const {
    return s[1] > 0 ? s[0] / s[1] * columns : std::numeric_limits<double>::infinity();
  }
  double distance(double rank) const { return std::sqrt(rank); }
  double reach(double distance) const { return distance * distance * (1 + 1e-14); }
};

/// Gower's: the mean, over the columns that neither row lacks, of min(|a - b|, 1). Numbers come divided by their range,
/// categories as whole numbers, so that two that differ are 1 apart.
struct Gower : Sums {
  static constexpr int parts = 2;
  static constexpr bool box = false, triangle = false;
  template <class V>
  TUTELAGE_INLINE void add(V* s, V a, V b) const {
    const V gap = scalar::magnitude(V(a - b)), one = V{} + 1.0;
    s[0] += scalar::zero_unless_number(V(gap > one ? one : gap));
    s[1] += scalar::one_where(gap == gap);
  }
  double rank(const double* s) const { return s[1] > 0 ? s[0] / s[1] : std::numeric_limits<double>::infinity(); }
  double distance(double rank) const { return rank; }
  double reach(double distance) const { return distance; }
};

/// Whether balls may be used to leave rows out.
template <Metric M>
bool triangle_holds(const M& m) {
  if constexpr (requires { m.triangle_holds(); }) return m.triangle_holds();
  if constexpr (requires { m.p; }) return m.p >= 1;
  return M::triangle;
}

// ---- loops --------------------------------------------------------------------------------------------------------

// Through types that may lie anywhere: of a memcpy GCC 12 makes a detour over the stack.
TUTELAGE_INLINE Lanes load_lanes(const double* p) {
  typedef double Loose __attribute__((vector_size(width * sizeof(double)), aligned(8), may_alias));
  return *reinterpret_cast<const Loose*>(p);
}
TUTELAGE_INLINE Lanes load_lanes(const float* p) {
#if TUTELAGE_LANES == 8
  return simd::load(p);
#else
  typedef float Loose __attribute__((vector_size(width * sizeof(float)), aligned(4), may_alias));
  return __builtin_convertvector(*reinterpret_cast<const Loose*>(p), Lanes);
#endif
}
TUTELAGE_INLINE Lanes splat_lanes(double a) { return a - Lanes{}; }

/// Eight accumulators into the first.
template <class M, class V>
TUTELAGE_INLINE void join_halves(const M& m, V (*at)[M::parts]) {
  for (int half = 1; half < width; half *= 2) {
    for (int c = 0; c < width; c += 2 * half) {
      for (int part = 0; part < M::parts; ++part) at[c][part] = m.join(at[c][part], at[c + half][part]);
    }
  }
}

/// The ranks of eight rows at once: coordinate j of the one side is own(j), of the other eight theirs(j).
template <Metric M, class Own, class Theirs>
TUTELAGE_INLINE void panel_ranks(const M& m, Index d, Own&& own, Theirs&& theirs, double* ranks) {
  Lanes at[width][M::parts] = {};
  Index j = 0;
  for (; j + width <= d; j += width) {
    TUTELAGE_UNROLL
    for (int c = 0; c < width; ++c) m.add(at[c], own(j + c), theirs(j + c));
  }
  TUTELAGE_UNROLL
  for (int c = 0; c < width - 1; ++c) {
    if (j + c < d) m.add(at[c], own(j + c), theirs(j + c));
  }
  join_halves(m, at);
  if constexpr (M::parts == 1) {
    std::memcpy(ranks, &at[0][0], sizeof at[0][0]);
  } else {
    for (Index l = 0; l < width; ++l) {
      double parts[M::parts];
      for (int part = 0; part < M::parts; ++part) parts[part] = at[0][part][l];
      ranks[l] = m.rank(parts);
    }
  }
}

/// The same number for one pair of rows, of which x may be float.
template <class T>
inline double squared_distance(const T* x, const double* q, Index d) {
  Lanes sum{};
  Index j = 0;
  for (; j + width <= d; j += width) {
    const Lanes gap = load_lanes(q + j) - load_lanes(x + j);
    sum += gap * gap;
  }
  double at[width];
  std::memcpy(at, &sum, sizeof at);
  for (Index c = 0; j + c < d; ++c) {
    const double gap = q[j + c] - static_cast<double>(x[j + c]);
    at[c] += gap * gap;
  }
  return ((at[0] + at[1]) + (at[2] + at[3])) + ((at[4] + at[5]) + (at[6] + at[7]));
}

}  // namespace tutelage::neighbours
