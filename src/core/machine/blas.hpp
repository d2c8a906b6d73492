// BLAS and LAPACK: the ones that SciPy carries, as function pointers filled in when the core is loaded.
//
// Nothing is linked, and no second BLAS comes into the process. To use one more routine, add its line to the list
// below; its signature is compared with SciPy's when it is filled in. Call it through `fortran`, by value:
//
//   fortran(blas.dgemm, 'N', 'T', m, n, k, 1.0, a, lda, b, ldb, 0.0, c, ldc);
//
// Matrices are in column order, and sizes must fit a 32-bit integer.
//
// SciPy's BLAS has threads of its own, whose number changes the last bits of its results. So a fit holds a
// `SerialBlas` and gets its threads from parallel_for: the same bits on any number of threads.
#pragma once

#include <limits>
#include <mutex>
#include <stdexcept>
#include <type_traits>

// clang-format off
#define TUTELAGE_BLAS_ROUTINES(X)                                                                                      \
  X(dgemm,  void(char*, char*, int*, int*, int*, double*, double*, int*, double*, int*, double*, double*, int*))       \
  X(sgemm,  void(char*, char*, int*, int*, int*, float*, float*, int*, float*, int*, float*, float*, int*))            \
  X(dgemv,  void(char*, int*, int*, double*, double*, int*, double*, int*, double*, double*, int*))                    \
  X(sgemv,  void(char*, int*, int*, float*, float*, int*, float*, int*, float*, float*, int*))                         \
  X(dger,   void(int*, int*, double*, double*, int*, double*, int*, double*, int*))                                    \
  X(dsymm,  void(char*, char*, int*, int*, double*, double*, int*, double*, int*, double*, double*, int*))             \
  X(dsymv,  void(char*, int*, double*, double*, int*, double*, int*, double*, double*, int*))                          \
  X(dsyr,   void(char*, int*, double*, double*, int*, double*, int*))                                                  \
  X(dsyrk,  void(char*, char*, int*, int*, double*, double*, int*, double*, double*, int*))                            \
  X(ssyrk,  void(char*, char*, int*, int*, float*, float*, int*, float*, float*, int*))                                \
  X(dtrmm,  void(char*, char*, char*, char*, int*, int*, double*, double*, int*, double*, int*))                       \
  X(dtrmv,  void(char*, char*, char*, int*, double*, int*, double*, int*))                                             \
  X(dtrsm,  void(char*, char*, char*, char*, int*, int*, double*, double*, int*, double*, int*))                       \
  X(dtrsv,  void(char*, char*, char*, int*, double*, int*, double*, int*))

#define TUTELAGE_LAPACK_ROUTINES(X)                                                                                    \
  X(dpotrf, void(char*, int*, double*, int*, int*))                                                                    \
  X(dpotrs, void(char*, int*, int*, double*, int*, double*, int*, int*))                                               \
  X(dpotri, void(char*, int*, double*, int*, int*))                                                                    \
  X(dpocon, void(char*, int*, double*, int*, double*, double*, double*, int*, int*))                                   \
  X(dpstrf, void(char*, int*, double*, int*, int*, int*, double*, double*, int*))                                      \
  X(dlansy, double(char*, char*, int*, double*, int*, double*))                                                        \
  X(dtrtrs, void(char*, char*, char*, int*, int*, double*, int*, double*, int*, int*))                                 \
  X(dtrtri, void(char*, char*, int*, double*, int*, int*))                                                             \
  X(dgetrf, void(int*, int*, double*, int*, int*, int*))                                                               \
  X(dgetrs, void(char*, int*, int*, double*, int*, int*, double*, int*, int*))                                         \
  X(dgelsd, void(int*, int*, int*, double*, int*, double*, int*, double*, double*, int*, double*, int*, int*, int*))   \
  X(dgeqp3, void(int*, int*, double*, int*, int*, double*, double*, int*, int*))                                       \
  X(dgeqrf, void(int*, int*, double*, int*, double*, double*, int*, int*))                                             \
  X(dormqr, void(char*, char*, int*, int*, int*, double*, int*, double*, double*, int*, double*, int*, int*))          \
  X(dorgqr, void(int*, int*, int*, double*, int*, double*, double*, int*, int*))                                       \
  X(dgesdd, void(char*, int*, int*, double*, int*, double*, double*, int*, double*, int*, double*, int*, int*, int*))  \
  X(dsyevd, void(char*, char*, int*, double*, int*, double*, double*, int*, int*, int*, int*))                         \
  X(dsyevr, void(char*, char*, char*, int*, double*, int*, double*, double*, int*, int*, double*, int*, double*,       \
                 double*, int*, int*, double*, int*, int*, int*, int*))
// clang-format on

namespace tutelage {

struct Blas {
#define TUTELAGE_MEMBER(name, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
  TUTELAGE_BLAS_ROUTINES(TUTELAGE_MEMBER)
  TUTELAGE_LAPACK_ROUTINES(TUTELAGE_MEMBER)
#undef TUTELAGE_MEMBER

  // The number of threads that BLAS itself uses, where it lets us say so.
  void (*set_threads)(int) = nullptr;
  int (*get_threads)() = nullptr;
};

inline Blas blas;

namespace machine {

// One argument of a Fortran routine: an address as it is, or a value with an address for the duration of the call.
template <class P>
class FortranArgument {
 public:
  FortranArgument(P* address) : address_(address) {}
  FortranArgument(const P* address) : address_(const_cast<P*>(address)) {}

  template <class V>
    requires std::is_arithmetic_v<V>
  FortranArgument(V value) : value_(static_cast<P>(value)) {
    if constexpr (std::is_same_v<P, int> && sizeof(V) > sizeof(int)) {
      if (value > std::numeric_limits<int>::max() || value < std::numeric_limits<int>::min())
        throw std::overflow_error("A matrix has more than 2147483647 rows or columns, which BLAS cannot count.");
    }
  }

  P* get() { return address_ ? address_ : &value_; }

 private:
  P value_{};
  P* address_ = nullptr;
};

}  // namespace machine

template <class R, class... P, class... A>
R fortran(R (*routine)(P*...), A... arguments) {
  static_assert(sizeof...(P) == sizeof...(A), "the routine takes another number of arguments");
  if (!routine) throw std::logic_error("BLAS has not been loaded: import tutelage._core from Python.");
  return routine(machine::FortranArgument<P>(arguments).get()...);
}

// Holds BLAS's own threads at one for a scope. Scopes may nest and overlap on several threads: the first to come
// changes the setting, the last to go restores it.
class SerialBlas {
 public:
  SerialBlas() {
    if (!blas.set_threads || !blas.get_threads) return;
    const std::lock_guard lock(mutex());
    if (holders()++ > 0) return;
    before() = blas.get_threads();
    if (before() != 1) blas.set_threads(1);
  }

  ~SerialBlas() {
    if (!blas.set_threads || !blas.get_threads) return;
    const std::lock_guard lock(mutex());
    if (--holders() == 0 && before() != 1) blas.set_threads(before());
  }

  SerialBlas(const SerialBlas&) = delete;
  SerialBlas& operator=(const SerialBlas&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex m;
    return m;
  }
  static int& holders() {
    static int n = 0;
    return n;
  }
  static int& before() {
    static int n = 1;
    return n;
  }
};

}  // namespace tutelage
