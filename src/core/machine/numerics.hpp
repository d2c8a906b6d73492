// Elementary functions without branches, so that a loop over samples becomes vector code.
//
// std::exp and std::log are calls: a compiler cannot vectorise a loop around them without a vector mathematics library
// and -ffast-math, and a logistic pass would then cost more in exp than in reading X. These are ordinary arithmetic,
// inlined into `#pragma omp simd` loops on any instruction set. They are accurate to about one unit in the last place
// (tests/core/test_numerics.cpp holds them to it), NaN gives NaN, infinities give their limits, nothing overflows
// early.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/machine/inline.hpp"

namespace tutelage::numerics {

namespace detail {
// Adding this to a double of magnitude below 2^51 rounds it to an integer, which then stands in the lowest bits.
inline constexpr double round_to_integer = 0x1.8p52;
inline constexpr double log2_e = 0x1.71547652b82fep0;
// ln 2 in two parts: an integer below 2^11 times the first is exact.
inline constexpr double ln2_high = 0x1.62e42fefa3800p-1;
inline constexpr double ln2_low = 0x1.ef35793c76730p-45;
inline constexpr double ln2 = 0x1.62e42fefa39efp-1;

TUTELAGE_INLINE std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }
TUTELAGE_INLINE double from_bits(std::uint64_t x) { return std::bit_cast<double>(x); }

/// 2 atanh(s) for |s| <= 3 - 2 sqrt(2), an interpolation of degree 6 in s^2 (relative error 5e-18 before rounding).
TUTELAGE_INLINE double twice_atanh(double s) {
  const double x = s * s;
  double p = 0x1.2b59b713616c9p-3;
  p = p * x + 0x1.39fe42e9740a7p-3;
  p = p * x + 0x1.7462b58e46ebep-3;
  p = p * x + 0x1.c71c62e26208bp-3;
  p = p * x + 0x1.2492492df3ba9p-2;
  p = p * x + 0x1.99999999952ccp-2;
  p = p * x + 0x1.5555555555558p-1;
  return 2 * s + s * x * p;
}

/// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2 (relative error of e^r 2e-17 before rounding).
TUTELAGE_INLINE double exp_tail(double r) {
  double p = 0x1.af38a9b0ec855p-26;
  p = p * r + 0x1.289185613a3d6p-22;
  p = p * r + 0x1.71de0dae63bb3p-19;
  p = p * r + 0x1.a019b90d2ae7ap-16;
  p = p * r + 0x1.a01a01a7c41d5p-13;
  p = p * r + 0x1.6c16c1788bd90p-10;
  p = p * r + 0x1.11111111109b3p-7;
  p = p * r + 0x1.5555555553d63p-5;
  p = p * r + 0x1.5555555555556p-3;
  return p * r + 0x1.0000000000001p-1;
}
}  // namespace detail

/// e^x. Results below the smallest normal number (x < -708.39) are zero.
TUTELAGE_INLINE double exp(double x) {
  using namespace detail;
  // Outside [-709, 709.79] the arithmetic below means nothing (and infinity - infinity is NaN): clamp, mend at the end.
  double inside = x > 709.79 ? 709.79 : x;
  inside = inside < -709.0 ? -709.0 : inside;
  const double shifted = inside * log2_e + round_to_integer;
  const double n = shifted - round_to_integer;
  const double r = (inside - n * ln2_high) - n * ln2_low;
  const double p = 1 + (r + r * r * exp_tail(r));
  // p is in [0.7, 1.42] and n at most 1024, where p < 1: adding n to the exponent of p cannot overflow it.
  double result = from_bits(bits(p) + (bits(shifted) << 52));
  result = x > 709.782712893384 ? std::numeric_limits<double>::infinity() : result;
  result = x < -708.3964185322641 ? 0.0 : result;
  return x != x ? x : result;
}

/// e^x for x <= 0: the same without the upper bound.
TUTELAGE_INLINE double exp_of_negative(double x) {
  using namespace detail;
  const double inside = x < -709.0 ? -709.0 : x;
  const double shifted = inside * log2_e + round_to_integer;
  const double n = shifted - round_to_integer;
  const double r = (inside - n * ln2_high) - n * ln2_low;
  const double p = 1 + (r + r * r * exp_tail(r));
  const double result = from_bits(bits(p) + (bits(shifted) << 52));
  return x < -708.3964185322641 ? 0.0 : (x != x ? x : result);
}

/// ln x: -infinity at zero, NaN below it.
TUTELAGE_INLINE double log(double x) {
  using namespace detail;
  const bool tiny = x < std::numeric_limits<double>::min();
  const double scaled = tiny ? x * 0x1p54 : x;
  // Move the mantissa to [sqrt(1/2), sqrt(2)), so that x near 1 has exponent 0 and no cancellation.
  const std::uint64_t moved = bits(scaled) - bits(0x1.6a09e667f3bcdp-1);
  const double mantissa = from_bits((moved & 0x000fffffffffffffu) + bits(0x1.6a09e667f3bcdp-1));
  // The exponent as a double without an integer conversion (which AVX2 lacks for 64 bits): write it, offset by 2048 to
  // be positive, into the lowest bits of 2^52.
  const double exponent =
      from_bits((((moved + (std::uint64_t{2048} << 52)) >> 52) & 0xfffu) | bits(0x1p52)) - (0x1p52 + 2048);
  const double n = exponent - (tiny ? 54.0 : 0.0);
  double result = n * ln2_high + (twice_atanh((mantissa - 1) / (mantissa + 1)) + n * ln2_low);
  result = x == 0 ? -std::numeric_limits<double>::infinity() : result;
  result = x == std::numeric_limits<double>::infinity() ? x : result;
  return x >= 0 ? result : std::numeric_limits<double>::quiet_NaN();
}

/// ln(1 + x) for x >= -1, accurate near zero.
TUTELAGE_INLINE double log1p(double x) {
  const double u = 1 + x;
  const double lost = x - (u - 1);  // what rounding took from 1 + x
  const double result = log(u) + lost / u;
  return u > 0 && u < std::numeric_limits<double>::infinity() ? result : log(u);
}

/// ln(1 + x) for 0 <= x <= 1, one division and no exponent work: the softplus of the logistic losses.
TUTELAGE_INLINE double log1p_of_fraction(double x) {
  const bool large = x > 0.41421356237309503;  // then ln(1 + x) = ln 2 + ln((1 + x) / 2)
  const double s = (large ? x - 1 : x) / (large ? x + 3 : x + 2);
  return (large ? detail::ln2 : 0.0) + detail::twice_atanh(s);
}

/// (e^x - 1) / x, with its limit 1 at 0: no cancellation there.
TUTELAGE_INLINE double expm1_over_x(double x) {
  const bool small = x < 0.34 && x > -0.34;
  const double inside = small ? x : 0.0;
  const double near = 1 + inside * detail::exp_tail(inside);
  return small ? near : (exp(x) - 1) / x;
}

/// x ln x, with its limit 0 at 0.
TUTELAGE_INLINE double x_log_x(double x) { return x == 0 ? 0.0 : x * log(x); }

TUTELAGE_INLINE double magnitude(double x) { return std::fabs(x); }
/// -1, 0 or 1; NaN stays NaN.
TUTELAGE_INLINE double sign(double x) { return x > 0 ? 1.0 : (x < 0 ? -1.0 : x * 0 + 0.0); }
/// sign(x) max(|x| - by, 0)
TUTELAGE_INLINE double soft_threshold(double x, double by) {
  const double above = x > by ? x - by : x * 0 + 0.0;  // 0, never -0; NaN stays NaN
  return x < -by ? x + by : above;
}
/// max(x, 0) that keeps NaN.
TUTELAGE_INLINE double positive_part(double x) { return x < 0 ? 0.0 : x; }
/// x moved into [low, high]; NaN stays NaN.
TUTELAGE_INLINE double clip(double x, double low, double high) {
  const double above = x < low ? low : x;
  return above > high ? high : above;
}

}  // namespace tutelage::numerics
