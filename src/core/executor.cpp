#include "core/executor.hpp"

namespace stretto {
namespace {
constexpr unsigned kRoundsPerLook = 16;  // a round takes from a yield, a microsecond, to a sleep of 32 ms
}

bool Executor::run_ready() {
  for (std::size_t i = 0; i < watched_.size();) {
    SignalWait* wait = watched_[i];
    if (!wait->is_over()) {
      ++i;
      continue;
    }
    watched_[i] = watched_.back();
    watched_.pop_back();
    ready_.push_back(wait->waiter);
  }
  if (ready_.empty()) return false;
  running_.swap(ready_);
  for (std::coroutine_handle<> coroutine : running_) coroutine.resume();
  running_.clear();
  return true;
}

bool Executor::poll(Transport& transport) {
  bool any = false;
  while (transport.progress(*this, false) || run_ready()) any = true;
  return any;
}

void Executor::finish(Task& task, Transport& transport) {
  unsigned idle_rounds = 0;
  while (!task.done() && !stopped_) {
    const bool progressed = transport.progress(*this, true);
    if (transport.mismatched()) break;
    if (run_ready() || progressed) {
      idle_rounds = 0;
      continue;
    }
    const bool only_signal = resting_.empty() && watched_.size() == 1 && !transport.busy();
    SignalWait* sole = only_signal ? watched_.front() : nullptr;
    platform_.idle(sole ? sole->signal : nullptr, sole ? sole->target : 0, idle_rounds++);
    end_rest();
    if (idle_rounds % kRoundsPerLook == 0 && watchdog_ != nullptr && watchdog_->is_hopeless()) stop();
  }
  if (transport.mismatched()) stop();
}

void Executor::end_rest() {
  ready_.insert(ready_.end(), resting_.begin(), resting_.end());
  resting_.clear();
}

}  // namespace stretto
