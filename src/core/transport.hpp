// Transport: moves messages between the ranks of one communicator.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stretto {

class Executor;
class Transport;

/// A call's messages use streams from a multiple of this on, fewer than this many.
inline constexpr std::uint32_t kStreamsOfCall = 1024;

/// An algorithm uses fewer streams than this.
inline constexpr std::uint32_t kStreamsOfAlgorithm = 64;

/// In place of a receive's peer: whoever sends to one of the two streams that are for such messages alone. (Of any
/// other the next call's might be taken.) Cards of one meeting a call do not meet the next one's; announcements may,
/// and say to which call they belong.
inline constexpr int kAnyRank = -1;
inline constexpr std::uint32_t kStreamOfAny = kStreamsOfAlgorithm - 1;
inline constexpr std::uint32_t kStreamOfAnnouncements = kStreamsOfAlgorithm - 2;

/// One message on its way; awaiting it waits for its completion. A sent buffer may be reused, a received one read, when
/// it is complete. Messages from one rank to another with the same stream arrive in the order sent.
struct Transfer {
  enum class Kind : std::uint8_t { send, receive };

  Transport* transport;
  std::byte* data;
  std::size_t bytes;
  int peer;              // rank in the communicator; of a receive also kAnyRank
  std::uint32_t stream;  // tells apart concurrent messages between the same two ranks
  Kind kind;
  bool started = false;
  bool complete = false;
  unsigned parts = 0;  // for the transport: outstanding pieces of this message
  std::coroutine_handle<> waiter{};

  /// Hands the message to the transport without waiting.
  void start();

  bool await_ready() {
    start();
    return complete;
  }
  void await_suspend(std::coroutine_handle<> suspended) noexcept { waiter = suspended; }
  void await_resume() const noexcept {}
};

class Transport {
 public:
  virtual ~Transport() = default;

  /// Begins `transfer`, which stays where it is until complete. Sets `complete` at once where possible; otherwise
  /// progress() sets it later and posts `waiter`, if there is one by then, to the executor.
  virtual void start(Transfer& transfer) = 0;

  /// Completes what can be completed, posts the waiting coroutines to `executor`, returns whether anything happened.
  /// With `may_wait` it may take its time, if nothing but messages can let the coroutines go on.
  virtual bool progress(Executor& executor, bool may_wait) = 0;

  /// Whether transfers are under way that only progress() can complete.
  virtual bool busy() const = 0;

  /// What the program's call is from now on, the same number on all ranks if it is the same call. A transport whose
  /// messages carry it finds whether they are of the same.
  void expect(std::uint16_t signature) {
    signature_ = signature;
    truncated_ = false;
  }
  /// A message was of another call, or was longer than its receive had room for, and cut.
  bool mismatched() const { return mismatched_; }
  bool truncated() const { return truncated_; }

  /// Whether a task that was begun ahead can be given up again.
  virtual bool can_abandon() const { return false; }
  /// From now on sends of `stream`, which is about to be used, are counted for abandon(). Only if can_abandon().
  virtual void begin_abandonable(std::uint32_t) {}
  /// Ends all transfers of `stream`: receives that nobody has sent to, and sends that have not begun. Returns how many
  /// messages have been sent to each rank; whoever gets them has to take them.
  virtual std::vector<int> abandon(std::uint32_t, int ranks) {
    return std::vector<int>(static_cast<std::size_t>(ranks));
  }

 protected:
  std::uint16_t signature_ = 0;
  bool mismatched_ = false;
  bool truncated_ = false;
};

inline void Transfer::start() {
  if (started) return;
  started = true;
  transport->start(*this);
}

}  // namespace stretto
