// What the user has asked for through STRETTO_* environment variables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalogue/catalogue.hpp"

namespace stretto {

/// Whose algorithm serves a collective.
struct Choice {
  enum class Kind { by_rule, native, forced };
  Kind kind = Kind::by_rule;
  const Algorithm* algorithm = nullptr;  // forced, or the MPI library's own in segments

  bool operator==(const Choice&) const = default;
};

/// MPI_Allreduce and the like; or MPI_Iallreduce, with MPI_Allreduce_init.
enum class Form { blocking, non_blocking };

/// "default", "native", "native+4" and the like, or the name of an algorithm of `collective`; nullopt for anything
/// else. Non-blocking calls take algorithms that are made of messages alone, and of the MPI library's nothing but
/// "native".
std::optional<Choice> parse_choice(Collective collective, std::string_view text, Form form = Form::blocking);

/// What `parse_choice` takes, in words.
std::string choices_of(Collective collective, Form form = Form::blocking);

/// Whether calls can go on when the program does something else.
bool can_be_non_blocking(const Algorithm& algorithm);

/// What the profiler writes, and where.
struct ProfileSettings {
  std::string directory;                          // STRETTO_PROFILE; empty: no profile
  bool group_may_read = false;                    // STRETTO_PROFILE_READERS
  std::size_t max_bytes = std::size_t{64} << 20;  // STRETTO_PROFILE_MAX_MIB, of each rank's file
  std::uint32_t every = 1;                        // STRETTO_PROFILE_EVERY: each so manieth call of a communicator
  bool from_start = true;                         // STRETTO_PROFILE_START: on, or off until MPI_Pcontrol(1)
  std::vector<std::string> operations;            // STRETTO_PROFILE_COLLECTIVES: these only; empty: all
};

/// Who drives collectives that have begun ahead of the program.
enum class Background {
  off,       // none begins ahead
  polled,    // the program's own MPI calls, and its marks
  thread,    // a thread: MPI is asked for MPI_THREAD_MULTIPLE
  automatic  // a thread if MPI is initialised with MPI_THREAD_MULTIPLE anyway, else polled
};

/// What comes of what calls have taken (select/adaptation.hpp).
enum class Adapt {
  off,        // nothing is measured
  listen,     // between nodes, how ranks come to calls, for what serves those that come late
  automatic,  // there what calls take chooses, too, and on a node of more ranks than the rule was measured with
  watch,      // everywhere; what is saved is told at the end of the job, and nothing is chosen by it
  on          // and chooses
};

class TunedRules;

struct Configuration {
  std::array<std::array<Choice, std::size(kCollectives)>, 2>
      choices{};                                   // STRETTO_ALLREDUCE, ..; STRETTO_IALLREDUCE, ..
  bool non_blocking = false;                       // one of the latter is set: non-blocking calls may be Stretto's
  bool deterministic = false;                      // STRETTO_DETERMINISTIC: the same bits from run to run
  bool single_copy = true;                         // STRETTO_CMA
  Background background = Background::automatic;   // STRETTO_BACKGROUND
  std::vector<std::size_t> background_cores;       // STRETTO_BACKGROUND_CORE, of its thread; empty: any
  std::optional<std::size_t> shared_memory_bytes;  // STRETTO_SHM_MAX_MIB, of a node; 0: none; unset: by what it has
  bool hwloc = true;                               // STRETTO_HWLOC: what ranks are bound to is looked for
  std::string topology_file;                // STRETTO_TOPOLOGY, a topology.conf of Slurm's, or `measure`; empty: none
  std::string machine_file;                 // STRETTO_MACHINE, as `stretto tune --machine` writes it; empty: none
  std::string rules_file;                   // STRETTO_RULES, as `stretto tune` writes it; empty: none
  std::shared_ptr<const TunedRules> rules;  // what the file has; null where there is none, or it is of no use here
  ProfileSettings profile;
  bool remote_words = false;  // STRETTO_REMOTE_WORDS, or a choice needs them: made in MPI_Init, for rendezvous_tree
  Adapt adapt = Adapt::automatic;  // STRETTO_ADAPT
  std::string memory;              // STRETTO_MEMORY, a directory for what it learns; empty: that ends with the job
  bool check = false;              // STRETTO_CHECK: all ranks compare their calls before they make them
  bool verbose = false;            // STRETTO_VERBOSE

  Choice& choice(Collective collective, Form form = Form::blocking) {
    return choices[static_cast<std::size_t>(form)][static_cast<std::size_t>(collective)];
  }
  const Choice& choice(Collective collective, Form form = Form::blocking) const {
    return choices[static_cast<std::size_t>(form)][static_cast<std::size_t>(collective)];
  }

  /// All collectives are left to the MPI library.
  bool all_native() const;

  /// A number that differs (almost surely) if any setting does that all ranks must share.
  std::uint64_t fingerprint() const;
};

/// Reads the environment. On a bad value `error` is set to a message that names the variable, the value, the choices.
Configuration read_configuration(std::string& error);

}  // namespace stretto
