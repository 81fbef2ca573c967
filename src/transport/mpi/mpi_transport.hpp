// Messages of the engine as MPI messages on a communicator of its own.
#pragma once

#include <mpi.h>

#include <deque>
#include <vector>

#include "core/executor.hpp"
#include "core/transport.hpp"
#include "transport/mpi/channel.hpp"

namespace stretto::mpi {

/// How progress() looks for completed messages.
enum class Waiting {
  polling,
  blocking,  // in MPI_Waitsome where nothing else is awaited: where time is simulated, exact and the quickest
};

class MpiTransport final : public Transport {
 public:
  /// `channel` outlives the transport.
  MpiTransport(const Channel& channel, Waiting waiting) : channel_(channel), waiting_(waiting) {}

  void start(Transfer& transfer) override;
  bool progress(Executor& executor, bool may_wait) override;
  bool busy() const override { return failed_ || !requests_.empty(); }
  bool can_abandon() const override { return true; }
  void begin_abandonable(std::uint32_t stream) override {
    abandonable_ = stream;
    sent_to_.clear();
  }
  std::vector<int> abandon(std::uint32_t stream, int ranks) override;

 private:
  // Bounds the sends only: receives are always posted, so a bounded sender always finds its receivers. For each call by
  // itself: sends of a call that others have yet to start must not keep back those of one that they wait for.
  static constexpr unsigned kMaxSends = 64;
  static constexpr std::size_t kPartBytes = std::size_t{1} << 30;  // MPI counts are ints

  bool may_send(const Transfer& transfer) const;
  void post(Transfer& transfer);
  bool finish_part(Transfer& transfer);

  const Channel& channel_;
  Waiting waiting_;
  std::vector<MPI_Request> requests_;
  std::vector<Transfer*> owners_;  // of the requests, by index
  std::vector<int> completed_;
  std::deque<Transfer*> waiting_sends_;
  unsigned sends_ = 0;
  bool failed_ = false;  // a message will never come
  std::uint32_t abandonable_ = 0;
  std::vector<int> sent_to_;  // in the abandonable stream, a rank a message
};

}  // namespace stretto::mpi
