#include <cstring>
#include <exception>

#include "check.hpp"

int main(int count, char** arguments) {
  const char* wanted = count > 1 ? arguments[1] : "";
  int ran = 0;
  for (const check::Test& test : check::tests()) {
    if (!std::strstr(test.name, wanted)) continue;
    ++ran;
    const int before = check::failures();
    try {
      test.body();
    } catch (const std::exception& error) {
      ++check::failures();
      std::fprintf(stderr, "unexpected exception: %s\n", error.what());
    }
    std::printf("%s  %s\n", check::failures() == before ? "passed" : "FAILED", test.name);
  }
  std::printf("%d native tests, %d failures\n", ran, check::failures());
  return check::failures() > 0 || ran == 0;
}
