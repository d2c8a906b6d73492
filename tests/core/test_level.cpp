#include <string>

#include "check.hpp"
#include "core/machine/level.hpp"

TEST("the level is one of those we build, and agrees with the compiler's own test of the processor") {
  const std::string level = tutelage::instruction_level();
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init();
  CHECK((level >= "v2") == static_cast<bool>(__builtin_cpu_supports("sse4.2")));
  CHECK((level >= "v3") == (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")));
  CHECK((level >= "v4") == (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")));
#else
  CHECK(level == "base");
#endif
}
