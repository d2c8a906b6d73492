// Memory a kernel packs its operands into: one buffer per thread and purpose, kept between calls.
#pragma once
#include <memory>
#include <new>

#include "core/machine/index.hpp"

namespace tutelage {

/// At least `size` doubles, aligned to a cache line. The next call with the same `Purpose` on the same thread returns
/// the same memory; contents are not kept when it grows.
template <class Purpose>
double* scratch(Index size) {
  struct Free {
    void operator()(double* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  thread_local std::unique_ptr<double[], Free> memory;
  thread_local Index capacity = 0;
  if (size > capacity) {
    memory.reset();
    capacity = 0;
    memory.reset(
        static_cast<double*>(::operator new[](static_cast<std::size_t>(size) * sizeof(double), std::align_val_t{64})));
    capacity = size;
  }
  return memory.get();
}

}  // namespace tutelage
