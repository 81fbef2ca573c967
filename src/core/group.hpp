// Group: the ranks of one collective call as an algorithm sees them, with the verbs it is written in.
#pragma once

#include <cstring>

#include "core/executor.hpp"
#include "core/reduction.hpp"
#include "core/scratch.hpp"
#include "core/transport.hpp"

namespace stretto {

class Board;

/// The arguments of a collective, the same struct for all of them. Counts are in elements; `input` may equal `output`
/// (in place). Reduce: `output` matters at the root only, and is null elsewhere. Bcast: data is in `output`.
struct Call {
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  std::size_t count = 0;
  std::size_t element_bytes = 1;
  const Reduction* reduction = nullptr;
  int root = 0;

  std::size_t bytes() const { return count * element_bytes; }
};

/// One rank's connection to the others of a communicator; lives as long as the communicator.
struct Endpoint {
  int rank;
  int size;
  Platform& platform;
  Transport& transport;
  Executor executor;
  ScratchPool scratch;
  Board* board = nullptr;  // null where the ranks share no memory

  Endpoint(int rank_, int size_, Platform& platform_, Transport& transport_)
      : rank(rank_), size(size_), platform(platform_), transport(transport_), executor(platform_) {}
};

class Group {
 public:
  explicit Group(Endpoint& endpoint) : endpoint_(endpoint) {}

  int rank() const { return endpoint_.rank; }
  int size() const { return endpoint_.size; }
  Endpoint& endpoint() { return endpoint_; }
  Board& board() { return *endpoint_.board; }

  /// `co_await g.send(...)`: the buffer may be reused.
  Transfer send(const std::byte* data, std::size_t bytes, int to, std::uint32_t stream = 0) {
    return {&endpoint_.transport, const_cast<std::byte*>(data), bytes, to, stream, Transfer::Kind::send};
  }
  /// `co_await g.recv(...)`: the data is there.
  Transfer recv(std::byte* data, std::size_t bytes, int from, std::uint32_t stream = 0) {
    return {&endpoint_.transport, data, bytes, from, stream, Transfer::Kind::receive};
  }

  /// inout = in op inout. Where the order of operands matters, `in` holds the lower ranks.
  void reduce(const Call& call, const std::byte* in, std::byte* inout, std::size_t count) {
    if (count == 0) return;
    schedule_point();  // shared data is as good a place to be interrupted as an atomic
    call.reduction->combine(in, inout, count, call.reduction->context);
    endpoint_.platform.charge(Work::reduce, count * call.element_bytes);
  }
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
    if (bytes == 0 || to == from) return;
    schedule_point();
    std::memcpy(to, from, bytes);  // NOLINT(clang-analyzer-core.NonNullParamChecker): null only with 0 bytes
    endpoint_.platform.charge(Work::copy, bytes);
  }

  /// `co_await g.reached(signal, value)`: until a rank has published it.
  SignalWait reached(Signal& signal, std::uint64_t value) { return {&endpoint_.executor, &signal, value}; }
  void publish(Signal& signal, std::uint64_t value) { endpoint_.platform.publish(signal, value); }
  PauseWait pause() { return {&endpoint_.executor}; }

  /// Working memory, given back when the returned object dies.
  Scratch scratch(std::size_t bytes) { return endpoint_.scratch.take(bytes); }

 private:
  Endpoint& endpoint_;
};

}  // namespace stretto
