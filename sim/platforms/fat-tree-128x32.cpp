// 128 nodes of 32 ranks in a fat tree of two levels at 100 Gbit/s. The ranks of a node share its cable. A message
// within a node is read from the memory of one of its two sockets and written to that of the same or the other one: one
// has a core's bandwidth, many together no more than the bus, and those between sockets no more than the link there. In
// XML a memory would serve any number of messages at full speed.
#include <algorithm>
#include <simgrid/s4u.hpp>
#include <string>

namespace sg4 = simgrid::s4u;
using simgrid::kernel::routing::NetPoint;

namespace {

constexpr double cable_bytes_per_s = 12.5e9;
constexpr double cable_latency_s = 0.4e-6;
constexpr double core_bytes_per_s = 8e9;
constexpr double bus_bytes_per_s = 30e9;  // of a socket
constexpr double memory_latency_s = 0.25e-6;
constexpr double between_sockets_bytes_per_s = 40e9;  // each way
constexpr double between_sockets_latency_s = 0.15e-6;
constexpr int ranks_per_socket = 16;
constexpr int sockets = 2;

double as_many_cores_as_messages(double capacity, int messages) {
  return std::min(capacity, core_bytes_per_s * std::max(1, messages));
}

sg4::LinkInRoute make_memory(sg4::NetZone* node, const std::string& name, double latency_s) {
  return sg4::LinkInRoute(node->create_link(name, bus_bytes_per_s)
                              ->set_latency(latency_s)
                              ->set_sharing_policy(sg4::Link::SharingPolicy::NONLINEAR, as_many_cores_as_messages)
                              ->seal());
}

// A node: its sockets around the adapter, to which the cable goes.
std::pair<NetPoint*, NetPoint*> make_node(sg4::NetZone* zone, const std::vector<unsigned long>&, unsigned long id) {
  const std::string name = "node-" + std::to_string(id);
  sg4::NetZone* node = sg4::create_full_zone(name)->set_parent(zone);
  NetPoint* adapter = node->create_router(name + "-adapter");
  std::vector<NetPoint*> points;
  std::vector<sg4::LinkInRoute> reads;
  std::vector<sg4::LinkInRoute> writes;
  for (int socket = 0; socket < sockets; ++socket) {
    const std::string own = name + "-" + std::to_string(socket);
    points.push_back(node->create_host(own, 20e9)->set_core_count(ranks_per_socket)->seal()->get_netpoint());
    reads.push_back(make_memory(node, "read-" + own, 0));
    writes.push_back(make_memory(node, "write-" + own, memory_latency_s));
    node->add_route(points.back(), points.back(), nullptr, nullptr, {reads.back(), writes.back()});
    // No cost of its own: what a socket sends away is bound by the cable.
    const sg4::Link* port = node->create_link("port-" + own, 2 * cable_bytes_per_s)
                                ->set_sharing_policy(sg4::Link::SharingPolicy::FATPIPE)
                                ->seal();
    node->add_route(points.back(), adapter, nullptr, nullptr, {sg4::LinkInRoute(port)});
  }
  for (const auto& [from, to] : {std::pair(0, 1), std::pair(1, 0)}) {
    const std::string between = "sockets-" + name + "-" + std::to_string(from);
    const sg4::Link* link =
        node->create_link(between, between_sockets_bytes_per_s)->set_latency(between_sockets_latency_s)->seal();
    node->add_route(points[from], points[to], nullptr, nullptr, {reads[from], sg4::LinkInRoute(link), writes[to]},
                    /*symmetrical=*/false);
  }
  node->seal();
  return {node->get_netpoint(), adapter};
}

}  // namespace

extern "C" void load_platform(const sg4::Engine&) {
  // 8 switches of 16 nodes each, every one with a cable to each of 8 above them: two nodes share one upwards.
  const sg4::FatTreeParams shape{2, {16, 8}, {1, 8}, {1, 1}};
  sg4::create_fatTree_zone("fat-tree", nullptr, shape, {make_node, {}, {}}, cable_bytes_per_s, cable_latency_s,
                           sg4::Link::SharingPolicy::SPLITDUPLEX)
      ->seal();
}
