// The data of a fit, and what a loss says about them.
#pragma once
#include <vector>

#include "core/concepts.hpp"
#include "core/machine/vectors.hpp"

namespace tutelage {

/// The data of a fit, none of it owned.
struct Sample {
  const Rows* x = nullptr;
  const double* y = nullptr;        // rows x loss.targets()
  const double* weights = nullptr;  // s, or nullptr when every weight is one
};

/// What a loss says at known scores: its sum (not divided by S), the product sum_i slope_i . z_i, and how large the
/// slopes of each score are, sum_i |slope_i|.
struct AtScores {
  double loss = 0, product = 0;
  Vector sizes;
};

inline AtScores together(const std::vector<AtScores>& said) {
  AtScores all{0, 0, Vector(said.front().sizes.size(), 0.0)};
  for (const AtScores& one : said) {
    all.loss += one.loss;
    all.product += one.product;
    for (std::size_t c = 0; c < all.sizes.size(); ++c) all.sizes[c] += one.sizes[c];
  }
  return all;
}

}  // namespace tutelage
