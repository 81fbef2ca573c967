// Messages in both directions at once.
#pragma once

#include "core/group.hpp"

namespace stretto {

/// Sends to one rank while receiving from another (or the same).
inline Task exchange(Group& g, const std::byte* out, std::size_t out_bytes, int to, std::byte* in, std::size_t in_bytes,
                     int from) {
  Transfer sending = g.send(out, out_bytes, to);
  sending.start();
  co_await g.recv(in, in_bytes, from);
  co_await sending;
}

}  // namespace stretto
