// The vocabulary of losses. Adding one is a struct in losses/ and its name in the list below: the bindings, the table
// of the documentation and the laws in tests/ follow from the list.
#pragma once
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>

#include "core/losses/counts.hpp"
#include "core/losses/distance.hpp"
#include "core/losses/erased.hpp"
#include "core/losses/margin.hpp"
#include "core/losses/multinomial.hpp"
#include "core/losses/outputs.hpp"
#include "core/losses/scores.hpp"

namespace tutelage {

using Losses =
    std::tuple<ZeroOne, Perceptron, Hinge, SquaredHinge, SmoothedHinge, Logistic, Exponential, ModifiedHuber, Squared,
               Absolute, Huber, EpsilonInsensitive, SquaredEpsilonInsensitive, Quantile, Poisson, Gamma, Tweedie>;
using ScoresLosses = std::tuple<Multinomial, CrammerSinger, WestonWatkins>;

/// The loss of that name. `parameter(name, fallback)` gives the value of a declared parameter; k is the number of
/// scores: a loss of one score is applied to each of k outputs.
template <class Lookup>
std::shared_ptr<AnyLoss> make_loss(std::string_view name, const Lookup& parameter, Index k = 1) {
  std::shared_ptr<AnyLoss> made;
  for_each<Losses>([&](auto member) {
    if (made || member.facts().name != name) return;
    set_parameters(member, parameter);
    made = std::make_shared<Erased<decltype(member)>>(member);
    if (k > 1) made = std::make_shared<PerOutput>(made, k);
  });
  for_each<ScoresLosses>([&](auto member) {
    if (made || member.facts().name != name) return;
    set_parameters(member, parameter);
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
