// Run by CMake when it is asked to build only the variant that this machine would choose.
#include "core/machine/level.hpp"

#include <cstdio>

int main() { std::puts(tutelage::instruction_level()); }
