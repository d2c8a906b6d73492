// The vocabulary of losses. Adding one is a struct in losses/ and its name in the list below: the bindings, the table of
// the documentation and the laws in tests/ follow from the list.
#pragma once
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>

#include "core/losses/counts.hpp"
#include "core/losses/distance.hpp"
#include "core/losses/erased.hpp"
#include "core/losses/margin.hpp"
#include "core/losses/scores.hpp"

namespace tutelage {

using Losses = std::tuple<Logistic, Hinge, Squared, Poisson>;
using ScoresLosses = std::tuple<Multinomial>;

/// Calls body(member) with a default member of every type of the list.
template <class List, class Body>
void for_each(Body&& body) {
  std::apply([&](auto... member) { (body(member), ...); }, List{});
}

/// The declared parameters of a member, in order; none where it declares none.
template <class L>
auto parameters_of(const L&) {
  if constexpr (Parametrised<L>)
    return L::parameters();
  else
    return std::array<Parameter<L>, 0>{};
}

/// The loss of that name. `parameter(name, fallback)` gives the value of a declared parameter; k is the number of scores
/// (a loss of one score ignores it).
template <class Lookup>
std::shared_ptr<AnyLoss> make_loss(std::string_view name, const Lookup& parameter, Index k = 1) {
  std::shared_ptr<AnyLoss> made;
  for_each<Losses>([&](auto member) {
    if (made || member.facts().name != name) return;
    for (const auto& p : parameters_of(member)) member.*(p.member) = parameter(p.name, member.*(p.member));
    made = std::make_shared<Erased<decltype(member)>>(member);
  });
  for_each<ScoresLosses>([&](auto member) {
    if (made || member.facts().name != name) return;
    for (const auto& p : parameters_of(member)) member.*(p.member) = parameter(p.name, member.*(p.member));
    member.k = k;
    made = std::make_shared<ErasedScores<decltype(member)>>(member);
  });
  if (!made) throw std::invalid_argument("no loss is called '" + std::string(name) + "'");
  return made;
}

inline std::shared_ptr<AnyLoss> make_loss(std::string_view name, Index k = 1) {
  return make_loss(name, [](std::string_view, double fallback) { return fallback; }, k);
}

}  // namespace tutelage
