// The smallest test harness that names what failed. A test file is a program:
//
//   TEST("sums agree") { CHECK(1 + 1 == 2); CHECK_THROWS(std::runtime_error, f()); }
//
// and its main, in run.cpp, runs every TEST of every linked file, or those whose name contains its first argument.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace check {

struct Test {
  const char* name;
  void (*body)();
};

inline std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}

inline int& failures() {
  static int count = 0;
  return count;
}

struct Register {
  Register(const char* name, void (*body)()) { tests().push_back({name, body}); }
};

inline void report(bool holds, const char* text, const char* file, int line) {
  if (holds) return;
  ++failures();
  std::fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, text);
}

}  // namespace check

#define CHECK_JOIN2(a, b) a##b
#define CHECK_JOIN(a, b) CHECK_JOIN2(a, b)
#define TEST(name)                                                                                 \
  static void CHECK_JOIN(test_, __LINE__)();                                                       \
  static const check::Register CHECK_JOIN(register_, __LINE__)(name, CHECK_JOIN(test_, __LINE__)); \
  static void CHECK_JOIN(test_, __LINE__)()

#define CHECK(condition) check::report(static_cast<bool>(condition), #condition, __FILE__, __LINE__)

#define CHECK_THROWS(Type, expression)                                       \
  do {                                                                       \
    bool thrown = false;                                                     \
    try {                                                                    \
      expression;                                                            \
    } catch (const Type&) {                                                  \
      thrown = true;                                                         \
    }                                                                        \
    check::report(thrown, #expression " throws " #Type, __FILE__, __LINE__); \
  } while (false)
