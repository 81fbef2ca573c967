"""`stretto tune -- mpirun ...`: rules from real ranks, their use by real ranks, and what is refused."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import tomllib
from cli_support import Stretto

SCHEMA = json.loads((Path(__file__).resolve().parents[2] / "python/stretto/schemas/rules.schema.json").read_text())
LAUNCHER = ("mpirun", "-n", "3")
COUNTS = """
from mpi4py import MPI
import numpy as np
world = MPI.COMM_WORLD
for count in (2, 4096):
    mine = np.arange(count, dtype=np.int64) * (world.rank + 1)
    total = np.empty_like(mine)
    for _ in range(12):
        world.Allreduce(mine, total)
        assert (total == np.arange(count) * 6).all()
"""


@pytest.mark.alone
def test_rules_are_found_and_checked(stretto: Stretto, tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    asked = ("tune", "--collectives", "allreduce,barrier", "--sizes", "8,32K", "--arrivals", "balanced uniform:500us",
             "--output", str(file))  # fmt: skip
    # What there is no time for is said, and measured by the same command later.
    done = stretto(*asked, "--budget", "1ms", "--", *LAUNCHER)
    assert done.returncode == 0 and "no time was left for allreduce of 3 ranks, barrier of 3 ranks" in done.stdout
    assert tomllib.loads(file.read_text()).get("rule", []) == []
    done = stretto(*asked, "--budget", "30s", "--", *LAUNCHER)
    assert done.returncode == 0, done.stdout + done.stderr
    content = tomllib.loads(file.read_text())
    jsonschema.validate(content, SCHEMA)
    assert {rule["collective"] for rule in content["rule"]} == {"allreduce", "barrier"}
    for rule in content["rule"]:
        assert (rule["ranks"], rule["nodes"]) == (3, 1)
        for evidence in rule["measured"]:
            figures = evidence["algorithm"]
            low, middle, _ = figures["passthrough" if rule["algorithm"] == "native" else rule["algorithm"]]["to_native"]
            allowed = max(1.03, figures["passthrough"]["to_native"][1])
            assert low <= 1 or middle <= allowed, "nothing is chosen that is behind the MPI library's own, beyond doubt"
            assert evidence["algorithm"]["native"]["to_native"] == [1, 1, 1]
            assert any(name.startswith("native:") for name in evidence["algorithm"]), "what it can be forced to"
            # In the middle between two lengths only what is best at either is measured.
            if rule["collective"] == "allreduce" and evidence["bytes"] in (8, 32 << 10):
                assert {"recursive_doubling", "slot_exchange"} <= set(evidence["algorithm"])
    assert [path for path in tmp_path.iterdir() if path != file] == [], "nothing else is left"
    done = stretto("tune", "check", str(file))
    assert done.returncode == 0 and "rules, measured with " in done.stdout
    record = tmp_path / "check.json"
    done = stretto("tune", "check", str(file), "--json", str(record), "--", *LAUNCHER)
    cells = json.loads(record.read_text())["cells"]
    assert len(cells) == sum(len(rule["measured"]) for rule in content["rule"])
    for cell in cells:
        rules = [rule for rule in content["rule"] if rule["collective"] == cell["collective"]]
        if any(rule["algorithm"] == "default" for rule in rules):
            continue  # which names other algorithms
        # Ranks that share cores may be apart under any pattern: then the rule for the others serves, too.
        others = {rule["algorithm"] for rule in rules if rule["arrivals"] != "any"}
        assert {cell["rule"]} <= set(cell["ran"]) <= {cell["rule"], *others}, cell
    assert re.search(r"of \d+ cells \d+ are within 5% of the best", done.stdout), done.stdout + done.stderr
    done = stretto("tune", "explain", "allreduce", "8", "--ranks", "3", "--rules", str(file))
    assert done.returncode == 0 and "by the rule of" in done.stdout and "measured at 8" in done.stdout
    done = stretto("tune", "explain", "allreduce", "8", "--ranks", "3", "--rules", str(file), "--imbalance", "1000000")
    assert done.returncode == 0 and "uneven" in done.stdout


def rules_file(path: Path, mpi: str, cpu: str, *, below: str = "ring", above: str = "native") -> Path:
    """Rules for allreduces of 3 ranks, which no measurement would find."""
    rules = "".join(
        f"[[rule]]\ncollective = 'allreduce'\nranks = 3\nnodes = 1\narrivals = 'any'\nfrom_bytes = {from_bytes}\n"
        f"algorithm = '{algorithm}'\n"
        for from_bytes, algorithm in ((0, below), (1000, above))
    )
    path.write_text(
        "schema = 1\n[measured]\ndate = '2026-11-26T22:00:00Z'\nstretto = '0.1.0'\n"
        f"mpi = '{mpi}'\ncpu = '{cpu}'\ncores = 2\nranks = 3\nnodes = 1\n{rules}"
    )
    return path


def run_counts(stretto: Stretto, file: Path, **settings: str) -> str:
    command = ("run", "--", *LAUNCHER, sys.executable, "-c", COUNTS)
    done = stretto(*command, extra={"STRETTO_RULES": str(file), "STRETTO_VERBOSE": "1", **settings})
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stderr)


def names_here(stretto: Stretto, folder: Path, launcher: tuple[str, ...]) -> dict[str, str]:
    """How rules name this MPI library and processor."""
    file = folder / "here.toml"
    asked = ("--collectives", "barrier", "--arrivals", "balanced", "--budget", "5s", "--output", str(file))
    done = stretto("tune", *asked, "--", *launcher)
    assert done.returncode == 0, done.stdout + done.stderr
    measured = tomllib.loads(file.read_text())["measured"]
    return {"mpi": measured["mpi"], "cpu": measured["cpu"]}


@pytest.fixture
def here(stretto: Stretto, tmp_path: Path) -> dict[str, str]:
    return names_here(stretto, tmp_path, LAUNCHER)


@pytest.mark.skipif(shutil.which("mpirun.mpich") is None, reason="MPICH is not installed")
def test_mpich_finds_its_own_rules(stretto: Stretto, tmp_path: Path) -> None:
    launcher = ("mpirun.mpich", "-n", "3")
    file = rules_file(tmp_path / "rules.toml", **names_here(stretto, tmp_path, launcher))
    (tmp_path / "program.c").write_text(
        "#include <mpi.h>\nint main(void) { MPI_Init(0, 0); int a = 1, b; for (int i = 0; i < 5; ++i)"
        " MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); MPI_Finalize(); return b - 3; }\n"
    )
    program = tmp_path / "program"
    subprocess.run(["mpicc.mpich", "-o", program, tmp_path / "program.c"], check=True, timeout=60)
    done = stretto("run", "--verbose", "--rules", str(file), "--", *launcher, str(program))
    assert done.returncode == 0 and "STRETTO_RULES" not in done.stderr, done.stderr
    assert "allreduce: ring ran 5 times" in done.stderr, done.stderr


def test_ranks_do_what_the_rules_say(stretto: Stretto, tmp_path: Path, here: dict[str, str]) -> None:
    file = rules_file(tmp_path / "rules.toml", **here)
    command = ("run", "--verbose", "--rules", str(file), "--", *LAUNCHER, sys.executable, "-c", COUNTS)
    said = stretto(*command).stderr
    assert "allreduce: ring ran 12 times" in said and "allreduce: native ran 12 times" in said
    forced = run_counts(stretto, tmp_path / "rules.toml", STRETTO_ALLREDUCE="arrival_tree")
    assert "allreduce: arrival_tree ran 24 times" in forced


def test_a_file_that_is_none_is_refused_by_name(stretto: Stretto, tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text("schema = 7")
    done = stretto("run", "--rules", str(file), "--", *LAUNCHER, sys.executable, "-c", COUNTS)
    assert done.returncode == 2 and f"{file}: schema: is 7, this Stretto reads 1" in done.stderr


def test_files_for_elsewhere_are_left_out_with_a_message(
    stretto: Stretto, tmp_path: Path, here: dict[str, str]
) -> None:
    cases = [
        (rules_file(tmp_path / "other.toml", here["mpi"], "Z80"), "was measured on Z80, this is "),
        (rules_file(tmp_path / "mpi.toml", "Some MPI 7", here["cpu"]), "was measured with Some MPI 7, this is "),
        (rules_file(tmp_path / "wrong.toml", **here, above="rong"), "rule.algorithm: is rong; choose default, native"),
        (tmp_path / "absent.toml", "cannot be read: No such file or directory"),
    ]
    for file, why in cases:
        said = run_counts(stretto, file)
        lines = [line for line in said.splitlines() if line.startswith("stretto: STRETTO_RULES: ")]
        assert len(lines) == 1 and why in lines[0] and "it is left out: `stretto tune` makes one" in lines[0], said
        assert "allreduce: ring" not in said


@pytest.mark.alone
def test_a_programs_calls_are_tuned_for(stretto: Stretto, tmp_path: Path) -> None:
    profile, file = tmp_path / "profile", tmp_path / "rules.toml"
    done = stretto("run", "--profile", str(profile), "--", *LAUNCHER, sys.executable, "-c", COUNTS)
    assert done.returncode == 0, done.stderr
    done = stretto("tune", "import", str(profile), "--budget", "2m", "--output", str(file), "--", *LAUNCHER)
    assert done.returncode == 0, done.stdout + done.stderr
    content = tomllib.loads(file.read_text())
    jsonschema.validate(content, SCHEMA)
    assert {(rule["collective"], rule["ranks"]) for rule in content["rule"]} == {("allreduce", 3)}
    measured = [evidence for rule in content["rule"] for evidence in rule["measured"]]
    assert {16, 32768} <= {evidence["bytes"] for evidence in measured}
    assert {evidence["arrival"] for evidence in measured} == {f"replay:{profile}"}


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--", "mpirum", "-n", "2"], 2, "mpirum"),
        (["--budget", "soon", "--", "mpirun", "-n", "2"], 2, "--budget soon"),
        (["--collectives", "allreduze", "--", "mpirun", "-n", "2"], 2, "allreduze"),
        (["--ranks", "two", "--", "mpirun"], 2, "--ranks two"),
        (["--", "mpirun"], 2, "how many ranks?"),
        (["--output", "/nowhere/rules.toml", "--", "mpirun", "-n", "2"], 2, "/nowhere"),
        (["check", "/nowhere/rules.toml"], 2, "/nowhere/rules.toml: cannot be read"),
        (["import", "/nowhere", "--", "mpirun"], 2, "/nowhere: no such directory"),
        (["--collectives", "barrier", "--", "mpirun", "-n", "2", "./program"], 2, "and no program"),
        (["explain", "allreduce", "1X", "--ranks", "4"], 2, "'1X' is not a size"),
        (["explain", "allreduce", "1K", "--ranks", "1"], 2, "--ranks must be at least 2"),
        (["explain", "allreduce", "1K", "--ranks", "4", "--imbalance", "3"], 2, "write a time, such as 2ms"),
    ],
)
def test_what_cannot_be_done_is_said(stretto: Stretto, arguments: list[str], code: int, said: str) -> None:
    done = stretto("tune", *arguments)
    assert done.returncode == code and said in done.stderr, done.stdout + done.stderr
