"""`stretto tune --machine`: what it measures is there, as a whole, and in the order in which such times must be."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import jsonschema
import pytest
import tomllib
from cli_support import Stretto

SCHEMA = json.loads((Path(__file__).resolve().parents[2] / "python/stretto/schemas/machine.schema.json").read_text())
RANKS = 3
PROGRAM = "from mpi4py import MPI; print(f'sum {MPI.COMM_WORLD.allreduce(1)}\\n', end='')"


@pytest.mark.alone
def test_what_is_measured_is_whole_and_in_order(stretto: Stretto, tmp_path: Path) -> None:
    file = tmp_path / "machine.toml"
    done = stretto("tune", "--machine", "--output", str(file), "--", "mpirun", "-n", str(RANKS))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "messages, us, by bytes" in done.stdout and str(file) in done.stdout
    content = tomllib.loads(file.read_text())
    jsonschema.validate(content, SCHEMA)
    assert content["measured"]["ranks"] == RANKS and content["measured"]["nodes"] == 1
    assert [work["cores"] for work in content["work"]] == [1, 2, RANKS]
    assert content["link"], "two ranks meet somewhere"
    for link in content["link"].values():
        # Two megabytes take longer than a cache line, whatever else the machine does.
        assert link["message_ns"][6] > link["message_ns"][0] > 0
        assert link["gap_ns"][6] > link["gap_ns"][0] > 0
        assert link["eager_bytes"] >= 256
    for work in content["work"]:
        assert work["copy_ns"][7] > work["copy_ns"][3] and work["reduce_ns"][7] > work["reduce_ns"][3]
    assert content["times"]["call_ns"] > 0
    assert sorted(tmp_path.iterdir()) == [file], "nothing else is left"
    check_use(stretto, file)


def check_use(stretto: Stretto, file: Path) -> None:
    """It is taken where it was measured, without a word, and left out with a message where the processor is another."""
    command = ("run", "--", "mpirun", "-n", "2", sys.executable, "-c", PROGRAM)
    done = stretto(*command, extra={"STRETTO_MACHINE": str(file)})
    assert done.returncode == 0 and "stretto: " not in done.stderr, done.stderr
    text = file.read_text()
    file.write_text(re.sub(r"^cpu = .*$", "cpu = 'Z80'", text, flags=re.MULTILINE))
    assert "was measured on Z80, this is " in stretto(*command, extra={"STRETTO_MACHINE": str(file)}).stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--output", "/nowhere/machine.toml", "--", "mpirun", "-n", "2"], 1, "/nowhere/machine.toml"),
        (["--", "mpirum", "-n", "2"], 2, "mpirum: launcher not found"),
        (["--output"], 2, "expected one argument"),
    ],
)
def test_what_cannot_be_done_is_said(stretto: Stretto, arguments: list[str], code: int, said: str) -> None:
    done = stretto("tune", "--machine", *arguments)
    assert done.returncode == code and said in done.stderr, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read: No such file or directory"),
        ("schema = 2", "schema: is 2, this Stretto reads 1"),
        ("schema 1", "no TOML"),
    ],
)
def test_a_file_that_is_none_is_left_out_with_a_message(
    stretto: Stretto, tmp_path: Path, content: str | None, said: str
) -> None:
    file = tmp_path / "machine.toml"
    if content is not None:
        file.write_text(content)
    command = ("run", "--", "mpirun", "-n", "2", sys.executable, "-c", PROGRAM)
    done = stretto(*command, extra={"STRETTO_MACHINE": str(file)})
    assert done.returncode == 0 and done.stdout.count("sum 2") == 2, done.stdout + done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("stretto: STRETTO_MACHINE: ")]
    assert str(file) in line and said in line, line
