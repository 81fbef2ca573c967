// Files of what was measured: rank 0 reads them, all ranks have them.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>

#include "select/earlier_runs.hpp"
#include "select/machine.hpp"
#include "select/measured_on.hpp"
#include "select/tuned_rules.hpp"

namespace stretto::mpi {

class World;

/// As files name what they are measured on: this machine, now.
MeasuredOn describe_here(const World& world);

/// As a whole, or not at all: then says why.
bool write_whole(const std::string& path, const std::string& text);

/// What the file tells; nothing, on all ranks alike, where none is named, or it cannot be read, is of another version,
/// or was measured on another machine: then rank 0 says what is wrong. Collective over `world`, as the next one is.
std::optional<Machine> share_machine(const std::string& file, MPI_Comm world);
/// Null where there are none.
std::shared_ptr<const TunedRules> share_rules(const std::string& file, MPI_Comm world);
/// Rank 0 names the file, which need not be there.
EarlierRuns share_earlier_runs(const std::string& file, MPI_Comm world);

}  // namespace stretto::mpi
