// Every algorithm's entry point; each is defined and explained in <collective>/<name>.cpp.
#pragma once

#include "core/group.hpp"

namespace stretto {

namespace allreduce {
Task recursive_doubling(Group& g, Call call);
Task rabenseifner(Group& g, Call call);
Task ring(Group& g, Call call);
Task reduce_bcast(Group& g, Call call);
Task rendezvous_tree(Group& g, Call call);
Task sorted_linear_tree(Group& g, Call call);
Task prereduced_ring(Group& g, Call call);
Task straggler_allreduce(Group& g, Call call);
Task slot_exchange(Group& g, Call call);
Task arrival_leader(Group& g, Call call);
Task arrival_chain(Group& g, Call call);
Task arrival_tree(Group& g, Call call);
Task arrival_stripes(Group& g, Call call);
Task node_stripes(Group& g, Call call);  // of hierarchies
}  // namespace allreduce

namespace reduce {
Task binomial(Group& g, Call call);
Task reduce_scatter_gather(Group& g, Call call);
Task clairvoyant(Group& g, Call call);
Task rebalanced_tree(Group& g, Call call);
Task rendezvous_tree(Group& g, Call call);
Task arrival_leader(Group& g, Call call);
Task slot_gather(Group& g, Call call);
Task arrival_chain(Group& g, Call call);
Task arrival_stripes(Group& g, Call call);
Task event_chain(Group& g, Call call);
Task event_binary(Group& g, Call call);
Task event_binomial(Group& g, Call call);
Task event_knomial(Group& g, Call call);
Task event_topology(Group& g, Call call);
Task waitall_chain(Group& g, Call call);
Task waitall_binary(Group& g, Call call);
Task waitall_binomial(Group& g, Call call);
Task waitall_knomial(Group& g, Call call);
}  // namespace reduce

namespace bcast {
Task binomial(Group& g, Call call);
Task scatter_allgather(Group& g, Call call);
Task arrival_ordered(Group& g, Call call);
Task arrival_ordered_nonblocking(Group& g, Call call);
Task first_comers(Group& g, Call call);  // of hierarchies
Task arrival_copy(Group& g, Call call);
Task event_chain(Group& g, Call call);
Task event_binary(Group& g, Call call);
Task event_binomial(Group& g, Call call);
Task event_knomial(Group& g, Call call);
Task event_topology(Group& g, Call call);
Task waitall_chain(Group& g, Call call);
Task waitall_binary(Group& g, Call call);
Task waitall_binomial(Group& g, Call call);
Task waitall_knomial(Group& g, Call call);
}  // namespace bcast

namespace barrier {
Task dissemination(Group& g, Call call);
Task slot_exchange(Group& g, Call call);
Task arrival_count(Group& g, Call call);
}  // namespace barrier

namespace scatter {
Task linear(Group& g, Call call);
Task linear_nonblocking(Group& g, Call call);
Task announced_linear(Group& g, Call call);
Task binomial(Group& g, Call call);
Task arrival_copy(Group& g, Call call);
Task two_level(Group& g, Call call);
}  // namespace scatter

namespace gather {
Task linear(Group& g, Call call);
Task linear_nonblocking(Group& g, Call call);
Task announced_linear(Group& g, Call call);
Task linear_synchronised(Group& g, Call call);
Task binomial(Group& g, Call call);
Task arrival_copy(Group& g, Call call);
Task two_level(Group& g, Call call);
}  // namespace gather

namespace allgather {
Task arrival_copy(Group& g, Call call);
Task ring(Group& g, Call call);
Task recursive_doubling(Group& g, Call call);
Task bruck(Group& g, Call call);
Task linear(Group& g, Call call);
Task arrival_ordered(Group& g, Call call);
}  // namespace allgather

namespace reduce_scatter {
Task ring(Group& g, Call call);
Task recursive_halving(Group& g, Call call);
Task pairwise(Group& g, Call call);
}  // namespace reduce_scatter

namespace alltoall {
Task arrival_copy(Group& g, Call call);
Task pairwise(Group& g, Call call);
Task linear(Group& g, Call call);
Task bruck(Group& g, Call call);
Task arrival_ordered(Group& g, Call call);
}  // namespace alltoall

}  // namespace stretto
