// Lists of types, and parameters declared once.
//
// A vocabulary is a std::tuple of structs. Each struct declares its scalar parameters in one place; factories,
// bindings, checks, laws and the tables of the documentation read them there.
#pragma once
#include <array>
#include <string_view>
#include <tuple>

#include "core/concepts.hpp"

namespace tutelage {

/// One parameter of a loss or a penalty: where it stands and the values it may take. Its default is the value it has in
/// a default-constructed owner.
template <class Owner>
struct Parameter {
  std::string_view name;
  double Owner::* member = nullptr;
  double low = -infinity;
  double high = infinity;
  bool open_low = false;   // low itself is not allowed
  bool open_high = false;  // high itself is not allowed
  std::string_view meaning = {};
};

template <class T>
concept Parametrised = requires { T::parameters(); };

/// The declared parameters of a member, in order; none where it declares none.
template <class T>
constexpr auto parameters_of(const T&) {
  if constexpr (Parametrised<T>)
    return T::parameters();
  else
    return std::array<Parameter<T>, 0>{};
}

/// Calls body(member) with a default member of every type of the list.
template <class List, class Body>
void for_each(Body&& body) {
  std::apply([&](auto... member) { (body(member), ...); }, List{});
}

/// Sets the declared parameters of a member to `parameter(name, fallback)`, the fallback being their present value.
template <class T, class Lookup>
void set_parameters(T& member, const Lookup& parameter) {
  for (const auto& p : parameters_of(member)) member.*(p.member) = parameter(p.name, member.*(p.member));
}

}  // namespace tutelage
