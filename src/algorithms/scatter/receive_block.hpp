// A block that the root sends to this rank, also before the program is there to take it.
#pragma once

#include "core/group.hpp"

namespace stretto {

/// Into `call.output`. What comes before the program is kept, and copied when it is there.
inline Task receive_block(Group& g, Call& call) {
  Scratch memory = g.scratch(call.is_here() ? 0 : call.bytes());
  std::byte* block = call.is_here() ? call.output : memory.data();
  co_await g.recv(block, call.bytes(), call.root);
  co_await g.caller(call);
  g.copy(call.output, block, call.bytes());
}

}  // namespace stretto
