// Which instruction-set variant this processor can run: the x86-64 levels of the System V ABI, or the baseline
// elsewhere. Compiled without any -march, since it must run everywhere.
#pragma once

#if defined(__x86_64__) || defined(_M_X64)
#include <cpuid.h>

#include <initializer_list>
#endif

namespace tutelage {

#if defined(__x86_64__) || defined(_M_X64)

// What the operating system saves at a context switch: bits 1-2 are SSE and AVX registers, 5-7 those of AVX-512.
inline unsigned saved_registers() {
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

inline const char* instruction_level() {
  unsigned a = 0, b = 0, c1 = 0, d = 0, b7 = 0, c = 0, c81 = 0;
  if (!__get_cpuid(1, &a, &b, &c1, &d)) return "v1";
  const auto has = [](unsigned word, std::initializer_list<int> bits) {
    for (int bit : bits) {
      if (!(word >> bit & 1u)) return false;
    }
    return true;
  };
  // sse3, ssse3, cx16, sse4.1, sse4.2, popcnt
  if (!has(c1, {0, 9, 13, 19, 20, 23})) return "v1";
  if (!__get_cpuid_count(7, 0, &a, &b7, &c, &d)) return "v2";
  __get_cpuid(0x80000001u, &a, &b, &c81, &d);
  // fma, movbe, osxsave, avx, f16c; bmi1, avx2, bmi2; lzcnt
  if (!has(c1, {12, 22, 27, 28, 29}) || !has(b7, {3, 5, 8}) || !has(c81, {5})) return "v2";
  const unsigned saved = saved_registers();
  if ((saved & 0x06u) != 0x06u) return "v2";
  // avx512: f, dq, cd, bw, vl
  if (!has(b7, {16, 17, 28, 30, 31})) return "v3";
#if defined(__APPLE__)
  return "v4";  // macOS switches the AVX-512 registers on at the first use, so the saved mask does not show them
#else
  return (saved & 0xe6u) == 0xe6u ? "v4" : "v3";
#endif
}

#else

inline const char* instruction_level() { return "base"; }

#endif

}  // namespace tutelage
