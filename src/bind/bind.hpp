// What every file of src/bind begins with. One file for each core header, with no arithmetic in it: a function
// `bind_<noun>` that says which core functions Python may call. Declare it here, call it in module.cpp.
//
// A binding that computes releases the GIL (nb::gil_scoped_release, or nb::call_guard of it).
#pragma once

#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_coordinate(nb::module_& m);
void bind_counts(nb::module_& m);
void bind_curvature(nb::module_& m);
void bind_losses(nb::module_& m);
void bind_machine(nb::module_& m);
void bind_matrices(nb::module_& m);
void bind_neighbours(nb::module_& m);
void bind_penalties(nb::module_& m);
void bind_ridge_path(nb::module_& m);
void bind_group_descent(nb::module_& m);
void bind_risk(nb::module_& m);
void bind_trees(nb::module_& m);
