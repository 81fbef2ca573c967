// What the program tells of its progress: when it will arrive at the next collective.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

namespace stretto {

/// The process' latest computation, as `Stretto_compute_begin` and `Stretto_progress_mark` tell of it. Any thread may
/// call; what counts is the order in which the calls come.
class Hints {
 public:
  enum class Answer { taken, not_begun, bad_fraction, out_of_order };

  void begin(std::int64_t now_ns);
  /// `fraction` of the computation is done, in (0, 1] and more than at the mark before.
  Answer mark(double fraction, std::int64_t now_ns);

  /// When the computation ends, if it goes on as it went until the latest mark: begin + (mark - begin) / fraction
  /// (Proficz 2020, section 3). Nothing before the first mark.
  std::optional<std::int64_t> expected_end_ns() const;
  /// How many marks have been taken so far.
  std::uint64_t marks() const;

 private:
  mutable std::mutex mutex_;
  bool begun_ = false;
  std::uint64_t marks_ = 0;
  std::int64_t begin_ns_ = 0;
  double fraction_ = 0;
  std::optional<std::int64_t> expected_ns_;
};

}  // namespace stretto
