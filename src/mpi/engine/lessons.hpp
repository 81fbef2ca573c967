// What calls of this process have taken, as far as it was measured (select/adaptation.hpp), for the end of the job.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>

#include "core/collective.hpp"
#include "mpi/engine/lesson_file.hpp"
#include "mpi/engine/sight_exchange.hpp"
#include "select/adaptation.hpp"
#include "select/configuration.hpp"
#include "select/earlier_runs.hpp"

namespace stretto::mpi {

/// Classes of lengths: a class's bytes have as many binary digits.
inline constexpr std::size_t kLengths = 65;

/// Of calls of one collective and about one length.
struct Tally {
  using Count = std::atomic<std::int64_t>;
  Count calls{0};
  Count ours{0};
  Count native_ns{0};  // as Adaptation::Savings
  Count saved_ns{0};
  Count unsure_ns{0};
  std::array<Count, kArrivalClasses> arrivals{};  // of those calls that were learnt of: how ranks came
};

/// Of one collective.
class Adapted {
 public:
  Tally& of_length(std::size_t length) { return tallies_[length]; }
  const Tally& of_length(std::size_t length) const { return tallies_[length]; }
  /// To `tally`, one of these.
  void add(Tally& tally, const Adaptation::Savings& before, const Adaptation::Savings& now);
  /// In a line, for the end of the job; nothing where nothing was learnt.
  void report(Collective collective) const;

 private:
  std::int64_t sum(Tally::Count Tally::*of) const;

  std::array<Tally, kLengths> tallies_{};
  // Of all lengths, for each lesson asks, and the tallies are as many lines.
  Tally::Count native_ns_{0};
  Tally::Count saved_ns_{0};
  Tally::Count most_behind_ppm_{0};  // of native: at the worst moment
};

/// Of the process.
class Lessons {
 public:
  /// Collective over the world.
  void open(const Configuration& configuration, const World& world);
  void report() const;
  /// What was learnt is kept for later runs, if the user wants it. Collective, as the world is.
  void close(const World& world);

  /// What earlier runs have learnt; nullptr: nothing. The same on all ranks.
  const Adaptation::Learnt* earlier(const KindOfCalls& kind) const;
  /// This is what has been learnt of such calls of one communicator. Of several it is kept whose calls would have taken
  /// most natively.
  void keep(const KindOfCalls& kind, const Adaptation::Learnt& learnt);
  const SightReduction& reduction() const { return reduction_; }
  Adapted& of(Collective collective) { return adapted_[static_cast<std::size_t>(collective)]; }
  /// Each kind of calls that was learnt of: its collective, the least bytes of its class of lengths, and its tally.
  void for_each(const std::function<void(Collective, std::uint64_t, const Tally&)>& tell) const;

 private:
  bool is_told_ = false;  // at the end of the job
  SightReduction reduction_;
  std::array<Adapted, std::size(kCollectives)> adapted_{};
  LessonFile file_;
  EarlierRuns earlier_;  // as it was in MPI_Init
  EarlierRuns learnt_;   // since
  std::mutex learnt_mutex_;
};

}  // namespace stretto::mpi
