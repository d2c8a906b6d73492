// A certificate on its way to Python.
#pragma once
#include <nanobind/stl/string_view.h>

#include "bind/bind.hpp"
#include "core/solvers/certificate.hpp"

namespace tutelage {

inline nb::dict certificate_as_dict(const Certificate& c) {
  nb::dict out;
  out["primal"] = c.primal;
  out["dual"] = c.dual;
  out["gap"] = c.gap;
  out["measure"] = name(c.measure);
  out["rounds"] = c.rounds;
  out["passes"] = c.passes;
  out["seconds"] = c.seconds;
  out["reason"] = name(c.reason);
  out["solver"] = c.solver;
  return out;
}

}  // namespace tutelage
