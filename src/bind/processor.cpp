// The module tutelage._processor: which variant of the core this machine can run. Plain C API, compiled for the
// baseline, so that it loads everywhere.
#include <Python.h>

#include "core/machine/level.hpp"

namespace {

PyObject* level(PyObject*, PyObject*) { return PyUnicode_FromString(tutelage::instruction_level()); }

PyMethodDef methods[] = {
    {"level", level, METH_NOARGS,
     "level()\n--\n\nThe highest instruction-set level this processor runs: v1 ... v4, or base."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_processor", nullptr, 0, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__processor() { return PyModuleDef_Init(&definition); }
