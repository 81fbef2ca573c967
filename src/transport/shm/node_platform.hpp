// The platform of real ranks: the machine's clock, and waiting that neither burns a core another rank needs nor sleeps
// through an arrival.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <vector>

#include "core/platform.hpp"
#include "transport/shm/doorbell.hpp"

namespace stretto::shm {

struct NodeFacts {
  // Of the ranks of the node, which may be added later; null or empty: no single copy.
  const std::vector<pid_t>* processes = nullptr;
  bool oversubscribed = false;    // more ranks on the node than cores for them
  void (*poke)(void*) = nullptr;  // drives MPI's progress
  void* poke_context = nullptr;
  const std::atomic<int>* open = nullptr;  // what the program has under way in MPI, for which others may need this rank
  Doorbell* doorbell = nullptr;  // of all who may begin anything in MPI that needs this rank, but for strangers
  const std::atomic<bool>* strangers = nullptr;  // whether there are any
};

class NodePlatform : public Platform {
 public:
  explicit NodePlatform(const NodeFacts& facts) : facts_(facts) {}

  std::int64_t now_ns() override;
  void publish(Signal& signal, std::uint64_t value) override;
  void watching(Signal&, std::uint64_t) override {}
  bool may_look_again(unsigned looks) const override;
  void idle(Signal* sole, std::uint64_t target, unsigned idle_rounds) override;
  void charge(Work, std::size_t) override {}
  bool can_read_peers() const override { return facts_.processes != nullptr && !facts_.processes->empty(); }
  bool read_peer(int peer, void* to, std::uint64_t address, std::size_t bytes) override;

 private:
  void yield();
  void yield_or_nap(Signal& signal, std::uint64_t target);
  bool poke();
  bool is_stirred();
  bool may_listen() const;
  bool all_are_awake() const;
  bool is_needed() const;
  void nap(Signal& signal, std::uint64_t target);
  void listen(Signal& signal, std::uint64_t target);
  void sleep_on(Signal& signal, std::uint64_t target, std::int64_t until_ns);
  bool sleep_on_bell_too(Signal& signal, std::uint32_t seen, std::int64_t until_ns);

  NodeFacts facts_;
  std::int64_t idle_since_ns_ = 0;
  std::int64_t latest_look_ns_ = 0;
  std::int64_t sleep_ns_ = 0;
  std::int64_t stirred_ns_ = 0;     // while waiting: when something has last come up in MPI
  std::uint32_t heard_ = 0;         // of the doorbell's rings
  bool can_hear_ = true;            // as far as is known of the kernel
  std::int64_t quiet_poke_ns_ = 0;  // the shortest so far: nothing moved in it
  bool crowded_ = false;            // while waiting: somebody else has work for this core
};

}  // namespace stretto::shm
