// Ranks in different calls, on threads: what the thread sanitizer and the deterministic scheduler look at.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "board/agreement.hpp"
#include "board/ledger.hpp"
#include "concurrency/thread_world.hpp"
#include "conformance/checks.hpp"

namespace stretto::concurrency {

/// Gives up as soon as the ledger shows ranks in different calls.
class LedgerWatch final : public Watchdog {
 public:
  explicit LedgerWatch(const Ledger& ledger) : ledger_(ledger) {}
  bool is_hopeless() override { return ledger_.find_difference(false).has_value(); }

 private:
  const Ledger& ledger_;
};

/// The ledger of some ranks of one node.
class Ledgers {
 public:
  explicit Ledgers(int ranks) : memory_(Ledger::memory_bytes(ranks) + kLine), ranks_(static_cast<std::size_t>(ranks)) {
    std::iota(ranks_.begin(), ranks_.end(), 0);
    for (int rank = 0; rank < ranks; ++rank) {
      of_.emplace_back(aligned(memory_), ranks_, static_cast<std::size_t>(rank));
      watches_.push_back(std::make_unique<LedgerWatch>(of_.back()));
    }
  }
  Ledger& of(int rank) { return of_[static_cast<std::size_t>(rank)]; }
  LedgerWatch& watch(int rank) { return *watches_[static_cast<std::size_t>(rank)]; }

 private:
  std::vector<std::byte> memory_;
  std::vector<int> ranks_;
  std::deque<Ledger> of_;
  std::vector<std::unique_ptr<LedgerWatch>> watches_;
};

/// One rank's calls, the second of which is `mine`, another one than the others make. What ends well has to be right.
inline Task calls_that_differ(Group& g, Ledgers& ledgers, const Algorithm& mine, std::size_t count, std::string name) {
  const Algorithm* row[] = {find_algorithm(Collective::allreduce, "slot_exchange"), &mine,
                            find_algorithm(Collective::barrier, "arrival_count"),
                            find_algorithm(Collective::allreduce, "slot_exchange")};
  Endpoint& endpoint = g.endpoint();
  endpoint.executor.watched_by(&ledgers.watch(g.rank()));
  for (unsigned call = 0; call < std::size(row); ++call) {
    const Algorithm& algorithm = *row[call];
    const conformance::Shape shape{call == 1 ? count : 3, 0, false, false};
    const std::uint16_t signature =
        ledgers.of(g.rank()).enter({algorithm.collective, false, 0, 0, shape.count * sizeof(int)});
    endpoint.board->expect(signature);
    endpoint.transport.expect(signature);
    conformance::Exchange exchange(g.rank(), g.size(), algorithm, shape, call);
    Task task = run_algorithm(g, algorithm, exchange.call());
    co_await task;
    if (endpoint.executor.stopped() || endpoint.transport.mismatched()) co_return;  // the program is told
    exchange.check(name);
  }
  ADD_FAILURE() << name << ": rank " << g.rank() << " has made all its calls, and knows of nothing";
}

/// Rank `odd` of `ranks` is in `its`, the others are in `theirs`: all are stopped, none with wrong data.
template <class Platform>
void run_calls_that_differ(int ranks, int odd, const Algorithm& theirs, const Algorithm& its, std::size_t count) {
  const std::string name = std::string(name_of(theirs.collective)) + "/" + std::string(theirs.name) + " and " +
                           std::string(name_of(its.collective)) + "/" + std::string(its.name);
  SCOPED_TRACE(name);
  Ledgers ledgers(ranks);
  ThreadWorld<Platform> world(ranks);
  world.run([&](Group& g) { return calls_that_differ(g, ledgers, g.rank() == odd ? its : theirs, count, name); });
}

/// Of each kind of waiting one.
inline std::vector<const Algorithm*> algorithms_that_wait() {
  std::vector<const Algorithm*> all;
  for (const auto& [collective, name] :
       std::initializer_list<std::pair<Collective, const char*>>{{Collective::barrier, "arrival_count"},
                                                                 {Collective::bcast, "arrival_copy"},
                                                                 {Collective::bcast, "binomial"},
                                                                 {Collective::reduce, "slot_gather"},
                                                                 {Collective::allreduce, "arrival_stripes"},
                                                                 {Collective::allreduce, "arrival_tree"},
                                                                 {Collective::allreduce, "ring"},
                                                                 {Collective::gather, "arrival_copy"}}) {
    all.push_back(find_algorithm(collective, name));
  }
  return all;
}

}  // namespace stretto::concurrency
