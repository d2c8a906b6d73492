// The vocabulary of penalties. A separable one is a struct in penalties/scalar.hpp and its name in the list below; the
// bindings, the table of the documentation and the laws in tests/ follow from the list.
#pragma once
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/losses.hpp"
#include "core/penalties/separable.hpp"

namespace tutelage {

using SeparablePenalties = std::tuple<NoPenalty, L2, L1, ElasticNet>;

/// The separable penalty of that name; `parameter(name, fallback)` gives the value of a declared parameter.
template <class Lookup>
std::shared_ptr<AnyPenalty> make_separable_penalty(std::string_view name, const Lookup& parameter,
                                                   std::vector<double> weights = {}) {
  std::shared_ptr<AnyPenalty> made;
  for_each<SeparablePenalties>([&](auto member) {
    if (made || member.facts().name != name) return;
    for (const auto& p : parameters_of(member)) member.*(p.member) = parameter(p.name, member.*(p.member));
    made = std::make_shared<Separable<decltype(member)>>(member, std::move(weights));
  });
  return made;
}

}  // namespace tutelage
