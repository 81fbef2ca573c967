// One collective call as the profile sees it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "catalogue/catalogue.hpp"
#include "mpi/profile/profiler.hpp"

namespace stretto::mpi {

/// Counts a call on its communicator, and records it from here to the end of the object's life, if the profiler wants
/// it. The table of collectives says by the describing members what moves; they may be called in a row.
class Observation {
 public:
  struct Form {
    std::uint16_t flags = 0;  // profile::kNonBlocking, kPersistent
    Caller caller;            // nobody: not a call yet (MPI_X_init)
  };

  Observation(Profiler& profiler, Communicator* communicator, MpiFunction operation, Form form)
      : profiler_(profiler), communicator_(communicator) {
    // Without a profile this must cost next to nothing.
    if (communicator != nullptr && profiler.active()) prepare(operation, form);
  }
  ~Observation() {
    if (ticket_.record != nullptr) end();
  }
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

  bool wanted() const { return wanted_; }
  /// From here on the record is in the file, as a call that has not returned.
  void begin();

  // --- what moves ---
  Observation& nothing() { return *this; }
  Observation& in_place(const void* buffer);
  Observation& rooted(int root);
  Observation& reduces(MPI_Op op);
  Observation& data(MPI_Count count, MPI_Datatype datatype);
  Observation& times_ranks();
  /// `count` and so on at the root, `others_count` and so on elsewhere. After rooted().
  Observation& data_at_root(MPI_Count count, MPI_Datatype datatype, MPI_Count others_count, MPI_Datatype others_type) {
    return at_root() ? data(count, datatype) : data(others_count, others_type);
  }
  /// This rank's own of one count a rank.
  template <class Count>
  Observation& own(const Count* counts, MPI_Datatype datatype) {
    // Of an intercommunicator there is one a rank of the other group.
    const bool there = counts != nullptr && communicator_->rank < communicator_->peers;
    return there ? data(counts[communicator_->rank], datatype) : *this;
  }
  template <class Count>
  Observation& own_at_root(const Count* counts, MPI_Datatype datatype, MPI_Count others_count,
                           MPI_Datatype others_type) {
    return at_root() ? own(counts, datatype) : data(others_count, others_type);
  }
  /// All of one count a rank, of one datatype or of one a rank.
  template <class Count, class Datatypes>
  Observation& sum(const Count* counts, Datatypes datatypes) {
    return add_up(counts, datatypes, communicator_->peers);
  }
  template <class Count, class Datatypes>
  Observation& sum_to_neighbours(const Count* counts, Datatypes datatypes) {
    return add_up(counts, datatypes, neighbours());
  }

  void ran(const Algorithm* algorithm) {
    if (!wanted_ || algorithm == nullptr) return;
    record_.algorithm = static_cast<std::uint16_t>(algorithm->number + 1);
    if (algorithm->is_derived()) profiler_.tell_algorithms();  // the rule makes some when it first needs them
  }

  /// At `place` in the order of arrival, from 0; below 0: not known.
  void arrived(int place) {
    if (wanted_ && place >= 0) record_.place = static_cast<std::uint16_t>(place);
  }

  /// Something was made in this call that later ones use.
  void set_up() { record_.flags |= profile::kSetUp; }

  /// The call was started and `request` stands for it: the record ends when that is found complete.
  void hand_over(MPI_Request request);

 private:
  bool at_root() const { return record_.root == communicator_->rank; }
  int neighbours() const;
  template <class Count, class Datatypes>
  Observation& add_up(const Count* counts, Datatypes datatypes, int how_many) {
    if (counts == nullptr) return *this;
    std::uint64_t bytes = 0;
    for (int i = 0; i < how_many; ++i) {
      if constexpr (std::is_pointer_v<Datatypes> && !std::is_same_v<Datatypes, MPI_Datatype>) {
        data(counts[i], datatypes[i]);
      } else {
        data(counts[i], datatypes);
      }
      bytes += record_.bytes;
    }
    record_.bytes = bytes;
    return *this;
  }
  void prepare(MpiFunction operation, const Form& form);
  void end();

  Profiler& profiler_;
  Communicator* communicator_;
  bool wanted_ = false;
  profile::Record record_;  // filled only where it is wanted
  profile::Ticket ticket_;
};

/// What a line of collectives.def says of a call. Refers to the caller's stack.
class Description {
 public:
  Description() = default;
  template <class Function>
  explicit Description(const Function& function)
      : object_(&function), invoke_([](const void* object, Observation& observation) {
          (*static_cast<const Function*>(object))(observation);
        }) {}
  void operator()(Observation& observation) const { invoke_(object_, observation); }

 private:
  const void* object_ = nullptr;
  void (*invoke_)(const void*, Observation&) = nullptr;
};

}  // namespace stretto::mpi
