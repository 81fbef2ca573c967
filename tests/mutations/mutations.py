"""Defects that `make test` must find: in each a passage of the sources is replaced, and one test has to fail.

`make mutations` plants them one after the other (mutate.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Mutation:
    """`test`: a C++ test with GoogleTest's filter, or `pytest` with what it is told to run, both run by `make test`.
    `sanitize`: what the C++ test is built with."""

    defect: str
    file: str
    passage: str
    replaced_by: str
    test: tuple[str, str]
    sanitize: str = ""


MUTATIONS = (
    Mutation(
        "a wrong root",
        "src/algorithms/bcast/binomial.cpp",
        "absolute_rank(me - up, call.root, p)",
        "absolute_rank(me - up, 0, p)",
        ("sim_test", "*/bcast_binomial"),
    ),
    Mutation(
        "a lost segment",
        "src/compose/pipelining.cpp",
        "segment < segments; segment += kLanes",
        "segment + 1 < segments; segment += kLanes",
        ("derived_test", "*EveryPipelinedAlgorithm*/bcast_binomial*"),
    ),
    Mutation(
        "a missing fence",
        "src/transport/shm/mailboxes.cpp",
        "target.filled.store(number, std::memory_order_release)",
        "target.filled.store(number, std::memory_order_relaxed)",
        ("threads_test", "*OnThreads*/bcast_binomial"),
        sanitize="thread",
    ),
    Mutation(
        "a stale generation",
        "src/board/board.cpp",
        "must_have_left_ = std::exchange(places_[place].call, call_);",
        "must_have_left_ = std::max<std::uint64_t>(std::exchange(places_[place].call, call_), 1) - 1;",
        ("sim_test", "Board.*"),
    ),
    Mutation(
        "an off-by-one in a hierarchy",
        "src/compose/block_hierarchy.cpp",
        "units_.push_back({all_.begins[unit] * call.count,",
        "units_.push_back({(all_.begins[unit] + 1) * call.count,",
        ("derived_test", "*EveryHierarchy*"),
    ),
    Mutation(
        "stripes that nodes cut by their own ranks",
        "src/compose/node_stripes.cpp",
        "static_cast<int>(nodes.most())",
        "unit_.size()",
        ("derived_test", "*EveryHierarchy*"),
    ),
    Mutation(
        "the blocks of a mate for another one",
        "src/compose/node_exchange.cpp",
        "left_by(mate, from++, place)",
        "left_by(mate, from++, mate)",
        ("derived_test", "*EveryHierarchy*"),
    ),
    Mutation(
        "a leader that does not wait for its node",
        "src/compose/node_gather.cpp",
        "    co_await all_here;\n",
        "",
        ("derived_test", "*EveryHierarchy*allgather*"),
    ),
    Mutation(
        "a block in the pool by its own length",
        "src/board/arrived_blocks.hpp",
        "call.blocks == nullptr ? left : longest",
        "std::min(left, longest)",
        ("sim_test", "*allgatherv_arrival_copy"),
    ),
    Mutation(
        "the same part of an own block twice",
        "src/catalogue/run.cpp",
        "    call.input += offset(call, mine);\n",
        "",
        ("sim_test", "*EveryAlgorithmWithAPool*allgatherv*"),
    ),
    Mutation(
        "a window longer than its memory",
        "src/catalogue/run.cpp",
        "g.board().pool_window() / algorithm.messages_in_pool(g.size(), nodes)",
        "g.board().pool_window() / static_cast<std::size_t>(nodes)",
        ("sim_test", "*EveryAlgorithmWithAPool*"),
    ),
    Mutation(
        "operands the wrong way round",
        "src/algorithms/reduce/binomial.cpp",
        "g.reduce(call, accumulator, theirs, call.count);\n    std::swap(accumulator, theirs);",
        "g.reduce(call, theirs, accumulator, call.count);",
        ("sim_test", "*/reduce_binomial"),
    ),
    Mutation(
        "no block of one's own",
        "src/algorithms/allgather/ring.cpp",
        "  put_own_block(g, call);\n",
        "",
        ("sim_test", "*/allgather_ring"),
    ),
    Mutation(
        "a message in another's cell",
        "src/transport/shm/mailboxes.cpp",
        "static_cast<std::size_t>(ranks_) + static_cast<std::size_t>(to);",
        "static_cast<std::size_t>(ranks_) + static_cast<std::size_t>(to) / 2;",
        ("scheduled_test", "*/scatter_linear"),
    ),
    Mutation(
        "a message taken twice",
        "src/transport/shm/mailboxes.cpp",
        "  early.erase(match);\n",
        "",
        ("scheduled_test", "Mailboxes.*"),
    ),
    Mutation(
        "a root that is not compared between ranks",
        "src/board/ledger.cpp",
        "static_cast<std::uint64_t>(static_cast<std::uint32_t>(call.root)) << kRootAt |\n",
        "\n",
        ("threads_test", "Ledger.*"),
    ),
    Mutation(
        "a ring that reaches nobody",
        "src/transport/shm/doorbell.cpp",
        "return any ? static_cast<int>",
        "return !any ? static_cast<int>",
        ("doorbell_test", "*"),
    ),
    Mutation(
        "memory of a freed communicator's calls in a new one",
        "src/mpi/engine/node_share.cpp",
        "  needed.clear(arena.memory_of(*part));\n",
        "",
        ("pytest", "tests/mpi/test_mpi_semantics.py -k 'test_first_calls or test_memory_of_the_node'"),
    ),
    Mutation(
        "settings that are not compared between ranks",
        "src/select/configuration.cpp",
        "  return hash.value();\n}\n\nConfiguration read_configuration",
        "  return 0;\n}\n\nConfiguration read_configuration",
        ("pytest", "tests/interposition/test_configuration.py -k test_different_settings"),
    ),
    Mutation(
        "a root beyond the last rank",
        "src/mpi/calls/interception.hpp",
        "root >= 0 && root < communicator_->size",
        "root >= 0",
        ("pytest", "tests/mpi/test_mpi_semantics.py -k test_same_errors_as_native"),
    ),
    Mutation(
        "an algorithm that is not deterministic where one was asked for",
        "src/select/rules.cpp",
        "(algorithm->deterministic || !configuration.deterministic)",
        "(algorithm->deterministic || configuration.deterministic)",
        ("pytest", "tests/mpi/test_mpi_semantics.py -k test_deterministic"),
    ),
    Mutation(
        "a pool that some ranks do not have",
        "src/mpi/calls/interception.cpp",
        "call)) return engine.ensure_pool(*bytes);",
        "call)) engine.ensure_pool(*bytes);",
        ("pytest", "tests/interposition/test_configuration.py -k test_one_rank_is_refused"),
    ),
    Mutation(
        "a debt that lasts",
        "src/select/promise_account.hpp",
        "promised_ns() - (in_debt() ? risked_ns_ : owed_ns_)",
        "promised_ns() - owed_ns_",
        ("configuration_test", "Promise.*"),
    ),
    Mutation(
        "a request that ends before its call",
        "src/mpi/engine/in_flight.cpp",
        "    if (!call->task->done()) return false;\n    call->prepared->end();",
        "    if (!call->task->done()) {\n      proxies_.complete(call->tag);\n      return false;\n    }\n"
        "    call->prepared->end();",
        ("pytest", "tests/mpi/test_non_blocking.py -k test_each_algorithm_is_right"),
    ),
    Mutation(
        "a known call that does not ask experience",
        "src/mpi/calls/known_calls.cpp",
        "experience != nullptr && experience->verdict() != known->entered.verdict",
        "experience == nullptr && known->entered.bytes == SIZE_MAX",
        ("pytest", "tests/mpi/test_adaptation.py -k both_arms"),
    ),
    Mutation(
        "blocks copied once from a rank whose memory cannot be read",
        "src/select/node_rule.cpp",
        "facts.ranks == 2 && facts.single_copy",
        "facts.ranks == 2",
        ("pytest", "tests/mpi/test_mpi_semantics.py -k copy_long_blocks_once"),
    ),
    Mutation(
        "what a rules file has measured is tried anew",
        "src/select/rules.cpp",
        "adapt == Adapt::automatic && was_measured(facts)",
        "adapt == Adapt::watch && was_measured(facts)",
        ("configuration_test", "TunedRules.*"),
    ),
)
