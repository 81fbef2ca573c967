// What the ranks of a communicator that share a node have in common there: a board, a pool for long messages and, where
// all ranks share one node, mailboxes and words.
#pragma once

#include <mpi.h>
#include <sys/types.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "board/agreement.hpp"
#include "board/board.hpp"
#include "board/ledger.hpp"
#include "mpi/engine/world.hpp"

namespace stretto::mpi {

class NodeShare {
 public:
  /// What makes one: the program's communicator, this rank's node, and what all ranks know alike.
  struct Members {
    MPI_Comm comm;
    int rank;
    int size;
    std::vector<int> mates;         // the ranks of this one's node
    int most_mates;                 // of any node
    bool single_copy;               // wanted
    std::vector<int> real_mates{};  // the same in the world
  };
  /// Collective over the communicator. nullptr, on all ranks alike, where some node has no memory left, or cannot share
  /// it; a message says why.
  static std::unique_ptr<NodeShare> make(Members members, World& world);

  Board& board() { return *board_; }
  Ledger& ledger() { return *ledger_; }
  /// Of the mates; empty where some rank cannot read another's memory.
  const std::vector<pid_t>& processes() const { return processes_; }
  /// All ranks share one node: room for mailboxes, null where there are too many ranks for that; and for words.
  std::byte* mailboxes() { return mailboxes_; }
  std::byte* words() { return words_; }

  std::size_t pool_bytes() const { return pool_bytes_; }
  /// Half of the largest pool that ensure_pool may make.
  std::size_t max_pool_window() const { return largest_pool_ / 2; }
  /// Makes room in the pool for `bytes` bytes of one call, as far as the bound of the node allows. Collective; false,
  /// on all ranks alike, if there is no pool after, or where `watch` has found that the others do not come.
  bool ensure_pool(std::size_t bytes);
  /// How this rank waits for the others of the node from now on; they outlive this.
  void wait_by(Platform& platform, Watchdog& watch) {
    if (!agreement_) return;
    platform_ = &platform;
    watch_ = &watch;
  }

  /// The largest pool within the bound, on a node where nothing is taken yet.
  static std::size_t largest_pool(std::size_t limit);

 private:
  // A segment of this node's, and what else its ranks have found out about each other.
  struct Shared {
    CountedSegment segment;
    std::vector<pid_t> processes;
  };

  NodeShare(Members members, World& world) : members_(std::move(members)), world_(world) {}
  bool make_board();
  Shared share(std::size_t bytes, const char* purpose);
  template <class Value>
  std::vector<Value> gather(const Value& mine);
  bool find_least(std::array<int, 2>& values);

  Members members_;
  World& world_;
  std::shared_ptr<CountedSegment> memory_;
  std::unique_ptr<Board> board_;
  std::optional<Ledger> ledger_;
  std::optional<Agreement> agreement_;  // where all ranks share the node
  Platform* platform_ = nullptr;
  Watchdog* watch_ = nullptr;
  std::byte* mailboxes_ = nullptr;
  std::byte* words_ = nullptr;
  std::vector<pid_t> processes_;
  std::shared_ptr<NodePool> pool_;
  std::size_t pool_bytes_ = 0;  // that all ranks are known to have
  std::size_t largest_pool_ = 0;
};

}  // namespace stretto::mpi
