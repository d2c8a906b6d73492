// How many threads the calling thread may use: the setting, apart from the pool that obeys it.
#pragma once

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "core/machine/processors.hpp"

namespace tutelage {

namespace machine {

// The environment variable TUTELAGE_THREADS, else the processors of this process.
inline int default_threads() {
  if (const char* text = std::getenv("TUTELAGE_THREADS")) {
    char* end = nullptr;
    const long n = std::strtol(text, &end, 10);
    if (end != text && *end == '\0' && n >= 1 && n <= 4096) return static_cast<int>(n);
  }
  return usable_processors();
}

inline std::atomic<int> process_threads{0};             // 0: not decided yet
inline constinit thread_local int thread_override = 0;  // 0: as the process

}  // namespace machine

inline int threads() {
  if (machine::thread_override > 0) return machine::thread_override;
  int n = machine::process_threads.load(std::memory_order_relaxed);
  if (n == 0) {
    n = machine::default_threads();
    machine::process_threads.store(n, std::memory_order_relaxed);
  }
  return n;
}

// For the whole process.
inline void set_threads(int n) {
  if (n < 1) throw std::invalid_argument("threads must be at least 1, got " + std::to_string(n) + ".");
  machine::process_threads.store(n, std::memory_order_relaxed);
}

// For the calling thread alone; 0 means "as the process". Returns what it was.
inline int set_thread_override(int n) {
  if (n < 0) throw std::invalid_argument("threads must be at least 1, got " + std::to_string(n) + ".");
  const int before = machine::thread_override;
  machine::thread_override = n;
  return before;
}

// Holds the calling thread's own setting for a scope.
class ThreadScope {
 public:
  explicit ThreadScope(int n) : before_(set_thread_override(n)) {}
  ~ThreadScope() { machine::thread_override = before_; }
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;
};

}  // namespace tutelage
