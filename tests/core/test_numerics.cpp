#include "core/machine/numerics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "check.hpp"

namespace {

using namespace tutelage;
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// The largest relative error of `mine` over draws, against `theirs` in long double.
template <class Mine, class Theirs, class Draw>
double worst_error(const Mine& mine, const Theirs& theirs, const Draw& draw) {
  std::mt19937_64 bits(1);
  double worst = 0;
  for (int i = 0; i < 200000; ++i) {
    const double x = draw(bits);
    const long double exact = theirs(static_cast<long double>(x));
    if (exact != 0) worst = std::max(worst, static_cast<double>(std::abs((mine(x) - exact) / exact)));
  }
  return worst;
}

auto uniform(double low, double high) {
  return [=](std::mt19937_64& bits) { return std::uniform_real_distribution<double>(low, high)(bits); };
}
auto powers_of_e(double low, double high) {
  return [=](std::mt19937_64& bits) { return std::exp(uniform(low, high)(bits)); };
}

constexpr double few_ulp = 4.5e-16;  // two units in the last place

}  // namespace

TEST("elementary functions are accurate to two units in the last place") {
  const auto exp = [](double x) { return numerics::exp(x); };
  const auto exp_negative = [](double x) { return numerics::exp_of_negative(x); };
  const auto log = [](double x) { return numerics::log(x); };
  const auto log1p = [](double x) { return numerics::log1p(x); };
  const auto fraction = [](double x) { return numerics::log1p_of_fraction(x); };
  const auto expm1_over = [](double x) { return numerics::expm1_over_x(x); };
  const auto exp_l = [](long double x) { return std::exp(x); };
  const auto log_l = [](long double x) { return std::log(x); };
  const auto log1p_l = [](long double x) { return std::log1p(x); };
  const auto expm1_over_l = [](long double x) { return x == 0 ? 1 : std::expm1(x) / x; };
  CHECK(worst_error(exp, exp_l, uniform(-708, 709.7)) < few_ulp);
  CHECK(worst_error(exp, exp_l, uniform(-1, 1)) < few_ulp);
  CHECK(worst_error(exp_negative, exp_l, uniform(-708, 0)) < few_ulp);
  CHECK(worst_error(log, log_l, powers_of_e(-740, 700)) < few_ulp);
  CHECK(worst_error(log, log_l, uniform(0.5, 2)) < few_ulp);
  CHECK(worst_error(log1p, log1p_l, uniform(-0.99, 3)) < 2 * few_ulp);
  CHECK(worst_error(log1p, log1p_l, powers_of_e(-40, 40)) < 2 * few_ulp);
  CHECK(worst_error(fraction, log1p_l, uniform(0, 1)) < few_ulp);
  CHECK(worst_error(fraction, log1p_l, powers_of_e(-700, 0)) < few_ulp);
  CHECK(worst_error(expm1_over, expm1_over_l, uniform(-1, 1)) < 3 * few_ulp);
  CHECK(worst_error(expm1_over, expm1_over_l, uniform(-40, 700)) < 3 * few_ulp);
}

TEST("elementary functions at the ends of their range") {
  CHECK(numerics::exp(0) == 1);
  CHECK(numerics::exp(-inf) == 0);
  CHECK(numerics::exp(-1e300) == 0);
  CHECK(numerics::exp(inf) == inf);
  CHECK(numerics::exp(709.79) == inf);
  CHECK(std::isfinite(numerics::exp(709.78)));
  CHECK(std::isnan(numerics::exp(not_a_number)));
  CHECK(numerics::exp_of_negative(-inf) == 0);
  CHECK(numerics::exp_of_negative(-0.0) == 1);
  CHECK(std::isnan(numerics::exp_of_negative(not_a_number)));
  CHECK(numerics::log(1) == 0);
  CHECK(numerics::log(0) == -inf);
  CHECK(numerics::log(inf) == inf);
  CHECK(std::isnan(numerics::log(-1)));
  CHECK(std::isnan(numerics::log(not_a_number)));
  CHECK(std::abs(numerics::log(5e-324) - std::log(5e-324)) < 1e-12);
  CHECK(numerics::log1p(-1) == -inf);
  CHECK(numerics::log1p(1e-300) == 1e-300);
  CHECK(numerics::log1p(inf) == inf);
  CHECK(numerics::x_log_x(0) == 0);
  CHECK(numerics::expm1_over_x(0) == 1);
  CHECK(std::isnan(numerics::positive_part(not_a_number)));
  CHECK(std::isnan(numerics::clip(not_a_number, 0, 1)));
  CHECK(std::isnan(numerics::soft_threshold(not_a_number, 1)));
  CHECK(!std::signbit(numerics::soft_threshold(-0.5, 1)));
}
