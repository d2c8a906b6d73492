// Ctrl-C inside a long fit.
//
// Whoever embeds the core registers a function that says whether the user wants to stop. Solvers call
// `check_interrupt()` once a round, and `parallel_for` calls it between tasks; both cost one reading of the clock,
// because the registered function itself is asked at most every 50 milliseconds on each thread.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>

namespace tutelage {

// True when the work of the calling thread should stop.
using Interrupt = bool (*)();

class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "The computation was interrupted."; }
};

namespace machine {
inline std::atomic<Interrupt> interrupt{nullptr};
}

inline void set_interrupt(Interrupt asks) { machine::interrupt.store(asks, std::memory_order_release); }

// Throws Interrupted when the user wants to stop.
inline void check_interrupt() {
  using Clock = std::chrono::steady_clock;
  static thread_local Clock::time_point last_asked{};
  const Interrupt asks = machine::interrupt.load(std::memory_order_acquire);
  if (!asks) return;
  const auto now = Clock::now();
  if (now - last_asked < std::chrono::milliseconds(50)) return;
  last_asked = now;
  if (asks()) throw Interrupted();
}

}  // namespace tutelage
