#include "core/executor.hpp"

namespace stretto {

bool Executor::run_ready() {
  for (std::size_t i = 0; i < watched_.size();) {
    SignalWait* wait = watched_[i];
    if (!wait->signal->reached(wait->target)) {
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

void Executor::end_rest() {
  ready_.insert(ready_.end(), resting_.begin(), resting_.end());
  resting_.clear();
}

}  // namespace stretto
