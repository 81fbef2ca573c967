// Ranks as threads of one process, on the real arrival board and the real waiting code: what the thread sanitizer and
// the deterministic scheduler look at.
#pragma once

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "arrival/board.hpp"
#include "transport/shm/node_platform.hpp"

namespace stretto::concurrency {

/// Messages between threads: copied at sending, matched by source and stream.
class Mailboxes {
 public:
  using Key = std::pair<int, std::uint32_t>;  // source, stream
  explicit Mailboxes(int ranks) : boxes_(static_cast<std::size_t>(ranks)) {}

  void put(int to, Key key, std::vector<std::byte> message) {
    const std::scoped_lock lock(mutex_);
    boxes_[static_cast<std::size_t>(to)][key].push_back(std::move(message));
  }
  bool take(int rank, Key key, std::byte* to) {
    const std::scoped_lock lock(mutex_);
    auto& queue = boxes_[static_cast<std::size_t>(rank)][key];
    if (queue.empty()) return false;
    if (!queue.front().empty()) std::memcpy(to, queue.front().data(), queue.front().size());
    queue.pop_front();
    return true;
  }

 private:
  std::mutex mutex_;
  std::vector<std::map<Key, std::deque<std::vector<std::byte>>>> boxes_;
};

class ThreadTransport final : public Transport {
 public:
  ThreadTransport(Mailboxes& mailboxes, int rank) : mailboxes_(mailboxes), rank_(rank) {}

  void start(Transfer& transfer) override {
    if (transfer.kind == Transfer::Kind::send) {
      mailboxes_.put(transfer.peer, {rank_, transfer.stream}, {transfer.data, transfer.data + transfer.bytes});
      transfer.complete = true;
    } else {
      posted_.push_back(&transfer);
    }
  }
  bool progress(Executor& executor) override {
    const auto arrived = [&](Transfer* transfer) {
      if (!mailboxes_.take(rank_, {transfer->peer, transfer->stream}, transfer->data)) return false;
      transfer->complete = true;
      if (transfer->waiter) executor.post(transfer->waiter);
      return true;
    };
    return std::erase_if(posted_, arrived) > 0;
  }
  bool busy() const override { return !posted_.empty(); }

 private:
  Mailboxes& mailboxes_;
  const int rank_;
  std::vector<Transfer*> posted_;
};

/// Runs `body` on `ranks` threads. `Base` is the platform to wait with.
template <class Base>
class ThreadWorld {
 public:
  explicit ThreadWorld(int ranks, std::size_t pool_bytes = 256 * 1024)
      : mailboxes_(ranks), board_memory_(Board::memory_bytes(ranks) + kLine), pool_(pool_bytes + kLine) {
    for (int rank = 0; rank < ranks; ++rank) {
      ranks_.push_back(std::make_unique<Rank>(*this, rank, ranks, pool_bytes));
    }
  }

  void run(const std::function<Task(Group&)>& body) {
    std::vector<std::thread> threads;
    for (auto& rank : ranks_) threads.emplace_back([&body, &rank] { rank->run(body); });
    for (std::thread& thread : threads) thread.join();
  }

 private:
  /// Single copy between threads is a plain copy, which the sanitizer sees.
  struct ThreadPlatform final : Base {
    using Base::Base;
    bool can_read_peers() const override { return true; }
    bool read_peer(int, void* to, std::uint64_t address, std::size_t bytes) override {
      std::memcpy(to, reinterpret_cast<const void*>(address), bytes);
      return true;
    }
  };

  struct Rank {
    Rank(ThreadWorld& world, int rank, int ranks, std::size_t pool_bytes)
        : number(rank),
          platform(shm::NodeFacts{{}, true, nullptr, nullptr}),
          transport(world.mailboxes_, rank),
          endpoint(rank, ranks, platform, transport),
          board(aligned(world.board_memory_), ranks, rank) {
      board.attach_pool(aligned(world.pool_), pool_bytes);
      endpoint.board = &board;
    }
    void run(const std::function<Task(Group&)>& body) {
      platform.enter(number);
      {
        Group group(endpoint);
        Task task = body(group);
        endpoint.executor.drive(task, transport);
      }
      platform.exit();
    }
    static std::byte* aligned(std::vector<std::byte>& memory) {
      const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
      return reinterpret_cast<std::byte*>((address + kLine - 1) / kLine * kLine);
    }

    const int number;
    ThreadPlatform platform;
    ThreadTransport transport;
    Endpoint endpoint;
    Board board;
  };

  Mailboxes mailboxes_;
  std::vector<std::byte> board_memory_;
  std::vector<std::byte> pool_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

}  // namespace stretto::concurrency
