"""apps/asp, a program that knows no Stretto: its distances are SciPy's, whatever broadcasts its rows."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from mpi_jobs import FAMILY, LIBRARY, NATIVE_ENV, Outcome, at_most, run_job, run_mpi, stretto_env
from scipy.sparse.csgraph import csgraph_from_dense, shortest_path

Matrix = npt.NDArray[np.float32]
PROGRAM = LIBRARY.parent.parent / f"bin/stretto-asp-{FAMILY}"
SERIES = ("broadcast_least_s", "broadcast_mean_s", "broadcast_most_s")
LIMIT_S = 60

# A prime number of vertices, most of which reach most; 42 edges leave most apart; fewer vertices than ranks; one.
CONNECTED = ("--vertices", "61", "--degree", "3.5")
APART = ("--vertices", "60", "--degree", "0.7", "--seed", "5")
SMALL = ("--vertices", "3", "--degree", "1", "--seed", "2")
SINGLE = ("--vertices", "1")
FILE = """\
# Two parts, a vertex alone (7), an edge of weight 0, duplicates, and vertices in no order.
900 -4 2.5
-4\t12\t0.25
12 900
900 -4 0.75
7 7 1
33 34 0
34 35 1e-3
35 33 1e30
"""

pytestmark = pytest.mark.skipif(
    LIBRARY.exists() and not PROGRAM.exists(), reason=f"{PROGRAM.name} was not built: it needs CLI11"
)


def asp(ranks: int, *options: str | Path, env: dict[str, str] | None = None) -> Outcome:
    return run_mpi([PROGRAM, *options], ranks, NATIVE_ENV if env is None else env, limit_s=LIMIT_S)


def said(outcome: Outcome) -> list[str]:
    """What the program itself says on stderr. Launchers may put other text right behind a line."""
    return outcome.lines("stretto-asp: ")


def distances(folder: Path, ranks: int, *options: str | Path, env: dict[str, str] | None = None) -> Matrix:
    file = folder / "distances.npy"
    outcome = asp(ranks, *options, "--out", file, env=env).check()
    assert said(outcome) == []
    found: Matrix = np.load(file)
    assert found.dtype == np.float32
    return found


def by_scipy(edges: Matrix) -> npt.NDArray[np.float64]:
    """All distances where `edges` holds the weights, infinity for none."""
    # An edge of weight 0 is an edge; only infinity is none.
    graph = csgraph_from_dense(edges.astype(np.float64), null_value=np.inf)
    result: npt.NDArray[np.float64] = shortest_path(graph, method="D")
    return result


@functools.cache
def edges_of(options: Sequence[str], folder: Path) -> Matrix:
    """The weights of the generated edges, which are the distances before the first step."""
    return distances(folder, 1, *options, "--steps", "0")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("asp")


@pytest.mark.parametrize(
    ("options", "ranks"),
    [
        *((CONNECTED, ranks) for ranks in (1, 2, 3, 5, 8)),
        *((APART, ranks) for ranks in (3, 8)),
        (SMALL, 5),
        (SINGLE, 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else str(value),
)
def test_distances_are_scipys(options: tuple[str, ...], ranks: int, folder: Path) -> None:
    """Exactly: the generator's weights are whole numbers."""
    np.testing.assert_array_equal(distances(folder, ranks, *options), by_scipy(edges_of(options, folder)))


def test_generated_graphs_are_what_they_should_be(folder: Path) -> None:
    assert np.isfinite(by_scipy(edges_of(CONNECTED, folder))).mean() > 0.5
    apart = edges_of(APART, folder)
    assert np.isinf(by_scipy(apart)).mean() > 0.5
    without_edges = (np.isfinite(apart).sum(axis=0) == 1) & (np.isfinite(apart).sum(axis=1) == 1)
    assert without_edges.any()


def edges_of_file() -> Matrix:
    """FILE as the page says that it is read, by other means."""
    rows = [line.split() for line in FILE.splitlines() if not line.startswith("#")]
    ids = np.unique([int(word) for row in rows for word in row[:2]])
    edges = np.full((len(ids), len(ids)), np.inf, dtype=np.float32)
    for row in rows:
        start, end = np.searchsorted(ids, [int(word) for word in row[:2]])
        edges[start, end] = min(edges[start, end], np.float32(row[2] if len(row) > 2 else 1))
    np.fill_diagonal(edges, 0)
    return edges


@pytest.mark.parametrize(("ranks", "bcast"), ((3, None), (8, None), (1, "event_binomial"), (5, "event_binomial")))
def test_a_graph_from_a_file(ranks: int, bcast: str | None, tmp_path: Path) -> None:
    file = tmp_path / "graph.txt"
    file.write_text(FILE)
    edges = edges_of_file()
    assert edges.shape == (7, 7)
    env = stretto_env(bcast=bcast) if bcast else None
    np.testing.assert_allclose(distances(tmp_path, ranks, "--graph", file, env=env), by_scipy(edges), rtol=1e-6)


@pytest.mark.parametrize(
    ("bcast", "ran"),
    (("event_binomial", "event_binomial"), ("waitall_binomial", "waitall_binomial"), ("default", r"(?!native\b)\w+")),
)
@pytest.mark.parametrize("ranks", (3, 8))
def test_under_stretto(ranks: int, bcast: str, ran: str, folder: Path) -> None:
    file, env = folder / "stretto.npy", stretto_env(bcast=bcast, verbose=1)
    outcome = asp(ranks, *CONNECTED, "--out", file, env=env).check()
    np.testing.assert_array_equal(np.load(file), by_scipy(edges_of(CONNECTED, folder)))
    counts = re.findall(rf"^stretto: bcast: {ran} ran (\d+) times", outcome.output, re.M)
    assert sum(map(int, counts)) >= 61, outcome.output
    assert len(re.findall(r"^stretto: bcast: ", outcome.output, re.M)) == len(counts), outcome.output


def test_only_the_first_steps(folder: Path) -> None:
    """After k steps paths lead over the first k vertices only."""
    steps, edges = 20, edges_of(CONNECTED, folder)
    found = distances(folder, 3, *CONNECTED, "--steps", str(steps))
    wanted = edges.copy()
    for via in range(steps):
        wanted = np.minimum(wanted, wanted[:, via, None] + wanted[None, via])
    np.testing.assert_array_equal(found, wanted)
    assert (found != by_scipy(edges)).any()


def test_figures(tmp_path: Path) -> None:
    file = tmp_path / "asp.json"
    options = ["--vertices", "50", "--degree", "4", "--seed", "9", "--steps", "10", "--jitter-ms", "40"]
    output = asp(2, *options, "--json", file).check().output
    found: dict[str, Any] = json.loads(file.read_text())
    settings = {"ranks": at_most(2), "vertices": 50, "generated": True, "degree": 4, "seed": 9, "steps": 10}
    assert found.items() >= (settings | {"bytes_per_broadcast": 200, "jitter_ms": 40}).items()
    assert 150 < found["edges"] <= 200
    assert all(len(found[name]) == 10 and min(found[name]) >= 0 for name in SERIES)
    for least, mean, most in zip(*(found[name] for name in SERIES), strict=True):
        assert least - 1e-8 <= mean <= most + 1e-8
    assert found["communication_s"] == pytest.approx(sum(found["broadcast_mean_s"]), abs=1e-7)
    assert 0 < found["communication_s"] < found["total_s"]
    share = 100 * found["communication_s"] / found["total_s"]
    assert found["percentage"] == pytest.approx(share, rel=1e-3)
    # The jitter is in the total, and who wakes first waits in the broadcast.
    assert found["total_s"] > 0.1
    assert max(found["broadcast_most_s"]) > 1e-3
    assert "10 of 50 steps, 2 ranks, " in output
    for name, value, digits in (
        ("communication", found["communication_s"], 6),
        ("total", found["total_s"], 6),
        ("percentage", share, 2),
    ):
        (line,) = (words for words in map(str.split, output.splitlines()) if words[:1] == [name])
        assert float(line[1]) == pytest.approx(value, abs=2 * 10**-digits)


def refused(outcome: Outcome, message: str) -> None:
    assert outcome.code == 2, outcome.output
    assert said(outcome) == [message]
    assert "communication" not in outcome.output
    assert not outcome.leftovers


@pytest.mark.parametrize(
    ("text", "message"),
    (
        ("1 2\n2\n", ":2: want two vertices and at most a weight"),
        ("1 2 1\n1 3 -2\n", ":2: weight -2: want a number from 0 to 1e30"),
        ("# nothing\n", ": no edge in it: want lines `from to [weight]`"),
    ),
    ids=("short", "negative", "empty"),
)
def test_bad_files(text: str, message: str, tmp_path: Path) -> None:
    """tests/asp has more of them, without MPI."""
    file = tmp_path / "bad.txt"
    file.write_text(text)
    refused(run_job([PROGRAM, "--graph", file], {}, LIMIT_S), f"{file}{message}")


@pytest.mark.parametrize(
    ("options", "message"),
    (
        (["--steps", "60", "--vertices", "50"], "--steps 60: the graph has 50 vertices, and a step for each"),
        (["--out", "/nowhere/a"], "--out /nowhere/a: No such file or directory: name a file that rank 0 can write"),
    ),
    ids=("steps", "out"),
)
def test_one_rank_speaks_for_all(options: list[str], message: str) -> None:
    refused(asp(3, *options), message)


def test_one_rank_speaks_of_a_bad_file(tmp_path: Path) -> None:
    file = tmp_path / "bad.txt"
    file.write_text("1 2 1\n1 3 1 4\n")
    refused(asp(3, "--graph", file), f"{file}:2: want two vertices and at most a weight")


@pytest.mark.parametrize(
    ("options", "message"),
    (
        (["--vertices", "0"], "--vertices 0: give a number from 1 to 1000000"),
        (["--steps", "-1"], "--steps -1: give a number from 0 to 1000000"),
        (["--jitter-ms", "nan"], "--jitter-ms nan: give a number from 0 to 60000"),
        (["--seed", "-1"], "--seed -1: give a number that is not negative"),
        (["--graph", "/nowhere"], "--graph /nowhere: No such file or directory: name a file that rank 0 can read"),
        (["--graph", "/"], "/: cannot be read: is it a file?"),
        (["--json", "/nowhere/a"], "--json /nowhere/a: No such file or directory: name a file that rank 0 can write"),
        (["--graph", "a", "--degree", "2"], "--graph excludes --degree; --help tells what each option takes"),
    ),
    ids=lambda value: " ".join(value[:2]) if isinstance(value, list) else "",
)
def test_bad_requests(options: list[str], message: str) -> None:
    refused(run_job([PROGRAM, *options], {}, LIMIT_S), message)


def test_too_little_memory() -> None:
    limited: list[str | Path] = ["sh", "-c", 'ulimit -v 4000000; exec "$0" "$@"', PROGRAM]
    outcome = run_mpi([*limited, "--vertices", "100000"], 2, NATIVE_ENV, limit_s=LIMIT_S)
    refused(
        outcome,
        "100000 vertices: a rank has no memory for its part of their distances, which take 37.3 GiB in all: take fewer "
        "vertices, or more nodes",
    )


def test_a_full_disk_is_an_error() -> None:
    outcome = asp(2, "--json", "/dev/full", "--out", "/dev/full", "--vertices", "50")
    assert outcome.code == 1, outcome.output
    full = "the file of {} could not be written: is its disk full?"
    assert said(outcome) == [full.format("--json"), full.format("--out")]


def test_help() -> None:
    assert asp(2, "--help").check().output.count("Usage: stretto-asp") == 1
