#include "algorithms/registry.hpp"

#include <algorithm>

#include "algorithms/algorithms.hpp"
#include "algorithms/patterns/blocks.hpp"
#include "arrival/board.hpp"
#include "core/remote_words.hpp"

namespace stretto {
namespace {

constexpr bool kAnyOperation = false;
constexpr bool kCommutativeOnly = true;
constexpr bool kDeterministic = true;
constexpr bool kAhead = true;
constexpr bool kWords = true;
constexpr bool kArrivalOrder = false;  // the order of summation is that of arrival, or its prediction
constexpr std::string_view kThakur = "Thakur, Rabenseifner, Gropp 2005";
constexpr std::string_view kThesis4 = "Alizadeh 2021, Algorithm 4.1";
constexpr std::string_view kThesis5 = "Alizadeh 2021, Algorithm 5.1";
constexpr std::string_view kOurs = "Stretto";
constexpr std::string_view kProficz2018 = "Proficz 2018";
constexpr std::string_view kProficz = "Proficz 2020";
constexpr std::string_view kLuo = "Luo et al. 2018";
constexpr std::string_view kPatarasuk = "Patarasuk, Yuan 2008";
constexpr std::string_view kBruck = "Bruck et al. 1997";
constexpr std::string_view kQian = "Qian, Afsahi 2011";

// Costs: α latency, β per byte, γ per reduced byte, n bytes (where each rank has a block: of one, N of all), P ranks.
constexpr Algorithm kAlgorithms[] = {
    {Collective::allreduce, "recursive_doubling", &allreduce::recursive_doubling, Memory::none, 0, 0, kAnyOperation,
     kDeterministic, "exchange with the rank 2^t away, log P rounds", kThakur, "log P (α + nβ + nγ)",
     "log P (α + nβ + nγ)"},
    {Collective::allreduce, "rabenseifner", &allreduce::rabenseifner, Memory::none, 0, 0, kCommutativeOnly,
     kDeterministic, "reduce-scatter by halving, allgather by doubling", kThakur, "2 log P α + 2nβ + nγ",
     "2 log P α + 2nβ + nγ"},
    {Collective::allreduce, "ring", &allreduce::ring, Memory::none, 0, 0, kCommutativeOnly, kDeterministic,
     "partial sums once around a ring, then the results", "Patarasuk, Yuan 2009", "2(P-1) α + 2nβ + nγ",
     "2(P-1) α + 2nβ + nγ"},
    {Collective::allreduce, "reduce_bcast", &allreduce::reduce_bcast, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "reduce to rank 0 and broadcast, both along a binomial tree", kThakur, "2 log P (α + nβ) + log P nγ",
     "2 log P (α + nβ) + log P nγ"},
    {Collective::allreduce, "slot_exchange", &allreduce::slot_exchange, Memory::board, 0, Board::kSlotBytes,
     kAnyOperation, kDeterministic, "everybody reads everybody's slot in shared memory", kOurs, "P nγ a rank",
     "P nγ a rank"},
    {Collective::allreduce, "arrival_leader", &allreduce::arrival_leader, Memory::board, 0, Board::kSlotBytes,
     kAnyOperation, kArrivalOrder, "the first to arrive reduces whoever comes", kThesis4, "P nγ + P copies",
     "nγ + P copies"},
    {Collective::allreduce, "arrival_chain", &allreduce::arrival_chain, Memory::pool, Board::kSlotBytes + 1, 0,
     kCommutativeOnly, kArrivalOrder, "a chain in the order of arrival, then a broadcast", kThesis5,
     "P (α + nβ + nγ) + P copies", "α + nβ + nγ + P copies"},
    {Collective::allreduce, "arrival_tree", &allreduce::arrival_tree, Memory::board, 0, Board::kSlotBytes,
     kCommutativeOnly, kArrivalOrder, "any two partial results that are ready are combined",
     "Stretto, after Benoit, Canon, Marchal 2014", "log P nγ + P copies", "nγ + P copies"},
    {Collective::allreduce, "arrival_stripes", &allreduce::arrival_stripes, Memory::pool, 0, 0, kCommutativeOnly,
     kArrivalOrder, "each adds its chunks as it comes, all share the last one's", kOurs, "nγ a rank + P copies",
     "nγ/P + P copies"},
    {Collective::allreduce, "sorted_linear_tree", &allreduce::sorted_linear_tree, Memory::none, 0, 0, kCommutativeOnly,
     kArrivalOrder, "segments along the chain from the first to the last, results back", kProficz2018,
     "(2P + m) (α + 2nβ/m) + nγ, m segments", "P (α + nβ/m) + 2nβ", OrderUse::everywhere},
    {Collective::allreduce, "prereduced_ring", &allreduce::prereduced_ring, Memory::none, 0, 0, kCommutativeOnly,
     kArrivalOrder, "what there is time to reduce goes ahead of the ring", kProficz2018, "2(P-1) α + 2nβ + nγ",
     "ring's, down to (P + m) (α + nβ/m)", OrderUse::everywhere},
    {Collective::allreduce, "straggler_allreduce", &allreduce::straggler_allreduce, Memory::none, 0, 0,
     kCommutativeOnly, kArrivalOrder, "early ranks reduce, the last exchanges blocks for sums, which spread at once",
     "Stretto, after Devraj et al. 2025", "at most ring's", "(log P + m) (α + nβ/m) + nγ / log P, m blocks",
     OrderUse::everywhere},
    {Collective::allreduce, "rendezvous_tree", &allreduce::rendezvous_tree, Memory::none, 0, 0, kCommutativeOnly,
     kArrivalOrder, "partial results meet as they come, by one-sided atomics, then a broadcast", kOurs,
     "2 log P (α + nβ) + log P nγ", "(1 + log P) (α + nβ) + nγ", OrderUse::none, !kAhead, kWords},
    {Collective::reduce, "binomial", &reduce::binomial, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "partial results climb a binomial tree", kThakur, "log P (α + nβ + nγ)", "log P (α + nβ + nγ)"},
    {Collective::reduce, "reduce_scatter_gather", &reduce::reduce_scatter_gather, Memory::none, 0, 0, kCommutativeOnly,
     kDeterministic, "reduce-scatter by halving, then gather", kThakur, "2 log P α + 2nβ + nγ", "2 log P α + 2nβ + nγ"},
    {Collective::reduce, "slot_gather", &reduce::slot_gather, Memory::board, 0, Board::kSlotBytes, kAnyOperation,
     kDeterministic, "everybody leaves its data in its slot, the root reads all", kOurs, "a copy; P nγ in the root",
     "nγ"},
    {Collective::reduce, "arrival_leader", &reduce::arrival_leader, Memory::board, 0, Board::kSlotBytes, kAnyOperation,
     kArrivalOrder, "the first to arrive reduces whoever comes, the root takes the result", kThesis4, "P nγ + a copy",
     "nγ + a copy"},
    {Collective::reduce, "arrival_chain", &reduce::arrival_chain, Memory::board, 0, 0, kCommutativeOnly, kArrivalOrder,
     "a chain in the order of arrival, the last tells the root", kThesis5, "P (α + nβ + nγ)", "2 (α + nβ) + nγ"},
    {Collective::reduce, "arrival_stripes", &reduce::arrival_stripes, Memory::pool, 0, 0, kCommutativeOnly,
     kArrivalOrder, "each adds its chunks as it comes, and leaves", kOurs, "nγ a rank + one copy", "nγ/P + one copy"},
    {Collective::reduce, "clairvoyant", &reduce::clairvoyant, Memory::none, 0, 0, kCommutativeOnly, kArrivalOrder,
     "a schedule from known arrivals: the two that are ready first meet", "Marendic et al. 2016",
     "log P (α + nβ + nγ), less in m segments", "α + nβ + nγ/m", OrderUse::everywhere},
    {Collective::reduce, "rendezvous_tree", &reduce::rendezvous_tree, Memory::none, 0, 0, kCommutativeOnly,
     kArrivalOrder, "any two that have partial results meet, by one-sided atomics", kOurs, "log P (3α + nβ + nγ)",
     "3α + nβ + nγ", OrderUse::none, !kAhead, kWords},
    {Collective::reduce, "rebalanced_tree", &reduce::rebalanced_tree, Memory::none, 0, 0, kCommutativeOnly,
     kArrivalOrder, "binomial, siblings combine while their parent is away", "Marendic et al. 2012",
     "log P (3α + nβ + nγ)", "(1 + depth of the last) (3α + nβ + nγ)"},
    {Collective::reduce, "event_chain", &reduce::event_chain, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "segments go up a chain as contributions come, from each child by itself", kLuo,
     "(depth + m c) (α + nβ/m) + c nγ, m segments, c children", "(depth + m) (α + nβ/m)"},
    {Collective::reduce, "event_binary", &reduce::event_binary, Memory::none, 0, 0, kCommutativeOnly, kArrivalOrder,
     "segments go up a binary tree as contributions come, from each child by itself", kLuo,
     "(depth + m c) (α + nβ/m) + c nγ, m segments, c children", "(depth + m) (α + nβ/m)"},
    {Collective::reduce, "event_binomial", &reduce::event_binomial, Memory::none, 0, 0, kAnyOperation, kArrivalOrder,
     "segments go up a binomial tree as contributions come, from each child by itself", kLuo,
     "(depth + m c) (α + nβ/m) + c nγ, m segments, c children", "(depth + m) (α + nβ/m)"},
    {Collective::reduce, "event_knomial", &reduce::event_knomial, Memory::none, 0, 0, kAnyOperation, kArrivalOrder,
     "segments go up a 4-nomial tree as contributions come, from each child by itself", kLuo,
     "(depth + m c) (α + nβ/m) + c nγ, m segments, c children", "(depth + m) (α + nβ/m)"},
    {Collective::reduce, "event_topology", &reduce::event_topology, Memory::none, 0, 0, kCommutativeOnly, kArrivalOrder,
     "segments go up a tree that crosses each cable once, as contributions come", kLuo,
     "(depth + m c) (α + nβ/m) + c nγ, m segments, c children", "(depth + m) (α + nβ/m)"},
    {Collective::reduce, "waitall_chain", &reduce::waitall_chain, Memory::none, 0, 0, kCommutativeOnly, kDeterministic,
     "segments go up a chain, from all children before the next", kLuo,
     "(depth + m c) (α + nβ/m) + c nγ, m segments, c children", "(depth + m c) (α + nβ/m)"},
    {Collective::reduce, "waitall_binary", &reduce::waitall_binary, Memory::none, 0, 0, kCommutativeOnly,
     kDeterministic, "segments go up a binary tree, from all children before the next", kLuo,
     "(depth + m c) (α + nβ/m) + c nγ, m segments, c children", "(depth + m c) (α + nβ/m)"},
    {Collective::reduce, "waitall_binomial", &reduce::waitall_binomial, Memory::none, 0, 0, kCommutativeOnly,
     kDeterministic, "segments go up a binomial tree, from all children before the next", kLuo,
     "(depth + m c) (α + nβ/m) + c nγ, m segments, c children", "(depth + m c) (α + nβ/m)"},
    {Collective::reduce, "waitall_knomial", &reduce::waitall_knomial, Memory::none, 0, 0, kCommutativeOnly,
     kDeterministic, "segments go up a 4-nomial tree, from all children before the next", kLuo,
     "(depth + m c) (α + nβ/m) + c nγ, m segments, c children", "(depth + m c) (α + nβ/m)"},
    {Collective::bcast, "binomial", &bcast::binomial, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "data spreads along a binomial tree", kThakur, "log P (α + nβ)", "log P (α + nβ)"},
    {Collective::bcast, "scatter_allgather", &bcast::scatter_allgather, Memory::none, 0, 0, kAnyOperation,
     kDeterministic, "scatter along a tree, allgather around a ring", kThakur, "(log P + P - 1) α + 2nβ",
     "(log P + P - 1) α + 2nβ"},
    {Collective::bcast, "arrival_copy", &bcast::arrival_copy, Memory::pool, Board::kSlotBytes + 1, 0, kAnyOperation,
     kDeterministic, "the root leaves the data in shared memory and goes on", "Alizadeh 2021, section 4.3", "P copies",
     "one copy"},
    {Collective::bcast, "arrival_ordered", &bcast::arrival_ordered, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "those who have announced themselves, round by round", kPatarasuk, "log P (α + nβ)", "3α + nβ"},
    {Collective::bcast, "arrival_ordered_nonblocking", &bcast::arrival_ordered_nonblocking, Memory::none, 0, 0,
     kAnyOperation, kDeterministic, "the same in segments, newcomers are served between them", kPatarasuk,
     "(m + 2 log P) (α + 2nβ/m), m segments", "2α + m (α + nβ/m)"},
    {Collective::bcast, "event_chain", &bcast::event_chain, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "segments go down a chain as they come, to each child by itself", kLuo,
     "(depth + m c) (α + nβ/m), m segments, c children", "m (α + nβ/m)"},
    {Collective::bcast, "event_binary", &bcast::event_binary, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "segments go down a binary tree as they come, to each child by itself", kLuo,
     "(depth + m c) (α + nβ/m), m segments, c children", "m (α + nβ/m)"},
    {Collective::bcast, "event_binomial", &bcast::event_binomial, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "segments go down a binomial tree as they come, to each child by itself", kLuo,
     "(depth + m c) (α + nβ/m), m segments, c children", "m (α + nβ/m)"},
    {Collective::bcast, "event_knomial", &bcast::event_knomial, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "segments go down a 4-nomial tree as they come, to each child by itself", kLuo,
     "(depth + m c) (α + nβ/m), m segments, c children", "m (α + nβ/m)"},
    {Collective::bcast, "event_topology", &bcast::event_topology, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "segments go down a tree that crosses each cable once, to each child by itself", kLuo,
     "(depth + m c) (α + nβ/m), m segments, c children", "m (α + nβ/m)"},
    {Collective::bcast, "waitall_chain", &bcast::waitall_chain, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "segments go down a chain, to all children before the next", kLuo,
     "(depth + m c) (α + nβ/m), m segments, c children", "(depth + m c) (α + nβ/m)"},
    {Collective::bcast, "waitall_binary", &bcast::waitall_binary, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "segments go down a binary tree, to all children before the next", kLuo,
     "(depth + m c) (α + nβ/m), m segments, c children", "(depth + m c) (α + nβ/m)"},
    {Collective::bcast, "waitall_binomial", &bcast::waitall_binomial, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "segments go down a binomial tree, to all children before the next", kLuo,
     "(depth + m c) (α + nβ/m), m segments, c children", "(depth + m c) (α + nβ/m)"},
    {Collective::bcast, "waitall_knomial", &bcast::waitall_knomial, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "segments go down a 4-nomial tree, to all children before the next", kLuo,
     "(depth + m c) (α + nβ/m), m segments, c children", "(depth + m c) (α + nβ/m)"},
    {Collective::barrier, "dissemination", &barrier::dissemination, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "word of arrivals spreads, doubling each round", "Hensgen, Finkel, Manber 1988", "log P α", "log P α"},
    {Collective::barrier, "slot_exchange", &barrier::slot_exchange, Memory::board, 0, 0, kAnyOperation, kDeterministic,
     "everybody looks at everybody's flag in shared memory", kOurs, "P line transfers a rank", "one line transfer"},
    {Collective::barrier, "arrival_count", &barrier::arrival_count, Memory::board, 0, 0, kAnyOperation, kDeterministic,
     "the last to arrive tells everybody", kOurs, "P atomic additions", "one line transfer"},
    {Collective::scatter, "linear", &scatter::linear, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "the root sends to one rank after the other", kProficz, "P (α + nβ)", "P (α + nβ)"},
    {Collective::scatter, "sorted_linear", &scatter::linear, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "linear, those first that are expected first", kProficz, "P (α + nβ)", "α + nβ", OrderUse::root_only},
    {Collective::scatter, "background_sorted_linear", &scatter::linear, Memory::none, 0, 0, kAnyOperation,
     kDeterministic, "sorted linear, received before a rank arrives", kProficz, "P (α + nβ)", "a copy",
     OrderUse::root_only, kAhead},
    {Collective::scatter, "linear_nonblocking", &scatter::linear_nonblocking, Memory::none, 0, 0, kAnyOperation,
     kDeterministic, "the root sends to all ranks at once", kOurs, "α + P nβ", "α + nβ"},
    {Collective::scatter, "background_linear_nonblocking", &scatter::linear_nonblocking, Memory::none, 0, 0,
     kAnyOperation, kDeterministic, "all at once, received before a rank arrives", kOurs, "α + P nβ", "a copy",
     OrderUse::none, kAhead},
    {Collective::scatter, "announced_linear", &scatter::announced_linear, Memory::none, 0, 0, kAnyOperation,
     kDeterministic, "ranks announce themselves, the root serves who is there", kOurs, "P (α + nβ)", "2α + nβ"},
    {Collective::scatter, "binomial", &scatter::binomial, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "halves travel down a binomial tree", kProficz, "log P α + P nβ", "log P α + P nβ"},
    {Collective::scatter, "sorted_binomial", &scatter::binomial, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "binomial, those that are expected first near the top", kProficz, "log P α + P nβ", "α + nβ",
     OrderUse::everywhere},
    {Collective::scatter, "background_sorted_binomial", &scatter::binomial, Memory::none, 0, 0, kAnyOperation,
     kDeterministic, "sorted binomial, passed on before a rank arrives", kProficz, "log P α + P nβ", "a copy",
     OrderUse::everywhere, kAhead},
    {Collective::scatter, "arrival_copy", &scatter::arrival_copy, Memory::pool, Board::kSlotBytes + 1, 0, kAnyOperation,
     kDeterministic, "the root leaves all blocks in shared memory and goes on", kOurs, "P copies", "one copy"},
    {Collective::scatter, "two_level", &scatter::two_level, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "one message to each node, whose leader hands out the blocks", kOurs, "2α + P nβ", "2α + 2q nβ, q ranks a node"},
    {Collective::gather, "linear", &gather::linear, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "the root takes from one rank after the other", kProficz, "P (α + nβ)", "P (α + nβ)"},
    {Collective::gather, "linear_synchronised", &gather::linear_synchronised, Memory::none, 0, 0, kAnyOperation,
     kDeterministic, "the root asks one rank after the other", kProficz, "P (3α + nβ)", "P (3α + nβ)"},
    {Collective::gather, "sorted_linear_synchronised", &gather::linear_synchronised, Memory::none, 0, 0, kAnyOperation,
     kDeterministic, "the root asks those first that are expected first", kProficz, "P (3α + nβ)", "3α + nβ",
     OrderUse::root_only},
    {Collective::gather, "background_sorted_linear_synchronised", &gather::linear_synchronised, Memory::none, 0, 0,
     kAnyOperation, kDeterministic, "sorted, asked before the root arrives", kProficz, "P (3α + nβ)", "3α + nβ",
     OrderUse::root_only, kAhead},
    {Collective::gather, "linear_nonblocking", &gather::linear_nonblocking, Memory::none, 0, 0, kAnyOperation,
     kDeterministic, "the root takes from all ranks at once", kOurs, "α + P nβ", "α + nβ"},
    {Collective::gather, "background_linear_nonblocking", &gather::linear_nonblocking, Memory::none, 0, 0,
     kAnyOperation, kDeterministic, "all at once, received before the root arrives", kOurs, "α + P nβ", "α + nβ",
     OrderUse::none, kAhead},
    {Collective::gather, "announced_linear", &gather::announced_linear, Memory::none, 0, 0, kAnyOperation,
     kDeterministic, "ranks announce themselves, the root takes from two at a time", kOurs, "P (α + nβ)", "2α + nβ"},
    {Collective::gather, "background_announced_linear", &gather::announced_linear, Memory::none, 0, 0, kAnyOperation,
     kDeterministic, "the same, taken before the root arrives", kOurs, "P (α + nβ)", "2α + nβ", OrderUse::none, kAhead},
    {Collective::gather, "binomial", &gather::binomial, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "blocks climb a binomial tree", kProficz, "log P α + P nβ", "log P α + P nβ"},
    {Collective::gather, "sorted_binomial", &gather::binomial, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "binomial, those that are expected first send first", kProficz, "log P α + P nβ", "log P α + P nβ",
     OrderUse::everywhere},
    {Collective::gather, "background_sorted_binomial", &gather::binomial, Memory::none, 0, 0, kAnyOperation,
     kDeterministic, "sorted binomial, received before a rank arrives", kProficz, "log P α + P nβ", "α + P/2 nβ",
     OrderUse::everywhere, kAhead},
    {Collective::gather, "arrival_copy", &gather::arrival_copy, Memory::pool, Board::kSlotBytes + 1, 0, kAnyOperation,
     kDeterministic, "ranks leave their blocks and go, the root takes what has come", kOurs, "P copies", "two copies"},
    {Collective::gather, "two_level", &gather::two_level, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "one message from each node, whose leader collects the blocks", kOurs, "2α + P nβ",
     "2α + (q + 1) nβ, q ranks a node"},
    {Collective::scatterv, "linear", &scatter::linear, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "the root sends to one rank after the other", kProficz, "P α + Nβ", "P α + Nβ"},
    {Collective::scatterv, "sorted_linear", &scatter::linear, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "linear, those first that are expected first", kProficz, "P α + Nβ", "α + nβ", OrderUse::root_only},
    {Collective::scatterv, "linear_nonblocking", &scatter::linear_nonblocking, Memory::none, 0, 0, kAnyOperation,
     kDeterministic, "the root sends to all ranks at once", kOurs, "α + Nβ", "α + nβ"},
    {Collective::scatterv, "announced_linear", &scatter::announced_linear, Memory::none, 0, 0, kAnyOperation,
     kDeterministic, "ranks announce themselves, the root serves who is there", kOurs, "P α + Nβ", "2α + nβ"},
    {Collective::gatherv, "linear", &gather::linear, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "the root takes from one rank after the other", kProficz, "P α + Nβ", "P α + Nβ"},
    {Collective::gatherv, "linear_synchronised", &gather::linear_synchronised, Memory::none, 0, 0, kAnyOperation,
     kDeterministic, "the root asks one rank after the other", kProficz, "3P α + Nβ", "3P α + Nβ"},
    {Collective::gatherv, "sorted_linear_synchronised", &gather::linear_synchronised, Memory::none, 0, 0, kAnyOperation,
     kDeterministic, "the root asks those first that are expected first", kProficz, "3P α + Nβ", "3α + nβ",
     OrderUse::root_only},
    {Collective::gatherv, "announced_linear", &gather::announced_linear, Memory::none, 0, 0, kAnyOperation,
     kDeterministic, "ranks announce themselves, the root takes from two at a time", kOurs, "P α + Nβ", "2α + nβ"},
    {Collective::gatherv, "linear_nonblocking", &gather::linear_nonblocking, Memory::none, 0, 0, kAnyOperation,
     kDeterministic, "the root takes from all ranks at once", kOurs, "α + Nβ", "α + nβ"},
    {Collective::allgather, "arrival_copy", &allgather::arrival_copy, Memory::pool, Board::kSlotBytes + 1, 0,
     kAnyOperation, kDeterministic, "blocks are left in shared memory and taken as they come", kQian, "P copies",
     "P copies"},
    {Collective::allgather, "ring", &allgather::ring, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "blocks go around a ring", kThakur, "P α + Nβ", "P α + Nβ"},
    {Collective::allgather, "recursive_doubling", &allgather::recursive_doubling, Memory::none, 0, 0, kAnyOperation,
     kDeterministic, "exchange of all there is with the rank 2^t away, log P rounds", kThakur, "log P α + Nβ",
     "log P α + Nβ"},
    {Collective::allgather, "bruck", &allgather::bruck, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "all there is to the rank 2^t before, log P rounds for any P", kBruck, "log P α + Nβ + N copied",
     "log P α + Nβ + N copied"},
    {Collective::allgather, "linear", &allgather::linear, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "everybody sends to everybody at once", kOurs, "α + Nβ", "α + Nβ"},
    {Collective::allgather, "arrival_ordered", &allgather::arrival_ordered, Memory::none, 0, 0, kAnyOperation,
     kDeterministic, "everybody sends first to those who have announced themselves", kQian, "2α + Nβ", "2α + Nβ"},
    {Collective::allgatherv, "ring", &allgather::ring, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "blocks go around a ring", kThakur, "P α + Nβ", "P α + Nβ"},
    {Collective::allgatherv, "recursive_doubling", &allgather::recursive_doubling, Memory::none, 0, 0, kAnyOperation,
     kDeterministic, "exchange of all there is with the rank 2^t away, log P rounds", kThakur, "log P α + Nβ",
     "log P α + Nβ"},
    {Collective::allgatherv, "bruck", &allgather::bruck, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "all there is to the rank 2^t before, log P rounds for any P", kBruck, "log P α + Nβ + N copied",
     "log P α + Nβ + N copied"},
    {Collective::allgatherv, "linear", &allgather::linear, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "everybody sends to everybody at once", kOurs, "α + Nβ", "α + Nβ"},
    {Collective::allgatherv, "arrival_ordered", &allgather::arrival_ordered, Memory::none, 0, 0, kAnyOperation,
     kDeterministic, "everybody sends first to those who have announced themselves", kQian, "2α + Nβ", "2α + Nβ"},
    {Collective::reduce_scatter_block, "ring", &reduce_scatter::ring, Memory::none, 0, 0, kCommutativeOnly,
     kDeterministic, "partial sums go around a ring to where they belong", "Patarasuk, Yuan 2009", "P α + Nβ + Nγ",
     "P α + Nβ + Nγ"},
    {Collective::reduce_scatter_block, "recursive_halving", &reduce_scatter::recursive_halving, Memory::none, 0, 0,
     kCommutativeOnly, kDeterministic, "two ranks share what they have to reduce, log P rounds", kThakur,
     "log P α + Nβ + Nγ", "log P α + Nβ + Nγ"},
    {Collective::reduce_scatter_block, "pairwise", &reduce_scatter::pairwise, Memory::none, 0, 0, kAnyOperation,
     kDeterministic, "everybody takes its own block from one rank after the other", kThakur, "P α + Nβ + Nγ",
     "P α + Nβ + Nγ"},
    {Collective::reduce_scatter, "ring", &reduce_scatter::ring, Memory::none, 0, 0, kCommutativeOnly, kDeterministic,
     "partial sums go around a ring to where they belong", "Patarasuk, Yuan 2009", "P α + Nβ + Nγ", "P α + Nβ + Nγ"},
    {Collective::reduce_scatter, "recursive_halving", &reduce_scatter::recursive_halving, Memory::none, 0, 0,
     kCommutativeOnly, kDeterministic, "two ranks share what they have to reduce, log P rounds", kThakur,
     "log P α + Nβ + Nγ", "log P α + Nβ + Nγ"},
    {Collective::reduce_scatter, "pairwise", &reduce_scatter::pairwise, Memory::none, 0, 0, kAnyOperation,
     kDeterministic, "everybody takes its own block from one rank after the other", kThakur, "P α + Nβ + Nγ",
     "P α + Nβ + Nγ"},
    {Collective::alltoall, "arrival_copy", &alltoall::arrival_copy, Memory::pool, Board::kSlotBytes + 1, 0,
     kAnyOperation, kDeterministic, "blocks are left in shared memory and taken as they come", kQian, "2P copies",
     "2P copies"},
    {Collective::alltoall, "pairwise", &alltoall::pairwise, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "in step t to the rank t after, from the rank t before", kThakur, "P α + Nβ", "P α + Nβ"},
    {Collective::alltoall, "linear", &alltoall::linear, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "everybody sends to everybody at once", kOurs, "α + Nβ", "α + Nβ"},
    {Collective::alltoall, "bruck", &alltoall::bruck, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "blocks go in as many hops as their way has bits, many at a time", kBruck, "log P (α + Nβ/2)", "log P (α + Nβ/2)"},
    {Collective::alltoall, "arrival_ordered", &alltoall::arrival_ordered, Memory::none, 0, 0, kAnyOperation,
     kDeterministic, "everybody sends first to those who have announced themselves", kQian, "2α + Nβ", "2α + Nβ"},
    {Collective::alltoallv, "pairwise", &alltoall::pairwise, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "in step t to the rank t after, from the rank t before", kThakur, "P α + Nβ", "P α + Nβ"},
    {Collective::alltoallv, "linear", &alltoall::linear, Memory::none, 0, 0, kAnyOperation, kDeterministic,
     "everybody sends to everybody at once", kOurs, "α + Nβ", "α + Nβ"},
    {Collective::alltoallv, "arrival_ordered", &alltoall::arrival_ordered, Memory::none, 0, 0, kAnyOperation,
     kDeterministic, "everybody sends first to those who have announced themselves", kQian, "2α + Nβ", "2α + Nβ"},
};

// How many bytes of a message one run of the algorithm can take.
std::size_t window_bytes(Group& g, const Algorithm& algorithm, const Call& call) {
  if (algorithm.max_bytes > 0) return algorithm.max_bytes;
  const bool through_pool = algorithm.memory == Memory::pool && call.bytes() > 0;
  if (!through_pool) return std::max<std::size_t>(call.bytes(), 1);
  const bool uses_slots = algorithm.pool_from > 0;
  return std::max(g.board().pool_window() / algorithm.messages_in_pool(g.size()),
                  uses_slots ? Board::kSlotBytes / algorithm.blocks_of_rank(g.size()) : 0);
}

}  // namespace

std::string_view name_of(Collective collective) {
  constexpr std::string_view kNames[] = {"allreduce",
                                         "reduce",
                                         "bcast",
                                         "barrier",
                                         "scatter",
                                         "gather",
                                         "scatterv",
                                         "gatherv",
                                         "allgather",
                                         "allgatherv",
                                         "reduce_scatter_block",
                                         "reduce_scatter",
                                         "alltoall",
                                         "alltoallv"};
  return kNames[static_cast<std::size_t>(collective)];
}

std::span<const Algorithm> algorithms() { return kAlgorithms; }

Task run_algorithm(Group& g, const Algorithm& algorithm, Call call) {
  if (algorithm.order_use == OrderUse::none) call.order = nullptr;
  if (algorithm.uses_words && call.number == 0) call.number = g.endpoint().words->number_next_call();
  if (algorithm.map != nullptr) {
    co_await run_mapped(g, algorithm, call);
    co_return;
  }
  if (algorithm.pipelining.cuts()) {
    co_await run_pipelined(g, algorithm, call);
    co_return;
  }
  if (algorithm.hierarchy != nullptr) {
    co_await run_hierarchical(g, algorithm, call);
    co_return;
  }
  if (algorithm.memory == Memory::none) {
    co_await algorithm.run(g, call);
    co_return;
  }
  Board& board = g.board();
  const std::size_t window = std::max<std::size_t>(1, window_bytes(g, algorithm, call) / call.element_bytes);
  std::size_t start = 0;
  do {
    const Call part = part_of(call, {start, std::min(window, call.count - start)});
    board.begin(start == 0);
    if (!board.may_enter()) co_await board.enter(g);
    co_await algorithm.run(g, part);
    board.leave(g);
    start += part.count;
  } while (start < call.count);
}

}  // namespace stretto
