// Every read and write of the matrix kernels, at the edges of their tiles, under the sanitizers: arrays are exactly as
// long as they must be, and the answers are those of three loops.
#include <algorithm>
#include <cmath>
#include <vector>

#include "check.hpp"
#include "core/matrices/dense.hpp"
#include "core/matrices/products.hpp"
#include "core/matrices/sparse.hpp"

using namespace tutelage;

namespace {

using Vector = std::vector<double>;

std::size_t size(Index n) { return static_cast<std::size_t>(n); }

/// Numbers in [-1, 1) that float can hold.
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
  return a.size() == b.size() && worst <= 1e-11;
}

struct Case {
  Index n, d, k;
  Vector x;
};

void check_rows(const Rows& m, const Case& of, bool centred) {
  const auto [n, d, k, x] = of;
  const Vector w = numbers(k * d, 2), s = numbers(n * k, 3), c = numbers(n, 4), shift = numbers(d, 5);
  Vector z(size(n * k), 7.0), g(size(k * d), 1.0), h(size(d * d), 2.0), squares(size(d));
  Vector z0(z.size()), g0(g), h0(h), squares0(size(d));
  const Index cut = n / 3;  // two blocks, the second beginning anywhere
  for (const Block b : {Block{0, cut}, Block{cut, n - cut}}) {
    m.times(b, w.data(), k, z.data() + b.first * k);
    m.add_transpose_times(b, s.data() + b.first * k, k, g.data());
    m.add_sandwich(b, c.data() + b.first, centred ? shift.data() : nullptr, h.data());
    m.add_squares(b, c.data() + b.first, squares.data());
  }
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < d; ++j) {
      const double at = x[size(i * d + j)], moved = at - (centred ? shift[size(j)] : 0);
      for (Index t = 0; t < k; ++t) {
        z0[size(i * k + t)] += at * w[size(t * d + j)];
        g0[size(t * d + j)] += s[size(i * k + t)] * at;
      }
      for (Index l = 0; l <= j; ++l) {
        h0[size(j * d + l)] += c[size(i)] * moved * (x[size(i * d + l)] - (centred ? shift[size(l)] : 0));
      }
      squares0[size(j)] += c[size(i)] * at * at;
    }
  }
  CHECK(close(z, z0));
  CHECK(close(g, g0));
  CHECK(close(h, h0));
  CHECK(close(squares, squares0));
  Vector whole(size(d * d), 2.0);
  sandwich(m, c.data(), centred ? shift.data() : nullptr, whole.data());
  CHECK(close(whole, h0));
}

void check_columns(const Columns& m, const Case& of) {
  const auto [n, d, k, x] = of;
  const Vector r = numbers(n, 6), c = numbers(n, 7);
  for (Index j = 0; j < d; ++j) {
    Vector z(r), z0(r), found, expected(5);
    for (Index i = 0; i < n; ++i) {
      const double at = x[size(i * d + j)];
      expected[0] += at * r[size(i)];
      expected[1] += c[size(i)] * at * r[size(i)];
      expected[2] += c[size(i)] * at * at;
      expected[3] += at * at;
      expected[4] += (at - 0.25) * (at - 0.25);
      z0[size(i)] += 0.5 * at;
    }
    m.add(j, 0.5, z.data());
    CHECK(close(z, z0));
    found = {m.dot(j, r.data()), m.weighted_dot(j, c.data(), r.data()), m.weighted_square(j, c.data()),
             m.weighted_square(j, nullptr), m.centred_square(j, nullptr, 0.25, static_cast<double>(n))};
    CHECK(close(found, expected));
  }
}

template <class T>
void check_dense(const Case& of) {
  const std::vector<T> rows(of.x.begin(), of.x.end());
  std::vector<T> columns(rows.size());
  for (Index i = 0; i < of.n; ++i) {
    for (Index j = 0; j < of.d; ++j) columns[size(j * of.n + i)] = rows[size(i * of.d + j)];
  }
  const DenseRows<T> c_order(rows.data(), of.n, of.d, of.d);
  const DenseColumns<T> f_order(columns.data(), of.n, of.d, of.n);
  check_rows(c_order, of, true);
  check_rows(f_order, of, true);
  check_rows(c_order, of, false);
  check_columns(c_order, of);
  check_columns(f_order, of);
}

template <class T, class I>
void check_sparse(Case of) {
  std::vector<T> values;
  std::vector<I> indices, starts{0};
  const Vector chance = numbers(of.n * of.d, 8);
  for (Index i = 0; i < of.n; ++i) {
    for (Index j = 0; j < of.d; ++j) {
      double& x = of.x[size(i * of.d + j)];
      if (chance[size(i * of.d + j)] > -0.4) {
        x = 0;
      } else {
        values.push_back(static_cast<T>(x));
        indices.push_back(static_cast<I>(j));
      }
    }
    starts.push_back(static_cast<I>(values.size()));
  }
  const SparseRows<T, I> plain(values.data(), indices.data(), starts.data(), of.n, of.d);
  CHECK(plain.lines().check(of.d, static_cast<Index>(values.size())));
  check_rows(plain, of, false);
  check_rows(SparseRows<T, I>(values.data(), indices.data(), starts.data(), of.n, of.d, true), of, false);
  const auto turned = transpose(plain.lines(), of.d);
  check_columns(SparseColumns<T, I>(turned.values.data(), turned.indices.data(), turned.starts.data(), of.n, of.d), of);
}

}  // namespace

TEST("products of every layout are those of three loops") {
  for (const Index d : {0, 1, 4, 9, 16, 23, 50, 200}) {
    for (const Index n : {0, 1, 8, 37, 270}) {
      for (const Index k : {1, 2, 3, 5, 9}) {
        const Case of{n, d, k, numbers(n * d, 1)};
        check_dense<double>(of);
        check_dense<float>(of);
        check_sparse<double, int>(of);
        check_sparse<float, long long>(of);
        if (d > 50) break;
      }
    }
  }
}

TEST("indices that lead astray are refused") {
  const double values[] = {1, 2};
  const int inside[] = {0, 1}, outside[] = {0, 3}, starts[] = {0, 2}, backwards[] = {2, 0};
  CHECK((SparseLines<double, int>{values, inside, starts, 1}.check(3, 2)));
  CHECK_THROWS(std::invalid_argument, (SparseLines<double, int>{values, outside, starts, 1}.check(3, 2)));
  CHECK_THROWS(std::invalid_argument, (SparseLines<double, int>{values, inside, starts, 1}.check(3, 1)));
  CHECK_THROWS(std::invalid_argument, (SparseLines<double, int>{values, inside, backwards, 1}.check(3, 2)));
}
