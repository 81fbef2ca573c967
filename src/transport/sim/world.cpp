#include "transport/sim/world.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

namespace stretto::sim {

struct World::Message {
  int from;
  std::uint32_t stream;
  std::size_t bytes;
  std::vector<std::byte> data;   // eager: a copy of what was sent
  Transfer* sender = nullptr;    // rendezvous: completes with the receiver
  Transfer* receiver = nullptr;  // matched
  std::int64_t announced = 0;    // rendezvous: when the receiver could begin to take it
};

struct World::Posted {
  Transfer* transfer;
  std::int64_t since;
};

class World::Rank final : public Platform, public Transport, public RemoteWords {
 public:
  Rank(World& world, int number, int size)
      : world_(world), number_(number), endpoint_(number, size, *this, *this), group_(endpoint_) {
    endpoint_.costs = world.costs();
    endpoint_.nodes = world.nodes_;
    endpoint_.maps = &world.maps_;
    endpoint_.words = this;
    if (!world.options_.shared_memory) return;
    Node& node = world.shared_[world.node_of(number)];
    board_.emplace(line_aligned(node.board), node.ranks, world.place_on_node_[static_cast<std::size_t>(number)],
                   world.options_.generations);
    board_->attach_pool(std::make_shared<Pool>(Pool{line_aligned(node.pool), world.options_.pool_bytes}));
    endpoint_.board = &*board_;
  }

  static std::byte* line_aligned(const Zeroed& memory) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory.get());
    return reinterpret_cast<std::byte*>((address + kLine - 1) / kLine * kLine);
  }

  // Platform
  std::int64_t now_ns() override { return clock; }
  void publish(Signal& signal, std::uint64_t value) override {
    signal.value.store(value, std::memory_order_release);
    const auto found = world_.watchers_.find(&signal);
    if (found == world_.watchers_.end()) return;
    std::erase_if(found->second, [&](const auto& watcher) {
      if (!signal.reached(watcher.second)) return false;
      const double seen_after_ns = watcher.first == number_ ? 0 : world_.options_.signal_ns;
      world_.schedule(clock + static_cast<std::int64_t>(seen_after_ns), watcher.first, nullptr);
      return true;
    });
    if (found->second.empty()) world_.watchers_.erase(found);
  }
  void watching(Signal& signal, std::uint64_t target) override {
    world_.watchers_[&signal].emplace_back(number_, target);
  }
  void idle(Signal*, std::uint64_t, unsigned) override {}
  void charge(Work work, std::size_t bytes) override {
    const Options& options = world_.options_;
    const bool reduces = work == Work::reduce;
    const Measured& measured = reduces ? options.reduction : options.copy;
    const double rate = reduces ? options.gamma_ns_per_byte : options.delta_ns_per_byte;
    const double took_ns = measured ? static_cast<double>(measured(bytes)) : rate * static_cast<double>(bytes);
    clock = world_.after_work(number_, clock, took_ns);
  }
  bool can_read_peers() const override { return world_.options_.single_copy; }
  bool read_peer(int, void* to, std::uint64_t address, std::size_t bytes) override {
    std::memcpy(to, reinterpret_cast<const void*>(address), bytes);
    charge(Work::copy, bytes);
    return true;
  }

  // Transport
  void start(Transfer& transfer) override {
    if (transfer.kind == Transfer::Kind::send) {
      world_.send(number_, transfer);
    } else {
      world_.receive(number_, transfer);
    }
  }
  bool progress(Executor&, bool) override { return false; }
  bool busy() const override { return false; }

  // RemoteWords
  std::uint64_t compare_and_swap(int home, std::size_t index, std::uint64_t expected, std::uint64_t desired) override {
    return world_.compare_and_swap(number_, {home, index}, expected, desired);
  }

  Group& group() { return group_; }
  Executor& executor() { return endpoint_.executor; }

  std::int64_t clock = 0;
  std::int64_t out_free = 0;
  std::int64_t in_free = 0;
  bool started = false;
  std::int64_t exit = -1;
  std::map<Key, std::deque<Posted>> posted;
  Unexpected unexpected;

 private:
  World& world_;
  const int number_;
  std::optional<Board> board_;
  Endpoint endpoint_;
  Group group_;

 public:
  std::optional<Task> task;  // last: its frames use all of the above until they die
};

World::World(Options options)
    : options_(std::move(options)),
      nodes_(find_nodes(options_)),
      maps_(options_.topology ? *options_.topology : topology_of_nodes(options_.ranks, nodes_)),
      random_(options_.seed) {
  if (options_.shared_memory) share_memory();
  for (int rank = 0; rank < options_.ranks; ++rank) {
    ranks_.push_back(std::make_unique<Rank>(*this, rank, options_.ranks));
    if (options_.detours.period_ns <= 0) continue;
    first_detour_ns_.push_back(std::uniform_real_distribution<double>(0, options_.detours.period_ns)(random_));
  }
}

World::~World() = default;

void World::share_memory() {
  for (int rank = 0; rank < options_.ranks; ++rank) place_on_node_.push_back(shared_[node_of(rank)].ranks++);
  for (auto& [number, node] : shared_) {
    node.board.reset(
        static_cast<std::byte*>(std::calloc(Board::memory_bytes(node.ranks, options_.generations) + kLine, 1)));
    node.pool.reset(static_cast<std::byte*>(std::calloc(options_.pool_bytes + kLine, 1)));
    if (node.board == nullptr || node.pool == nullptr) throw std::bad_alloc();
  }
}

std::vector<int> World::find_nodes(const Options& options) {
  if (options.nodes.empty() && options.ranks <= options.ranks_per_node) return {};
  std::vector<int> nodes;
  std::unordered_map<int, int> lowest;  // rank of a node
  for (int rank = 0; rank < options.ranks; ++rank) {
    const auto number =
        options.nodes.empty() ? rank / options.ranks_per_node : options.nodes[static_cast<std::size_t>(rank)];
    nodes.push_back(lowest.try_emplace(number, rank).first->second);
  }
  return nodes;
}

const Link& World::link(int a, int b) const { return node_of(a) == node_of(b) ? options_.intra : options_.inter; }

std::int64_t World::after_detour(int rank, std::int64_t time) const {
  if (first_detour_ns_.empty()) return time;
  const auto [period, length] = options_.detours;
  const double since_first = static_cast<double>(time) - first_detour_ns_[static_cast<std::size_t>(rank)];
  const double since_latest = since_first - period * std::floor(since_first / period);
  return since_latest < length ? time + static_cast<std::int64_t>(std::ceil(length - since_latest)) : time;
}

// Each detour that begins meanwhile holds the work up.
std::int64_t World::after_work(int rank, std::int64_t time, double work_ns) const {
  double end = static_cast<double>(time) + static_cast<double>(static_cast<std::int64_t>(work_ns));
  if (first_detour_ns_.empty()) return static_cast<std::int64_t>(end);
  const auto [period, length] = options_.detours;
  const double first = first_detour_ns_[static_cast<std::size_t>(rank)];
  double next = first + period * (std::floor((static_cast<double>(time) - first) / period) + 1);
  while (next < end) {
    end += length;
    next += period;
  }
  return static_cast<std::int64_t>(end);
}

// Done at the event that resumed the rank, as all that it does to shared memory.
std::uint64_t World::compare_and_swap(int rank, std::pair<int, std::size_t> word, std::uint64_t expected,
                                      std::uint64_t desired) {
  if (word.first != rank) {
    const double there_and_back_ns = 2 * link(rank, word.first).alpha_ns;
    ranks_[static_cast<std::size_t>(rank)]->clock += static_cast<std::int64_t>(there_and_back_ns);
  }
  std::uint64_t& value = words_[word];
  const std::uint64_t seen = value;
  if (seen == expected) value = desired;
  return seen;
}

Costs World::costs() const {
  const bool one_node = std::all_of(nodes_.begin(), nodes_.end(), [](int node) { return node == 0; });
  const Link& farthest = one_node ? options_.intra : options_.inter;
  const auto picoseconds = [](double ns) { return static_cast<std::int64_t>(std::llround(1000 * ns)); };
  return {static_cast<std::int64_t>(farthest.alpha_ns), picoseconds(farthest.beta_ns_per_byte),
          picoseconds(options_.gamma_ns_per_byte)};
}

void World::schedule(std::int64_t time, int rank, std::shared_ptr<Message> message, bool arrival) {
  if (options_.jitter_ns > 0) {
    time += static_cast<std::int64_t>(std::uniform_real_distribution<double>(0, options_.jitter_ns)(random_));
  }
  if (message != nullptr && message->receiver == nullptr) {  // still under way: must not overtake
    const auto pair = static_cast<std::uint64_t>(message->from) << 32 | static_cast<std::uint32_t>(rank);
    std::int64_t& latest = latest_delivery_[pair];
    latest = time = std::max(time, latest + 1);
  }
  events_.push({time, random_(), rank, std::move(message), arrival});
}

std::vector<std::int64_t> World::run(const Body& body, const Arrive& on_arrival) {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    ranks_[rank]->task.emplace(body(ranks_[rank]->group()));
    ranks_[rank]->started = false;
    ranks_[rank]->exit = -1;
    const std::int64_t arrival = options_.arrivals_ns.empty() ? 0 : options_.arrivals_ns[rank];
    if (on_arrival) schedule(0, static_cast<int>(rank), nullptr);
    schedule(arrival, static_cast<int>(rank), nullptr, on_arrival != nullptr);
  }
  while (!events_.empty()) {
    const Event event = events_.top();
    events_.pop();
    handle(event, on_arrival);
  }

  std::string stuck;
  std::vector<std::int64_t> exits;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (ranks_[rank]->exit < 0) stuck += " " + std::to_string(rank);
    exits.push_back(ranks_[rank]->exit);
  }
  if (!stuck.empty()) {
    throw std::runtime_error("deadlock with seed " + std::to_string(options_.seed) + ": ranks" + stuck + " wait");
  }
  for (auto& rank : ranks_) rank->task.reset();
  return exits;
}

void World::handle(const Event& event, const Arrive& on_arrival) {
  if (event.arrival) {
    Rank& rank = *ranks_[static_cast<std::size_t>(event.rank)];
    rank.clock = std::max(rank.clock, event.time);
    on_arrival(rank.group());
  }
  if (event.message != nullptr) {
    Message& message = *event.message;
    if (message.receiver == nullptr) {
      // Nobody answers for a rank that is away; what is short waits in its memory.
      message.announced = after_detour(event.rank, event.time);
      arrive(event.rank, event.message);
      if (!ranks_[static_cast<std::size_t>(event.rank)]->started) return;
    } else {  // a rendezvous has finished
      if (moves(message)) std::memmove(message.receiver->data, message.sender->data, message.bytes);
      complete(message.from, *message.sender);
      run_rank(message.from, event.time);
      complete(event.rank, *message.receiver);
    }
  }
  run_rank(event.rank, event.time);
}

void World::run_rank(int number, std::int64_t time) {
  Rank& rank = *ranks_[static_cast<std::size_t>(number)];
  rank.clock = after_detour(number, std::max(rank.clock, time));
  if (!rank.started) {
    rank.started = true;
    rank.task->start();
  }
  while (rank.executor().run_ready()) {
  }
  if (rank.exit < 0 && rank.task->done()) rank.exit = rank.clock;
  if (rank.executor().resting()) {
    rank.executor().end_rest();
    schedule(rank.clock + 1000, number, nullptr);
  }
}

void World::send(int from, Transfer& transfer) {
  if (options_.on_send) options_.on_send(from, transfer.peer, transfer.bytes);
  Rank& sender = *ranks_[static_cast<std::size_t>(from)];
  Rank& receiver = *ranks_[static_cast<std::size_t>(transfer.peer)];
  const Link& cost = link(from, transfer.peer);
  auto message = std::make_shared<Message>();
  message->from = from;
  message->stream = transfer.stream;
  message->bytes = transfer.bytes;
  const bool eager = transfer.bytes < cost.eager_bytes.value_or(options_.eager_bytes);
  const std::int64_t wire = eager ? cost.wire_ns(transfer.bytes) : 0;
  const std::int64_t begin = std::max(sender.clock, sender.out_free);
  const std::int64_t delivered = std::max(begin + cost.latency_ns(), receiver.in_free) + wire;
  if (eager) {
    if (moves(*message)) message->data.assign(transfer.data, transfer.data + transfer.bytes);
    const std::int64_t busy = cost.busy_ns(transfer.bytes);
    sender.out_free = begin + busy;
    receiver.in_free = delivered - wire + busy;
    transfer.complete = true;
  } else {
    message->sender = &transfer;
  }
  schedule(delivered, transfer.peer, std::move(message));
}

// Whose message of the stream has come, if anybody's has.
std::optional<World::Key> World::any_unexpected(const Unexpected& unexpected, std::uint32_t stream) {
  for (const auto& [from, messages] : unexpected) {
    if (static_cast<std::uint32_t>(from) == stream && !messages.empty()) return from;
  }
  return std::nullopt;
}

void World::receive(int to, Transfer& transfer) {
  Rank& receiver = *ranks_[static_cast<std::size_t>(to)];
  Key from = key(transfer.peer, transfer.stream);
  if (transfer.peer == kAnyRank) from = any_unexpected(receiver.unexpected, transfer.stream).value_or(from);
  auto& waiting = receiver.unexpected[from];
  if (waiting.empty()) {
    receiver.posted[from].push_back({&transfer, receiver.clock});
    return;
  }
  const std::shared_ptr<Message> message = waiting.front();
  waiting.pop_front();
  match(to, message, {&transfer, receiver.clock});
}

void World::arrive(int to, const std::shared_ptr<Message>& message) {
  Rank& receiver = *ranks_[static_cast<std::size_t>(to)];
  const Key from = key(message->from, message->stream);
  auto posted = receiver.posted.find(from);
  if (posted == receiver.posted.end() || posted->second.empty()) {
    posted = receiver.posted.find(key(kAnyRank, message->stream));
  }
  if (posted == receiver.posted.end() || posted->second.empty()) {
    receiver.unexpected[from].push_back(message);
    return;
  }
  const Posted receive = posted->second.front();
  posted->second.pop_front();
  match(to, message, receive);
}

void World::match(int to, const std::shared_ptr<Message>& message, const Posted& receive) {
  Transfer& transfer = *receive.transfer;
  if (message->bytes != transfer.bytes) {
    throw std::runtime_error("rank " + std::to_string(to) + " expects " + std::to_string(transfer.bytes) +
                             " bytes from rank " + std::to_string(message->from) + ", which sent " +
                             std::to_string(message->bytes));
  }
  if (message->sender == nullptr) {
    if (!message->data.empty()) std::memcpy(transfer.data, message->data.data(), transfer.bytes);
    complete(to, transfer);
    return;
  }
  Rank& sender = *ranks_[static_cast<std::size_t>(message->from)];
  Rank& receiver = *ranks_[static_cast<std::size_t>(to)];
  const Link& cost = link(message->from, to);
  const std::int64_t begin =
      std::max({message->announced, receive.since + cost.latency_ns(), sender.out_free, receiver.in_free});
  sender.out_free = receiver.in_free = begin + cost.busy_ns(message->bytes);
  message->receiver = &transfer;
  schedule(begin + cost.wire_ns(message->bytes), to, message);
}

bool World::moves(const Message& message) const {
  return message.bytes > 0 && (options_.move_data || message.bytes <= Options::kAlwaysMovedBytes);
}

void World::complete(int rank, Transfer& transfer) {
  transfer.complete = true;
  if (transfer.waiter) ranks_[static_cast<std::size_t>(rank)]->executor().post(transfer.waiter);
}

}  // namespace stretto::sim
