// Group: the ranks of one collective call as an algorithm sees them, with the verbs it is written in.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/collective.hpp"
#include "core/copy.hpp"
#include "core/costs.hpp"
#include "core/executor.hpp"
#include "core/reduction.hpp"
#include "core/scratch.hpp"
#include "core/transport.hpp"

namespace stretto {

class Board;
class Nodes;
class RankMaps;
class RemoteWords;

/// One rank's connection to the others of a communicator; lives as long as the communicator.
struct Endpoint {
  int rank;
  int size;
  Platform& platform;
  Transport& transport;
  Executor executor;
  ScratchPool scratch;
  Board* board = nullptr;                    // of the ranks of this node; null where they share no memory
  Costs costs;                               // the same on all ranks
  std::span<const int> nodes;                // of each rank the lowest on its node; empty: all are on one
  std::shared_ptr<const Nodes> all_nodes{};  // of all ranks; made when an algorithm first asks for them
  RankMaps* maps = nullptr;                  // null where no algorithm asks for places
  RemoteWords* words = nullptr;
  bool truncated = false;  // somebody had left more than the present call has room for

  Endpoint(int rank_, int size_, Platform& platform_, Transport& transport_)
      : rank(rank_), size(size_), platform(platform_), transport(transport_), executor(platform_) {}
};

class Group {
 public:
  /// Messages of groups with different streams do not meet.
  explicit Group(Endpoint& endpoint, std::uint32_t stream = 0)
      : endpoint_(endpoint), stream_(stream), rank_(endpoint.rank), size_(endpoint.size) {}

  /// The same ranks, whose streams are others than this group's below `first`.
  Group with_streams_from(std::uint32_t first) const {
    Group other = *this;
    other.stream_ += first;
    return other;
  }
  /// Those of `ranks` of the communicator, under the numbers of their places there, for algorithms of messages
  /// alone all ranks in another order, or some of them; in shared memory those of this node in their order. This rank
  /// is number `mine`; `ranks` outlives the group.
  Group of(std::span<const int> ranks, int mine) const {
    Group other = *this;
    other.ranks_ = ranks;
    other.rank_ = mine;
    other.size_ = static_cast<int>(ranks.size());
    return other;
  }

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// Whether these are the ranks of the communicator, by their own numbers.
  bool is_whole() const { return ranks_.empty(); }
  /// The number in the communicator of a rank of this group.
  int real(int rank) const { return ranks_.empty() ? rank : ranks_[static_cast<std::size_t>(rank)]; }
  std::vector<int> real_ranks() const {
    std::vector<int> ranks(static_cast<std::size_t>(size_));
    for (int rank = 0; rank < size_; ++rank) ranks[static_cast<std::size_t>(rank)] = real(rank);
    return ranks;
  }
  Endpoint& endpoint() { return endpoint_; }
  Board& board() { return *endpoint_.board; }
  const Costs& costs() const { return endpoint_.costs; }
  /// The lowest rank on the node of `rank`, by which the node is known.
  int node_of(int rank) const {
    return endpoint_.nodes.empty() ? 0 : endpoint_.nodes[static_cast<std::size_t>(real(rank))];
  }

  /// `co_await g.send(...)`: the buffer may be reused.
  Transfer send(const std::byte* data, std::size_t bytes, int to, std::uint32_t stream = 0) {
    return {&endpoint_.transport, const_cast<std::byte*>(data), bytes, real(to),
            stream_ + stream,     Transfer::Kind::send};
  }
  /// `co_await g.recv(...)`: the data is there.
  Transfer recv(std::byte* data, std::size_t bytes, int from, std::uint32_t stream = 0) {
    const int peer = from == kAnyRank ? kAnyRank : real(from);
    return {&endpoint_.transport, data, bytes, peer, stream_ + stream, Transfer::Kind::receive};
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
    copy_bytes(to, from, bytes);
    endpoint_.platform.charge(Work::copy, bytes);
  }

  /// `co_await g.reached(signal, value)`: until a rank has published it.
  SignalWait reached(Signal& signal, std::uint64_t value) { return {&endpoint_.executor, &signal, value}; }
  /// The same with a signal that has no other value from `least` on than `exact`, unless ranks are in different calls.
  SignalWait reached(Signal& signal, std::uint64_t least, std::uint64_t exact) {
    return {&endpoint_.executor, &signal, least, exact};
  }
  void publish(Signal& signal, std::uint64_t value) { endpoint_.platform.publish(signal, value); }
  PauseWait pause() { return {&endpoint_.executor}; }

  /// `co_await g.caller(call)`: until the program is in a call that was begun ahead of it. At once in any other.
  Task caller(Call& call) {
    if (!call.is_here()) {
      co_await reached(call.ahead->arrived, 1);
      call.is_here();
    }
  }

  /// Working memory, given back when the returned object dies.
  Scratch scratch(std::size_t bytes) { return endpoint_.scratch.take(bytes); }

 private:
  Endpoint& endpoint_;
  std::uint32_t stream_;
  int rank_;
  int size_;
  std::span<const int> ranks_;  // empty: all, by their own numbers
};

}  // namespace stretto
