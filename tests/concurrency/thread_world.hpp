// Ranks as threads of one process, on the real arrival board, mailboxes and waiting code: what the thread sanitizer and
// the deterministic scheduler look at.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "arrival/board.hpp"
#include "topology/rank_maps.hpp"
#include "transport/shm/mailboxes.hpp"
#include "transport/shm/node_platform.hpp"
#include "transport/shm/shared_words.hpp"

namespace stretto::concurrency {

/// Runs `body` on `ranks` threads. `Base` is the platform to wait with.
template <class Base>
class ThreadWorld {
 public:
  explicit ThreadWorld(int ranks, std::size_t pool_bytes = 256 * 1024)
      : board_memory_(Board::memory_bytes(ranks) + kLine),
        mailbox_memory_(shm::MailboxTransport::memory_bytes(ranks) + kLine),
        pool_(pool_bytes + kLine),
        words_(shm::SharedWords::memory_bytes(ranks) + kLine) {
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
          platform(shm::NodeFacts{nullptr, true, nullptr, nullptr}),
          transport(aligned(world.mailbox_memory_), ranks, rank, platform),
          endpoint(rank, ranks, platform, transport),
          board(aligned(world.board_memory_), ranks, rank),
          maps(topology_of_nodes(ranks, {})),
          words(aligned(world.words_)) {
      board.attach_pool(aligned(world.pool_), pool_bytes);
      endpoint.board = &board;
      endpoint.maps = &maps;
      endpoint.words = &words;
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
    shm::MailboxTransport transport;
    Endpoint endpoint;
    Board board;
    RankMaps maps;
    shm::SharedWords words;
  };

  std::vector<std::byte> board_memory_;
  std::vector<std::byte> mailbox_memory_;
  std::vector<std::byte> pool_;
  std::vector<std::byte> words_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

}  // namespace stretto::concurrency
