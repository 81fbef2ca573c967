// Calls that are known: the next one with the same arguments goes straight to what serves it, the MPI library or, if it
// is short, an algorithm on the board.
//
// To find out what serves it takes an object of the call, its datatype's layout and the rule: 30 to 60 ns in a loop, as
// long as a short call itself, and half a microsecond where a program has computed in between and all of it is out of
// the caches.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <optional>

#include "core/collective.hpp"
#include "core/reduction.hpp"
#include "mpi/engine/experience.hpp"
#include "mpi/entry/integer_array.hpp"
#include "mpi/entry/native.hpp"
#include "select/configuration.hpp"

namespace stretto::mpi {

class Engine;

/// A call by its plain arguments. What they do not tell changes nothing in what serves it: of lengths that all ranks
/// know it is the longest that does.
struct PlainCall {
  static constexpr MPI_Count kUnknown = -1;
  Collective collective{};
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Count count = 0;
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  bool operator==(const PlainCall&) const = default;
};

/// The blocks of a call whose ranks each have a length, in elements.
struct Lengths {
  IntegerArray counts;
  const IntegerArray* displacements;  // nullptr: one block after the other
  MPI_Count own;                      // of this rank's; PlainCall::kUnknown: as `counts` has it
};

/// What else it was given. Where something here is wrong by itself it may be no call at all, and is looked at closely.
struct Operands {
  static constexpr int kEverybody = -1;
  const void* own;      // of each rank; of a broadcast all of it
  const void* at_root;  // that the root needs too
  int root = kEverybody;
  bool are_alike = true;  // of both a block has the same count and datatype
  const Lengths* lengths = nullptr;
  bool needs_both(int rank) const { return root == kEverybody || root == rank; }
  bool are_sound(int rank, int ranks) const {
    return root < ranks && root >= kEverybody && own != nullptr && own != at_root &&
           (at_root != nullptr || !needs_both(rank));
  }
};

/// Of one thread: the latest few.
class KnownCalls {
 public:
  /// What a call returns that is like one that was kept; nothing if none was, or all may have changed since then.
  static std::optional<int> serve(const NativeCall& native, const PlainCall& call, const Operands& operands);

  /// What such a call is entered as, and where; nullptr: nowhere. `experience`: that may choose otherwise, if it has
  /// another `verdict`.
  struct Entered {
    Engine* engine = nullptr;
    std::size_t bytes = 0;
    Reduction reduction{};
    Experience::Front* experience = nullptr;
    Experience::Front::Verdict verdict{};
    const Algorithm* algorithm = nullptr;  // that serves it; nullptr: the MPI library does
  };
  /// So is every call like it served until the user's choice for the collective changes, or Runtime::epoch.
  static void keep(const PlainCall& call, const Entered& entered);

  /// The number of a communicator's ranks, who each have a length: of the latest that it was noted of. 0: not known.
  static int ranks_of(MPI_Comm comm);
  static void note_ranks(MPI_Comm comm, int ranks);

 private:
  struct Known {
    PlainCall call;
    std::uint64_t epoch = 0;
    Choice choice;
    Entered entered;
  };
  static const Known* find(const PlainCall& call, const Choice& choice);
  static int pass_on(const NativeCall& native, const Known& known, const Operands& operands);
  static std::optional<int> run(const Known& known, const Operands& operands);

  // Two calls in a loop never take each other's place, whatever they are: with one place for each call, an 8-byte
  // scatter and a barrier that shared it took 1.7 times as long.
  static constexpr std::size_t kPlaces = 2;
  static constexpr unsigned kSetBits = 5;
  using Set = std::array<Known, kPlaces>;  // the newest first
  static thread_local std::array<Set, std::size_t{1} << kSetBits> sets_;
  static Set& set_of(const PlainCall& call);

  struct Noted {
    MPI_Comm comm = MPI_COMM_NULL;
    std::uint64_t epoch = 0;
    int ranks = 0;
  };
  static thread_local Noted noted_;
};

}  // namespace stretto::mpi
