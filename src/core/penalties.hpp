// The vocabulary of penalties. A separable one is a struct of scalar mathematics and its name in the list below: the
// bindings, the table of the documentation and the laws in tests/ follow from the list.
#pragma once
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/penalties/bounded.hpp"
#include "core/penalties/concave.hpp"
#include "core/penalties/constraints.hpp"
#include "core/penalties/groups.hpp"
#include "core/penalties/prior.hpp"
#include "core/penalties/scalar.hpp"
#include "core/penalties/separable.hpp"

namespace tutelage {

using SeparablePenalties = std::tuple<NoPenalty, L2, L1, ElasticNet, Lq, Box, NonNegative, MCP, SCAD>;

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

/// Elastic nets, each coefficient between bounds of its own (lists of 1, d or k d).
inline std::shared_ptr<AnyPenalty> make_boxes(const std::vector<double>& lower, const std::vector<double>& upper,
                                              double l1, double l2, std::vector<double> weights = {}) {
  std::vector<Box> boxes(std::max(lower.size(), upper.size()));
  for (std::size_t j = 0; j < boxes.size(); ++j)
    boxes[j] = {lower[lower.size() == 1 ? 0 : j], upper[upper.size() == 1 ? 0 : j], l1, l2};
  return std::make_shared<SeparableOf<Box, true>>(std::move(boxes), std::move(weights));
}

}  // namespace tutelage
