#include "mpi/engine/in_flight.hpp"

#include <algorithm>

#include "mpi/engine/communicator.hpp"
#include "mpi/engine/machine.hpp"
#include "mpi/places/discovery.hpp"
#include "select/rules.hpp"

namespace stretto::mpi {
namespace {

// Later calls may be given other algorithms than those that are named now, so the insides of nodes are looked for
// anyway; only these tell the user if they cannot be found.
bool asks_for_insides(const Configuration& configuration) {
  return std::ranges::any_of(kCollectives, [&](Collective collective) {
    const Choice& choice = configuration.choice(collective, Form::non_blocking);
    return choice.kind == Choice::Kind::forced && looks_inside_nodes(*choice.algorithm, true);
  });
}

}  // namespace

std::unique_ptr<InFlight> InFlight::make(MPI_Comm comm, World& world, const Configuration& configuration,
                                         ProxyRequests& proxies, std::atomic<int>& under_way) {
  const std::uint32_t runs = std::max(world.carrier().tags.all() / kPartOfTags, kFewestRuns);
  std::unique_ptr<Channel> channel = Channel::open(comm, world.carrier(), runs);
  if (channel == nullptr) return nullptr;
  return std::unique_ptr<InFlight>(
      new InFlight(comm, world, std::move(channel), runs, configuration, proxies, under_way));
}

InFlight::InFlight(MPI_Comm comm, World& world, std::unique_ptr<Channel> channel, std::uint32_t runs,
                   const Configuration& configuration, ProxyRequests& proxies, std::atomic<int>& under_way)
    : channel_(std::move(channel)),
      size_(channel_->size()),
      proxies_(proxies),
      under_way_(under_way),
      nodes_(world.nodes_of(*channel_)),
      equipment_(*channel_, nodes_, make_platform({nullptr, world.oversubscribed(), nullptr, nullptr, nullptr}),
                 make_message_transport(*channel_),
                 discover_insides(comm, world.topology_of(*channel_, nodes_), nodes_, configuration,
                                  asks_for_insides(configuration)),
                 world.costs_of(nodes_)),
      slots_(std::min(kMostSlots, runs / 2)),
      next_persistent_stream_(slots_ * kStreamsOfCall),
      end_of_streams_(runs * kStreamsOfCall) {}

int InFlight::start(std::unique_ptr<PreparedCall> prepared, const Algorithm& algorithm, MPI_Request* request) {
  const std::scoped_lock lock(mutex_);
  const int tag = proxies_.take_tag();
  const int result = proxies_.start(tag, request);
  const auto stream = static_cast<std::uint32_t>(calls_++ % slots_) * kStreamsOfCall;
  add({std::move(prepared), &algorithm, tag, stream, false});
  return result;
}

std::unique_ptr<InFlight::Persistent> InFlight::make_persistent(std::unique_ptr<PreparedCall> prepared,
                                                                const Algorithm& algorithm, MPI_Request* request) {
  const std::scoped_lock lock(mutex_);
  const std::uint32_t stream = next_persistent_stream_;
  if (stream == end_of_streams_) return nullptr;
  next_persistent_stream_ += kStreamsOfCall;
  const int tag = proxies_.take_tag();
  proxies_.make_persistent(tag, request);
  return std::make_unique<Persistent>(*this, std::move(prepared), algorithm, tag, stream);
}

void InFlight::Persistent::start() {
  const std::scoped_lock lock(engine_.mutex_);
  engine_.add({prepared_, &algorithm_, tag_, stream_, true});
}

void InFlight::add(UnderWay call) {
  under_way_.fetch_add(1, std::memory_order_relaxed);
  pending_.fetch_add(1, std::memory_order_release);
  auto added = std::make_unique<UnderWay>(std::move(call));
  if (stream_is_taken(added->stream)) {
    waiting_.push_back(std::move(added));
    return;
  }
  running_.push_back(std::move(added));
  begin(*running_.back());
  while (end_those_done()) {
  }
}

bool InFlight::stream_is_taken(std::uint32_t stream) const {
  const auto same = [stream](const auto& call) { return call->stream == stream; };
  return std::ranges::any_of(running_, same) || std::ranges::any_of(waiting_, same);
}

void InFlight::begin(UnderWay& call) {
  call.group.emplace(equipment_.endpoint(), call.stream);
  call.task.emplace(run_algorithm(*call.group, *call.algorithm, call.prepared->begin()));
  call.task->start();
}

bool InFlight::poll() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return false;  // somebody looks already
  Endpoint& endpoint = equipment_.endpoint();
  bool any = endpoint.executor.poll(endpoint.transport);
  while (end_those_done()) any = true;
  return any;
}

// Whether any were; then those may begin that have waited for them.
bool InFlight::end_those_done() {
  const auto ended = [this](const std::unique_ptr<UnderWay>& call) {
    if (!call->task->done()) return false;
    call->prepared->end();
    proxies_.complete(call->tag);
    if (!call->persistent) proxies_.give_tag(call->tag);
    under_way_.fetch_sub(1, std::memory_order_relaxed);
    pending_.fetch_sub(1, std::memory_order_release);
    return true;
  };
  if (std::erase_if(running_, ended) == 0) return false;
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto same = [&](const auto& call) { return call->stream == (*next)->stream; };
    const bool earlier = std::any_of(waiting_.begin(), next, same);
    if (earlier || std::ranges::any_of(running_, same)) {
      ++next;
      continue;
    }
    running_.push_back(std::move(*next));
    next = waiting_.erase(next);
    begin(*running_.back());
  }
  return true;
}

}  // namespace stretto::mpi
