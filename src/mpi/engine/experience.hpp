// What calls of a communicator have taken, and which arm serves the next ones by that: see select/adaptation.hpp.
//
// Each rank notes when it came to measured calls and when it left. At agreed call numbers the ranks begin a reduction
// of these times, of the MPI library's own and non-blocking, on the program's communicator: all of them are in a
// collective there, so nothing else can be meant. It is taken up some calls later, when it has long arrived.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/collective.hpp"
#include "select/adaptation.hpp"

namespace stretto::mpi {

/// What came of it in this process, for the report at the end and for tests.
struct Adapted {
  std::atomic<std::int64_t> calls{0};
  std::atomic<std::int64_t> ours{0};
  std::atomic<std::int64_t> saved_ns{0};  // as estimated
  std::atomic<std::int64_t> exchanges{0};
};

/// How ranks reduce what each has seen of calls. Made and freed by all, or by one alone.
class SightReduction {
 public:
  /// A rank's view of a call, or what some ranks have seen together. Times are on this rank's clock.
  struct Sight {
    std::int64_t first_arrival_ns;
    std::int64_t last_arrival_ns;
    std::int64_t last_exit_ns;
    std::int64_t last_took_ns;  // the call of whoever came last
  };
  SightReduction() = default;
  void open();
  void close();
  MPI_Op operation() const { return operation_; }
  MPI_Datatype type() const { return type_; }

 private:
  MPI_Op operation_ = MPI_OP_NULL;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// Of one engine. `comm` is the program's, `one_clock` whether all ranks have the same.
class Experience {
 public:
  Experience(MPI_Comm comm, const SightReduction& reduction, bool one_clock, std::int64_t clock_offset_ns,
             Adapted& tally)
      : comm_(comm), reduction_(reduction), one_clock_(one_clock), clock_offset_ns_(clock_offset_ns), tally_(tally) {}
  ~Experience();
  Experience(const Experience&) = delete;
  Experience& operator=(const Experience&) = delete;

  /// Calls of one collective and about one length.
  class Kind;
  Kind& of(Collective collective, std::size_t bytes) {
    auto& kind = kinds_[static_cast<std::size_t>(collective)][static_cast<std::size_t>(std::bit_width(bytes))];
    return kind ? *kind : make(kind, meets_all(collective, bytes));
  }
  /// What is under way comes to its end. Collective.
  void close();

 private:
  static constexpr std::size_t kSizes = 65;
  Kind& make(std::unique_ptr<Kind>& kind, bool meets_all);

  MPI_Comm comm_;
  const SightReduction& reduction_;
  const bool one_clock_;
  const std::int64_t clock_offset_ns_;
  Adapted& tally_;
  std::array<std::array<std::unique_ptr<Kind>, kSizes>, std::size(kCollectives)> kinds_{};
};

class Experience::Kind {
 public:
  /// `meets_all`: no rank can be a whole call ahead of another.
  Kind(Experience& owner, bool meets_all)
      : owner_(owner), adaptation_(meets_all ? Adaptation::kSoon : Adaptation::kLate) {}

  /// The program has come to the next call. Whether the MPI library is to serve it; the same on all ranks.
  bool begin();
  /// It is about to leave it.
  void end();
  /// Waits for an exchange that is under way.
  void finish();

 private:
  using Sight = SightReduction::Sight;
  void exchange();
  void learn();

  Experience& owner_;
  Adaptation adaptation_;
  std::int64_t arrival_ns_ = 0;
  std::int64_t exchange_ns_ = 0;  // what the latest exchange has taken this rank, but for waiting
  std::vector<Sight> mine_;       // of the measured calls since the latest exchange
  std::vector<Sight> told_;       // to the others, while the exchange is under way; the last one's exit is exchange_ns_
  std::vector<Sight> all_;        // of all ranks together
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace stretto::mpi
