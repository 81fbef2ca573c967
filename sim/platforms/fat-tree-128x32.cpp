// 128 nodes of 32 ranks in a fat tree of two levels at 100 Gbit/s. The ranks of a node share its cable and its memory:
// one message in memory has a core's bandwidth, many together no more than the bus. In XML a node's memory would serve
// any number of messages at full speed.
#include <algorithm>
#include <simgrid/s4u.hpp>
#include <string>

namespace sg4 = simgrid::s4u;
using simgrid::kernel::routing::NetPoint;

namespace {

constexpr double cable_bytes_per_s = 12.5e9;
constexpr double cable_latency_s = 0.4e-6;
constexpr double core_bytes_per_s = 8e9;
constexpr double bus_bytes_per_s = 60e9;
constexpr double memory_latency_s = 0.25e-6;
constexpr int ranks_per_node = 32;

std::pair<NetPoint*, NetPoint*> make_node(sg4::NetZone* zone, const std::vector<unsigned long>&, unsigned long id) {
  sg4::Host* node = zone->create_host("node-" + std::to_string(id), 20e9)->set_core_count(ranks_per_node)->seal();
  return {node->get_netpoint(), nullptr};
}

sg4::Link* make_memory(sg4::NetZone* zone, const std::vector<unsigned long>&, unsigned long id) {
  const auto shared = [](double capacity, int messages) {
    return std::min(capacity, core_bytes_per_s * std::max(1, messages));
  };
  return zone->create_link("memory-" + std::to_string(id), bus_bytes_per_s)
      ->set_latency(memory_latency_s)
      ->set_sharing_policy(sg4::Link::SharingPolicy::NONLINEAR, shared)
      ->seal();
}

}  // namespace

extern "C" void load_platform(const sg4::Engine&) {
  // 8 switches of 16 nodes each, every one with a cable to each of 8 above them: two nodes share one upwards.
  const sg4::FatTreeParams shape{2, {16, 8}, {1, 8}, {1, 1}};
  sg4::create_fatTree_zone("fat-tree", nullptr, shape, {make_node, make_memory, {}}, cable_bytes_per_s, cable_latency_s,
                           sg4::Link::SharingPolicy::SPLITDUPLEX)
      ->seal();
}
