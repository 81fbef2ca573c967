// What calls of a communicator have taken, and which arm serves the next ones by that: see select/adaptation.hpp.
//
// Each rank notes when it came to measured calls and when it left, and tells the others at agreed call numbers. They
// hear it in a later call, when nobody has to be waited for any more: every rank has told once it has come to a call
// that none leaves before all have come, or can be known to by the board.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "board/board.hpp"
#include "core/collective.hpp"
#include "mpi/engine/lessons.hpp"
#include "mpi/engine/sight_exchange.hpp"
#include "select/adaptation.hpp"

namespace stretto {
class Forecast;
}

namespace stretto::mpi {

/// Of one engine.
class Experience {
 public:
  /// Calls of one collective and about one length.
  class Kind;
  class Front;

  /// Calls that have ended here, and that no rank leaves before all have come to them; the same on all ranks.
  struct Meetings {
    std::uint64_t count = 0;
    std::int64_t left_ns = 0;  // when this rank left the latest; 0 where ranks have one clock
  };
  /// What ranks tell each other through: `sights` where there are some, all else where not, or of kinds beyond those.
  /// `board` is that of all ranks, or null.
  struct Means {
    Sights* sights = nullptr;
    const Board* board = nullptr;
    MPI_Comm comm = MPI_COMM_NULL;
    int ranks = 0;
    int nodes = 1;
    bool one_clock = true;
    const Meetings& meetings;
  };
  Experience(const Means& means, Lessons& lessons);
  ~Experience();
  Experience(const Experience&) = delete;
  Experience& operator=(const Experience&) = delete;

  /// `mode`: of the kind, from its first call on; `beside`: where the front of the collective's first kind lies;
  /// `forecast`: of what calls take, or null.
  Front& of(Collective collective, std::size_t bytes, Adaptation::Mode mode, Front& beside, Forecast* forecast);
  /// What is under way comes to its end. Collective.
  void close();

 private:
  KindOfCalls kind_of(Collective collective, std::size_t length) const {
    return {collective, length, means_.ranks, means_.nodes};
  }
  std::unique_ptr<Kind> make(Collective collective, std::size_t bytes, Adaptation::Mode mode, Front& beside,
                             Forecast* forecast);

  const Means means_;
  Lessons& lessons_;
  std::size_t made_ = 0;
  std::array<std::array<std::unique_ptr<Kind>, kLengths>, std::size(kCollectives)> kinds_;
};

/// All that most calls touch of their kind: those of which nothing is to be noted. It lies beside what they touch
/// anyway, as a page that was out of use for a millisecond costs more than a short call's own work.
class Experience::Front {
 public:
  using Arm = Adaptation::Arm;
  /// What it has to say of the next call; the same on all ranks.
  struct Verdict {
    Arm arm = Arm::ours;
    ArrivalClass arrivals = ArrivalClass::balanced;  // how ranks have come, as the latest lesson has it
    std::int8_t candidate = 0;                       // which of the algorithms that may be Stretto's arm
    bool operator==(const Verdict&) const = default;
  };
  const Verdict& verdict() const { return verdict_; }
  Arm arm() const { return verdict_.arm; }
  /// Than what serves ranks that come together.
  bool asks_for_another() const { return verdict_.arrivals != ArrivalClass::balanced || verdict_.candidate != 0; }
  /// The program has come to it.
  void begin() {
    is_quiet_ = quiet_ > 0;
    if (!is_quiet_) return look();
    --quiet_;
    ++passed_quietly_;
  }
  /// Whether anything is to be noted of the present call when it ends.
  bool is_noted() const { return !is_quiet_; }
  /// Then: the program is about to leave it.
  void end();
  /// Whether it is some kind's.
  bool is_taken() const { return kind_ != nullptr; }

 private:
  friend class Kind;
  void look();

  Kind* kind_ = nullptr;
  Verdict verdict_;
  bool is_quiet_ = false;
  int quiet_ = 0;           // calls, from the next on
  int passed_quietly_ = 0;  // since the latest other one
};

}  // namespace stretto::mpi
