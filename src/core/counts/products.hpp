// Products of sparse rows with a table of classes, z_ic = sum_j x_ij table_cj.
//
// The table is turned once, so that the numbers that an entry of X meets, one for each class, are adjacent. With a
// vocabulary of 100,000 words and a few million entries, turning it for every block of rows (as SparseRows::times must,
// which knows no more than its block) would cost more than the product.
#pragma once
#include <vector>

#include "core/counts/classes.hpp"
#include "core/machine/parallel.hpp"
#include "core/matrices/outer.hpp"
#include "core/matrices/products.hpp"

namespace tutelage {

/// z is n x k, table is k x d.
inline void class_products(const Rows& x, const double* table, Index k, double* z) {
  const Index d = x.columns(), n = x.rows(), wide = counts::padded(k);
  const bool sparse = counts::with_sparse(x, [&](const auto& lines) {
    std::vector<double> turned(static_cast<std::size_t>(d * wide));
    const Index strip = 512;
    parallel_for((d + strip - 1) / strip, [&](Index task) {
      const Index first = task * strip, count = std::min(strip, d - first);
      outer::turn<false>(table + first, d, k, count, turned.data() + first * wide, wide);
    });
    const Index step = std::clamp<Index>(n * 20000 / std::max<Index>(1, lines.stored()), 1, 4096);
    parallel_for((n + step - 1) / step, [&](Index task) {
      for (Index i = task * step; i < std::min(n, (task + 1) * step); ++i) {
        const Index last = lines.end(i);
        sparse::pack_groups(wide, [&](Index c, auto packs) {
          constexpr int Q = decltype(packs)::value;
          sparse::Scores<Q> sum;
          for (Index e = lines.begin(i); e < last; ++e) {
            const simd::Pack v = simd::splat(lines.value(e));
            const double* from = turned.data() + lines.index(e) * wide + c;
            TUTELAGE_UNROLL
            for (int q = 0; q < Q; ++q) sum.at[q] = simd::fma(v, simd::load(from + q * simd::lanes), sum.at[q]);
          }
          sum.store(z + i * k + c, k - c);
        });
      }
    });
  });
  if (!sparse) times(x, table, k, z);
}

}  // namespace tutelage
