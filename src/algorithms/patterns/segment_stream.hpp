// One stream of segments to a neighbour in a tree, by itself: nothing else is awaited for it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/group.hpp"

namespace stretto {

/// Sends `segments` segments to rank `to` when it has said, by an empty message, that it is there: each as soon as
/// `ready` counts it and there is room, as two are under way at most (ADAPT's default; Luo et al. 2018).
/// `place(segment)` is where it lies, a span of bytes.
template <class Place>
Task send_segments(Group& g, int to, std::size_t segments, Signal& ready, Place place) {
  constexpr std::size_t kSends = 2;
  co_await g.recv(nullptr, 0, to);
  std::vector<Transfer> sends;
  sends.reserve(segments);  // transfers stay where they are while under way
  for (std::size_t segment = 0; segment < segments; ++segment) {
    co_await g.reached(ready, segment + 1);
    if (segment >= kSends) {
      Transfer& oldest = sends[segment - kSends];
      co_await oldest;
    }
    const std::span<const std::byte> data = place(segment);
    sends.push_back(g.send(data.data(), data.size(), to));
    sends.back().start();
  }
  for (Transfer& send : sends) co_await send;
}

}  // namespace stretto
