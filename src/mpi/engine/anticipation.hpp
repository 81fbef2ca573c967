// What the ranks of a communicator know of its next call before they are in it, and what they begin of it meanwhile.
//
// The order of arrival comes from hints, where all ranks give them, else from history. Everything that ranks must know
// alike is decided at agreed call numbers: which call is expected next, whose prediction serves it, whether hints are
// used. What a rank begins ahead, and when, is its own affair: the messages are the same either way.
//
// A call that turns out to be another than expected is so on all ranks. Nobody has sent data for the expected one then,
// as whoever sends data has to be in the call first; so what was begun can be given up, all ranks together.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "catalogue/catalogue.hpp"
#include "mpi/engine/driven.hpp"
#include "prediction/hints.hpp"
#include "prediction/history.hpp"
#include "prediction/recurrence.hpp"
#include "transport/mpi/channel.hpp"

namespace stretto::mpi {

/// How often what came of it in this process, for the report at the end and for tests.
struct Anticipated {
  std::atomic<std::uint64_t> begun{0};       // calls begun ahead of the program
  std::atomic<std::uint64_t> given_up{0};    // of these, that turned out to be others
  std::atomic<std::uint64_t> by_history{0};  // calls run or begun in an order that history gave
  std::atomic<std::uint64_t> by_hints{0};    // and that hints gave
};

class Anticipation final : public Driven {
 public:
  /// Of streams, for the calls beside, for those that are anticipated, and for what ranks tell of their arrival.
  static constexpr std::uint32_t kRuns = 3;

  /// A communicator of the program's: what ranks agree on is agreed upon there, in the program's calls. `channel` is
  /// the endpoint's, with kRuns runs of streams, and all of them outlive this. Collective. `ahead`: calls may be begun
  /// before the program is in them.
  Anticipation(MPI_Comm comm, const Channel& channel, Endpoint& endpoint, Hints& hints, Anticipated& tally, bool ahead);
  ~Anticipation() override;
  Anticipation(const Anticipation&) = delete;
  Anticipation& operator=(const Anticipation&) = delete;

  /// The program is in a call of `signature`: runs `algorithm` to its end.
  void run(const Signature& signature, const Algorithm& algorithm, const Call& call);
  /// The same with a call that is not anticipated, beside what has begun ahead.
  void run_beside(const Algorithm& algorithm, const Call& call);

  /// The program has told of its progress. Of no use, and no reason to wait, if another thread is in a call.
  void hint();
  /// `collective` will be served by `algorithm`, or by one that begins nothing ahead (nullptr). The same on all ranks.
  void expect(Collective collective, const Algorithm* algorithm);
  /// Goes on with what has begun, unless the program is in a call now. Returns whether anything could be done.
  bool poll() override;
  bool has_work() const override { return has_work_.load(std::memory_order_acquire); }
  /// Ends what has begun. Collective if there is anything. Called by ~Anticipation; nothing may follow.
  void close();

 private:
  // What is known of calls of one signature.
  struct Site {
    explicit Site(int ranks) : history(ranks) {}
    History history;
    int calls = 0;
    bool sorted = false;      // an algorithm that uses the order has served a call since the latest exchange
    bool exchanging = false;  // and the ranks will learn from that
    std::uint64_t marks = 0;  // of this process, when it last told the others
    std::array<std::int64_t, History::kWindow + 1> mine{};  // this rank's arrivals, and whether it gives hints
    std::array<std::int64_t, History::kWindow + 1> sent{};  // the same, while it is under way
    std::vector<std::int64_t> all;
    MPI_Request exchange = MPI_REQUEST_NULL;
    const Algorithm* algorithm = nullptr;  // that served it last
  };
  // What this rank tells the others of its next arrival, and they of theirs. Early ranks are some calls ahead of those
  // who have yet to tell.
  struct HintExchange {
    std::int64_t mine = 0;
    std::vector<std::int64_t> all;  // by rank
    std::optional<Group> group;
    std::optional<Task> task;  // under way, or done; none before the first
    bool under_way() const { return task && !task->done(); }
  };
  static constexpr std::size_t kHintExchanges = 8;
  // A call that was begun before the program was in it.
  struct Ahead {
    const Algorithm* algorithm;
    Caller caller;
    Group group;
    std::optional<Task> task;
  };

  std::int64_t common_clock_ns() const { return endpoint_.platform.now_ns() - clock_offset_ns_; }
  std::unique_lock<std::timed_mutex> lock_for_program();
  HintExchange& hint_exchange() { return hint_exchanges_[calls_ % kHintExchanges]; }
  std::uint32_t stream(bool expected) const;
  bool is_expected(std::size_t number, const Algorithm& algorithm) const;
  void expect_next();
  bool may_begin(const Site& site, const Algorithm& algorithm, int root);
  const ArrivalOrder* order_for(const Site& site, const Algorithm& algorithm);
  void note_arrival(Site& site);
  void learn(Site& site);
  void tell_others(std::int64_t expected_ns);
  void finish(HintExchange& exchange);
  bool others_have_told();
  void begin_ahead();
  void give_up();
  void update_work();

  std::timed_mutex mutex_;
  std::atomic<bool> arriving_{false};  // the program waits for mutex_: the background, between two looks, yields it
  std::atomic<bool> has_work_{false};
  MPI_Comm comm_;
  const Channel& channel_;
  Endpoint& endpoint_;
  Hints& hints_;
  Anticipated& tally_;
  const bool ahead_allowed_;
  bool closed_ = false;
  std::int64_t clock_offset_ns_ = 0;

  Recurrence recurrence_;
  std::vector<std::unique_ptr<Site>> sites_;  // by number in recurrence_
  std::uint64_t calls_ = 0;
  std::optional<std::size_t> expected_;  // the site of the call that may begin ahead: the same on all ranks
  const Algorithm* expected_algorithm_ = nullptr;
  std::unique_ptr<Ahead> ahead_;       // what this rank has begun of it
  std::uint64_t no_ahead_before_ = 0;  // number of a call; after expecting wrongly
  unsigned misses_ = 0;

  bool hinted_ = false;  // all ranks give hints: each tells the others once before every call
  bool told_ = false;    // for the next call
  std::array<HintExchange, kHintExchanges> hint_exchanges_;
  std::uint64_t latest_sorted_ = 0;           // number of the latest call whose algorithm used the order
  std::optional<ArrivalOrder> hinted_order_;  // for the next call
};

}  // namespace stretto::mpi
