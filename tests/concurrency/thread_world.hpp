// Ranks as threads of one process, on the real arrival board, mailboxes and waiting code: what the thread sanitizer and
// the deterministic scheduler look at.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "board/board.hpp"
#include "topology/rank_maps.hpp"
#include "transport/shm/mailboxes.hpp"
#include "transport/shm/node_platform.hpp"
#include "transport/shm/shared_words.hpp"

namespace stretto::concurrency {

constexpr std::size_t kPoolBytes = 256 * 1024;
constexpr std::size_t kGenerations = 3;  // as few as a board can do with

/// Waits as ranks do.
struct RealThreads : shm::NodePlatform {
  using NodePlatform::NodePlatform;
  void enter(int) {}
  void exit() {}
};

/// Where memory for ranks begins in a vector with a line to spare.
inline std::byte* aligned(std::vector<std::byte>& memory) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  return reinterpret_cast<std::byte*>((address + kLine - 1) / kLine * kLine);
}

/// Runs `body` on `ranks` threads, `ranks_per_node` on each of several nodes with a board and a pool of its own, or all
/// on one. `Base` is the platform to wait with.
template <class Base>
class ThreadWorld {
 public:
  explicit ThreadWorld(int ranks, std::size_t pool_bytes = kPoolBytes, int ranks_per_node = 0)
      : mailbox_memory_(shm::MailboxTransport::memory_bytes(ranks) + kLine),
        words_(shm::SharedWords::memory_bytes(ranks) + kLine) {
    const int a_node = ranks_per_node > 0 ? ranks_per_node : ranks;
    for (int rank = 0; rank < ranks; ++rank) {
      node_of_rank_.push_back(rank - rank % a_node);
      if (rank % a_node == 0) nodes_.emplace_back(std::min(a_node, ranks - rank), pool_bytes);
    }
    for (int rank = 0; rank < ranks; ++rank) {
      Node& node = nodes_[static_cast<std::size_t>(rank / a_node)];
      ranks_.push_back(std::make_unique<Rank>(*this, rank, ranks, node, rank % a_node));
    }
  }

  void run(const std::function<Task(Group&)>& body) {
    std::vector<std::thread> threads;
    for (auto& rank : ranks_) threads.emplace_back([&body, &rank] { rank->run(body); });
    for (std::thread& thread : threads) thread.join();
  }

  /// Whether boards and mailboxes are zeroed again once cleared, but for the data of messages. No use of it after.
  bool clears() {
    const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
    bool clear = true;
    for (Node& node : nodes_) {
      std::byte* const board = aligned(node.board);
      Board::clear(board, node.ranks, kGenerations);
      const std::size_t data =
          static_cast<std::size_t>(node.ranks) * (kGenerations * Board::kSmallSlotBytes + 2 * Board::kSlotBytes);
      clear = clear && std::all_of(board, board + Board::memory_bytes(node.ranks, kGenerations) - data, is_zero);
    }
    const int ranks = static_cast<int>(ranks_.size());
    std::byte* const mailboxes = aligned(mailbox_memory_);
    shm::MailboxTransport::clear(mailboxes, ranks);
    return clear && std::all_of(mailboxes, mailboxes + shm::MailboxTransport::memory_bytes(ranks), is_zero);
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

  struct Node {
    Node(int ranks_, std::size_t pool_bytes_)
        : ranks(ranks_),
          pool_bytes(pool_bytes_),
          board(Board::memory_bytes(ranks, kGenerations) + kLine),
          pool(pool_bytes + kLine) {}
    int ranks;
    std::size_t pool_bytes;
    std::vector<std::byte> board;
    std::vector<std::byte> pool;
  };

  struct Rank {
    Rank(ThreadWorld& world, int rank, int ranks, Node& node, int place)
        : number(rank),
          platform(shm::NodeFacts{nullptr, true, nullptr, nullptr}),
          transport(aligned(world.mailbox_memory_), ranks, rank, platform),
          endpoint(rank, ranks, platform, transport),
          board(aligned(node.board), node.ranks, place, kGenerations),
          maps(topology_of_nodes(ranks, world.node_of_rank_)),
          words(aligned(world.words_)) {
      board.attach_pool(std::make_shared<Pool>(Pool{aligned(node.pool), node.pool_bytes}));
      endpoint.board = &board;
      endpoint.nodes = world.node_of_rank_;
      endpoint.maps = &maps;
      endpoint.words = &words;
    }
    void run(const std::function<Task(Group&)>& body) {
      platform.enter(number);
      group.emplace(endpoint);
      task.emplace(body(*group));
      endpoint.executor.drive(*task, transport);
      if (task->done()) task.reset();  // else it was stopped, and others may read its buffers as long as they run
      platform.exit();
    }

    const int number;
    ThreadPlatform platform;
    shm::MailboxTransport transport;
    Endpoint endpoint;
    Board board;
    RankMaps maps;
    shm::SharedWords words;
    std::optional<Group> group;
    std::optional<Task> task;
  };

  std::vector<std::byte> mailbox_memory_;
  std::vector<std::byte> words_;
  std::vector<int> node_of_rank_;  // the lowest rank there
  std::vector<Node> nodes_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

}  // namespace stretto::concurrency
