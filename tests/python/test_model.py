"""`stretto model`: its times are those of the formulas where there are formulas, and the same whenever it is asked."""

from pathlib import Path

import pytest
from simulated import figures, predict

from stretto.errors import StrettoError
from stretto.library import built_program
from stretto.simulate.model import main

ALPHA, BETA, GAMMA = 1000, 2, 3
_COSTS = [f"--alpha={ALPHA}", f"--beta={BETA}", f"--gamma={GAMMA}", "--delta=0"]
_EAGER = ["--eager=1000000"]
_RANKS = 8
_ROUNDS = 3


def _is_built() -> bool:
    try:
        return built_program("stretto-model").is_file()
    except StrettoError:
        return False


pytestmark = pytest.mark.skipif(not _is_built(), reason="needs `make build`")


@pytest.mark.parametrize(
    ("algorithm", "alphas", "wire_share", "work_share"),
    [
        ("recursive_doubling", _ROUNDS, _ROUNDS, _ROUNDS),
        ("rabenseifner", 2 * _ROUNDS, 2 * 7 / 8, 7 / 8),
        ("ring", 2 * 7, 2 * 7 / 8, 7 / 8),
        ("reduce_bcast", 2 * _ROUNDS, 2 * _ROUNDS, _ROUNDS),
    ],
)
@pytest.mark.parametrize("size", [64, 64 << 10])
def test_balanced_ranks_take_what_the_formulas_say(
    tmp_path: Path, algorithm: str, alphas: int, wire_share: float, work_share: float, size: int
) -> None:
    arguments = ["allreduce", "--algorithms", algorithm, "--ranks", str(_RANKS), "--sizes", str(size)]
    times = figures(predict(main, tmp_path, *arguments, *_COSTS, *_EAGER), algorithm)
    expected = alphas * ALPHA + size * (wire_share * BETA + work_share * GAMMA)
    assert times["run_time"] == times["lag"] == expected


def test_a_long_message_waits_for_its_receiver(tmp_path: Path) -> None:
    """Then the receiver's delay is in the sender's time: ranks 0 and 1, of which one comes late."""
    arguments = ["bcast", "--algorithms", "binomial", "--ranks", "2", "--sizes", "8K", "--arrival", "one-late:100us"]
    one_way = ALPHA + 8192 * BETA
    waiting = set()
    for root in ("0", "1"):
        asked = predict(main, tmp_path, *arguments, *_COSTS, "--eager", "4096", "--root", root, "--iterations", "1")
        times = figures(asked, "binomial")
        assert times["lag"] == one_way
        waiting.add(times["elapsed"])
    assert waiting == {one_way + 50_000}
    eager = figures(predict(main, tmp_path, *arguments, *_COSTS, *_EAGER, "--iterations", "1"), "binomial")
    assert eager["elapsed"] <= one_way + 50_000


@pytest.mark.parametrize("eager", ["4096", "1000000"])
def test_the_last_rank_pays_for_every_round_of_recursive_doubling(tmp_path: Path, eager: str) -> None:
    late_ns, size = 1_000_000, 8 << 10
    arguments = ["allreduce", "--algorithms", "recursive_doubling", "--ranks", str(_RANKS), "--sizes", str(size)]
    content = predict(main, tmp_path, *arguments, "--arrival", "one-late:1ms", *_COSTS, "--eager", eager)
    times = figures(content, "recursive_doubling")
    lag = _ROUNDS * (ALPHA + size * (BETA + GAMMA))
    assert times["lag"] == lag
    assert times["run_time"] == late_ns + lag
    assert times["elapsed"] < times["run_time"]


_SCATTERS = {
    "linear": 7 * ALPHA + 7 * 8192 * BETA,  # Proficz 2020, equation 3
    "sorted_linear": 7 * ALPHA + 7 * 8192 * BETA,
    "background_sorted_linear": 7 * ALPHA + 7 * 8192 * BETA,
    "binomial": _ROUNDS * ALPHA + 7 * 8192 * BETA,  # equation 7
    "sorted_binomial": _ROUNDS * ALPHA + 7 * 8192 * BETA,
    "background_sorted_binomial": _ROUNDS * ALPHA + 7 * 8192 * BETA,
}


def test_scatter_takes_what_the_formulas_say(tmp_path: Path) -> None:
    """Each block waits for its receiver; tests/conformance/formulas_test.cpp has all of Proficz' equations."""
    arguments = ["scatter", "--algorithms", ",".join(_SCATTERS), "--ranks", str(_RANKS), "--sizes", "8K", "--root", "0"]
    balanced = predict(main, tmp_path, *arguments, *_COSTS, "--eager", "0")
    assert {name: figures(balanced, name)["run_time"] for name in _SCATTERS} == _SCATTERS


@pytest.mark.parametrize("collective", ["scatter", "gather"])
def test_two_levels_take_what_their_formula_says(tmp_path: Path, collective: str) -> None:
    """In a node little latency and no time a byte: the root's own node does not keep it from the others."""
    ranks, per_node, size, node_alpha = 32, 8, 8192, 100
    arguments = [collective, "--algorithms", "two_level", "--ranks", str(ranks), "--ranks-per-node", str(per_node)]
    costs = [*_COSTS, f"--node-alpha={node_alpha}", "--node-beta=0", "--eager=0"]
    times = figures(predict(main, tmp_path, *arguments, *costs, "--sizes", str(size)), "two_level")
    assert times["run_time"] == node_alpha + ALPHA + (ranks - per_node) * size * BETA


def test_a_gap_is_paid_between_messages_and_not_after_the_last(tmp_path: Path) -> None:
    arguments = ["gather", "--algorithms", "linear_nonblocking", "--ranks", str(_RANKS), "--sizes", "64", *_COSTS]
    for eager in ("0", "1000000"):
        content = predict(main, tmp_path, *arguments, "--gap=300", "--eager", eager)
        assert figures(content, "linear_nonblocking")["run_time"] == ALPHA + 7 * 64 * BETA + 6 * 300


def test_a_prediction_helps_if_it_is_right(tmp_path: Path) -> None:
    arguments = ["scatter", "--ranks", "16", "--sizes", "64K", "--arrival", "uniform:5ms", "--root", "0", *_COSTS]
    lags = {}
    for prediction in ("right", "reversed", "random", "none"):
        content = predict(main, tmp_path, *arguments, "--iterations", "40", "--prediction", prediction)
        lags[prediction] = figures(content, "sorted_linear")["lag"]
        plain = figures(content, "linear")["lag"]
    assert lags["right"] < 0.7 * plain
    assert lags["reversed"] > plain
    assert lags["none"] == plain
    assert lags["right"] < lags["random"] < lags["reversed"]


def test_what_begins_ahead_does_not_wait_for_its_rank(tmp_path: Path) -> None:
    arguments = ["gather", "--ranks", "8", "--sizes", "64K", "--arrival", "one-late:50ms", "--root", "3", *_COSTS]
    content = predict(main, tmp_path, *arguments, "--iterations", "40")
    for name in ("sorted_linear_synchronised", "sorted_binomial"):
        assert figures(content, f"background_{name}")["elapsed"] <= figures(content, name)["elapsed"]


def test_shared_memory_comes_with_one_node(tmp_path: Path) -> None:
    spread = predict(main, tmp_path, "allreduce", "--ranks", "8", "--sizes", "64")["request"]["algorithms"]
    arguments = ["allreduce", "--ranks", "8", "--ranks-per-node", "8", "--sizes", "64,200K", "--arrival", "uniform:1ms"]
    together = predict(main, tmp_path, *arguments)["request"]["algorithms"]
    assert "ring" in spread
    assert "arrival_stripes" not in spread
    assert {"ring", "arrival_stripes"} <= set(together)


def test_a_node_is_nearer_than_the_network(tmp_path: Path) -> None:
    arguments = ["barrier", "--algorithms", "dissemination", "--ranks", "4", "--alpha", "1000", "--node-alpha", "100"]
    times = [
        figures(predict(main, tmp_path, *arguments, "--ranks-per-node", str(ranks)), "dissemination")["run_time"]
        for ranks in (1, 2, 4)
    ]
    assert times == [2000, 2000, 200]


@pytest.mark.parametrize("collective", ["allreduce", "reduce", "bcast", "barrier"])
@pytest.mark.parametrize("nodes", ["1", "12"])
def test_the_same_seed_gives_the_same_bytes(tmp_path: Path, collective: str, nodes: str) -> None:
    sizes = [] if collective == "barrier" else ["--sizes", "8,40K"]
    arguments = [collective, "--ranks", "12", "--ranks-per-node", nodes, *sizes, "--arrival", "uniform:20us"]
    texts = []
    for seed in ("7", "7", "8"):
        output = tmp_path / "out.json"
        assert main([*arguments, "--seed", seed, "--json", str(output)]) == 0
        texts.append(output.read_bytes())
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]


def test_a_thousand_ranks_in_the_forms_of_a_call(tmp_path: Path) -> None:
    for form in (["reduce", "--in-place", "--root", "3", "--op", "max"], ["allreduce", "--datatype", "double"]):
        names = "binomial" if form[0] == "reduce" else "rabenseifner"
        content = predict(main, tmp_path, *form, "--algorithms", names, "--ranks", "1000", "--sizes", "1K,1M")
        assert [size["summary"]["size"] for size in content["sizes"]] == [1 << 10, 1 << 20]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "which collective"),
        (["allreduce", "--ranks", "1"], "at least 2"),
        (["allreduce", "--ranks-per-node", "0"], "at least 1"),
        (["allreduce", "--eager", "-1"], "not negative"),
        (["scatter", "--sizes", "8G", "--ranks", "64"], "would exceed 4 GiB"),
        (["allreduce", "--alpha", "-1"], "alpha_ns=-1.0: must be 0 or more"),
        (["allreduce", "--beta", "nan"], "beta_ns_per_byte=nan"),
        (["allreduce", "--algorithms", "native"], "own allreduce algorithms only"),
        (["allreduce", "--algorithms", "arrival_chain"], "ranks_per_node=64"),
        (["reduce", "--root", "64"], "ranks 0 to 63"),
        (["allreduce", "--sizes", "6"], "not a multiple"),
        (["allreduce", "--arrival", "late:1ms"], "--arrival late:1ms"),
        (["allreduce", "--json", "/nonexistent/x.json"], "no folder"),
    ],
)
def test_usage_errors_are_exit_code_2_with_a_reason(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


_LENGTHS = [8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 2 << 20, 16 << 20]


def _machine_file(folder: Path, bend: int = 0) -> Path:
    """Lines of `alpha + n beta` and the like; a message of more than 4 KiB takes `bend` ns more."""

    def line(start: int, a_byte: int, more: int = 0) -> list[int]:
        return [start + a_byte * length + (more if length > 4096 else 0) for length in _LENGTHS]

    link = f"eager_bytes = 1048576\nmessage_ns = {line(ALPHA, BETA, bend)}\ngap_ns = {line(0, BETA)}\n"
    file = folder / "machine.toml"
    file.write_text(
        f"schema = 1\nlengths = {_LENGTHS}\n[measured]\n"
        'date = "2026-11-27T12:00:00Z"\nstretto = "0.1.0"\nmpi = "any"\ncpu = "any"\ncores = 2\nranks = 2\nnodes = 2\n'
        f"[times]\nline_ns = 200\nwake_ns = 0\ncall_ns = 0\n[link.machine]\n{link}"
        f"[[work]]\ncores = 1\ncopy_ns = {line(0, 0)}\nreduce_ns = {line(0, GAMMA)}\n"
    )
    return file


@pytest.mark.parametrize("algorithm", ["recursive_doubling", "rabenseifner", "ring"])
def test_a_measured_machine_that_is_a_latency_and_a_bandwidth_is_one(tmp_path: Path, algorithm: str) -> None:
    asked = ["allreduce", "--algorithms", algorithm, "--ranks", str(_RANKS), "--sizes", "512,64K"]
    figured = predict(main, tmp_path, *asked, *_COSTS, *_EAGER)
    measured = predict(main, tmp_path, *asked, "--machine", str(_machine_file(tmp_path)))
    for size_index in range(2):
        assert figures(measured, algorithm, size_index) == figures(figured, algorithm, size_index)


def test_a_measured_machine_has_what_no_bandwidth_has(tmp_path: Path) -> None:
    bend = 50_000
    asked = ["bcast", "--algorithms", "binomial", "--ranks", "2", "--sizes", "4K,32K"]
    measured = predict(main, tmp_path, *asked, "--machine", str(_machine_file(tmp_path, bend)))
    assert [figures(measured, "binomial", index)["lag"] for index in range(2)] == [
        ALPHA + 4096 * BETA,
        ALPHA + 32768 * BETA + bend,
    ]


def test_a_machine_is_told_once_and_right(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = _machine_file(tmp_path)
    asked = ["bcast", "--algorithms", "binomial", "--ranks", "2", "--sizes", "8", "--machine"]
    assert main([*asked, str(file), "--alpha", "3"]) == 2
    assert "tells all costs: leave the others out" in capfd.readouterr().err
    assert main([*asked, str(tmp_path / "none.toml")]) == 2
    assert "no such file, nor one of ethernet-1g" in capfd.readouterr().err
    file.write_text(file.read_text().replace("schema = 1", "schema = 7"))
    assert main([*asked, str(file)]) == 2
    assert "schema" in capfd.readouterr().err
