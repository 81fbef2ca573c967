#include "mpi/places/message_times.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/clock.hpp"
#include "core/median.hpp"
#include "mpi/places/asleep.hpp"

namespace stretto::mpi {
namespace {

// What who measures wants of who answers. The first trip of a batch finds the other not waiting yet, and is not
// counted.
struct Order {
  enum Kind : std::int32_t { ping, stream, late, end } kind;
  std::int32_t times;
  std::uint64_t bytes;
};

enum Stream : std::uint32_t { kOrders, kData, kSignals };

constexpr std::size_t kShort = std::size_t{32} << 10;
constexpr std::size_t kLong = std::size_t{2} << 20;
int batch_of(std::size_t bytes, const Care& care) {
  return bytes < kShort ? care.short_trips : bytes == kShort ? care.middle_trips : bytes <= kLong ? 4 : 2;
}

// A message that nobody receives yet is eager if it is gone after so long.
constexpr std::int64_t kPatienceNs = 300'000;
constexpr std::size_t kLeastEager = 256;
constexpr std::size_t kMostEager = std::size_t{4} << 20;

class Measurer {
 public:
  Measurer(const Channel& channel, int peer, const Care& care) : channel_(channel), peer_(peer), care_(care) {}

  Link measure() {
    Link link = care_.all_lengths ? measure_curves() : measure_lines();
    if (care_.eager_sixteenths > 0) link.eager_bytes = static_cast<std::int64_t>(eager_bytes());
    tell({Order::end, 0, 0});
    return link;
  }

 private:
  void tell(const Order& order) const { channel_.send(&order, sizeof order, peer_, kOrders); }

  // In little time: by two lengths so far apart that what disturbs hardly tilts the line through them.
  Link measure_lines() {
    constexpr std::size_t kFar = 4;
    static_assert(Curve::kLengths[kFar] == Machine::kPlanned);
    Link link;
    for (const std::size_t length : {std::size_t{0}, kFar}) {
      buffer_.resize(Curve::kLengths[length]);
      link.message.ns[length] = message_ns(Curve::kLengths[length]);
      link.gap.ns[length] = gap_ns(Curve::kLengths[length]);
    }
    link.message.straighten(kFar);
    link.gap.straighten(kFar);
    return link;
  }

  Link measure_curves() {
    Link link;
    const std::int64_t deadline = monotonic_ns() + care_.curves_ns;
    std::size_t known = 0;
    for (; known < Curve::kLengths.size(); ++known) {
      const std::size_t bytes = Curve::kLengths[known];
      if (known >= 2 && monotonic_ns() + least_ns(link, known) > deadline) break;
      buffer_.resize(bytes);
      link.message.ns[known] = message_ns(bytes);
      link.gap.ns[known] = gap_ns(bytes);
    }
    link.message.extend_from(known);
    link.gap.extend_from(known);
    return link;
  }

  // What both times at the next length take at least, if a byte takes as long as at the last one.
  std::int64_t least_ns(const Link& link, std::size_t next) const {
    const auto longer = static_cast<std::int64_t>(Curve::kLengths[next] / Curve::kLengths[next - 1]);
    const bool by_bytes = link.message.ns[next - 1] > 2 * link.message.ns[0];
    const std::int64_t message_ns = link.message.ns[next - 1] * (by_bytes ? longer : 1);
    const std::int64_t messages =
        batch_of(Curve::kLengths[next], care_);  // there and back, then once and twice as many
    return (2 + 3) * messages * message_ns;
  }

  // Half a round trip.
  std::int64_t message_ns(std::size_t bytes) {
    std::vector<std::int64_t> trips;
    const std::int64_t deadline = monotonic_ns() + care_.point_ns;
    do {
      const int times = batch_of(bytes, care_);
      tell({Order::ping, times, bytes});
      for (int trip = 0; trip < times; ++trip) {
        const std::int64_t begin = monotonic_ns();
        channel_.send(buffer_.data(), bytes, peer_, kData);
        channel_.receive(buffer_.data(), bytes, peer_, kData);
        if (trip > 0) trips.push_back((monotonic_ns() - begin) / 2);
      }
    } while (monotonic_ns() < deadline);
    return std::max<std::int64_t>(median(trips), 1);
  }

  // What twice as many messages take longer: beginning and end are the same. The least of both, as what disturbs adds
  // up; the shortest ones' is the processor's time for a message, and what is left of two times that hardly differ.
  std::int64_t gap_ns(std::size_t bytes) {
    constexpr int kLeastTries = 4;  // of the shortest
    const int tries = bytes == Curve::kLengths.front() ? kLeastTries : 1;
    const int times = batch_of(bytes, care_);
    std::int64_t once = std::numeric_limits<std::int64_t>::max();
    std::int64_t twice = once;
    const std::int64_t deadline = monotonic_ns() + care_.point_ns;
    for (int tried = 0; tried < tries || monotonic_ns() < deadline; ++tried) {
      once = std::min(once, stream_ns(bytes, times));
      twice = std::min(twice, stream_ns(bytes, 2 * times));
    }
    return std::max<std::int64_t>((twice - once) / times, 1);
  }

  std::int64_t stream_ns(std::size_t bytes, int times) {
    tell({Order::stream, times, bytes});
    channel_.receive(nullptr, 0, peer_, kSignals);  // all receives are posted
    const std::int64_t begin = monotonic_ns();
    std::vector<MPI_Request> requests(static_cast<std::size_t>(times));
    for (MPI_Request& request : requests) send_later(bytes, request);
    PMPI_Waitall(times, requests.data(), MPI_STATUSES_IGNORE);
    channel_.receive(nullptr, 0, peer_, kSignals);
    return monotonic_ns() - begin;
  }

  std::size_t eager_bytes() {
    buffer_.resize(kMostEager + kMostEager / 2);
    std::size_t eager = kLeastEager;
    if (!leaves_early(eager)) return 0;
    while (eager < kMostEager && leaves_early(2 * eager)) eager *= 2;
    if (eager == kMostEager) return eager;
    const std::size_t step = eager / 16;
    std::size_t least = 0;
    std::size_t most = 16;
    while (most - least > care_.eager_sixteenths) {
      const std::size_t middle = (least + most) / 2;
      (leaves_early(eager + middle * step) ? least : most) = middle;
    }
    return eager + least * step;
  }

  bool leaves_early(std::size_t bytes) {
    tell({Order::late, 1, bytes});
    MPI_Request request = MPI_REQUEST_NULL;
    send_later(bytes, request);
    int done = 0;
    const std::int64_t deadline = monotonic_ns() + kPatienceNs;
    while (done == 0 && monotonic_ns() < deadline) PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
    channel_.send(nullptr, 0, peer_, kSignals);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
    return done != 0;
  }

  void send_later(std::size_t bytes, MPI_Request& request) {
    PMPI_Isend(buffer_.data(), static_cast<int>(bytes), MPI_BYTE, channel_.real(peer_), channel_.tag_of(peer_, kData),
               channel_.comm(), &request);
  }

  const Channel& channel_;
  int peer_;
  Care care_;
  std::vector<std::byte> buffer_;
};

}  // namespace

Link measure_link(const Channel& channel, int peer, const Care& care) {
  return Measurer(channel, peer, care).measure();
}

void answer_link(const Channel& channel, int peer) {
  std::vector<std::byte> buffer;
  const auto post = [&](void* data, std::size_t bytes, std::uint32_t stream) {
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, channel.real(peer), channel.own_tag(stream), channel.comm(),
               &request);
    return request;
  };
  Order order{Order::end, 0, 0};
  wait_asleep(post(&order, sizeof order, kOrders));
  while (order.kind != Order::end) {
    buffer.resize(std::max(buffer.size(), order.bytes * static_cast<std::size_t>(order.times)));
    if (order.kind == Order::ping) {
      for (int trip = 0; trip < order.times; ++trip) {
        channel.receive(buffer.data(), order.bytes, peer, kData);
        channel.send(buffer.data(), order.bytes, peer, kData);
      }
    } else if (order.kind == Order::stream) {
      std::vector<MPI_Request> requests;
      requests.reserve(static_cast<std::size_t>(order.times));
      for (int i = 0; i < order.times; ++i) {
        requests.push_back(post(buffer.data() + static_cast<std::size_t>(i) * order.bytes, order.bytes, kData));
      }
      channel.send(nullptr, 0, peer, kSignals);
      PMPI_Waitall(order.times, requests.data(), MPI_STATUSES_IGNORE);
      channel.send(nullptr, 0, peer, kSignals);
    } else {
      channel.receive(nullptr, 0, peer, kSignals);
      channel.receive(buffer.data(), order.bytes, peer, kData);
    }
    order.kind = Order::end;  // where the other one has failed
    channel.receive(&order, sizeof order, peer, kOrders);
  }
}

}  // namespace stretto::mpi
