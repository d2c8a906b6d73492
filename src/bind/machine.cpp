#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bind/bind.hpp"
#include "core/machine/blas.hpp"
#include "core/machine/latency.hpp"
#include "core/machine/parallel.hpp"

namespace {

using namespace tutelage;

// ---- Ctrl-C. Python's signal handlers run only on its main thread, and may raise anything, not only
// KeyboardInterrupt.

std::atomic<unsigned long> main_thread{0};
std::unique_ptr<nb::python_error> raised_by_handler;

bool signal_handler_raised() {
  if (PyThread_get_thread_ident() != main_thread.load(std::memory_order_relaxed)) return false;
  const nb::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() == 0) return false;
  raised_by_handler = std::make_unique<nb::python_error>();
  return true;
}

void translate_interrupted(const std::exception_ptr& exception, void*) {
  try {
    std::rethrow_exception(exception);
  } catch (const Interrupted&) {
    if (raised_by_handler) {
      raised_by_handler->restore();
      raised_by_handler.reset();
    } else {
      PyErr_SetNone(PyExc_KeyboardInterrupt);
    }
  }
}

void remember_main_thread() {
  const nb::object thread = nb::module_::import_("threading").attr("main_thread")();
  main_thread.store(nb::cast<unsigned long>(thread.attr("ident")), std::memory_order_relaxed);
}

// ---- BLAS: SciPy's capsules are named by the C signature of what they hold.

template <class T>
constexpr const char* type_name = nullptr;
template <>
constexpr const char* type_name<void> = "void";
template <>
constexpr const char* type_name<char*> = "char *";
template <>
constexpr const char* type_name<int*> = "int *";
template <>
constexpr const char* type_name<double> = "double";
template <>
constexpr const char* type_name<double*> = "double *";
template <>
constexpr const char* type_name<float*> = "float *";

template <class R, class... P>
std::string signature(R (*)(P...)) {
  std::string text = std::string(type_name<R>) + " (";
  const char* comma = "";
  ((text += comma, text += type_name<P>, comma = ", "), ...);
  return text + ")";
}

// SciPy writes double as __pyx_t_5scipy_6linalg_11cython_blas_d, and float with _s.
std::string readable(std::string text) {
  for (std::size_t from = 0; (from = text.find("__pyx_t_", from)) != std::string::npos;) {
    std::size_t to = text.find_first_of(" ,)*", from);
    if (to == std::string::npos) to = text.size();
    const char kind = text[to - 1];
    const char* name = kind == 'd' ? "double" : kind == 's' ? "float" : "unknown";
    text.replace(from, to - from, name);
  }
  return text;
}

template <class Routine>
void fill(Routine*& routine, const std::string& name, nb::handle capsule) {
  const char* found = PyCapsule_GetName(capsule.ptr());
  if (!found) throw nb::python_error();
  const std::string expected = signature(static_cast<Routine*>(nullptr));
  if (readable(found) != expected)
    throw nb::import_error(("SciPy's " + name + " has the signature " + readable(found) + " where " + expected +
                            " was expected; install a SciPy release built with 32-bit BLAS integers.")
                               .c_str());
  routine = reinterpret_cast<Routine*>(PyCapsule_GetPointer(capsule.ptr(), found));
}

using Capsules = nb::typed<nb::dict, nb::str, nb::object>;

void load_blas(Capsules blas_capsules, Capsules lapack_capsules) {
#define TUTELAGE_FILL_BLAS(name, ...) fill(blas.name, #name, blas_capsules[#name]);
#define TUTELAGE_FILL_LAPACK(name, ...) fill(blas.name, #name, lapack_capsules[#name]);
  TUTELAGE_BLAS_ROUTINES(TUTELAGE_FILL_BLAS)
  TUTELAGE_LAPACK_ROUTINES(TUTELAGE_FILL_LAPACK)
#undef TUTELAGE_FILL_BLAS
#undef TUTELAGE_FILL_LAPACK
}

void set_blas_thread_functions(std::uintptr_t set, std::uintptr_t get) {
  blas.set_threads = reinterpret_cast<void (*)(int)>(set);
  blas.get_threads = reinterpret_cast<int (*)()>(get);
}

#if defined(__clang__)
constexpr const char* compiler = "Clang " __clang_version__;
#else
constexpr const char* compiler = "GCC " __VERSION__;
#endif

}  // namespace

void bind_machine(nb::module_& m) {
  nb::register_exception_translator(translate_interrupted);
  remember_main_thread();
  set_interrupt(signal_handler_raised);

  m.def("variant", [] { return TUTELAGE_VARIANT; }, "The instruction-set variant of this build: v2, v3, v4 or base.");
  m.def("compiler", [] { return compiler; }, "The compiler of this build.");
  m.def("get_threads", &threads, "The number of threads a fit on the calling thread may use.");
  m.def("set_threads", &set_threads, nb::arg("n"), "Sets the number of threads for the whole process.");
  m.def("set_thread_override", &set_thread_override, nb::arg("n"),
        "Sets the number of threads for the calling thread alone (0: as the process); returns what it was.");
  m.def("parallel_latency", &parallel_latency, nb::arg("calls"), nb::arg("tasks"),
        nb::call_guard<nb::gil_scoped_release>(),
        "The mean time, in seconds, of a parallel call of so many empty tasks.");
  m.def("stop_threads", &stop_threads, nb::call_guard<nb::gil_scoped_release>(),
        "Ends the worker threads; the next call that needs them starts them again.");
  m.def("remember_main_thread", &remember_main_thread,
        "Notes which thread runs Python's signal handlers; called again after a fork.");
  m.def("load_blas", &load_blas, nb::arg("blas"), nb::arg("lapack"),
        "Takes the BLAS and LAPACK routines from the __pyx_capi__ of SciPy's cython_blas and cython_lapack.");
  m.def("set_blas_thread_functions", &set_blas_thread_functions, nb::arg("set_threads"), nb::arg("get_threads"),
        "Takes the addresses of BLAS's own functions for its number of threads.");
}
