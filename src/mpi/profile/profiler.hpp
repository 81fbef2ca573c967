// The profiler: what this process writes to its profile file (src/profile), and when.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "mpi/engine/communicator.hpp"
#include "mpi/engine/lessons.hpp"
#include "mpi/entry/functions.hpp"
#include "mpi/profile/call_site.hpp"
#include "mpi/profile/profile_file.hpp"
#include "select/configuration.hpp"

namespace stretto::mpi {

/// Handles of one kind under small numbers, each told of once in a fact.
template <class Handle>
class Names {
 public:
  /// `tell` is called with the number when `handle` is new, or is another thing (`bytes`) under an old handle.
  template <class Tell>
  std::uint16_t number(Handle handle, std::size_t bytes, const Tell& tell) {
    const std::scoped_lock lock(mutex_);
    const auto [known, is_new] = numbers_.try_emplace(handle, Numbered{next_, bytes});
    if (!is_new && known->second.bytes == bytes) return known->second.number;
    if (next_ == profile::kNone) return profile::kNone;
    known->second = {next_++, bytes};
    tell(known->second.number);
    return known->second.number;
  }

 private:
  struct Numbered {
    std::uint16_t number;
    std::size_t bytes;
  };
  std::mutex mutex_;
  std::unordered_map<Handle, Numbered> numbers_;
  std::uint16_t next_ = 0;
};

class Profiler {
 public:
  /// What is wrong with the settings, "" if nothing.
  static std::string find_error(const ProfileSettings& settings);
  /// After MPI_Init, on all ranks alike. The settings have no error. Ends the process with a message if the profile
  /// cannot be written.
  void start(const Configuration& configuration, const World& world);
  /// Before MPI_Finalize, on all ranks alike.
  void finish(const World& world, const std::vector<Communicator*>& communicators, const Lessons& lessons);

  /// Calls are counted, and communicators known, from MPI_Init to MPI_Finalize.
  bool active() const { return file_.is_open(); }
  /// As MPI_Pcontrol says.
  void set_recording(bool recording) { recording_.store(recording, std::memory_order_relaxed); }
  bool wants(MpiFunction operation, std::uint32_t sequence) const {
    return recording_.load(std::memory_order_relaxed) &&
           (operations_wanted_ >> static_cast<unsigned>(operation) & 1U) != 0 && sequence % every_ == 0;
  }

  /// Makes `communicator` known under the same identity on all its ranks. Collective over `comm` unless it is the
  /// world, of one rank, or `alone`; where alone, its calls can not be matched with other ranks'.
  void introduce(Communicator& communicator, MPI_Comm comm, bool alone);
  std::uint32_t introduce_persistent(const Communicator& communicator, std::uint32_t number);

  std::uint16_t number_of(MPI_Datatype datatype, std::size_t bytes);
  std::uint16_t number_of(MPI_Op op);
  /// Where in the program the call came from; tells of the module that holds it.
  std::uint64_t locate(const Caller& caller);

  /// After an algorithm may have been made (find_algorithm). Any thread.
  void tell_algorithms();

  profile::ProfileFile& file() { return file_; }

 private:
  void tell_job(const Configuration& configuration);
  void tell_clock(const World& world);
  void tell_alpha(const World& world);
  void tell_savings(const Lessons& lessons);
  void fact(const std::string& json) { file_.add_fact(json); }

  profile::ProfileFile file_;
  std::atomic<bool> recording_{true};
  std::mutex telling_algorithms_;
  std::atomic<std::size_t> told_algorithms_{0};
  std::uint64_t operations_wanted_ = ~std::uint64_t{0};
  std::uint32_t every_ = 1;
  int world_rank_ = 0;
  std::atomic<std::uint32_t> communicators_{0};
  std::atomic<std::uint32_t> identities_{0};
  Names<MPI_Datatype> datatypes_;
  Names<MPI_Op> reductions_;
  CallSites call_sites_;
};

}  // namespace stretto::mpi
