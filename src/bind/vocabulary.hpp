// Declared parameters, as Python reads them.
#pragma once
#include <nanobind/stl/string_view.h>

#include "bind/bind.hpp"
#include "core/registry.hpp"

namespace tutelage {

using Facts = nb::typed<nb::dict, nb::str, nb::any>;
using Table = nb::typed<nb::list, Facts>;

template <class Member>
nb::list parameter_table(const Member& member) {
  nb::list rows;
  for (const auto& parameter : parameters_of(member)) {
    nb::dict row;
    row["name"] = parameter.name;
    row["default"] = member.*(parameter.member);
    row["low"] = parameter.low;
    row["high"] = parameter.high;
    row["open_low"] = parameter.open_low;
    row["open_high"] = parameter.open_high;
    row["meaning"] = parameter.meaning;
    rows.append(row);
  }
  return rows;
}

}  // namespace tutelage
