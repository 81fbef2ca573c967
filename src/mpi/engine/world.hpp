// World: what the processes of MPI_COMM_WORLD know of each other from MPI_Init on, and the one communicator of our own,
// over which the engines of all communicators send their messages.
//
// No communicator is made later, in a call of the program's: to number one the MPI library needs an order among the
// threads of all its ranks, and that is the program's to keep, not ours
// (docs/decisions/0020-one-private-communicator.md).
#pragma once

#include <mpi.h>
#include <sys/types.h>

#include <atomic>
#include <memory>
#include <vector>

#include "mpi/engine/failures.hpp"
#include "mpi/engine/node_memory.hpp"
#include "mpi/places/discovery.hpp"
#include "select/machine.hpp"
#include "select/rules.hpp"
#include "transport/mpi/channel.hpp"
#include "transport/mpi/window_words.hpp"

namespace stretto::mpi {

class World {
 public:
  /// In MPI_Init; collective.
  void open(const Configuration& configuration);
  /// In MPI_Finalize, when nothing of ours is under way any more; collective unless processes have failed.
  void close();
  bool is_open() const { return carrier_.comm != MPI_COMM_NULL; }

  MPI_Comm comm() const { return carrier_.comm; }
  int rank() const { return carrier_.rank; }
  int size() const { return carrier_.size; }
  /// Of each rank the lowest on its node.
  const std::vector<int>& nodes() const { return nodes_; }
  int ranks_of_node() const { return node_ranks_; }
  bool one_node() const { return node_ranks_ == carrier_.size; }
  NodeMemory& memory() { return memory_; }
  const Failures& failures() const { return failures_; }
  /// Whether the program makes one call at a time: then ranks make the calls that they have in common in one order.
  bool calls_come_in_order() const { return calls_come_in_order_; }
  /// From now on this process may have communicators with processes of other worlds.
  void meet_others() { strangers_.store(true, std::memory_order_relaxed); }
  bool has_met_others() const { return strangers_.load(std::memory_order_relaxed); }
  /// For a platform: whether there are processes of other worlds, and the doorbell of all of this one; null where they
  /// are on several nodes, or have no memory in common.
  const std::atomic<bool>* strangers() const { return &strangers_; }
  shm::Doorbell* doorbell() const { return doorbell_; }
  /// Of some ranks of this one's node. Empty if not all ranks of `members` can read the memory of those on their node.
  std::vector<pid_t> readable(const Channel& members, const std::vector<int>& mates) const;
  /// Whether so many ranks of a node tell each other what they have seen of calls (Sights).
  bool tells_sights(int ranks) const { return adapts_on_a_node(adapt_, ranks); }
  bool oversubscribed() const { return node_ranks_ > node_cores_ || told_to_yield_; }
  PrivateCommunicator& carrier() { return carrier_; }
  /// The messages of all ranks.
  const Channel& channel() const { return *channel_; }
  /// Of each rank of a communicator the lowest on its node.
  std::vector<int> nodes_of(const Channel& members) const;
  Topology topology_of(const Channel& members, const std::vector<int>& nodes_of_members) const;
  /// As the algorithms of a communicator plan ahead with them, where `nodes_of_members` tells of its nodes.
  Costs costs_of(const std::vector<int>& nodes_of_members) const;
  /// The same on all ranks.
  const Machine& machine() const { return machine_; }
  /// nullptr where nobody wants one, or the MPI library has none.
  WindowOfWords* words() { return words_.get(); }

 private:
  // What each rank of the world tells all others of itself.
  struct Card {
    int lowest;  // on its node
    pid_t process;
    std::uint64_t memory_limit;
    bool can_read;  // the memory of the next rank on its node
    bool has_common;
  };
  Card find_node(std::size_t memory_limit);
  void learn(const std::vector<Card>& cards);
  void know_machine(const Configuration& configuration);

  PrivateCommunicator carrier_;
  Failures failures_;
  std::vector<int> nodes_;
  std::vector<pid_t> processes_;  // by rank; negative: cannot read the next one's memory
  int node_ranks_ = 1;
  int node_cores_ = 1;
  bool told_to_yield_ = false;
  bool calls_come_in_order_ = false;
  Adapt adapt_ = Adapt::off;
  std::atomic<bool> strangers_{false};
  NodeMemory memory_;
  shm::Doorbell* doorbell_ = nullptr;
  std::unique_ptr<Channel> channel_;
  Places places_;
  Machine machine_;  // as a file has it that the user has named, or measured in brief; of one node perhaps unknown
  std::unique_ptr<WindowOfWords> words_;
};

}  // namespace stretto::mpi
