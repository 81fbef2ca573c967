// Messages between ranks of one node through shared memory.
//
// Each ordered pair of ranks has a ring of cells with one writer and one reader. A short message travels in its cell
// and is complete for the sender at once. Of a long one the cell holds only the address: the receiver copies it
// straight from the sender's memory (single copy) and then acknowledges. A cell is free again as soon as its reader has
// looked at it, whatever becomes of the message, so streams of messages cannot block each other.
#pragma once

#include <deque>
#include <vector>

#include "core/executor.hpp"
#include "core/transport.hpp"

namespace stretto::shm {

inline constexpr std::size_t kCellPayload = 448;

struct alignas(128) Cell {
  Atomic<std::uint64_t> filled;  // number of the message in it, from 1; written last
  Atomic<std::uint64_t> taken;   // number of the last message that its reader has taken out
  std::uint64_t bytes;
  std::uint64_t address;  // long messages: in the sender's memory
  std::uint32_t stream;
  std::uint32_t acknowledgement;  // long messages: which of the sender's words to raise
  std::uint16_t signature;        // of the program's call
  std::byte payload[kCellPayload];
};

/// Raised by a receiver when it has copied a long message: the number of the send it acknowledges.
struct alignas(128) Acknowledgement {
  Atomic<std::uint64_t> done;
};

/// In front of all cells.
struct alignas(128) Usage {
  Atomic<std::uint32_t> used;  // by anybody, ever
};

class MailboxTransport final : public Transport {
 public:
  static constexpr int kMostRanks = 64;  // the cells of all pairs take ranks^2 x 2.5 KiB
  /// Bytes of zeroed, line-aligned shared memory.
  static std::size_t memory_bytes(int ranks);
  /// Makes zeroed again what so many ranks have used, in memory that nobody uses any more.
  static void clear(std::byte* memory, int ranks);

  /// `platform` reads the peers' memory; it must be able to.
  MailboxTransport(std::byte* memory, int ranks, int rank, Platform& platform);

  void start(Transfer& transfer) override;
  bool progress(Executor& executor, bool may_wait) override;
  bool busy() const override { return !sends_.empty() || !receives_.empty(); }

 private:
  static constexpr std::size_t kCells = 4;              // of a pair
  static constexpr std::size_t kAcknowledgements = 32;  // long messages under way from a rank

  struct Pending {
    std::uint64_t bytes;
    std::uint64_t address;
    std::uint32_t stream;
    std::uint32_t acknowledgement;
    std::uint16_t signature;
    std::vector<std::byte> payload;
  };
  struct Send {
    Transfer* transfer;
    std::size_t acknowledgement;  // kNone: not in a cell yet
    std::uint64_t number;
  };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  Cell& cell(int from, int to, std::uint64_t number) const;
  Acknowledgement& acknowledgement(int rank, std::size_t index) const;
  bool post(Send& send);
  bool advance(Send& send);
  bool receive(Transfer& transfer);
  bool receive_from(int peer, Transfer& transfer);
  void take_cells(int from);
  void fill(Transfer& transfer, int from, const Pending& message);

  Usage* usage_;
  Cell* cells_;
  Acknowledgement* acknowledgements_;
  const int ranks_;
  const int rank_;
  Platform& platform_;
  std::vector<std::uint64_t> sent_;         // messages to each rank
  std::vector<std::uint64_t> received_;     // messages from each rank
  std::vector<std::deque<Pending>> early_;  // from each rank: taken out of their cells before their receive came
  std::vector<std::uint64_t> raised_;       // last value given to each of my acknowledgements
  std::vector<bool> acknowledgement_used_;
  std::deque<Send> sends_;  // in order: those not in a cell yet stand behind those of the same receiver that are
  std::vector<Transfer*> receives_;
};

}  // namespace stretto::shm
