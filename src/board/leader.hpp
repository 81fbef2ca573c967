// The dynamic leader of Alizadeh 2021, Algorithm 4.1: whoever arrives first reduces whoever comes.
#pragma once

#include "core/group.hpp"

namespace stretto {

/// Leaves this rank's data in its slot, and at the first to arrive reduces all, in the order of coming or, where the
/// operation does not commute, in that of ranks once all are there. Then generation().done is published, and
/// Board::result_data holds the result. For messages of up to Board::kSlotBytes.
Task reduce_at_leader(Group& g, const Call& call);

}  // namespace stretto
