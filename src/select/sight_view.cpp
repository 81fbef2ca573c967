#include "select/sight_view.hpp"

#include <algorithm>
#include <utility>

namespace stretto {

SightView SightView::of(const Sight& call, std::int64_t ahead_ns) {
  return {call.arrival_ns - ahead_ns, call.arrival_ns - ahead_ns, call.exit_ns - ahead_ns,
          call.exit_ns - call.arrival_ns};
}

// Of two that came at once the longer call.
void SightView::add(const SightView& theirs) {
  if (std::pair(theirs.last_arrival_ns, theirs.last_took_ns) > std::pair(last_arrival_ns, last_took_ns)) {
    last_arrival_ns = theirs.last_arrival_ns;
    last_took_ns = theirs.last_took_ns;
  }
  first_arrival_ns = std::min(first_arrival_ns, theirs.first_arrival_ns);
  last_exit_ns = std::max(last_exit_ns, theirs.last_exit_ns);
}

SeenCall SightView::seen(bool one_clock) const {
  return {last_arrival_ns - first_arrival_ns, one_clock ? last_exit_ns - last_arrival_ns : last_took_ns};
}

}  // namespace stretto
