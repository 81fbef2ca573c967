// Tags of the private communicator in runs of as many as a call has streams. A process gives them to what receives by
// them; no other process need agree.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "core/transport.hpp"

namespace stretto::mpi {

class TagRuns {
 public:
  /// `tags` tags, from 0.
  void open(std::uint32_t tags) {
    const std::scoped_lock lock(mutex_);
    runs_ = tags / kStreamsOfCall;
  }

  std::uint32_t all() const { return runs_; }

  /// The first tag of `count` runs that nobody else has; nullopt if there are none left.
  std::optional<std::uint32_t> take(std::uint32_t count) {
    const std::scoped_lock lock(mutex_);
    std::vector<std::uint32_t>& returned = returned_[count];
    if (!returned.empty()) {
      const std::uint32_t first = returned.back();
      returned.pop_back();
      return first;
    }
    if (runs_ - fresh_ < count) return std::nullopt;
    fresh_ += count;
    return (fresh_ - count) * kStreamsOfCall;
  }

  /// Every message to these tags has been received.
  void give(std::uint32_t first, std::uint32_t count) {
    const std::scoped_lock lock(mutex_);
    returned_[count].push_back(first);
  }

 private:
  std::mutex mutex_;
  std::uint32_t runs_ = 0;
  std::uint32_t fresh_ = 0;                                       // runs below have been given out at least once
  std::map<std::uint32_t, std::vector<std::uint32_t>> returned_;  // by count: whoever asks asks for one of few
};

}  // namespace stretto::mpi
