// Files of what was measured: rank 0 reads them, all ranks have them.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>

#include "select/machine.hpp"
#include "select/tuned_rules.hpp"

namespace stretto::mpi {

/// As files name what they were measured on.
std::string version_of_mpi();
std::string model_of_cpu();

/// What the file tells; nothing, on all ranks alike, where none is named, or it cannot be read, is of another version,
/// or was measured on another machine: then rank 0 says what is wrong. Collective over `world`, as the next one is.
std::optional<Machine> share_machine(const std::string& file, MPI_Comm world);
/// Null where there are none.
std::shared_ptr<const TunedRules> share_rules(const std::string& file, MPI_Comm world);

}  // namespace stretto::mpi
