#include "noise.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include "random.hpp"

namespace stretto::bench {
namespace {

// For the signal handler. Nothing else touches them while a timer runs.
const ComputeLoad* detour_load = nullptr;
std::int64_t detour_ns = 0;

void make_detour(int) { detour_load->run(detour_ns); }

timespec as_timespec(double nanoseconds) {
  const auto whole = static_cast<std::int64_t>(nanoseconds);
  return {static_cast<time_t>(whole / 1'000'000'000), static_cast<long>(whole % 1'000'000'000)};
}

}  // namespace

Noise::Noise(const ArrivalPattern& pattern, const ComputeLoad& load, std::uint64_t seed, int rank)
    : active_(pattern.noise_hz() > 0) {
  if (!active_) return;
  detour_load = &load;
  detour_ns = pattern.noise_ns();
  struct sigaction action {};
  action.sa_handler = make_detour;
  action.sa_flags = SA_RESTART;  // what the MPI library waits for in the kernel goes on
  sigaction(SIGRTMIN, &action, &before_);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGRTMIN;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  const double period_ns = 1e9 / pattern.noise_hz();
  const double phase = random_unit(seed, 0, static_cast<std::uint64_t>(rank));
  const itimerspec times{as_timespec(period_ns), as_timespec(1 + phase * period_ns)};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0 || timer_settime(timer_, 0, &times, nullptr) != 0)
    throw UsageError("arrival=noise: this system gives no timer");
}

Noise::~Noise() {
  if (!active_) return;
  timer_delete(timer_);
  sigaction(SIGRTMIN, &before_, nullptr);
}

}  // namespace stretto::bench
