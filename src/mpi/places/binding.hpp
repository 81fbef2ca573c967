// Which parts of its node this process is bound to, as hwloc knows them.
#pragma once

#include <string>

#include "topology/insides.hpp"

namespace stretto::mpi {

/// Looked up at the first call, which reads /sys; the same at every later one. None where the process is bound to no
/// part smaller than the node; none and an `error`, which says what to do about it, where hwloc cannot tell.
Parts find_binding(std::string& error);

}  // namespace stretto::mpi
