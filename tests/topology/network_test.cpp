// Networks as Slurm's topology.conf describes them.

#include "topology/network.hpp"

#include <gtest/gtest.h>

namespace stretto {
namespace {

using Names = std::vector<std::string>;

TEST(Names, ListsAreExpandedAsSlurmWritesThem) {
  const auto expand = [](std::string_view list) {
    std::string error;
    Names names = expand_names(list, error);
    EXPECT_EQ(names.empty(), !error.empty()) << list;
    return names;
  };
  EXPECT_EQ(expand("login"), (Names{"login"}));
  EXPECT_EQ(expand("n[0-2,7],login"), (Names{"n0", "n1", "n2", "n7", "login"}));
  EXPECT_EQ(expand("n[08-11]"), (Names{"n08", "n09", "n10", "n11"}));
  EXPECT_EQ(expand("r[1-2]n[01-02]x"), (Names{"r1n01x", "r1n02x", "r2n01x", "r2n02x"}));
  for (const char* wrong : {"n[0-2", "n0-2]", "n[2-0]", "n[]", "n[a-b]", "n[1-2-3]", "a,,b", "n[0-9999999]",
                            "n[0-99999]m[0-99999]", ",a"}) {
    EXPECT_TRUE(expand(wrong).empty()) << wrong;
  }
}

constexpr const char* kTwoLevels = R"(# the cluster's
SwitchName=leaf0 Nodes=n[00-01] LinkSpeed=100
switchname=leaf1 nodes=n[02-03]   # any case

SwitchName=spine Switches=leaf[0-1]
SwitchName=island Nodes=gpu0
)";

TEST(Networks, NodesAreAtSwitchesAndTheseAtOthers) {
  std::string error;
  const Network network = parse_topology_conf(kTwoLevels, error);
  ASSERT_EQ(error, "");
  ASSERT_EQ(network.switches.size(), 5U);
  for (std::size_t unit = 1; unit < network.switches.size(); ++unit) {
    EXPECT_LT(network.switches[unit].parent, static_cast<int>(unit));
  }
  const Names hosts{"n03", "n00", "", "n01.example.org", "gpu0"};  // of the lowest rank on each node
  const std::vector<int> nodes{0, 1, 0, 3, 4};
  const Topology topology = topology_of_network(network, nodes, hosts, error);
  ASSERT_EQ(error, "");
  EXPECT_EQ(topology.distance(0, 2), 0) << "one node";
  EXPECT_EQ(topology.distance(1, 3), 1) << "one switch";
  EXPECT_EQ(topology.distance(0, 1), 2) << "switches at one switch";
  EXPECT_EQ(topology.distance(0, 4), 3);
}

TEST(Networks, ErrorsSayWhatIsWrongAndWhere) {
  const auto error_of = [](std::string_view text) {
    std::string error;
    parse_topology_conf(text, error);
    return error;
  };
  EXPECT_EQ(error_of(""), "it names no nodes");
  EXPECT_EQ(error_of("\n\nSwitch=a Nodes=b"), "line 3: 'Switch' is none of SwitchName, Nodes, Switches, LinkSpeed");
  EXPECT_EQ(error_of("Nodes=b"), "line 1: a line begins with SwitchName=NAME");
  EXPECT_EQ(error_of("SwitchName=a Nodes=b[1-"), "line 1: 'b[1-' is no list of names such as n[00-15],login");
  EXPECT_EQ(error_of("SwitchName=a Nodes=b\nSwitchName=a Nodes=c"), "line 2: switch a is there twice");
  EXPECT_EQ(error_of("SwitchName=a Switches=b"), "line 1: switch b has no line of its own");
  EXPECT_EQ(error_of("SwitchName=a Nodes=n\nSwitchName=b Nodes=n"),
            "line 2: node n is at two switches: a tree is expected");
  EXPECT_EQ(error_of("SwitchName=a Nodes=n\nSwitchName=b Switches=a\nSwitchName=c Switches=a"),
            "line 3: switch a is at two switches: a tree is expected");
  EXPECT_EQ(error_of("SwitchName=a Switches=b Nodes=n\nSwitchName=b Switches=a"), "line 1: switch a is below itself");
}

TEST(Networks, EveryNodeMustBeThere) {
  std::string error;
  const Network network = parse_topology_conf(kTwoLevels, error);
  const Topology topology = topology_of_network(network, std::vector<int>{0, 1}, Names{"n00", "n07"}, error);
  EXPECT_EQ(error, "it does not have node n07");
  EXPECT_EQ(topology.ranks(), 2);
}

}  // namespace
}  // namespace stretto
