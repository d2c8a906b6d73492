// How many processors this process may really use: a container on a machine of 64 may have been given two.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <thread>

#if defined(__linux__)
#include <sched.h>

#include <fstream>
#include <string>
#endif

namespace tutelage {

#if defined(__linux__)
// The quota of the control group (version 2), in processors; 0 when there is none.
inline int processor_quota() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return 0;
  return std::max(1, static_cast<int>(std::ceil(std::atof(quota.c_str()) / period)));
}
#endif

inline int usable_processors() {
  int count = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
#if defined(__linux__)
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) count = std::max(1, CPU_COUNT(&allowed));
  if (const int quota = processor_quota(); quota > 0) count = std::min(count, quota);
#endif
  return count;
}

}  // namespace tutelage
