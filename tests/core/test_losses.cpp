// The laws of losses are in tests/laws, over every member, through the bindings. Here is what only native code sees:
// the loops, their null outputs and weights, under the sanitizers.
#include "core/losses.hpp"

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"

namespace {

using namespace tutelage;
using Vector = std::vector<double>;

struct Sample {
  Vector y, s, z, u;
};

Sample draw(const AnyLoss& loss, Index n) {
  std::mt19937_64 bits(7);
  std::normal_distribution<double> normal;
  const Index k = loss.scores();
  Sample rows{Vector(std::size_t(n * loss.targets())), Vector(std::size_t(n)), Vector(std::size_t(n * k)),
              Vector(std::size_t(n * k))};
  for (double& y : rows.y) {
    const double x = normal(bits);
    switch (loss.facts().targets) {
      case Targets::label:
        y = x > 0 ? 1 : -1;
        break;
      case Targets::category:
        y = double(bits() % std::uint64_t(k));
        break;
      case Targets::real:
        y = x;
        break;
      default:
        y = std::abs(x) + 0.1;
    }
  }
  for (double& s : rows.s) s = double(bits() % 3);
  for (double& z : rows.z) z = normal(bits);
  for (double& u : rows.u) u = normal(bits);
  return rows;
}

bool close(double a, double b) { return std::abs(a - b) <= 1e-11 * (1 + std::abs(a) + std::abs(b)); }

bool close(const Vector& a, const Vector& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!close(a[i], b[i])) return false;
  return a.size() == b.size();
}

/// Every combination of weights and outputs says the same; returns what differs, or nothing.
std::string disagreement(const AnyLoss& loss, Index n) {
  const Sample rows = draw(loss, n);
  const Index k = loss.scores(), t = loss.targets();
  const Vector ones(std::size_t(n), 1.0);
  Vector slope(rows.z.size()), curvature(rows.z.size()), alone(rows.z.size());
  const double* y = rows.y.data();
  const double* z = rows.z.data();
  for (const double* s : {static_cast<const double*>(nullptr), rows.s.data()}) {
    const double value = loss.evaluate(y, s, z, n, slope.data(), curvature.data());
    if (!close(value, loss.evaluate(y, s, z, n, nullptr, nullptr))) return "value alone";
    if (!close(value, loss.evaluate(y, s, z, n, alone.data(), nullptr)) || !close(alone, slope)) return "slope alone";
    if (!close(value, loss.evaluate(y, s, z, n, nullptr, alone.data())) || !close(alone, curvature))
      return "curvature alone";
    double sum = 0;  // the same, a row at a time
    for (Index i = 0; i < n; ++i)
      sum += (s ? s[i] : 1) * loss.evaluate(y + i * t, nullptr, z + i * k, 1, nullptr, nullptr);
    if (!close(value, sum)) return "rows";
    loss.curvature_times(y, s, z, rows.u.data(), n, alone.data());
    if (k == 1) {
      for (std::size_t i = 0; i < alone.size(); ++i)
        if (!close(alone[i], curvature[i] * rows.u[i])) return "curvature_times";
    }
    if (k > 1) {
      for (Index i = 0; i < n; ++i) {
        Vector row(rows.u.begin() + i * k, rows.u.begin() + (i + 1) * k), times(row);
        loss.curvature_times(y + i * t, nullptr, z + i * k, row.data(), 1, times.data());
        for (Index c = 0; c < k; ++c)
          if (!close(alone[std::size_t(i * k + c)], (s ? s[i] : 1) * times[std::size_t(c)])) return "curvature_times";
      }
      Vector pairs(std::size_t(n * k * (k + 1) / 2)), all(std::size_t(k * k), 0.0);
      loss.curvature_pairs(y, s, z, n, pairs.data(), n);
      loss.curvature_sum(y, s, z, n, all.data());
      const double* pair = pairs.data();
      for (Index b = 0; b < k; ++b) {
        for (Index a = b; a < k; ++a, pair += n) {
          double total = 0;
          for (Index i = 0; i < n; ++i) total += pair[i];
          if (!close(all[std::size_t(a * k + b)], total)) return "curvature_sum";
        }
      }
    }
    if (!s && !close(value, loss.evaluate(y, ones.data(), z, n, nullptr, nullptr))) return "weights of one";
  }
  return "";
}

}  // namespace

TEST("every loss says the same whatever outputs and weights it is asked with") {
  for_each<Losses>([](auto member) {
    for (const Index k : {1, 3}) {
      for (const Index n : {0, 1, 7, 64, 129}) {
        const std::string found = disagreement(*make_loss(member.facts().name, k), n);
        if (!found.empty()) std::fprintf(stderr, "%s: %s\n", member.facts().name.data(), found.c_str());
        CHECK(found.empty());
      }
    }
  });
  for_each<ScoresLosses>([](auto member) {
    for (const Index k : {1, 2, 5, 96, 97}) {
      for (const Index n : {0, 1, 31, 65}) {
        const std::string found = disagreement(*make_loss(member.facts().name, k), n);
        if (!found.empty()) std::fprintf(stderr, "%s: %s\n", member.facts().name.data(), found.c_str());
        CHECK(found.empty());
      }
    }
  });
}

TEST("the facts of a loss are what its struct has") {
  for_each<Losses>([](auto member) {
    using L = decltype(member);
    CHECK(member.facts().has_curvature == SmoothLoss<L>);
    CHECK(member.facts().has_prox == ProximalLoss<L>);
    CHECK(!member.facts().has_conjugate || DualLoss<L>);
  });
  for_each<ScoresLosses>([](auto member) {
    using L = decltype(member);
    CHECK(member.facts().has_curvature == SmoothScoresLoss<L>);
    CHECK(member.facts().has_prox == ProximalScoresLoss<L>);
    CHECK(member.facts().has_conjugate == DualScoresLoss<L>);
  });
}

TEST("the quick envelope and the one for any loss are the same loss") {
  for_each<Losses>([](auto member) {
    if (!member.facts().has_prox) return;
    const std::shared_ptr<const AnyLoss> loss = make_loss(member.facts().name);
    const auto quick = make_envelope(loss, 1.7);
    const VectorEnvelope any(loss, 1.7);
    const Index n = 50;
    const Sample plain = draw(*loss, n);
    Vector y;
    for (Index i = 0; i < n; ++i) {
      y.push_back(plain.y[std::size_t(i)]);
      y.push_back(0.4 * plain.u[std::size_t(i)]);
    }
    Vector slope(50), other_slope(50), curvature(50), other_curvature(50);
    const double value = quick->evaluate(y.data(), plain.s.data(), plain.z.data(), n, slope.data(), curvature.data());
    const double other =
        any.evaluate(y.data(), plain.s.data(), plain.z.data(), n, other_slope.data(), other_curvature.data());
    CHECK(close(value, other));
    CHECK(close(slope, other_slope));
    CHECK(close(curvature, other_curvature));
    CHECK(quick->targets() == 2 && any.targets() == 2);
  });
}

TEST("what is not there is refused") {
  CHECK_THROWS(std::invalid_argument, make_loss("unheard of"));
  CHECK_THROWS(std::invalid_argument, make_envelope(make_loss("logistic"), 1));
  Vector one{1};
  CHECK_THROWS(std::logic_error, make_loss("logistic")->prox(one.data(), one.data(), 1, 1, one.data()));
}
