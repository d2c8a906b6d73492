#include <stdexcept>
#include <thread>

#include "check.hpp"
#include "core/machine/blas.hpp"
#include "core/machine/index.hpp"

using namespace tutelage;

namespace {

// Stands in for a Fortran routine: y = alpha x + y over n numbers, answering n.
int axpy(int* n, double* alpha, double* x, double* y) {
  for (int i = 0; i < *n; ++i) y[i] += *alpha * x[i];
  return *n;
}

int blas_threads = 4;

}  // namespace

TEST("Fortran arguments: values by value, arrays by address, const arrays too") {
  const double x[] = {1, 2, 3};
  double y[] = {10, 20, 30};
  CHECK(fortran(axpy, Index{3}, 2, x, y) == 3);
  CHECK(y[0] == 12 && y[1] == 24 && y[2] == 36);
  const Index two = 2;
  CHECK(fortran(axpy, two, 0.5f, y, y) == 2);
  CHECK(y[0] == 18 && y[1] == 36 && y[2] == 36);
}

TEST("a size that BLAS cannot count, and a routine that was not loaded, are errors") {
  double x = 0;
  CHECK_THROWS(std::overflow_error, fortran(axpy, Index{1} << 31, 1.0, &x, &x));
  int (*missing)(int*, double*, double*, double*) = nullptr;
  CHECK_THROWS(std::logic_error, fortran(missing, 1, 1.0, &x, &x));
}

TEST("BLAS is held at one thread while any scope lives, and restored by the last") {
  {
    const SerialBlas nothing_to_set;
  }
  blas.set_threads = [](int n) { blas_threads = n; };
  blas.get_threads = [] { return blas_threads; };
  {
    const SerialBlas outer;
    CHECK(blas_threads == 1);
    std::thread([] { const SerialBlas inner; }).join();
    CHECK(blas_threads == 1);
  }
  CHECK(blas_threads == 4);
  blas.set_threads = nullptr;
  blas.get_threads = nullptr;
}
