// What one call of parallel_for costs when its tasks do nothing: the smallest work worth cutting up follows from it.
#pragma once

#include <chrono>

#include "core/machine/parallel.hpp"

namespace tutelage {

// Seconds for each of `calls` calls of so many empty tasks.
inline double parallel_latency(Index calls, Index tasks) {
  const auto start = std::chrono::steady_clock::now();
  for (Index call = 0; call < calls; ++call) parallel_for(tasks, [](Index) {});
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / static_cast<double>(calls);
}

}  // namespace tutelage
