"""`stretto sim`: the same whenever it is asked, and what formulas and `stretto model` say where nothing contends."""

import dataclasses
import math
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from mpi_jobs import processes_with
from simulated import figures, predict

from stretto.bench.request import Request, UsageError
from stretto.library import library_directory
from stretto.simulate import model
from stretto.simulate.sim import PLACEMENTS, PLATFORMS, hosts_of_ranks, locate_simulation, main, nodes_by_mapper

# Of the platform ethernet-48: two cables on the way, of which SimGrid's messages fill 96.5 %.
ALPHA_NS = 24_000
BETA_NS = 1e9 / (0.965 * 125e6)


def _why_not() -> str:
    if shutil.which("smpirun") is None:
        return "needs SimGrid and scripts/build_sim.sh"
    try:
        locate_simulation()
    except UsageError as missing:
        return str(missing)
    return ""


needs_simgrid = pytest.mark.skipif(bool(_why_not()), reason=_why_not())


def simulate(folder: Path, *arguments: str) -> Any:
    return predict(main, folder, *arguments)


@needs_simgrid
@pytest.mark.parametrize(
    ("collective", "platform"), [("allreduce", "ethernet-48"), ("reduce", "cluster-32x4"), ("bcast", "fat-tree-128x32")]
)
def test_the_same_seed_gives_the_same_bytes(tmp_path: Path, collective: str, platform: str) -> None:
    arguments = [collective, "--platform", platform, "--ranks", "12", "--sizes", "8,40K", "--arrival", "uniform:200us"]
    texts = []
    for seed in ("7", "7", "8"):
        output = tmp_path / "out.json"
        assert main([*arguments, "--iterations", "2", "--seed", seed, "--json", str(output)]) == 0
        texts.append(output.read_bytes())
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]


@needs_simgrid
@pytest.mark.parametrize("ranks", [16, 48])
def test_a_broadcast_by_blocks_takes_what_its_formula_says(tmp_path: Path, ranks: int) -> None:
    """(log P + P - 1) latencies and twice the bytes: the root's cable bounds the scatter, everyone's the ring."""
    arguments = ["bcast", "--algorithms", "scatter_allgather", "--sizes", "8M", "--root", "0", "--ranks", str(ranks)]
    times = figures(simulate(tmp_path, *arguments), "scatter_allgather")
    latencies = math.ceil(math.log2(ranks)) + ranks - 1
    expected = latencies * ALPHA_NS + 2 * (8 << 20) * (ranks - 1) / ranks * BETA_NS
    assert times["run_time"] == pytest.approx(expected, rel=0.02)


@needs_simgrid
@pytest.mark.parametrize("arrival", ["balanced", "one-late:2ms"])
@pytest.mark.parametrize(("algorithm", "size"), [("recursive_doubling", "8"), ("rabenseifner", "4M"), ("ring", "16M")])
def test_the_model_agrees_where_nothing_contends(tmp_path: Path, algorithm: str, size: str, arrival: str) -> None:
    arguments = ["allreduce", "--algorithms", algorithm, "--ranks", "16", "--sizes", size, "--arrival", arrival]
    simulated = figures(simulate(tmp_path, *arguments), algorithm)
    costs = ["--alpha", str(ALPHA_NS), "--beta", str(BETA_NS), "--gamma", "0", "--delta", "0"]
    modelled = figures(predict(model.main, tmp_path, *arguments, *costs), algorithm)
    for metric in ("run_time", "lag", "elapsed"):
        assert simulated[metric] == pytest.approx(modelled[metric], rel=0.05)


@needs_simgrid
def test_a_published_linear_scatter(tmp_path: Path) -> None:
    """8 MB from one of 48 nodes on 1 Gbit Ethernet: 65 ms (Proficz 2020); the root's cable is the bound."""
    block = 166_664
    words = ["scatter", "--sizes", str(block), "--algorithms", "native", "--native-algorithm", "ompi_basic_linear"]
    content = simulate(tmp_path, *words, "--root", "0", "--iterations", "1")
    lag = figures(content, "native")["lag"]
    assert lag == pytest.approx(47 * block * BETA_NS, rel=0.03)
    assert lag == pytest.approx(65e6, rel=0.03)


@needs_simgrid
def test_work_is_charged(tmp_path: Path) -> None:
    arguments = ["allreduce", "--algorithms", "recursive_doubling", "--ranks", "8", "--sizes", "64K"]
    free = figures(simulate(tmp_path, *arguments), "recursive_doubling")
    charged = figures(simulate(tmp_path, *arguments, "--gamma", "3"), "recursive_doubling")
    assert charged["run_time"] - free["run_time"] == pytest.approx(3 * (64 << 10) * 3, rel=1e-3)


@needs_simgrid
def test_work_in_memory_that_ranks_share_is_charged(tmp_path: Path) -> None:
    """Four ranks read four slots each: one copy and three reductions of n bytes, and a copy into the slot before."""
    words = ["allreduce", "--algorithms", "slot_exchange", "--platform", "cluster-32x4", "--ranks", "4"]
    content = simulate(tmp_path, *words, "--sizes", "16K", "--shared-memory", "--gamma", "2", "--delta", "3")
    work = (2 * 3 + 3 * 2) * (16 << 10)
    assert figures(content, "slot_exchange")["run_time"] == pytest.approx(work, rel=0.01)


@needs_simgrid
def test_nodes_in_memory_beat_one_rank_that_speaks_for_all(tmp_path: Path) -> None:
    """Each rank of a node speaks with a quarter of the message; what the last rank brings is shared by all."""
    algorithms = [f"hierarchical({within},rabenseifner)" for within in ("arrival_stripes", "reduce_scatter_gather")]
    words = ["allreduce", "--algorithms", ",".join(algorithms), "--platform", "cluster-32x4", "--ranks", "16"]
    work = ["--shared-memory", "--gamma", "0.08", "--delta", "0.125", "--in-place"]
    content = simulate(tmp_path, *words, *work, "--sizes", "1M", "--arrival", "mif:6", "--iterations", "2")
    for name in algorithms:
        assert set(content["sizes"][0]["summary"]["algorithms"][name]["ran"]) == {name}
    lags = [figures(content, name)["lag"] for name in algorithms]
    assert lags[0] < 0.6 * lags[1]


@needs_simgrid
@pytest.mark.parametrize(("collective", "sizes"), [("allreduce", "4K,1M"), ("reduce_scatter_block", "256,4K")])
def test_the_default_is_chosen_by_what_is_found_out_of_the_simulated_machine(
    tmp_path: Path, collective: str, sizes: str
) -> None:
    """Thirty-two ranks share a cable and a memory, and each has a core."""
    words = [collective, "--algorithms", "native,default", "--platform", "fat-tree-128x32", "--ranks", "64"]
    work = ["--shared-memory", "--gamma", "0.08", "--delta", "0.125"]
    content = simulate(tmp_path, *words, *work, "--sizes", sizes)
    for size in content["sizes"]:
        (ran,) = size["summary"]["algorithms"]["default"]["ran"]
        assert ran.startswith("hierarchical(arrival_stripes,")
    assert figures(content, "default")["run_time"] < 0.8 * figures(content, "native")["run_time"]


@needs_simgrid
def test_native_is_whose_one_asks_for(tmp_path: Path) -> None:
    arguments = ["allreduce", "--algorithms", "native,ring", "--ranks", "16", "--sizes", "1M"]
    its_ring = simulate(tmp_path, *arguments, "--native-algorithm", "lr")
    assert figures(its_ring, "native")["run_time"] == pytest.approx(figures(its_ring, "ring")["run_time"], rel=0.02)
    choices = {
        figures(simulate(tmp_path, *arguments, "--selector", selector), "native")["run_time"]
        for selector in ("ompi", "mvapich2", "default")
    }
    assert len(choices) > 1


def test_sockets_are_filled_or_take_ranks_in_turn() -> None:
    request = Request("allreduce", ("ring",), (8,), (1,), ranks=48)
    placed = {
        placement: hosts_of_ranks(request, dataclasses.replace(PLATFORMS["fat-tree-128x32"], placement=placement))
        for placement in PLACEMENTS
    }
    assert placed["by-core"][14:18] == ["node-0-0", "node-0-0", "node-0-1", "node-0-1"]
    assert placed["by-socket"][30:34] == ["node-0-0", "node-0-1", "node-1-0", "node-1-1"]
    assert placed["by-node"][30:34] == ["node-0-0", "node-1-0", "node-0-1", "node-1-1"]


@needs_simgrid
def test_the_library_knows_which_sockets_are_in_a_node(tmp_path: Path) -> None:
    """From by-node a ring crosses cables at every step; with the map once a node, and once between its sockets."""
    words = ["allreduce", "--algorithms", "ring,ring@topology", "--platform", "fat-tree-128x32", "--ranks", "64"]
    content = simulate(tmp_path, *words, "--sizes", "64K", "--placement", "by-node", "--iterations", "1")
    assert content["warnings"] == []
    assert figures(content, "ring@topology")["run_time"] < 0.3 * figures(content, "ring")["run_time"]


@needs_simgrid
def test_ranks_of_a_node_share_its_cable(tmp_path: Path) -> None:
    """Four ranks send what one sends in a quarter of the time."""
    arguments = ["allreduce", "--algorithms", "ring,recursive_doubling", "--platform", "cluster-32x4", "--sizes", "1M"]
    content = simulate(tmp_path, *arguments, "--ranks", "16")
    assert figures(content, "recursive_doubling")["run_time"] > 2 * figures(content, "ring")["run_time"]


@needs_simgrid
@pytest.mark.parametrize("collective", ["allreduce", "reduce", "bcast", "barrier"])
def test_every_algorithm_over_messages_runs(tmp_path: Path, collective: str) -> None:
    sizes = [] if collective == "barrier" else ["--sizes", "8,100K"]
    content = simulate(tmp_path, collective, "--ranks", "7", "--arrival", "mif:10", "--iterations", "1", *sizes)
    assert len(content["request"]["algorithms"]) >= 2


@needs_simgrid
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["allreduce", "--algorithms", "nonsense"], "unknown algorithm 'nonsense'"),
        (["allreduce", "--algorithms", "arrival_stripes"], "add --shared-memory"),
        (["allreduce", "--shared-memory"], "reducing and copying there would cost nothing"),
        (
            ["allreduce", "--shared-memory", "--gamma", "1", "--delta", "1", "--algorithms", "arrival_tree"],
            "48 ranks share no memory; give at most --ranks 1, or a hierarchy such as hierarchical(arrival_tree,ring)",
        ),
        (["allreduce", "--ranks", "49"], "ethernet-48 has room for 48"),
        (["allreduce", "--gamma", "-1"], "--gamma -1"),
        (["allreduce", "--platform", "cray"], "invalid choice"),
        (["allreduce", "--placement", "by-socket"], "nodes of ethernet-48 have one socket; take by-core"),
        ([], "which collective"),
    ],
)
def test_usage_errors_are_exit_code_2_with_a_reason(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


@needs_simgrid
def test_an_unknown_native_algorithm_is_answered_by_the_choices(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "allreduce",
        "--algorithms",
        "native",
        "--ranks",
        "2",
        "--sizes",
        "8",
        "--native-algorithm",
        "nonsense",
    ]
    assert main(arguments) == 1
    assert "Valid algorithms: default, lr" in capsys.readouterr().err


def test_a_missing_build_names_the_way_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRETTO_SIM_DIR", str(tmp_path))
    with pytest.raises(UsageError, match=r"scripts/build_sim\.sh"):
        locate_simulation()


def test_platforms_have_the_size_in_their_name() -> None:
    assert {name: platform.ranks for name, platform in PLATFORMS.items()} == {
        "ethernet-48": 48,
        "cluster-32x4": 128,
        "gpus-32x4": 128,
        "fat-tree-128x32": 4096,
    }


@needs_simgrid
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_nothing_stays_when_it_is_ended(number: int) -> None:
    token = f"STRETTO_TEST_JOB={uuid.uuid4()}"
    name, _, value = token.partition("=")
    command = [
        str(Path(sys.executable).with_name("stretto")),
        "sim",
        "scatter",
        "--sizes",
        "1M",
        "--iterations",
        "1000",
    ]
    process = subprocess.Popen(
        command, env={**os.environ, name: value}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    until = time.monotonic() + 60
    # The front end, smpirun, and what it simulates in.
    while len(processes_with(token)) < 3 and time.monotonic() < until:
        assert process.poll() is None, "it ended by itself"
        time.sleep(0.05)
    process.send_signal(number)
    assert process.wait(timeout=60) != 0
    assert processes_with(token) == []


def _mapper_is_built() -> bool:
    return (library_directory().parent / "bin" / "stretto-map").is_file()


@needs_simgrid
@pytest.mark.skipif(not _mapper_is_built(), reason="stretto-map is not built: it needs libscotch-dev")
@pytest.mark.parametrize("mapper", ["scotch", "greedy"])
def test_a_mapper_puts_neighbours_on_one_node(tmp_path: Path, mapper: str) -> None:
    """A ring in turn over the nodes crosses a cable with each message; placed by its traffic, once a node."""
    arguments = ["allreduce", "--algorithms", "ring", "--platform", "cluster-32x4", "--sizes", "1M", "--ranks", "32"]
    times = {
        placement: figures(simulate(tmp_path, *arguments, "--placement", placement), "ring")["run_time"]
        for placement in ("by-core", "by-node", mapper)
    }
    assert times["by-node"] > 2 * times["by-core"]
    assert times[mapper] < 1.2 * times["by-core"]


@pytest.mark.skipif(not _mapper_is_built(), reason="stretto-map is not built: it needs libscotch-dev")
def test_what_a_mapper_cannot_place(tmp_path: Path) -> None:
    platform = dataclasses.replace(PLATFORMS["cluster-32x4"], placement="scotch")
    for algorithms, message in [
        (("ring", "rabenseifner"), "name one by --algorithms"),
        (("native",), "no algorithm of allreduce that works by messages alone"),
    ]:
        with pytest.raises(UsageError, match=message):
            nodes_by_mapper(Request("allreduce", algorithms, (8,), (1,), ranks=8), platform)
    nodes = nodes_by_mapper(Request("allreduce", ("recursive_doubling",), (1 << 20,), (1,), ranks=30), platform)
    assert len(nodes) == 30
    assert set(nodes) == set(range(8)), "on as few nodes as hold them"
    assert max(Counter(nodes).values()) == 4, "no node has more than its cores"
