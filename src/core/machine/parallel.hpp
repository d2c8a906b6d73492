// parallel_for: the only way in which the core uses more than one thread.
//
//   parallel_for(tasks, [&](Index task) { ... });
//
// Tasks are handed out one by one from a shared counter, in increasing order, so uneven tasks balance by themselves.
// Which thread runs which task is left to chance: a body writes what belongs to its task, and sums are formed
// afterwards in task order. Since callers cut their work into tasks by its size and never by the number of threads, the
// same input gives the same bits on any number of threads.
//
// The call runs inline, on the calling thread alone, when there is one task, when threads() == 1, when it is made
// inside another parallel_for, and when another thread is using the pool at this moment.
//
// If bodies throw, the exception of the lowest failing task reaches the caller, whichever thread met it first: every
// task below a handed-out one has been handed out too and runs to its end. After the first exception no new task
// starts. Between tasks the calling thread asks check_interrupt().
//
// The pool: workers are started at first need, stay, and wait for the next call awake for some
// tenths of a millisecond (solvers call thousands of times a second), then asleep. A forked child starts with an empty
// pool.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <type_traits>
#include <vector>

#if !defined(_WIN32)
#include <pthread.h>
#include <signal.h>
#endif

#include "core/machine/index.hpp"
#include "core/machine/interrupt.hpp"
#include "core/machine/threads.hpp"

namespace tutelage {

namespace machine {

inline constinit thread_local bool inside_parallel = false;

inline void pause_processor() {
#if defined(__x86_64__) || defined(_M_X64)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// Waits for done() without sleeping, for as long as waking up again would cost on a virtual machine, a few times over;
// answers done(). First at full attention, then letting others use the processor.
template <class Done>
bool spin_until(Done&& done) {
  using std::chrono::microseconds;
  const auto start = std::chrono::steady_clock::now();
  auto waited = start - start;
  do {
    for (int i = 0; i < 16; ++i) {
      if (done()) return true;
      waited < microseconds(20) ? pause_processor() : std::this_thread::yield();
    }
    waited = std::chrono::steady_clock::now() - start;
  } while (waited < microseconds(200));
  return done();
}

// One call of parallel_for. It lives on the caller's stack.
class Job {
 public:
  using Call = void (*)(void* body, Index task);

  Job(Index tasks, Call call, void* body) : tasks_(tasks), call_(call), body_(body) {}

  // Runs tasks until none is left. `before_each` is the caller's chance to be interrupted.
  template <class BeforeEach>
  void work(BeforeEach&& before_each) {
    // `stopped_` is read before a task is taken and never after: a task that was taken always runs.
    while (!stopped_.load(std::memory_order_relaxed)) {
      Index task = -1;
      try {
        before_each();
        task = next_.fetch_add(1, std::memory_order_relaxed);
        if (task >= tasks_) return;
        call_(body_, task);
      } catch (const Interrupted&) {
        record(-1, std::current_exception());
      } catch (...) {
        record(task, std::current_exception());
      }
    }
  }

  void rethrow() {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void record(Index task, std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    stopped_.store(true, std::memory_order_relaxed);
    if (task < failed_task_) {
      failed_task_ = task;
      failure_ = std::move(failure);
    }
  }

  const Index tasks_;
  const Call call_;
  void* const body_;
  alignas(64) std::atomic<Index> next_{0};
  alignas(64) std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  Index failed_task_ = std::numeric_limits<Index>::max();
  std::exception_ptr failure_;
};

// The workers and the one job they may be helping with.
//
// `state_` holds, in one word, the number of the job (upper half), whether it is closed to new helpers, and how many
// helpers are at it. A worker joins by a compare-and-swap on that word, so it can never touch a job that its caller has
// already left: the caller closes the job, then waits until nobody is at it. Workers that wake too late are not
// waited for.
class Pool {
 public:
  static Pool& instance() {
    Pool* pool = current().load(std::memory_order_acquire);
    if (pool) return *pool;
    auto fresh = std::make_unique<Pool>();
    if (current().compare_exchange_strong(pool, fresh.get(), std::memory_order_acq_rel)) {
      // Never destroyed: at process exit the workers may still be asleep in it.
      restart_after_fork();
      return *fresh.release();
    }
    return *pool;
  }

  // Lets the calling thread and up to `helpers` workers run the job; false when the pool serves somebody else.
  bool run(Job& job, int helpers) {
    if (busy_.exchange(true, std::memory_order_acquire)) return false;
    grow(helpers);
    job_ = &job;
    wanted_.store(helpers, std::memory_order_relaxed);
    number_ = number_ + 1;
    state_.store(std::uint64_t{number_} << 32, std::memory_order_seq_cst);
    wake(helpers);
    inside_parallel = true;
    job.work([] { check_interrupt(); });
    inside_parallel = false;
    state_.fetch_or(closed, std::memory_order_seq_cst);
    wait_for_helpers();
    busy_.store(false, std::memory_order_release);
    return true;
  }

  // Ends the workers. The next call starts new ones.
  void stop() {
    while (busy_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
    {
      const std::lock_guard lock(mutex_);
      stopping_.store(true, std::memory_order_seq_cst);
    }
    work_arrives_.notify_all();
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
    stopping_.store(false, std::memory_order_seq_cst);
    busy_.store(false, std::memory_order_release);
  }

 private:
  static constexpr std::uint64_t closed = std::uint64_t{1} << 31;
  static constexpr std::uint64_t helper_mask = closed - 1;

  static std::uint32_t number_of(std::uint64_t state) { return static_cast<std::uint32_t>(state >> 32); }

  static std::atomic<Pool*>& current() {
    static std::atomic<Pool*> pool{nullptr};
    return pool;
  }

  // The threads of a process do not survive fork, and its locks may have been held by them: the child forgets the pool.
  static void restart_after_fork() {
#if !defined(_WIN32)
    static const int registered = pthread_atfork(nullptr, nullptr, [] {
      current().store(nullptr, std::memory_order_relaxed);
      inside_parallel = false;
    });
    static_cast<void>(registered);
#endif
  }

  void grow(int helpers) {
    if (static_cast<int>(workers_.size()) >= helpers) return;
#if !defined(_WIN32)
    // Signals are for the threads of the program, not for ours; a new thread inherits the mask.
    sigset_t everything, before;
    sigfillset(&everything);
    pthread_sigmask(SIG_SETMASK, &everything, &before);
#endif
    try {
      while (static_cast<int>(workers_.size()) < helpers) {
        workers_.emplace_back([this, seen = number_] { serve(seen); });
      }
    } catch (const std::system_error&) {
      // The system gives no more threads: the ones there are do the work.
    }
#if !defined(_WIN32)
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
#endif
  }

  void wake(int helpers) {
    const int asleep = sleeping_.load(std::memory_order_seq_cst);
    if (asleep == 0) return;
    {
      const std::lock_guard lock(mutex_);
    }  // whoever is about to sleep has either seen the job or is asleep by now
    if (helpers >= asleep) {
      work_arrives_.notify_all();
    } else {
      for (int i = 0; i < helpers; ++i) work_arrives_.notify_one();
    }
  }

  void wait_for_helpers() {
    const auto nobody = [this] { return (state_.load(std::memory_order_acquire) & helper_mask) == 0; };
    if (spin_until(nobody)) return;
    std::unique_lock lock(mutex_);
    helpers_leave_.wait(lock, nobody);
  }

  // A worker's life. `seen` is the number of the last job it has looked at.
  void serve(std::uint32_t seen) {
    inside_parallel = true;
    // A job that came and went counts too: where one was, the next is likely soon, so the wait begins anew.
    const auto something_new = [&] {
      return number_of(state_.load(std::memory_order_seq_cst)) != seen || stopping_.load(std::memory_order_relaxed);
    };
    for (;;) {
      if (!spin_until(something_new)) {
        std::unique_lock lock(mutex_);
        sleeping_.fetch_add(1, std::memory_order_seq_cst);
        work_arrives_.wait(lock, something_new);
        sleeping_.fetch_sub(1, std::memory_order_relaxed);
      }
      if (stopping_.load(std::memory_order_acquire)) return;
      if (join(seen)) {
        job_->work([] {});
        leave();
      }
    }
  }

  // Tries to become a helper of the present job, and remembers its number in `seen` either way.
  bool join(std::uint32_t& seen) {
    std::uint64_t state = state_.load(std::memory_order_acquire);
    for (;;) {
      seen = number_of(state);
      const bool full = static_cast<int>(state & helper_mask) >= wanted_.load(std::memory_order_relaxed);
      if ((state & closed) || full) return false;
      if (state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
        return true;
      }
    }
  }

  void leave() {
    const std::uint64_t before = state_.fetch_sub(1, std::memory_order_acq_rel);
    if ((before & closed) && (before & helper_mask) == 1) {
      {
        const std::lock_guard lock(mutex_);
      }
      helpers_leave_.notify_all();
    }
  }

  alignas(64) std::atomic<std::uint64_t> state_{closed};
  alignas(64) std::atomic<bool> busy_{false};
  std::atomic<int> wanted_{0};
  std::atomic<int> sleeping_{0};
  std::atomic<bool> stopping_{false};
  Job* job_ = nullptr;
  std::uint32_t number_ = 0;
  std::mutex mutex_;
  std::condition_variable work_arrives_;
  std::condition_variable helpers_leave_;
  std::vector<std::thread> workers_;
};

}  // namespace machine

// Calls body(task) for every task in 0 ... tasks - 1.
template <class Body>
void parallel_for(Index tasks, Body&& body) {
  if (tasks <= 0) return;
  const Index team = machine::inside_parallel ? 1 : std::min<Index>(tasks, threads());
  if (team > 1) {
    using Plain = std::remove_reference_t<Body>;
    machine::Job job(
        tasks, [](void* self, Index task) { (*static_cast<Plain*>(self))(task); },
        const_cast<void*>(static_cast<const void*>(std::addressof(body))));
    if (machine::Pool::instance().run(job, static_cast<int>(team - 1))) {
      job.rethrow();
      return;
    }
  }
  for (Index task = 0; task < tasks; ++task) {
    check_interrupt();
    body(task);
  }
}

// Ends the worker threads, for an orderly exit; the next parallel_for starts them again.
inline void stop_threads() { machine::Pool::instance().stop(); }

}  // namespace tutelage
