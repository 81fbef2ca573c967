#include "select/candidates.hpp"

#include <bit>

namespace stretto {
namespace {

// Those that are the best for some lengths and ranks. Of two that cost the same the first is taken.
constexpr std::string_view kAllreduces[] = {"recursive_doubling", "ring", "rabenseifner"};
constexpr std::string_view kAllreducesByPlaces[] = {"recursive_doubling@topology", "ring@topology",
                                                    "rabenseifner@topology"};
constexpr std::string_view kReduces[] = {"binomial",       "event_knomial",         "event_binary",
                                         "event_binomial", "reduce_scatter_gather", "event_chain",
                                         "event_linear"};
constexpr std::string_view kReducesByPlaces[] = {"event_knomial@topology",
                                                 "hierarchical(event_knomial,event_knomial)",
                                                 "hierarchical(binomial,reduce_scatter_gather)",
                                                 "hierarchical(event_chain,event_chain)",
                                                 "event_chain@topology",
                                                 "event_topology",
                                                 "event_binomial",
                                                 "event_binary",
                                                 "event_linear"};
constexpr std::string_view kBcasts[] = {"binomial",          "event_knomial", "event_binomial", "event_binary",
                                        "scatter_allgather", "event_chain",   "event_linear"};
constexpr std::string_view kBcastsByPlaces[] = {"hierarchical(event_knomial,event_knomial)",
                                                "event_knomial@topology",
                                                "hierarchical(event_binary,event_binary)",
                                                "hierarchical(binomial,scatter_allgather)",
                                                "hierarchical(event_chain,event_chain)",
                                                "event_chain@topology",
                                                "event_topology",
                                                "hierarchical(event_linear,event_linear)",
                                                "event_binary",
                                                "event_linear"};
constexpr std::string_view kAllgathers[] = {"ring", "recursive_doubling", "bruck"};
// In the memory of the nodes, as long as they have some.
constexpr std::string_view kAllreducesInMemory[] = {
    "hierarchical(slot_gather,recursive_doubling)", "hierarchical(arrival_stripes,recursive_doubling)",
    "hierarchical(arrival_stripes,rabenseifner)", "hierarchical(arrival_stripes,ring)"};
constexpr std::string_view kReducesInMemory[] = {"hierarchical(slot_gather,binomial)",
                                                 "hierarchical(slot_gather,event_linear)",
                                                 "hierarchical(arrival_stripes,event_binomial)",
                                                 "hierarchical(arrival_stripes,event_binary)",
                                                 "hierarchical(arrival_stripes,reduce_scatter_gather)",
                                                 "hierarchical(arrival_stripes,event_chain)"};
constexpr std::string_view kBcastsInMemory[] = {
    "hierarchical(arrival_copy,binomial)", "hierarchical(arrival_copy,event_binary)",
    "hierarchical(arrival_copy,event_linear)", "hierarchical(arrival_copy,scatter_allgather)",
    "hierarchical(arrival_copy,event_chain)"};
constexpr std::string_view kAllgathersInMemory[] = {"hierarchical(arrival_copy,ring)",
                                                    "hierarchical(arrival_copy,recursive_doubling)",
                                                    "hierarchical(arrival_copy,bruck)"};
constexpr std::string_view kGathersInMemory[] = {"hierarchical(slot_gather,linear_nonblocking)",
                                                 "hierarchical(arrival_copy,linear_nonblocking)"};
constexpr std::string_view kBarriersInMemory[] = {"hierarchical(arrival_count,dissemination)"};
constexpr std::string_view kReduceScattersInMemory[] = {"hierarchical(arrival_stripes,recursive_halving)",
                                                        "hierarchical(arrival_stripes,ring)"};
constexpr std::string_view kAlltoallsInMemory[] = {"hierarchical(arrival_copy,linear)",
                                                   "hierarchical(arrival_copy,bruck)"};
constexpr std::string_view kScattersInMemory[] = {"hierarchical(arrival_copy,linear_nonblocking)"};
constexpr std::string_view kLateBcasts[] = {"arrival_ordered_nonblocking", "arrival_ordered"};
constexpr std::string_view kLateBcastsInMemory[] = {"hierarchical(arrival_copy,arrival_ordered_nonblocking)",
                                                    "hierarchical(arrival_copy,arrival_ordered)"};
constexpr std::string_view kReduceScatters[] = {"recursive_halving", "ring"};
constexpr std::string_view kLinear[] = {"linear_nonblocking"};

// What MPICH and Open MPI have of it, of the above.
constexpr std::string_view kNativeAllreduces[] = {"recursive_doubling", "rabenseifner", "ring"};
constexpr std::string_view kNativeReduces[] = {"binomial", "reduce_scatter_gather"};
constexpr std::string_view kNativeBcasts[] = {"binomial", "scatter_allgather"};
constexpr std::string_view kNativeAllgathers[] = {"bruck", "ring", "recursive_doubling"};  // the last of powers of two
constexpr std::string_view kNativeReduceScatters[] = {"recursive_halving", "pairwise"};
constexpr std::string_view kNativeAlltoalls[] = {"bruck", "linear", "pairwise"};
constexpr std::string_view kNativeBarriers[] = {"dissemination"};
constexpr std::string_view kBinomial[] = {"binomial"};

// Lengths that all ranks know make no other algorithms worth considering.
Collective kind_of(Collective collective) {
  return knows_all_lengths(collective) ? without_lengths(collective) : collective;
}

}  // namespace

Names worth_considering(Collective collective, bool shares_nodes) {
  switch (kind_of(collective)) {
    case Collective::allreduce:
      return shares_nodes ? Names(kAllreducesByPlaces) : Names(kAllreduces);
    case Collective::reduce:
      return shares_nodes ? Names(kReducesByPlaces) : Names(kReduces);
    case Collective::bcast:
      return shares_nodes ? Names(kBcastsByPlaces) : Names(kBcasts);
    case Collective::allgather:
      return kAllgathers;
    case Collective::reduce_scatter_block:
      return kReduceScatters;
    case Collective::gather:
    case Collective::scatter:
      return kLinear;
    default:
      return {};
  }
}

Names worth_considering_in_memory(Collective collective) {
  switch (kind_of(collective)) {
    case Collective::allreduce:
      return kAllreducesInMemory;
    case Collective::reduce:
      return kReducesInMemory;
    case Collective::bcast:
      return kBcastsInMemory;
    case Collective::allgather:
      return kAllgathersInMemory;
    case Collective::gather:
      return kGathersInMemory;
    case Collective::scatter:
      return kScattersInMemory;
    case Collective::barrier:
      return kBarriersInMemory;
    case Collective::reduce_scatter_block:
      return kReduceScattersInMemory;
    case Collective::alltoall:
      return kAlltoallsInMemory;
    default:
      return {};
  }
}

Names worth_considering_for_late_ranks(Collective collective, bool in_memory) {
  if (collective != Collective::bcast) return {};
  return in_memory ? Names(kLateBcastsInMemory) : Names(kLateBcasts);
}

Names known_everywhere(Collective collective, int ranks) {
  switch (kind_of(collective)) {
    case Collective::allreduce:
      return kNativeAllreduces;
    case Collective::reduce:
      return kNativeReduces;
    case Collective::bcast:
      return kNativeBcasts;
    case Collective::allgather:
      return Names(kNativeAllgathers).first(std::has_single_bit(static_cast<unsigned>(ranks)) ? 3 : 2);
    case Collective::gather:
    case Collective::scatter:
      return kBinomial;
    case Collective::barrier:
      return kNativeBarriers;
    case Collective::alltoall:
      return kNativeAlltoalls;
    default:
      return kNativeReduceScatters;
  }
}

}  // namespace stretto
