// The one integer type for rows, columns and everything that counts them.
#pragma once

#include <cstddef>

namespace tutelage {

using Index = std::ptrdiff_t;

}  // namespace tutelage
