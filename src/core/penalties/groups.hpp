// The group penalty: whole columns, or groups of columns, are zero together (Yuan and Lin 2006).
#pragma once
#include <utility>

#include "core/penalties/joint.hpp"
#include "core/penalties/separable.hpp"

namespace tutelage {

/// strength sum_g weight_g |w_g| + l2 |w|^2 / 2. The coefficients of group g are those of its columns for every score,
/// so that without groups, where every column is one, this is the multi-task (or sparse multinomial) penalty. Columns
/// in no group bear the l2 part alone.
class GroupL2 final : public JointPenalty {
 public:
  double strength = 1;
  double l2 = 0;

  explicit GroupL2(std::vector<std::vector<Index>> groups = {}, std::vector<double> weights = {})
      : groups_(std::move(groups)), weights_(std::move(weights)) {
    for (const auto& group : groups_) {
      for (const Index column : group) {
        if (column < 0) throw std::invalid_argument("groups names column " + std::to_string(column));
        highest_ = std::max(highest_, column);
        group_of_.resize(std::size_t(highest_ + 1), -1);
        if (grouped(column)) throw std::invalid_argument("groups has column " + std::to_string(column) + " twice");
        group_of_[std::size_t(column)] = Index(&group - groups_.data());
      }
    }
    for (const double weight : weights_)
      if (!(weight >= 0) || weight == infinity)
        throw std::invalid_argument("weights of a penalty must be finite and not negative");
    if (!groups_.empty() && !weights_.empty() && weights_.size() != groups_.size())
      throw std::invalid_argument("weights must have one entry for each of the " + std::to_string(groups_.size()) +
                                  " groups");
  }

  PenaltyFacts facts() const override {
    return {.name = "group_l2",
            .formula = "strength sum_g weight_g |w_g| + l2 sum w^2 / 2",
            .strong_convexity = l2,
            .has_conjugate = true,
            .scales_dual = l2 > 0 || (groups_.empty() && strength > 0 && every_weight_counts())};
  }
  static constexpr auto parameters() {
    return std::array{
        Parameter<GroupL2>{.name = "strength", .member = &GroupL2::strength, .low = 0, .meaning = "of the norms"},
        Parameter<GroupL2>{.name = "l2", .member = &GroupL2::l2, .low = 0, .meaning = "strength of sum w^2 / 2"}};
  }
  void check(Index, Index d) const override { groups(d); }
  Index groups(Index d) const {
    if (highest_ >= d)
      throw std::invalid_argument("groups names column " + std::to_string(highest_) + " where X has " +
                                  std::to_string(d));
    if (groups_.empty() && !weights_.empty() && Index(weights_.size()) != d)
      throw std::invalid_argument("weights has " + std::to_string(weights_.size()) + " entries for " +
                                  std::to_string(d) + " columns");
    return groups_.empty() ? d : Index(groups_.size());
  }
  double weight(Index group) const { return weights_.empty() ? 1 : weights_[std::size_t(group)]; }

  /// What a solver by blocks needs: factor by which prox of this step multiplies group g with this norm.
  double shrinkage(Index group, double norm, double step) const {
    const double by = step * strength * weight(group);
    return (norm <= by ? 0 : 1 - by / norm) / (1 + step * l2);
  }

  double value(const double* w, Index k, Index d) const override {
    double sum = l2 == 0 ? 0 : l2 * sum_of_squares(w, k * d) / 2;
    for (Index g = 0; g < groups(d); ++g) sum += strength * weight(g) * norm(w, g, k, d);
    return sum;
  }
  void prox(const double* v, double step, Index k, Index d, double* out) const override {
    const Index count = groups(d);
    if (!groups_.empty())
      for (Index j = 0; j < k * d; ++j) out[j] = grouped(j % d) ? v[j] : v[j] / (1 + step * l2);
    for (Index g = 0; g < count; ++g) {
      const double by = shrinkage(g, norm(v, g, k, d), step);
      for_each_of(g, k, d, [&](Index j) { out[j] = by == 0 ? 0 : by * v[j]; });
    }
  }
  double conjugate(const double* v, Index k, Index d) const override {
    double sum = 0;
    if (!groups_.empty()) {
      for (Index j = 0; j < k * d; ++j) {
        if (grouped(j % d)) continue;
        if (l2 == 0 && v[j] != 0) return infinity;
        if (l2 > 0) sum += v[j] * v[j] / (2 * l2);
      }
    }
    for (Index g = 0; g < groups(d); ++g) {
      const double bound = strength * weight(g), size = norm(v, g, k, d);
      const double beyond = size > bound ? size - bound : 0;
      if (l2 > 0)
        sum += beyond * beyond / (2 * l2);
      else if (size > bound * (1 + domain_slack))
        return infinity;
    }
    return sum;
  }
  double dual_scale(const double* v, Index k, Index d) const override {
    if (l2 > 0) return 1;
    for (Index j = 0; j < (groups_.empty() ? 0 : k * d); ++j)
      if (!grouped(j % d) && v[j] != 0) return 0;
    double scale = 1;
    for (Index g = 0; g < groups(d); ++g) {
      const double bound = strength * weight(g), size = norm(v, g, k, d);
      if (size > bound) scale = std::min(scale, bound / size);
    }
    return scale;
  }
  /// A coefficient in no group, or in one of weight zero, has no price.
  bool pinned(Index j, Index d, double v) const override {
    if (l2 > 0 || v == 0) return false;
    const Index column = j % d;
    if (groups_.empty()) return strength * weight(column) == 0;
    return !grouped(column) || strength * weight(group_of_[std::size_t(column)]) == 0;
  }
  double stationarity(const double* w, const double* g, Index k, Index d) const override {
    double worst = 0;
    for (Index j = 0; j < (groups_.empty() ? 0 : k * d); ++j)
      if (!grouped(j % d)) worst = std::max(worst, std::abs(g[j] + l2 * w[j]));
    for (Index group = 0; group < groups(d); ++group) {
      const double bound = strength * weight(group), size = norm(w, group, k, d);
      // At zero the subdifferential is a ball; how far -g stands outside of it, along -g.
      const double slope = size > 0 ? 0 : norm(g, group, k, d);
      const double outside = slope > bound ? 1 - bound / slope : 0;
      for_each_of(group, k, d, [&](Index j) {
        const double gap = size > 0 ? g[j] + bound * w[j] / size + l2 * w[j] : outside * g[j];
        worst = std::max(worst, std::abs(gap));
      });
    }
    return worst;
  }

 private:
  bool every_weight_counts() const {
    return std::all_of(weights_.begin(), weights_.end(), [](double weight) { return weight > 0; });
  }
  bool grouped(Index column) const { return column <= highest_ && group_of_[std::size_t(column)] >= 0; }
  template <class Body>
  void for_each_of(Index group, Index k, Index d, Body&& body) const {
    for (Index c = 0; c < k; ++c) {
      if (groups_.empty())
        body(c * d + group);
      else
        for (const Index column : groups_[std::size_t(group)]) body(c * d + column);
    }
  }
  double norm(const double* v, Index group, Index k, Index d) const {
    double sum = 0;
    for_each_of(group, k, d, [&](Index j) { sum += v[j] * v[j]; });
    return std::sqrt(sum);
  }

  std::vector<std::vector<Index>> groups_;
  std::vector<double> weights_;
  std::vector<Index> group_of_;  // by column, -1 for none
  Index highest_ = -1;
};

}  // namespace tutelage
