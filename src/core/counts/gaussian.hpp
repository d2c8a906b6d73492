// Log densities of rows under Gaussians with independent columns, and distances of rows from their own class.
//
//     z_ic = base_c - 1/2 sum_j precision_cj (x_ij - mean_cj)^2
//
// The difference is squared, never expanded: with means of 1e8 and deviations of 1 the expansion leaves no digit.
#pragma once
#include <array>
#include <vector>

#include "core/counts/classes.hpp"
#include "core/machine/parallel.hpp"
#include "core/matrices/products.hpp"

namespace tutelage {

namespace counts {

inline constexpr Index together = 4;  // classes whose sums are made side by side

/// k x d numbers as rows of whole packs, for a number of classes that is a multiple of `together`.
inline std::vector<double> in_packs(const double* from, Index k, Index d) {
  const Index wide = padded(d), all = (k + together - 1) / together * together;
  std::vector<double> made(static_cast<std::size_t>(all * wide), 0.0);
  for (Index c = 0; c < k; ++c) std::copy_n(from + c * d, d, made.data() + c * wide);
  return made;
}

}  // namespace counts

/// z is n x k. base is k x d where entries may be missing (NaN), which are left out of the sum: base_cj belongs to
/// entry j. Otherwise it is k.
inline void gaussian_scores(const Rows& x, const double* base, const double* means, const double* precisions, Index k,
                            bool missing, double* z) {
  using namespace counts;
  const Index d = x.columns(), wide = padded(d);
  const std::vector<double> m = in_packs(means, k, d), p = in_packs(precisions, k, d);
  const std::vector<double> b = missing ? in_packs(base, k, d) : std::vector<double>();
  const Pack half = simd::splat(-0.5);
  const bool known = with_dense(x, [&](const auto& dense) {
    const Parts parts(x, static_cast<double>(x.stored()) * static_cast<double>(k), 0);
    parallel_for(parts.count(), [&](Index part) {
      parts.each_block(part, [&](Block block) {
        for (Index i = 0; i < block.count; ++i) {
          for (Index c = 0; c < k; ++c) z[(block.first + i) * k + c] = missing ? 0.0 : base[c];
        }
        each_piece(dense, block, d + 1, [&](auto piece) {
          for (Index i = 0; i < block.count; ++i) {
            const auto* row = piece.data + i * piece.stride;
            for (Index c = 0; c < k; c += together) {
              std::array<Pack, together> sum{};
              const Index at = c * wide + piece.first;
              each_pack(piece.columns, [&](Index j, auto get) {
                const Pack v = get(row + j);
                TUTELAGE_UNROLL
                for (Index t = 0; t < together; ++t) {
                  const Index place = at + t * wide + j;
                  const Pack u = v - simd::load(m.data() + place);
                  const Pack term = half * simd::load(p.data() + place) * u * u;
                  Pack& total = sum[static_cast<std::size_t>(t)];
                  total += missing ? where_present(v, term + simd::load(b.data() + place)) : term;
                }
              });
              for (Index t = 0; t < std::min(together, k - c); ++t) {
                z[(block.first + i) * k + c + t] += simd::sum(sum[static_cast<std::size_t>(t)]);
              }
            }
          }
        });
      });
    });
  });
  if (!known) throw std::invalid_argument("X must be dense.");
}

/// out_i = sum_j precision_cj (x_ij - mean_cj)^2 for the class c of row i.
inline void class_distances(const Rows& x, const Classes& classes, const double* means, const double* precisions,
                            double* out) {
  using namespace counts;
  classes.check(x.rows());
  const Index d = x.columns(), wide = padded(d);
  const std::vector<double> m = in_packs(means, classes.count, d), p = in_packs(precisions, classes.count, d);
  const bool known = with_dense(x, [&](const auto& dense) {
    const Parts parts(x, static_cast<double>(x.stored()), 0);
    parallel_for(parts.count(), [&](Index part) {
      parts.each_block(part, [&](Block block) {
        std::fill_n(out + block.first, block.count, 0.0);
        each_piece(dense, block, d + 1, [&](auto piece) {
          for (Index i = 0; i < block.count; ++i) {
            const auto* row = piece.data + i * piece.stride;
            const Index at = classes.codes[block.first + i] * wide + piece.first;
            Pack sum{};
            each_pack(piece.columns, [&](Index j, auto get) {
              const Pack u = get(row + j) - simd::load(m.data() + at + j);
              sum = simd::fma(u * simd::load(p.data() + at + j), u, sum);
            });
            out[block.first + i] += simd::sum(sum);
          }
        });
      });
    });
  });
  if (!known) throw std::invalid_argument("X must be dense.");
}

}  // namespace tutelage
