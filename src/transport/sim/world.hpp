// Virtual ranks in one process, in virtual time, with real data.
//
// Messages cost α + nβ (Hockney 1994), with own values inside a node and between nodes, or what was measured; a rank's
// port carries one message a time in each direction. Reductions and copies cost γ and δ per byte. Events at equal
// times, and with `jitter` events near each other, are ordered by the seed; messages between the same two ranks never
// overtake each other. Between two suspensions a rank's clock runs ahead with its work; what it does to shared memory
// then counts as done at the event that resumed it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <unordered_map>
#include <vector>

#include "board/board.hpp"
#include "core/group.hpp"
#include "core/remote_words.hpp"
#include "topology/rank_maps.hpp"

namespace stretto::sim {

/// Times in ns by length in bytes, as they were measured.
using Measured = std::function<std::int64_t(std::size_t)>;

struct Link {
  double alpha_ns;
  double beta_ns_per_byte;
  double gap_ns = 0;  // from the end of a message until its ports can carry the next (g of LogGP)
  // In place of alpha + n beta, and of n beta + gap from a message to the next; both or none.
  Measured message = nullptr;
  Measured next = nullptr;
  std::optional<std::size_t> eager_bytes = {};  // without, that of Options

  std::int64_t latency_ns() const { return static_cast<std::int64_t>(alpha_ns); }
  std::int64_t wire_ns(std::size_t bytes) const {
    if (message) return std::max<std::int64_t>(message(bytes) - latency_ns(), 0);
    return static_cast<std::int64_t>(beta_ns_per_byte * static_cast<double>(bytes));
  }
  std::int64_t busy_ns(std::size_t bytes) const {
    return next ? next(bytes) : wire_ns(bytes) + static_cast<std::int64_t>(gap_ns);
  }
};

/// What takes a rank's core from it every so often (Luo et al. 2018); ranks begin at moments of their own.
struct Detours {
  double period_ns = 0;  // 0: none
  double length_ns = 0;  // less than the period
};

struct Options {
  int ranks = 1;
  int ranks_per_node = 1 << 30;      // consecutive ranks share a node
  std::vector<int> nodes;            // of each rank the node's number, where ranks are placed otherwise
  std::optional<Topology> topology;  // what ranks know of their places; without, that of the nodes
  Link intra{500, 0.1};
  Link inter{2000, 0.1};
  double gamma_ns_per_byte = 0.1;
  double delta_ns_per_byte = 0.05;
  Measured reduction = nullptr;    // in place of n gamma
  Measured copy = nullptr;         // in place of n delta
  double signal_ns = 200;          // until a published signal is seen
  std::size_t eager_bytes = 4096;  // messages of as many bytes or more leave when their receiver is ready
  Detours detours;                 // meanwhile a rank neither works nor answers
  double jitter_ns = 0;            // each event comes up to this much later
  std::uint64_t seed = 1;
  std::vector<std::int64_t> arrivals_ns;  // empty: all at 0
  std::size_t pool_bytes = 1 << 20;
  std::size_t generations = Board::kGenerations;  // of each board
  bool single_copy = true;
  bool shared_memory = true;  // of the ranks of each node; false: no boards
  // False: messages take their time but carry nothing, for times alone. Short ones do, as an algorithm may act on them.
  bool move_data = true;
  static constexpr std::size_t kAlwaysMovedBytes = 256;
  std::function<void(int from, int to, std::size_t bytes)> on_send;  // sees every message; may be empty
};

class World {
 public:
  using Body = std::function<Task(Group&)>;
  using Arrive = std::function<void(Group&)>;

  explicit World(Options options);
  ~World();

  /// Runs `body` on every rank, each from its arrival time on, and returns the ranks' exit times in ns. With
  /// `on_arrival`, every rank begins at 0, ahead of its arrival, at which that is called.
  /// Throws std::runtime_error, naming the seed and the ranks, if some can never go on.
  std::vector<std::int64_t> run(const Body& body, const Arrive& on_arrival = nullptr);

 private:
  class Rank;
  struct Message;
  struct Posted;  // a receive
  struct Event {
    std::int64_t time;
    std::uint64_t tie;
    int rank;
    std::shared_ptr<Message> message;  // delivered or finished; null: look around
    bool arrival = false;              // of a rank that has begun ahead
    bool operator<(const Event& other) const { return std::tie(other.time, other.tie) < std::tie(time, tie); }
  };
  // Memory that takes no space before it is touched.
  struct Freed {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  using Zeroed = std::unique_ptr<std::byte, Freed>;
  // The memory that a node's ranks share.
  struct Node {
    int ranks = 0;
    Zeroed board;
    Zeroed pool;
  };
  using Key = std::uint64_t;  // source, or kAnyRank, and stream, at one receiver
  static Key key(int from, std::uint32_t stream) {
    return static_cast<Key>(static_cast<std::uint32_t>(from)) << 32 | stream;
  }

  using Unexpected = std::map<Key, std::deque<std::shared_ptr<Message>>>;

  // Of each rank the lowest on its node; empty: all are on one.
  static std::vector<int> find_nodes(const Options& options);
  int node_of(int rank) const { return nodes_.empty() ? 0 : nodes_[static_cast<std::size_t>(rank)]; }
  void share_memory();
  const Link& link(int a, int b) const;
  std::int64_t after_detour(int rank, std::int64_t time) const;
  std::int64_t after_work(int rank, std::int64_t time, double work_ns) const;
  std::uint64_t compare_and_swap(int rank, std::pair<int, std::size_t> word, std::uint64_t expected,
                                 std::uint64_t desired);
  Costs costs() const;  // as the ranks' endpoints have them: those of the longest way
  void schedule(std::int64_t time, int rank, std::shared_ptr<Message> message, bool arrival = false);
  void handle(const Event& event, const Arrive& on_arrival);
  void run_rank(int rank, std::int64_t time);
  void send(int from, Transfer& transfer);
  void receive(int to, Transfer& transfer);
  static std::optional<Key> any_unexpected(const Unexpected& unexpected, std::uint32_t stream);
  void arrive(int to, const std::shared_ptr<Message>& message);
  void match(int to, const std::shared_ptr<Message>& message, const Posted& receive);
  void complete(int rank, Transfer& transfer);
  bool moves(const Message& message) const;

  const Options options_;
  const std::vector<int> nodes_;
  RankMaps maps_;  // all ranks know the same
  std::mt19937_64 random_;
  std::vector<double> first_detour_ns_;                         // of each rank; empty without
  std::map<int, Node> shared_;                                  // by the lowest rank; empty without shared memory
  std::vector<int> place_on_node_;                              // of each rank, the same
  std::map<std::pair<int, std::size_t>, std::uint64_t> words_;  // by home and index
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::priority_queue<Event> events_;
  std::unordered_map<Signal*, std::vector<std::pair<int, std::uint64_t>>> watchers_;
  std::unordered_map<std::uint64_t, std::int64_t> latest_delivery_;  // per pair of ranks
};

}  // namespace stretto::sim
