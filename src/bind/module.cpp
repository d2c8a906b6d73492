// The native module. It is compiled once for each instruction set, under the name TUTELAGE_MODULE, and calls itself
// tutelage._core whichever it is, so that what is pickled on one processor can be read on another.
#include "bind/bind.hpp"

NB_MODULE(TUTELAGE_MODULE, m) {
  m.attr("__name__") = "tutelage._core";
  bind_machine(m);
  bind_coordinate(m);
  bind_matrices(m);
  bind_losses(m);
  bind_penalties(m);
  bind_risk(m);
  bind_curvature(m);
  bind_ridge_path(m);
  bind_counts(m);
  bind_neighbours(m);
  bind_group_descent(m);
  bind_trees(m);
}
