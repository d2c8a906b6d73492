#include "core/penalties.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/bind.hpp"
#include "bind/vocabulary.hpp"

namespace {

using namespace tutelage;

Facts facts_as_dict(const PenaltyFacts& facts) {
  Facts out;
  out["name"] = facts.name;
  out["formula"] = facts.formula;
  out["convex"] = facts.convex;
  out["separable"] = facts.separable;
  out["quadratic"] = facts.quadratic;
  out["strong_convexity"] = facts.strong_convexity;
  out["has_conjugate"] = facts.has_conjugate;
  out["smooth"] = facts.smooth;
  out["has_prox"] = facts.has_prox;
  return out;
}

Table table() {
  Table rows;
  const auto add = [&](const auto& member) {
    nb::dict row;
    row["name"] = member.facts().name;
    row["parameters"] = parameter_table(member);
    rows.append(row);
  };
  for_each<SeparablePenalties>(add);
  for_each<JointPenalties>(add);
  return rows;
}

/// A parameter is a number, or an array: a list of one entry for each coefficient.
std::shared_ptr<AnyPenalty> named_penalty(const std::string& name, const Facts& parameters,
                                          std::vector<std::vector<Index>> groups) {
  PenaltyParts parts;
  parts.groups = std::move(groups);
  for (const auto& [key, value] : parameters) {
    const std::string parameter = nb::cast<std::string>(key);
    if (double number = 0; nb::try_cast(value, number)) {
      parts.numbers[parameter] = number;
    } else {
      const Numbers list = nb::cast<Numbers>(value);
      parts.lists[parameter] = std::vector<double>(list.data(), list.data() + list.size());
    }
  }
  return make_penalty(name, parts);
}

// ---- a penalty written in Python ----

/// An object with value(w), prox(w, step) or slope(w) or both, and perhaps curvature and conjugate. w has shape (d,),
/// or (k, d) where there are k scores.
class PythonPenalty final : public AnyPenalty {
 public:
  explicit PythonPenalty(nb::object penalty) : penalty_(std::move(penalty)) {
    name_ = nb::cast<std::string>(nb::str(nb::getattr(penalty_, "name", penalty_.type().attr("__name__"))));
    formula_ = nb::cast<std::string>(nb::str(nb::getattr(penalty_, "formula", nb::str("written in Python"))));
    facts_.convex = nb::cast<bool>(nb::getattr(penalty_, "convex", nb::bool_(true)));
    facts_.strong_convexity = nb::cast<double>(nb::getattr(penalty_, "strong_convexity", nb::float_(0)));
    facts_.has_conjugate = nb::hasattr(penalty_, "conjugate");
    facts_.smooth = nb::hasattr(penalty_, "slope");
    facts_.has_prox = nb::hasattr(penalty_, "prox");
    has_curvature_ = nb::hasattr(penalty_, "curvature");
  }
  ~PythonPenalty() override {
    const nb::gil_scoped_acquire gil;
    penalty_.reset();
  }
  PythonPenalty(const PythonPenalty&) = delete;
  PythonPenalty& operator=(const PythonPenalty&) = delete;

  PenaltyFacts facts() const override {
    PenaltyFacts facts = facts_;
    facts.name = name_;
    facts.formula = formula_;
    return facts;
  }
  double value(const double* w, Index k, Index d) const override {
    const nb::gil_scoped_acquire gil;
    return ask("value", 1, block(w, k, d))[0];
  }
  void prox(const double* v, double step, Index k, Index d, double* out) const override {
    if (!facts_.has_prox) refuse("has no prox");
    const nb::gil_scoped_acquire gil;
    const Answer answer = ask("prox", k * d, block(v, k, d), nb::float_(step));
    for (Index j = 0; j < k * d; ++j) out[j] = answer[j];
  }
  double value_one(Index, double) const override { return refuse("is not separable"), 0; }
  double prox_one(Index, double, double) const override { return refuse("is not separable"), 0; }

  void add_gradient(const double* w, Index k, Index d, double* g) const override {
    if (!facts_.smooth) refuse("has no slope");
    add("slope", w, k, d, g);
  }
  void add_curvature(const double* w, Index k, Index d, double* diagonal) const override {
    if (!has_curvature_) refuse("has no curvature");
    add("curvature", w, k, d, diagonal);
  }
  void add_hessian(Index, Index, double*) const override { refuse("is not quadratic"); }
  void add_hessian_times(const double*, Index, Index, double*) const override { refuse("is not quadratic"); }
  void add_hessian_diagonal(Index, Index, double*) const override { refuse("is not quadratic"); }

  double conjugate(const double* v, Index k, Index d) const override {
    if (!facts_.has_conjugate) return infinity;
    const nb::gil_scoped_acquire gil;
    return ask("conjugate", 1, block(v, k, d))[0];
  }
  double dual_scale(const double* v, Index k, Index d) const override { return bisected_dual_scale(*this, v, k, d); }
  double stationarity(const double* w, const double* g, Index k, Index d) const override {
    return facts_.smooth ? slope_stationarity(*this, w, g, k, d) : prox_stationarity(*this, w, g, k, d);
  }

 private:
  static nb::object block(const double* w, Index k, Index d) {
    return k == 1 ? copied(w, d, 1) : nb::cast(copied(w, k * d, 1).attr("reshape")(k, d));
  }
  template <class... Arguments>
  Answer ask(const char* method, Index count, Arguments... arguments) const {
    return Answer(penalty_.attr(method)(arguments...), count, std::string(method) + " of the penalty " + name_);
  }
  void add(const char* method, const double* w, Index k, Index d, double* out) const {
    const nb::gil_scoped_acquire gil;
    const Answer answer = ask(method, k * d, block(w, k, d));
    for (Index j = 0; j < k * d; ++j) out[j] += answer[j];
  }
  void refuse(const char* what) const { throw std::logic_error("the penalty '" + name_ + "' " + what); }

  nb::object penalty_;
  std::string name_, formula_;
  PenaltyFacts facts_;
  bool has_curvature_ = false;
};

// ---- coefficients through a penalty: w is one row of d for each of k scores ----

struct Shape {
  Index k, d;
};

Shape shape_of(const AnyPenalty& penalty, const Numbers& w) {
  if (w.ndim() != 1 && w.ndim() != 2) throw nb::value_error("w must have one or two dimensions");
  const Shape shape = w.ndim() == 1 ? Shape{1, Index(w.shape(0))} : Shape{Index(w.shape(0)), Index(w.shape(1))};
  penalty.check(shape.k, shape.d);
  return shape;
}
NewNumbers like(const Numbers& w) {
  return w.ndim() == 1 ? new_numbers({w.shape(0)}) : new_numbers({w.shape(0), w.shape(1)});
}

double value(const AnyPenalty& penalty, Numbers w) {
  const auto [k, d] = shape_of(penalty, w);
  return penalty.value(w.data(), k, d);
}
NewNumbers prox(const AnyPenalty& penalty, Numbers w, double step) {
  const auto [k, d] = shape_of(penalty, w);
  NewNumbers out = like(w);
  penalty.prox(w.data(), step, k, d, out.data());
  return out;
}
NewNumbers slope(const AnyPenalty& penalty, Numbers w) {
  const auto [k, d] = shape_of(penalty, w);
  NewNumbers out = like(w);
  penalty.add_gradient(w.data(), k, d, out.data());
  return out;
}
NewNumbers curvature(const AnyPenalty& penalty, Numbers w) {
  const auto [k, d] = shape_of(penalty, w);
  NewNumbers out = like(w);
  penalty.add_curvature(w.data(), k, d, out.data());
  return out;
}
NewNumbers hessian(const AnyPenalty& penalty, Index d, Index score) {
  NewNumbers out = new_numbers({std::size_t(d), std::size_t(d)});
  penalty.add_hessian(score, d, out.data());
  return out;
}
NewNumbers hessian_times(const AnyPenalty& penalty, Numbers v) {
  const auto [k, d] = shape_of(penalty, v);
  NewNumbers out = like(v);
  penalty.add_hessian_times(v.data(), k, d, out.data());
  return out;
}
NewNumbers hessian_diagonal(const AnyPenalty& penalty, Index k, Index d) {
  NewNumbers out = new_numbers({std::size_t(k), std::size_t(d)});
  penalty.add_hessian_diagonal(k, d, out.data());
  return out;
}
double conjugate(const AnyPenalty& penalty, Numbers v) {
  const auto [k, d] = shape_of(penalty, v);
  return penalty.conjugate(v.data(), k, d);
}
double dual_scale(const AnyPenalty& penalty, Numbers v) {
  const auto [k, d] = shape_of(penalty, v);
  return penalty.dual_scale(v.data(), k, d);
}
double stationarity(const AnyPenalty& penalty, Numbers w, Numbers g) {
  const auto [k, d] = shape_of(penalty, w);
  if (g.size() != w.size()) throw nb::value_error("g must have the shape of w");
  return penalty.stationarity(w.data(), g.data(), k, d);
}

}  // namespace

void bind_penalties(nb::module_& m) {
  nb::class_<AnyPenalty>(m, "Penalty", "A penalty over the coefficients of one fit.")
      .def_prop_ro(
          "facts", [](const AnyPenalty& penalty) { return facts_as_dict(penalty.facts()); },
          "What is true of the penalty.")
      .def("value", &value, nb::arg("w"), "The penalty at w.")
      .def("prox", &prox, nb::arg("w"), nb::arg("step"), "The proximal point of w.")
      .def("value_one", &AnyPenalty::value_one, nb::arg("j"), nb::arg("w"), "The part of coefficient j.")
      .def("prox_one", &AnyPenalty::prox_one, nb::arg("j"), nb::arg("v"), nb::arg("step"),
           "The proximal point of coefficient j.")
      .def("slope", &slope, nb::arg("w"), "The gradient, of a smooth penalty.")
      .def("curvature", &curvature, nb::arg("w"), "The diagonal of the Hessian, of a smooth penalty.")
      .def("hessian", &hessian, nb::arg("d"), nb::arg("score") = 0, "The Hessian of one score, of a quadratic penalty.")
      .def("hessian_times", &hessian_times, nb::arg("v"), "The Hessian times v, of a quadratic penalty.")
      .def("hessian_diagonal", &hessian_diagonal, nb::arg("k"), nb::arg("d"),
           "The diagonal of the Hessian, of a quadratic penalty.")
      .def("conjugate", &conjugate, nb::arg("v"), "The largest v.w - value(w).")
      .def("dual_scale", &dual_scale, nb::arg("v"), "The largest t up to 1 with a finite conjugate at t v.")
      .def("stationarity", &stationarity, nb::arg("w"), nb::arg("g"),
           "How far -g is from being a subgradient at w, in the largest coordinate.")
      .def("check", &AnyPenalty::check, nb::arg("k"), nb::arg("d"),
           "Raises ValueError where lists given for each coefficient do not fit.");
  m.def("make_penalty", &named_penalty, nb::arg("name"), nb::arg("parameters") = Facts(),
        nb::arg("groups") = std::vector<std::vector<Index>>{}, "The penalty of that name.");
  m.def(
      "user_penalty",
      [](nb::object penalty) -> std::shared_ptr<AnyPenalty> {
        return std::make_shared<PythonPenalty>(std::move(penalty));
      },
      nb::arg("penalty"), "A penalty from an object with value(w) and prox(w, step) or slope(w).");
  m.def("penalty_table", &table, "The names and parameters of all penalties.");
}
