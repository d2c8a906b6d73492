#include "core/losses.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "bind/arrays.hpp"
#include "bind/bind.hpp"
#include "bind/vocabulary.hpp"
#include "core/losses/rows.hpp"

namespace {

using namespace tutelage;

// ---- facts ----

constexpr std::pair<Targets, const char*> target_names[] = {{Targets::label, "label"},
                                                            {Targets::category, "category"},
                                                            {Targets::real, "real"},
                                                            {Targets::nonnegative, "nonnegative"},
                                                            {Targets::positive, "positive"}};

Facts facts_as_dict(const LossFacts& facts) {
  Facts out;
  for (const auto& [targets, name] : target_names)
    if (targets == facts.targets) out["targets"] = name;
  out["name"] = facts.name;
  out["formula"] = facts.formula;
  out["convex"] = facts.convex;
  out["trainable"] = facts.trainable;
  out["calibrated"] = facts.calibrated;
  out["smoothness"] = facts.smoothness;
  out["lipschitz"] = facts.lipschitz;
  out["has_curvature"] = facts.has_curvature;
  out["has_conjugate"] = facts.has_conjugate;
  out["has_prox"] = facts.has_prox;
  out["kink"] = facts.kink;
  return out;
}

/// The vocabulary: for each loss its name, whether it is of several scores, and its parameters as declared.
Table table() {
  Table rows;
  const auto add = [&](const auto& member, bool several) {
    nb::dict row;
    row["name"] = member.facts().name;
    row["several_scores"] = several;
    row["parameters"] = parameter_table(member);
    rows.append(row);
  };
  for_each<Losses>([&](const auto& member) { add(member, false); });
  for_each<ScoresLosses>([&](const auto& member) { add(member, true); });
  return rows;
}

// ---- a loss written in Python ----

/// An object with value(y, z) and slope(y, z), and perhaps curvature, conjugate, prox, curvature_times, each taking and
/// giving whole vectors.
class PythonLoss final : public AnyLoss {
 public:
  PythonLoss(nb::object loss, Index k) : loss_(std::move(loss)), k_(k) {
    name_ = nb::cast<std::string>(nb::str(nb::getattr(loss_, "name", loss_.type().attr("__name__"))));
    formula_ = nb::cast<std::string>(nb::str(nb::getattr(loss_, "formula", nb::str("written in Python"))));
    facts_.convex = nb::cast<bool>(nb::getattr(loss_, "convex", nb::bool_(true)));
    facts_.smoothness = nb::cast<double>(nb::getattr(loss_, "smoothness", nb::float_(infinity)));
    facts_.lipschitz = nb::cast<double>(nb::getattr(loss_, "lipschitz", nb::float_(infinity)));
    facts_.calibrated = nb::cast<bool>(nb::getattr(loss_, "calibrated", nb::bool_(false)));
    facts_.has_curvature = nb::hasattr(loss_, "curvature") && (k == 1 || nb::hasattr(loss_, "curvature_times"));
    facts_.has_conjugate = nb::hasattr(loss_, "conjugate");
    facts_.has_prox = nb::hasattr(loss_, "prox");
    const std::string targets = nb::cast<std::string>(nb::str(nb::getattr(loss_, "targets", nb::str("real"))));
    bool known = false;
    for (const auto& [value, word] : target_names)
      if (word == targets) facts_.targets = value, known = true;
    if (!known)
      throw nb::value_error(("targets of the loss " + name_ + " is '" + targets +
                             "'; it must be label, category, real, nonnegative or positive.")
                                .c_str());
  }
  ~PythonLoss() override {
    const nb::gil_scoped_acquire gil;
    loss_.reset();
  }
  PythonLoss(const PythonLoss&) = delete;
  PythonLoss& operator=(const PythonLoss&) = delete;

  LossFacts facts() const override {
    LossFacts facts = facts_;
    facts.name = name_;
    facts.formula = formula_;
    return facts;
  }
  Index scores() const override { return k_; }
  bool whole() const override { return true; }

  double evaluate(const double* y, const double* s, const double* z, Index n, double* slope,
                  double* curvature) const override {
    const nb::gil_scoped_acquire gil;
    const nb::object targets = copied(y, n, 1), scores = copied(z, n, k_);
    const Answer values = ask("value", n, targets, scores);
    double sum = 0;
    for (Index i = 0; i < n; ++i) sum += weighted(s, i, values[i]);
    if (slope) fill(ask("slope", n * k_, targets, scores), s, n, slope);
    if (curvature && facts_.has_curvature) fill(ask("curvature", n * k_, targets, scores), s, n, curvature);
    if (curvature && !facts_.has_curvature) std::fill(curvature, curvature + n * k_, 0.0);
    return sum;
  }
  void curvature_times(const double* y, const double* s, const double* z, const double* u, Index n,
                       double* out) const override {
    const nb::gil_scoped_acquire gil;
    const nb::object targets = copied(y, n, 1), scores = copied(z, n, k_);
    if (k_ > 1) {
      fill(ask("curvature_times", n * k_, targets, scores, copied(u, n, k_)), s, n, out);
    } else {
      fill(ask("curvature", n, targets, scores), s, n, out);
      for (Index i = 0; i < n; ++i) out[i] *= u[i];
    }
  }
  double conjugate(const double* y, const double* s, const double* a, Index n) const override {
    if (!facts_.has_conjugate) return infinity;
    const nb::gil_scoped_acquire gil;
    const Answer values = ask("conjugate", n, copied(y, n, 1), copied(a, n, k_));
    double sum = 0;
    for (Index i = 0; i < n; ++i) sum += weighted(s, i, values[i]);
    return sum;
  }
  void prox(const double* y, const double* z, double step, Index n, double* out) const override {
    if (!facts_.has_prox) return AnyLoss::prox(y, z, step, n, out);
    const nb::gil_scoped_acquire gil;
    fill(ask("prox", n * k_, copied(y, n, 1), copied(z, n, k_), nb::float_(step)), nullptr, n, out);
  }
  void prox_slope_times(const double* y, const double* z, double step, const double* u, Index n,
                        double* out) const override {
    difference_prox_slope_times(*this, y, z, step, u, n, out);
  }

 private:
  template <class... Arguments>
  Answer ask(const char* method, Index count, Arguments... arguments) const {
    return Answer(loss_.attr(method)(arguments...), count, std::string(method) + " of the loss " + name_);
  }
  static double weighted(const double* s, Index i, double value) {
    if (!s) return value;
    return s[i] == 0 ? 0 : s[i] * value;
  }
  void fill(const Answer& answer, const double* s, Index n, double* out) const {
    for (Index j = 0; j < n * k_; ++j) out[j] = weighted(s, j / k_, answer[j]);
  }

  nb::object loss_;
  Index k_;
  std::string name_, formula_;
  LossFacts facts_;
};

// ---- rows of numbers through a loss ----

Index row_count(const AnyLoss& loss, const Numbers& y, const Numbers& z) {
  const Index n = Index(z.size()) / loss.scores();
  if (Index(z.size()) != n * loss.scores() || Index(y.size()) != n * loss.targets())
    throw nb::value_error(("y holds " + std::to_string(y.size()) + " numbers and z " + std::to_string(z.size()) +
                           "; a row needs " + std::to_string(loss.targets()) + " and " + std::to_string(loss.scores()))
                              .c_str());
  if (loss.facts().targets == Targets::category) {
    for (Index i = 0; i < n; ++i) {
      const double category = y.data()[i * loss.targets()];
      if (!(category >= 0 && category < double(loss.scores()) && category == double(Index(category))))
        throw nb::value_error(("y must hold categories 0, ..., " + std::to_string(loss.scores() - 1) + "; found " +
                               std::to_string(category))
                                  .c_str());
    }
  }
  return n;
}

using Rows1 = void (*)(const AnyLoss&, const double*, const double*, Index, double*);

template <Rows1 function>
NewNumbers by_row(const AnyLoss& loss, Numbers y, Numbers z) {
  const Index n = row_count(loss, y, z);
  NewNumbers out = new_numbers({std::size_t(n)});
  const nb::gil_scoped_release released;
  function(loss, y.data(), z.data(), n, out.data());
  return out;
}

template <class Compute>
NewNumbers by_score(const AnyLoss& loss, const Numbers& y, const Numbers& z, const Compute& compute) {
  const Index n = row_count(loss, y, z);
  NewNumbers out = new_numbers({z.size()});
  const nb::gil_scoped_release released;
  compute(y.data(), z.data(), n, out.data());
  return out;
}

NewNumbers slopes(const AnyLoss& loss, Numbers y, Numbers z) {
  return by_score(loss, y, z, [&](const double* yi, const double* zi, Index n, double* out) {
    loss.evaluate(yi, nullptr, zi, n, out, nullptr);
  });
}
NewNumbers curvatures(const AnyLoss& loss, Numbers y, Numbers z) {
  return by_score(loss, y, z, [&](const double* yi, const double* zi, Index n, double* out) {
    loss.evaluate(yi, nullptr, zi, n, nullptr, out);
  });
}
NewNumbers curvature_products(const AnyLoss& loss, Numbers y, Numbers z, Numbers u) {
  if (u.size() != z.size()) throw nb::value_error("u must have the shape of z");
  return by_score(loss, y, z, [&](const double* yi, const double* zi, Index n, double* out) {
    loss.curvature_times(yi, nullptr, zi, u.data(), n, out);
  });
}
NewNumbers proxes(const AnyLoss& loss, Numbers y, Numbers z, double step) {
  return by_score(loss, y, z,
                  [&](const double* yi, const double* zi, Index n, double* out) { loss.prox(yi, zi, step, n, out); });
}
double total(const AnyLoss& loss, Numbers y, Numbers s, Numbers z) {
  const Index n = row_count(loss, y, z);
  if (Index(s.size()) != n) throw nb::value_error("s must hold a weight for each row");
  const nb::gil_scoped_release released;
  return loss.evaluate(y.data(), s.data(), z.data(), n, nullptr, nullptr);
}

std::shared_ptr<AnyLoss> named_loss(const std::string& name, const std::map<std::string, double>& parameters,
                                    Index scores) {
  return make_loss(
      name,
      [&](std::string_view parameter, double fallback) {
        const auto found = parameters.find(std::string(parameter));
        return found == parameters.end() ? fallback : found->second;
      },
      scores);
}

}  // namespace

void bind_losses(nb::module_& m) {
  nb::class_<AnyLoss>(m, "Loss", "A loss over blocks of rows.")
      .def_prop_ro(
          "facts", [](const AnyLoss& loss) { return facts_as_dict(loss.facts()); }, "What is true of the loss.")
      .def_prop_ro("scores", &AnyLoss::scores, "How many scores a row has.")
      .def_prop_ro("targets", &AnyLoss::targets, "How many targets a row has.")
      .def("value", &by_row<loss_values>, nb::arg("y"), nb::arg("z"), "The loss of each row.")
      .def("slope", &slopes, nb::arg("y"), nb::arg("z"), "The slope in each score.")
      .def("curvature", &curvatures, nb::arg("y"), nb::arg("z"), "The second derivative in each score.")
      .def("curvature_times", &curvature_products, nb::arg("y"), nb::arg("z"), nb::arg("u"),
           "The Hessian of each row times a row of u.")
      .def("conjugate", &by_row<loss_conjugates>, nb::arg("y"), nb::arg("a"), "The conjugate of each row.")
      .def("prox", &proxes, nb::arg("y"), nb::arg("z"), nb::arg("step"), "The proximal point of each row.")
      .def("total", &total, nb::arg("y"), nb::arg("s"), nb::arg("z"), "The sum of the values, each times its weight.");
  m.def("make_loss", &named_loss, nb::arg("name"), nb::arg("parameters") = std::map<std::string, double>{},
        nb::arg("scores") = 1, "The loss of that name.");
  m.def(
      "user_loss",
      [](nb::object loss, Index scores) -> std::shared_ptr<AnyLoss> {
        return std::make_shared<PythonLoss>(std::move(loss), scores);
      },
      nb::arg("loss"), nb::arg("scores") = 1, "A loss from an object with value(y, z) and slope(y, z) on vectors.");
  m.def("envelope", &make_envelope, nb::arg("loss"), nb::arg("sigma"),
        "A proximal loss made smooth: its rows of targets are followed by the multipliers of its scores.");
  m.def("loss_table", &table, "The names and parameters of all losses.");
}
