#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/vector.h>
#include "bind/bind.hpp"
#include "core/losses.hpp"
#include "core/penalties.hpp"
using namespace tutelage;
void bind_temporary(nb::module_& m) {
  nb::class_<AnyLoss>(m, "Loss");
  nb::class_<AnyPenalty>(m, "Penalty");
  using P = std::map<std::string, double>;
  m.def("make_loss", [](const std::string& name, const P& p, Index k) { return make_loss(name, [&](std::string_view n, double f) { auto i = p.find(std::string(n)); return i == p.end() ? f : i->second; }, k); });
  m.def("make_penalty", [](const std::string& name, const P& p, std::vector<double> w) { return make_separable_penalty(name, [&](std::string_view n, double f) { auto i = p.find(std::string(n)); return i == p.end() ? f : i->second; }, w); });
}
