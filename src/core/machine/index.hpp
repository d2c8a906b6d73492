// The one integer type that counts rows, columns and scores.
#pragma once
#include <cstddef>

namespace tutelage {
using Index = std::ptrdiff_t;
}  // namespace tutelage
