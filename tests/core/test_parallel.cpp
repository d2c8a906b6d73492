#include <atomic>
#include <chrono>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "core/machine/parallel.hpp"

#if !defined(_WIN32)
#include <sys/wait.h>
#include <unistd.h>
#endif

using namespace tutelage;

namespace {

constexpr int team_sizes[] = {1, 2, 7};

// The sum of many terms of very different sizes, in fixed blocks and block order: any other order shows in the bits.
double blocked_sum() {
  constexpr Index blocks = 37, size = 211;
  std::vector<double> sums(blocks, 0.0);
  parallel_for(blocks, [&](Index block) {
    double sum = 0;
    for (Index i = block * size; i < (block + 1) * size; ++i) sum += std::exp(std::sin(static_cast<double>(i)) * 20);
    sums[static_cast<std::size_t>(block)] = sum;
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

void wait(int microseconds) { std::this_thread::sleep_for(std::chrono::microseconds(microseconds)); }

}  // namespace

TEST("every task runs exactly once") {
  for (int n : team_sizes) {
    const ThreadScope scope(n);
    for (Index tasks : {0, 1, 2, 3, 64, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(tasks));
      parallel_for(tasks, [&](Index task) { ++runs[static_cast<std::size_t>(task)]; });
      for (const auto& count : runs) CHECK(count == 1);
    }
  }
}

TEST("a negative number of tasks is none") {
  parallel_for(-3, [](Index) { CHECK(false); });
}

TEST("the same bits on any number of threads") {
  const ThreadScope one(1);
  const double alone = blocked_sum();
  for (int n : team_sizes) {
    const ThreadScope scope(n);
    for (int repeat = 0; repeat < 20; ++repeat) CHECK(blocked_sum() == alone);
  }
}

TEST("more than one thread takes part") {
  const ThreadScope scope(2);
  // Each of the two tasks waits for the other, so this ends only if two threads are at work.
  std::atomic<int> arrived{0};
  std::atomic<bool> met[2] = {false, false};
  parallel_for(2, [&](Index task) {
    ++arrived;
    for (int i = 0; i < 20000 && arrived < 2; ++i) wait(100);
    met[task] = arrived == 2;
  });
  CHECK(met[0] && met[1]);
}

TEST("the exception of the lowest failing task reaches the caller") {
  for (int n : team_sizes) {
    const ThreadScope scope(n);
    for (int repeat = 0; repeat < 200; ++repeat) {
      std::string message;
      try {
        parallel_for(50, [&](Index task) {
          if (task == 11) wait(50);  // so that a higher failure is often met first
          if (task >= 11) throw std::runtime_error(std::to_string(task));
        });
      } catch (const std::runtime_error& error) {
        message = error.what();
      }
      CHECK(message == "11");
    }
    CHECK(blocked_sum() > 0);  // and the pool serves on
  }
}

TEST("after an exception no new task starts") {
  const ThreadScope scope(2);
  std::atomic<int> started{0};
  CHECK_THROWS(std::runtime_error, parallel_for(100000, [&](Index) {
                 ++started;
                 throw std::runtime_error("stop");
               }));
  CHECK(started <= 2);
}

TEST("a nested call runs on the thread that made it, in order") {
  for (int n : team_sizes) {
    const ThreadScope scope(n);
    std::atomic<int> wrong{0}, total{0};
    parallel_for(20, [&](Index) {
      const auto here = std::this_thread::get_id();
      Index expected = 0;
      parallel_for(10, [&](Index task) {
        if (n > 1 && std::this_thread::get_id() != here) ++wrong;
        if (task != expected++) ++wrong;
        ++total;
      });
    });
    CHECK(wrong == 0);
    CHECK(total == 200);
  }
}

TEST("many small calls") {
  for (int n : team_sizes) {
    const ThreadScope scope(n);
    long sum = 0;
    for (int call = 0; call < 3000; ++call) {
      long parts[5] = {};
      parallel_for(5, [&](Index task) { parts[task] = task + call; });
      for (long part : parts) sum += part;
      if (call % 500 == 0) wait(300);  // lets the workers fall asleep now and then
    }
    CHECK(sum == 3000L * 10 + 5L * (2999L * 3000 / 2));
  }
}

TEST("several threads may call at the same time") {
  const ThreadScope one(1);
  const double alone = blocked_sum();
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      const ThreadScope scope(3);
      for (int repeat = 0; repeat < 50; ++repeat) wrong += blocked_sum() != alone;
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
}

TEST("the pool can be stopped and starts again") {
  const ThreadScope scope(7);
  const double before = blocked_sum();
  stop_threads();
  stop_threads();
  CHECK(blocked_sum() == before);
}

TEST("settings: the scope of a thread wins over the process, and impossible numbers are refused") {
  const int before = threads();
  set_threads(5);
  CHECK(threads() == 5);
  {
    const ThreadScope scope(3);
    CHECK(threads() == 3);
    int elsewhere = 0;
    std::thread([&] { elsewhere = threads(); }).join();
    CHECK(elsewhere == 5);
  }
  CHECK(threads() == 5);
  CHECK_THROWS(std::invalid_argument, set_threads(0));
  CHECK_THROWS(std::invalid_argument, set_thread_override(-1));
  set_threads(before);
  CHECK(usable_processors() >= 1);
}

namespace {
std::atomic<bool> user_wants_to_stop{false};
}

TEST("an interruption ends the call between two tasks") {
  set_interrupt([] { return user_wants_to_stop.load(); });
  for (int n : team_sizes) {
    const ThreadScope scope(n);
    wait(60000);  // the user is asked at most every 50 milliseconds
    user_wants_to_stop = false;
    std::atomic<int> started{0};
    const auto call = [&] {
      parallel_for(1000, [&](Index task) {
        if (task == 3) user_wants_to_stop = true;
        ++started;
        wait(5000);
      });
    };
    CHECK_THROWS(Interrupted, call());
    CHECK(started > 3 && started < 1000);
  }
  wait(60000);
  user_wants_to_stop = true;
  CHECK_THROWS(Interrupted, check_interrupt());
  check_interrupt();  // asked again at once, it does not ask the user again
  set_interrupt(nullptr);
  wait(60000);
  check_interrupt();
}

#if !defined(_WIN32) && !defined(__SANITIZE_THREAD__)
TEST("a forked child has a pool of its own") {
  const ThreadScope scope(3);
  const double expected = blocked_sum();
  for (int repeat = 0; repeat < 5; ++repeat) {
    const pid_t child = fork();
    if (child == 0) {
      const bool same = blocked_sum() == expected;
      stop_threads();
      _exit(same ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  CHECK(blocked_sum() == expected);
}
#endif
