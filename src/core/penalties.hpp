// The vocabulary of penalties. A separable one is a struct of scalar mathematics and its name in the list below: the
// bindings, the table of the documentation and the laws in tests/ follow from the list.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/penalties/bounded.hpp"
#include "core/penalties/concave.hpp"
#include "core/penalties/constraints.hpp"
#include "core/penalties/general.hpp"
#include "core/penalties/groups.hpp"
#include "core/penalties/prior.hpp"
#include "core/penalties/scalar.hpp"
#include "core/penalties/separable.hpp"

namespace tutelage {

using SeparablePenalties = std::tuple<NoPenalty, L2, L1, ElasticNet, Lq, Box, NonNegative, MCP, SCAD>;

using JointPenalties = std::tuple<GroupL2, LInfinity, L1Ball, L2Ball, DiagonalPrior>;

/// What a penalty is made of beside its declared parameters: lists by name (each of 1, d or k d entries), and groups of
/// columns.
struct PenaltyParts {
  std::map<std::string, double, std::less<>> numbers = {};
  std::map<std::string, std::vector<double>, std::less<>> lists = {};
  std::vector<std::vector<Index>> groups = {};

  double number(std::string_view name, double fallback) const {
    const auto found = numbers.find(name);
    return found == numbers.end() ? fallback : found->second;
  }
  std::vector<double> list(std::string_view name, std::vector<double> fallback = {}) const {
    const auto found = lists.find(name);
    return found == lists.end() ? fallback : found->second;
  }
};

/// The separable penalty of that name, or null; `parameter(name, fallback)` gives the value of a declared parameter.
template <class Lookup>
std::shared_ptr<AnyPenalty> make_separable_penalty(std::string_view name, const Lookup& parameter,
                                                   std::vector<double> weights = {}) {
  std::shared_ptr<AnyPenalty> made;
  for_each<SeparablePenalties>([&](auto member) {
    if (made || member.facts().name != name) return;
    set_parameters(member, parameter);
    made = std::make_shared<Separable<decltype(member)>>(member, std::move(weights));
  });
  return made;
}

/// Elastic nets, each coefficient between bounds of its own.
inline std::shared_ptr<AnyPenalty> make_boxes(const PenaltyParts& parts) {
  Box box;
  set_parameters(box, [&](std::string_view name, double fallback) { return parts.number(name, fallback); });
  const std::vector<double> lower = parts.list("lower", {box.lower}), upper = parts.list("upper", {box.upper});
  std::vector<Box> boxes(std::max(lower.size(), upper.size()), box);
  for (std::size_t j = 0; j < boxes.size(); ++j) {
    boxes[j].lower = lower[j % lower.size()];
    boxes[j].upper = upper[j % upper.size()];
    if (!(boxes[j].lower <= boxes[j].upper)) throw std::invalid_argument("lower must not be above upper");
  }
  if (boxes.size() == 1) return std::make_shared<Separable<Box>>(boxes.front(), parts.list("weights"));
  return std::make_shared<SeparableOf<Box, true>>(std::move(boxes), parts.list("weights"));
}

/// The penalty of that name.
inline std::shared_ptr<AnyPenalty> make_penalty(std::string_view name, const PenaltyParts& parts = {}) {
  const auto number = [&](std::string_view parameter, double fallback) { return parts.number(parameter, fallback); };
  if (name == "box") return make_boxes(parts);
  if (name == "group_l2") {
    auto made = std::make_shared<GroupL2>(parts.groups, parts.list("weights"));
    set_parameters(*made, number);
    return made;
  }
  if (name == "gaussian_prior" && parts.lists.contains("covariance")) {
    const std::vector<double> covariance = parts.list("covariance");
    const Index d = Index(std::llround(std::sqrt(double(covariance.size()))));
    auto made = std::make_shared<CorrelatedPrior>(parts.list("mean", {0}), covariance, d);
    made->strength = parts.number("strength", made->strength);
    return made;
  }
  if (name == "gaussian_prior") {
    auto made = std::make_shared<DiagonalPrior>(parts.list("mean", {0}), parts.list("variance", {1}));
    set_parameters(*made, number);
    return made;
  }
  std::shared_ptr<AnyPenalty> made = make_separable_penalty(name, number, parts.list("weights"));
  for_each<JointPenalties>([&](auto member) {
    if (made || member.facts().name != name) return;
    set_parameters(member, number);
    made = std::make_shared<decltype(member)>(member);
  });
  if (!made) throw std::invalid_argument("no penalty is called '" + std::string(name) + "'");
  return made;
}

}  // namespace tutelage
