// How fast the products with X are, beside what the machine could do at best.
//
//   matrices [seconds per measurement] [machine] [products] [sandwich]
//
// One thread, in processor time, so that a busy machine spoils little. Memory speed is that of summing a long vector;
// peak is that of fused multiply-adds in registers. A product that reads X once is measured in GB/s of X, a product
// with more arithmetic in GFLOP/s (the sandwich counts one multiplication and one addition for each entry of the lower
// triangle and each row).
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <vector>

#include "core/matrices/dense.hpp"
#include "core/matrices/sparse.hpp"

using namespace tutelage;

namespace {

double patience = 0.2;

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Seconds of the fastest of several runs.
template <class Run>
double fastest(Run&& run) {
  double best = infinity, spent = 0;
  for (int round = 0; round < 3 || spent < patience; ++round) {
    const double start = processor_seconds();
    run();
    const double seconds = processor_seconds() - start;
    best = std::min(best, seconds);
    spent += seconds;
  }
  return best;
}

template <class T>
std::vector<T> numbers(Index size) {
  std::vector<T> v(static_cast<std::size_t>(size));
  std::uint32_t state = 1;
  for (T& x : v) {
    state = state * 1664525u + 1013904223u;
    x = static_cast<T>(state >> 8) / static_cast<T>(1 << 23) - 1;
  }
  return v;
}

volatile double sink;

constexpr int chains = 10;

double multiply_adds(int rounds) {
  simd::Pack total[chains];
  for (int c = 0; c < chains; ++c) total[c] = simd::splat(c + sink);  // chains that differ, or they become one
  const simd::Pack a = simd::splat(0.999), b = simd::splat(1e-9);
  for (int i = 0; i < rounds; ++i) {
    for (int c = 0; c < chains; ++c) total[c] = simd::fma(total[c], a, b);
  }
  for (int c = 1; c < chains; ++c) total[0] += total[c];
  return simd::sum(total[0]);
}

void limits() {
  const std::vector<double> ones = numbers<double>(32 << 20);
  const double bytes = static_cast<double>(ones.size() * sizeof(double));
  const double reading = fastest([&] { sink = simd::square(ones.data(), static_cast<Index>(ones.size())); });
  const double cached = fastest([&] {
    for (int i = 0; i < 1000; ++i) sink = simd::square(ones.data(), 32 << 10);
  });
  constexpr int rounds = 10'000'000;
  const double arithmetic = fastest([&] { sink = multiply_adds(rounds); });
  std::printf("memory %.1f GB/s   second cache %.1f GB/s   peak %.1f GFLOP/s   (%d doubles a pack)\n",
              bytes / reading / 1e9, 1000.0 * (32 << 10) * 8 / cached / 1e9,
              2.0 * chains * simd::lanes * rounds / arithmetic / 1e9, simd::lanes);
}

template <class M, class Body>
void by_blocks(const M& x, Body&& body) {
  const Index size = x.block_rows();
  for (Index first = 0; first < x.rows(); first += size) body(Block{first, std::min(size, x.rows() - first)});
}

template <class M>
void products(const char* name, const M& x, double bytes, Index k) {
  const Index n = x.rows(), d = x.columns();
  const std::vector<double> w = numbers<double>(k * d), s = numbers<double>(n * k);
  std::vector<double> z(static_cast<std::size_t>(n * k)), g(static_cast<std::size_t>(k * d));
  const double times =
      fastest([&] { by_blocks(x, [&](Block b) { x.times(b, w.data(), k, z.data() + b.first * k); }); });
  const double transposed =
      fastest([&] { by_blocks(x, [&](Block b) { x.add_transpose_times(b, s.data() + b.first * k, k, g.data()); }); });
  const double fused = fastest([&] {
    by_blocks(x, [&](Block b) {
      x.times(b, w.data(), k, z.data() + b.first * k);
      x.add_transpose_times(b, z.data() + b.first * k, k, g.data());
    });
  });
  const double flops = 2.0 * static_cast<double>(x.stored() * k);
  std::printf(
      "%-12s %8td x %-5td k %-4td times %6.1f GB/s %6.1f GF   transpose %6.1f GB/s %6.1f GF   fused %6.1f GB/s "
      "%6.1f GF\n",
      name, n, d, k, bytes / times / 1e9, flops / times / 1e9, bytes / transposed / 1e9, flops / transposed / 1e9,
      bytes / fused / 1e9, 2 * flops / fused / 1e9);
}

template <class M>
void sandwich(const char* name, const M& x, const double* shift, Index rows) {
  const Index n = x.rows(), d = x.columns();
  const std::vector<double> c = numbers<double>(n);
  std::vector<double> h(static_cast<std::size_t>(d * d));
  const double seconds = fastest([&] {
    for (Index first = 0; first < n; first += rows) {
      const Block block{first, std::min(rows, n - first)};
      x.add_sandwich(block, c.data() + first, shift, h.data());
    }
  });
  const double flops = static_cast<double>(n) * static_cast<double>(d * (d + 1));
  std::printf("%-12s %8td x %-5td %-8s sandwich %6.1f GFLOP/s  %6.2f GB/s\n", name, n, d, shift ? "centred" : "",
              flops / seconds / 1e9, static_cast<double>(n * d * 8) / seconds / 1e9);
}

template <class T>
void dense(const char* rows_name, const char* columns_name) {
  for (const Index d : {4, 10, 50, 100, 300, 1000, 5000}) {
    const Index n = (Index{128} << 20) / d / static_cast<Index>(sizeof(T));
    const std::vector<T> data = numbers<T>(n * d);
    const double bytes = static_cast<double>(n * d) * sizeof(T);
    for (const Index k : {1, 2, 5, 10, 100}) {
      if (k == 100 && d < 50) continue;
      products(rows_name, DenseRows<T>(data.data(), n, d, d), bytes, k);
      products(columns_name, DenseColumns<T>(data.data(), n, d, n), bytes, k);
    }
  }
}

template <class T>
void gram(const char* rows_name, const char* columns_name) {
  for (const Index d : {4, 8, 10, 16, 24, 32, 50, 100, 200, 500, 1000, 2000}) {
    const Index n = std::max<Index>(2048, 4'000'000 / d);
    const std::vector<T> data = numbers<T>(n * d);
    const std::vector<double> shift = numbers<double>(d);
    const DenseRows<T> rows(data.data(), n, d, d);
    const DenseColumns<T> columns(data.data(), n, d, n);
    const Index block = d >= 256 ? n : rows.block_rows();
    sandwich(rows_name, rows, nullptr, block);
    sandwich(rows_name, rows, shift.data(), block);
    sandwich(columns_name, columns, nullptr, std::max<Index>(block, 256));
  }
}

}  // namespace

int main(int count, char** words) {
  if (count > 1) patience = std::atof(words[1]);
  const auto wanted = [&](std::string_view what) {
    bool found = count < 3;
    for (int i = 2; i < count; ++i) found = found || what == words[i];
    return found;
  };
  if (wanted("machine")) limits();
  if (wanted("products")) {
    dense<double>("C float64", "F float64");
    dense<float>("C float32", "F float32");
  }
  if (wanted("sandwich")) {
    gram<double>("C float64", "F float64");
    gram<float>("C float32", "F float32");
  }
}
