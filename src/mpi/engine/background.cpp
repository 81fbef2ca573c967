#include "mpi/engine/background.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "mpi/entry/native.hpp"
#include "mpi/places/cores.hpp"

namespace stretto::mpi {
namespace {

using std::chrono::microseconds;

constexpr microseconds kLongestAtFirst{1000};

// How long to sleep if work is pending and nothing has happened for `quiet`. To sleep and wake costs 20 us of a core
// and more, so the naps grow with the time without news: as long as that at first, then an eighth of it, which is the
// most by which news after a long wait may be held up.
microseconds nap_after(microseconds quiet) {
  constexpr microseconds kShortest{50};
  constexpr microseconds kLongest{10000};
  return std::max(std::clamp(quiet, kShortest, kLongestAtFirst), std::min(quiet / 8, kLongest));
}

// MPI looks after a message a step at a time, and the peer answers between two steps: it should not take a nap for
// each. Rounds without news are cheap beside the nap.
constexpr int kRoundsALook = 8;

cpu_set_t set_of(const std::vector<std::size_t>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const std::size_t core : cores) CPU_SET(core, &set);
  return set;
}

// As in 0,2-3.
std::string list_of(const cpu_set_t& set) {
  std::string list;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &set)) continue;
    const std::size_t first = core;
    while (core + 1 < CPU_SETSIZE && CPU_ISSET(core + 1, &set)) ++core;
    list += (list.empty() ? "" : ",") + std::to_string(first) + (core > first ? "-" + std::to_string(core) : "");
  }
  return list;
}

}  // namespace

std::string BackgroundWork::find_error(const std::vector<std::size_t>& cores) {
  if (cores.empty()) return "";
  const cpu_set_t allowed = permitted_cores();
  if (std::all_of(cores.begin(), cores.end(), [&](std::size_t core) { return CPU_ISSET(core, &allowed); })) return "";
  return "stretto: STRETTO_BACKGROUND_CORE=" + list_of(set_of(cores)) +
         " is not valid; choose from the cores that this job may use here, " + list_of(allowed);
}

void BackgroundWork::add(Driven& driven) {
  const std::scoped_lock lock(mutex_);
  all_.push_back(&driven);
  if (!threaded_ || no_thread_) pollable_.store(true, std::memory_order_relaxed);
}

void BackgroundWork::remove(Driven& driven) {
  const std::scoped_lock lock(mutex_);
  std::erase(all_, &driven);
  if (all_.empty()) pollable_.store(false, std::memory_order_relaxed);
}

void BackgroundWork::add(Anticipation& anticipation) {
  add(static_cast<Driven&>(anticipation));
  const std::scoped_lock lock(mutex_);
  anticipations_.push_back(&anticipation);
}

void BackgroundWork::remove(Anticipation& anticipation) {
  remove(static_cast<Driven&>(anticipation));
  const std::scoped_lock lock(mutex_);
  std::erase(anticipations_, &anticipation);
}

void BackgroundWork::wake() {
  if (!threaded_ || no_thread_ || !any_work()) return;
  {
    const std::scoped_lock lock(sleep_);
    awake_ = true;
    if (!thread_.joinable() && !stopping_) start();
  }
  woken_.notify_one();
}

// The program's signals are not for this thread. Without one the program's own calls do its work.
void BackgroundWork::start() {
  sigset_t all;
  sigset_t mine;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &mine);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    std::fprintf(stderr, "stretto: no thread for the background (%s): the program's MPI calls drive it instead\n",
                 error.what());
    no_thread_ = true;
    pollable_.store(true, std::memory_order_relaxed);
  }
  pthread_sigmask(SIG_SETMASK, &mine, nullptr);
}

void BackgroundWork::stop() {
  {
    const std::scoped_lock lock(sleep_);
    stopping_ = true;
  }
  woken_.notify_one();
  if (thread_.joinable()) thread_.join();
}

bool BackgroundWork::poll_all() {
  const ReentryGuard guard;
  const std::scoped_lock lock(mutex_);
  bool any = false;
  for (Driven* driven : all_) {
    if (driven->has_work() && driven->poll()) any = true;
  }
  return any;
}

bool BackgroundWork::look() {
  for (int round = 0; round < kRoundsALook; ++round) {
    if (poll_all()) return true;
  }
  return false;
}

bool BackgroundWork::any_work() {
  const std::scoped_lock lock(mutex_);
  return std::any_of(all_.begin(), all_.end(), [](const Driven* one) { return one->has_work(); });
}

void BackgroundWork::run() {
  pthread_setname_np(pthread_self(), "stretto");  // as top and debuggers show it
  if (!cores_.empty()) {
    const cpu_set_t set = set_of(cores_);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
  }
  microseconds quiet{0};
  for (;;) {
    if (look()) quiet = microseconds{0};
    const bool work = any_work();
    std::unique_lock lock(sleep_);
    const auto called = [this] { return awake_ || stopping_; };
    if (work) {
      const microseconds nap = nap_after(quiet);
      woken_.wait_for(lock, nap, called);
      quiet += nap;
    } else {
      woken_.wait(lock, called);
    }
    // A call of the program's is news, but no reason to look as often as after a message.
    if (awake_) quiet = std::min(quiet, kLongestAtFirst);
    awake_ = false;
    if (stopping_) return;
  }
}

}  // namespace stretto::mpi
