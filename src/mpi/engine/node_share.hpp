// What the ranks of a communicator that share a node have in common there: a board, a pool for long messages and, where
// all ranks share one node, mailboxes and words.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "board/agreement.hpp"
#include "board/board.hpp"
#include "board/ledger.hpp"
#include "board/sights.hpp"
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
    std::vector<int> real_mates{};  // the same in the world
  };
  /// Memory for the board, and all else but the pool, of the ranks of one node. Lets itself go.
  class Part;
  /// Takes such a part, which the others of the communicator are then to be told of: its number. Negative where there
  /// is none, or `ranks` cannot be the number of ranks of one node.
  static std::int32_t offer(int ranks, World& world);
  /// The part by that number, once all of them know it; null if it is negative.
  static std::shared_ptr<Part> accept(std::int32_t offered, World& world);
  /// Whoever has offered it takes it back, as it is of no use: not all ranks are on one node.
  static void take_back(std::int32_t offered, World& world);

  /// Collective over the communicator, unless there is a part. nullptr, on all ranks alike, where some node has no
  /// memory left, or cannot share it; a message says why.
  static std::unique_ptr<NodeShare> make(Members members, World& world, std::shared_ptr<Part> part);

  Board& board() { return *board_; }
  Ledger& ledger() { return *ledger_; }
  /// All ranks share one node: room for mailboxes, null where there are too many ranks for that; and for words.
  std::byte* mailboxes() { return mailboxes_; }
  std::byte* words() { return words_; }
  /// Null unless wanted.
  Sights* sights() { return sights_ ? &*sights_ : nullptr; }

  std::size_t pool_bytes() const { return pool_bytes_; }
  /// Half of the largest pool that ensure_pool may make.
  std::size_t max_pool_window() const { return largest_pool_ / 2; }
  /// Makes room in the pool for `bytes` bytes of one call, as far as the bound of the node allows. Collective; false,
  /// on all ranks alike, if there is no pool after, or where `watch` has found that the others do not come.
  bool ensure_pool(std::size_t bytes);
  /// Whether the pool has such room, or so many calls have asked for it by this that it is worth its pages, which take
  /// longer to make than to fill. On all ranks alike, where all ask.
  bool is_worth_pool(std::size_t bytes);
  /// Gives the pool's pages back if it is idle. This rank is about to begin a call that uses no pool, and that nobody
  /// ends before all have begun it: so nobody is beyond it.
  void give_back_idle_pool() {
    if (pool_ != nullptr && members_.rank == members_.mates.front()) pool_->give_back_if_idle();
  }
  /// How this rank waits for the others of the node from now on; they outlive this.
  void wait_by(Platform& platform, Watchdog& watch) {
    if (!agreement_) return;
    platform_ = &platform;
    watch_ = &watch;
  }

  /// The largest pool within the bound, on a node where nothing is taken yet.
  static std::size_t largest_pool(std::size_t limit);

 private:
  NodeShare(Members members, World& world) : members_(std::move(members)), world_(world) {}
  bool is_one_node() const { return members_.most_mates == members_.size; }
  bool make_board(std::shared_ptr<Part> part);
  void lay_out(std::byte* memory);
  CountedSegment share(std::size_t bytes, const char* purpose);
  template <class Value>
  std::vector<Value> gather(const Value& mine);
  std::optional<int> find_least(int value);
  std::size_t pool_for(std::size_t bytes) const;
  bool grow_pool(std::size_t wanted);

  Members members_;
  World& world_;
  std::shared_ptr<const void> memory_;  // of all that follows
  std::unique_ptr<Board> board_;
  std::optional<Ledger> ledger_;
  std::optional<Agreement> agreement_;  // where all ranks share the node
  Platform* platform_ = nullptr;
  Watchdog* watch_ = nullptr;
  std::byte* mailboxes_ = nullptr;
  std::byte* words_ = nullptr;
  std::optional<Sights> sights_;
  std::shared_ptr<NodePool> pool_;
  std::size_t pool_bytes_ = 0;  // that all ranks are known to have
  std::size_t largest_pool_ = 0;
  int asked_for_pool_ = 0;  // times, for one larger than there is
};

}  // namespace stretto::mpi
