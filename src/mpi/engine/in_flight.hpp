// Non-blocking and persistent collectives of one communicator, on the engine.
//
// They have messages, streams and an executor of their own, so that no blocking call meets them. Every call is one task
// more for the executor. Ranks start non-blocking ones in the same order, and persistent ones are made in the same
// order: that is by which messages find each other. Whoever looks drives all of them: the program, where it waits or
// tests, or the background thread; without that a program that waits for something else would hold up the others.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "catalogue/catalogue.hpp"
#include "mpi/calls/prepared_call.hpp"
#include "mpi/engine/driven.hpp"
#include "mpi/engine/equipment.hpp"
#include "mpi/engine/proxy_requests.hpp"
#include "mpi/engine/world.hpp"
#include "select/configuration.hpp"

namespace stretto::mpi {

class InFlight final : public Driven {
 public:
  /// Collective over `comm`, a communicator of the program's, which it may outlive. nullptr, on all ranks alike, where
  /// there are no tags left for its messages. `under_way` counts the process' calls.
  static std::unique_ptr<InFlight> make(MPI_Comm comm, World& world, const Configuration& configuration,
                                        ProxyRequests& proxies, std::atomic<int>& under_way);
  ~InFlight() override = default;
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

  int size() const { return size_; }

  /// Starts a call; `request` stands for it. The same calls in the same order on all ranks.
  int start(std::unique_ptr<PreparedCall> prepared, const Algorithm& algorithm, MPI_Request* request);

  /// A persistent call; lives as long as its request.
  class Persistent;
  /// nullptr, on all ranks alike, if there have been more than MPI has tags for.
  std::unique_ptr<Persistent> make_persistent(std::unique_ptr<PreparedCall> prepared, const Algorithm& algorithm,
                                              MPI_Request* request);

  bool poll() override;
  bool has_work() const override { return pending_.load(std::memory_order_acquire) > 0; }

 private:
  InFlight(MPI_Comm comm, World& world, std::unique_ptr<Channel> channel, std::uint32_t runs,
           const Configuration& configuration, ProxyRequests& proxies, std::atomic<int>& under_way);

  struct UnderWay {
    std::shared_ptr<PreparedCall> prepared;  // shared with a persistent one, which may be freed meanwhile
    const Algorithm* algorithm;
    int tag;  // of the proxy request
    std::uint32_t stream;
    bool persistent;
    std::optional<Group> group{};
    std::optional<Task> task{};
  };
  // So many non-blocking calls run at once, each in its own streams, where there are tags enough; more wait for the one
  // whose streams they take.
  static constexpr std::uint32_t kMostSlots = 64;
  // What a communicator takes of all tags, if that is enough for so many runs of streams.
  static constexpr std::uint32_t kPartOfTags = 256;
  static constexpr std::uint32_t kFewestRuns = 8;

  void add(UnderWay call);
  void begin(UnderWay& call);
  bool end_those_done();
  bool stream_is_taken(std::uint32_t stream) const;

  std::mutex mutex_;
  std::unique_ptr<Channel> channel_;
  int size_;
  ProxyRequests& proxies_;
  std::atomic<int>& under_way_;
  std::atomic<int> pending_{0};
  std::vector<int> nodes_;  // of each rank the lowest on its node
  Equipment equipment_;
  std::uint64_t calls_ = 0;
  std::uint32_t slots_;
  std::uint32_t next_persistent_stream_;
  std::uint32_t end_of_streams_;
  std::vector<std::unique_ptr<UnderWay>> running_;
  std::deque<std::unique_ptr<UnderWay>> waiting_;  // in the order of their starts
};

class InFlight::Persistent {
 public:
  Persistent(InFlight& engine, std::unique_ptr<PreparedCall> prepared, const Algorithm& algorithm, int tag,
             std::uint32_t stream)
      : engine_(engine), prepared_(std::move(prepared)), algorithm_(algorithm), tag_(tag), stream_(stream) {}
  ~Persistent() { engine_.proxies_.give_tag(tag_); }
  Persistent(const Persistent&) = delete;
  Persistent& operator=(const Persistent&) = delete;

  /// Its request has been started.
  void start();
  const Algorithm& algorithm() const { return algorithm_; }
  const InFlight& engine() const { return engine_; }

 private:
  InFlight& engine_;
  std::shared_ptr<PreparedCall> prepared_;
  const Algorithm& algorithm_;
  int tag_;
  std::uint32_t stream_;
};

}  // namespace stretto::mpi
