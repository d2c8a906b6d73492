// The laws of penalties are in tests/laws, over every member, through the bindings. Here is what only native code sees.
#include "core/penalties.hpp"

#include <cmath>
#include <random>
#include <vector>

#include "check.hpp"

namespace {

using namespace tutelage;
using Vector = std::vector<double>;

Vector normal(std::size_t count) {
  std::mt19937_64 bits(11);
  std::normal_distribution<double> draw;
  Vector made(count);
  for (double& x : made) x = draw(bits);
  return made;
}

}  // namespace

TEST("prox may write over what it reads") {
  const auto check = [](const AnyPenalty& penalty) {
    for (const auto& [k, d] : {std::pair<Index, Index>{1, 12}, {3, 4}, {1, 0}}) {
      Vector v = normal(std::size_t(k * d)), out(v.size());
      penalty.prox(v.data(), 0.4, k, d, out.data());
      penalty.prox(v.data(), 0.4, k, d, v.data());
      CHECK(v == out);
    }
  };
  for_each<SeparablePenalties>([&](auto member) { check(Separable<decltype(member)>(member)); });
  for_each<JointPenalties>([&](auto member) { check(member); });
}

TEST("a solver by coordinates finds the scalar and the weight, and gets the same prox") {
  const std::shared_ptr<AnyPenalty> made = make_penalty("elastic_net", {{{"l1", 0.2}}, {{"weights", {1, 0, 3}}}, {}});
  const auto* found = dynamic_cast<const Separable<ElasticNet>*>(made.get());
  CHECK(found != nullptr);
  const Vector v = normal(6);
  for (Index j = 0; j < 6; ++j) {
    const double by = found->weight(j), x = v[std::size_t(j)];
    const double inlined = by == 0 ? x : found->scalar().prox(x, 0.5 * by);
    CHECK(inlined == made->prox_one(j, x, 0.5));
  }
  CHECK(dynamic_cast<const Separable<Box>*>(make_penalty("box", {{}, {{"upper", {1, 2}}}, {}}).get()) == nullptr);
}

TEST("lists that do not fit are refused") {
  const Vector w = normal(4);
  CHECK_THROWS(std::invalid_argument, make_penalty("l2", {{}, {{"weights", {1, 2, 3}}}, {}})->value(w.data(), 1, 4));
  CHECK_THROWS(std::invalid_argument, make_penalty("l2", {{}, {{"weights", {1, -2}}}, {}}));
  CHECK_THROWS(std::invalid_argument, make_penalty("box", {{}, {{"lower", {0, 3}}}, {}}));
  CHECK_THROWS(std::invalid_argument, make_penalty("group_l2", {{}, {}, {{0, 1}, {1}}}));
  CHECK_THROWS(std::invalid_argument, make_penalty("group_l2", {{}, {}, {{9}}})->value(w.data(), 1, 4));
  CHECK_THROWS(std::invalid_argument, make_penalty("gaussian_prior", {{}, {{"covariance", {1, 2, 2, 1}}}, {}}));
  CHECK_THROWS(std::invalid_argument, make_penalty("unheard of"));
  CHECK_THROWS(std::logic_error, make_penalty("l1")->add_hessian(0, 0, nullptr));
  CHECK_THROWS(std::logic_error, make_penalty("l_infinity")->prox_one(0, 1, 1));
}

TEST("the Cholesky factor solves, and knows what is not positive definite") {
  const Index d = 9;
  const Vector root = normal(std::size_t(d * d));
  Vector a(std::size_t(d * d));
  for (Index i = 0; i < d; ++i)
    for (Index j = 0; j < d; ++j) {
      a[std::size_t(i * d + j)] = i == j ? 0.5 : 0;
      for (Index t = 0; t < d; ++t)
        a[std::size_t(i * d + j)] += root[std::size_t(i * d + t)] * root[std::size_t(j * d + t)];
    }
  const Vector b = normal(std::size_t(d));
  Vector x = b;
  Cholesky(a, d).solve(x.data());
  for (Index i = 0; i < d; ++i) {
    double product = 0;
    for (Index j = 0; j < d; ++j) product += a[std::size_t(i * d + j)] * x[std::size_t(j)];
    CHECK(std::abs(product - b[std::size_t(i)]) < 1e-10);
  }
  CHECK(!Cholesky({1, 0, 2, 1}, 2).positive());
  CHECK(!Cholesky({NAN}, 1).positive());
}
