// One stream of segments to a neighbour in a tree, by itself: nothing else is awaited for it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/group.hpp"

namespace stretto {

/// Receives posted ahead and sends under way of a stream. ADAPT's defaults are 3 and 2, which a detour of some ms uses
/// up: `stretto model bcast --beta 8 --alpha 20000 --sizes 4M --ranks 1024 --root 0 --arrival noise:10,5ms`, mean time
/// by that without noise: event_binary 1.38 with those, 1.32 with these, event_binomial 1.15 and 1.03; with more no
/// better.
inline constexpr std::size_t kReceivesAhead = 12;
inline constexpr std::size_t kSendsUnderWay = 8;

/// Whether a receiver says, by an empty message, that it is there before anything is sent to it: lest one that comes
/// late be flooded with messages that it does not expect (ADAPT's first segment is synchronous for that). Not if all
/// may be under way at once: then the sender need not wait for the receiver to come.
inline bool is_announced(std::size_t segments) { return segments > kSendsUnderWay; }

/// Sends `segments` segments to rank `to`, where they are announced when it is there: each as soon as `ready` counts it
/// and there is room, as only some are under way at a time.
/// `place(segment)` is where it lies, a span of bytes.
template <class Place>
Task send_segments(Group& g, int to, std::size_t segments, Signal& ready, Place place) {
  if (is_announced(segments)) co_await g.recv(nullptr, 0, to);
  std::vector<Transfer> sends;
  sends.reserve(segments);  // transfers stay where they are while under way
  for (std::size_t segment = 0; segment < segments; ++segment) {
    co_await g.reached(ready, segment + 1);
    if (segment >= kSendsUnderWay) {
      Transfer& oldest = sends[segment - kSendsUnderWay];
      co_await oldest;
    }
    const std::span<const std::byte> data = place(segment);
    sends.push_back(g.send(data.data(), data.size(), to));
    sends.back().start();
  }
  for (Transfer& send : sends) co_await send;
}

}  // namespace stretto
