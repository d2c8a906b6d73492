// Every read and write of the passes that count, under the sanitizers: shapes at the edges of packs and tiles, arrays
// exactly as long as they must be, and the answers of the definition.
#include <algorithm>
#include <cmath>
#include <vector>

#include "check.hpp"
#include "core/counts/gaussian.hpp"
#include "core/counts/moments.hpp"
#include "core/counts/products.hpp"
#include "core/counts/scatter.hpp"
#include "core/counts/sums.hpp"

using namespace tutelage;

namespace {

using Vector = std::vector<double>;

std::size_t size(Index n) { return static_cast<std::size_t>(n); }

Vector numbers(Index count, unsigned seed) {
  Vector v(size(count));
  for (double& x : v) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<double>(seed >> 16) / 32768 - 1;
  }
  return v;
}

bool close(const Vector& a, const Vector& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  return a.size() == b.size() && worst <= 1e-10;
}

struct Example {
  Index n, d, k;
  Vector x, weights;
  std::vector<std::int64_t> codes;
  Vector total, sums, mean, scatter;  // by the definition; scatter of all classes, lower triangle

  Example(Index n_, Index d_, Index k_)
      : n(n_),
        d(d_),
        k(k_),
        x(numbers(n * d, 1)),
        weights(numbers(n, 2)),
        codes(size(n)),
        total(size(k)),
        sums(size(k * d)),
        mean(size(k * d)),
        scatter(size(d * d)) {
    for (double& w : weights) w = std::abs(w);
    for (Index i = 0; i < n; ++i) codes[size(i)] = (i * 7 + i / 3) % k;
    for (Index i = 0; i < n; ++i) {
      const auto c = codes[size(i)];
      total[size(c)] += weights[size(i)];
      for (Index j = 0; j < d; ++j) sums[size(c * d + j)] += weights[size(i)] * x[size(i * d + j)];
    }
    for (Index c = 0; c < k; ++c) {
      for (Index j = 0; j < d; ++j)
        mean[size(c * d + j)] = total[size(c)] > 0 ? sums[size(c * d + j)] / total[size(c)] : 0;
    }
    for (Index i = 0; i < n; ++i) {
      const double* m = mean.data() + codes[size(i)] * d;
      const double* row = x.data() + i * d;
      for (Index p = 0; p < d; ++p) {
        for (Index q = 0; q <= p; ++q) scatter[size(p * d + q)] += weights[size(i)] * (row[p] - m[p]) * (row[q] - m[q]);
      }
    }
  }
  Classes classes() const { return {codes.data(), weights.data(), n, k}; }
};

Vector sums_of(const Rows& x, const Classes& classes) {
  Vector total(size(classes.count)), sums(size(classes.count * x.columns()));
  class_sums(x, classes, nullptr, total.data(), sums.data());
  return sums;
}

void check_dense(const Rows& x, const Example& of) {
  CHECK(close(sums_of(x, of.classes()), of.sums));
  for (const bool missing : {false, true}) {
    const ClassMoments made = class_moments(x, of.classes(), missing);
    CHECK(close(made.mean, of.mean));
  }
  CHECK(close(shared_scatter(x, of.classes(), of.mean.data()), of.scatter));
  const Vector own = own_scatter(x, of.classes(), of.mean.data());
  Vector together(size(of.d * of.d));
  for (Index c = 0; c < of.k; ++c) {
    for (Index e = 0; e < of.d * of.d; ++e) together[size(e)] += own[size(c * of.d * of.d + e)];
  }
  CHECK(close(together, of.scatter));
  const Vector ones(size(of.k * of.d), 1.0), base = numbers(of.k, 3);
  Vector z(size(of.n * of.k)), z0(z), far(size(of.n)), far0(far);
  gaussian_scores(x, base.data(), of.mean.data(), ones.data(), of.k, false, z.data());
  class_distances(x, of.classes(), of.mean.data(), ones.data(), far.data());
  for (Index i = 0; i < of.n; ++i) {
    for (Index c = 0; c < of.k; ++c) {
      double sum = 0;
      for (Index j = 0; j < of.d; ++j) {
        const double u = of.x[size(i * of.d + j)] - of.mean[size(c * of.d + j)];
        sum += u * u;
      }
      z0[size(i * of.k + c)] = base[size(c)] - sum / 2;
      if (c == of.codes[size(i)]) far0[size(i)] = sum;
    }
  }
  CHECK(close(z, z0));
  CHECK(close(far, far0));
}

void check_example(Index n, Index d, Index k) {
  const Example of(n, d, k);
  check_dense(DenseRows<double>(of.x.data(), n, d, d), of);
  Vector turned(size(n * d));
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < d; ++j) turned[size(j * n + i)] = of.x[size(i * d + j)];
  }
  check_dense(DenseColumns<double>(turned.data(), n, d, n), of);
  std::vector<std::int32_t> indices, starts{0};
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < d; ++j) indices.push_back(static_cast<std::int32_t>(j));
    starts.push_back(static_cast<std::int32_t>(indices.size()));
  }
  const SparseRows<double, std::int32_t> sparse(of.x.data(), indices.data(), starts.data(), n, d, true);
  CHECK(close(sums_of(sparse, of.classes()), of.sums));
  Vector z(size(n * k)), z0(z);
  class_products(sparse, of.mean.data(), k, z.data());
  times(DenseRows<double>(of.x.data(), n, d, d), of.mean.data(), k, z0.data());
  CHECK(close(z, z0));
}

}  // namespace

TEST("counts and moments of classes") {
  for (const Index d : {1, 2, 7, 8, 9, 16, 17, 25, 33, 200}) {
    for (const Index k : {1, 2, 5}) check_example(37, d, k);
  }
  check_example(1, 3, 4);
  check_example(5, 0, 2);
  check_example(600, 20, 3);
  check_example(500, 300, 40);  // strips and blocks of several heights
}

TEST("codes that are no class are refused") {
  const Vector x = numbers(4, 1);
  const std::vector<std::int64_t> codes{0, 2};
  const DenseRows<double> m(x.data(), 2, 2, 2);
  CHECK_THROWS(std::invalid_argument, sums_of(m, Classes{codes.data(), nullptr, 2, 2}));
  CHECK_THROWS(std::invalid_argument, class_moments(m, Classes{codes.data(), nullptr, 1, 3}, false));
}
