"""Random MPI programs (fuzz.c), natively and under Stretto: `python tests/fuzz/fuzzing.py legal --count 10000`."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer

sys.path.append(str(Path(__file__).resolve().parents[1]))

from mpi_jobs import (
    COLLECTIVES,
    MPICC,
    NATIVE_ENV,
    NON_BLOCKING_TURNS,
    algorithms,
    non_blocking_turn,
    run_mpi,
    stretto_env,
)

_LINE = re.compile(r"^program (\d+) rank (\d+) seen ([0-9a-f]{16})$", re.MULTILINE)
ILLEGAL_LIMIT_S = 8  # with the three seconds for which a program's ranks wait for each other
DEVIATIONS = ("another collective", "another root", "another count", "another operation", "no call")

_MOVED = (1, 6, 7)  # bcast, scatter, gather, by their numbers in calls.h

Digests = dict[int, dict[int, str]]  # by seed, then by rank


def settings(job: int) -> dict[str, str]:
    """How job number `job` runs under Stretto: with algorithms by force, some for non-blocking calls, checked, or with
    what serves calls by what they have taken."""
    names = {"FUZZ_ALGORITHMS": ";".join(" ".join([each, "native", *algorithms(each)]) for each in COLLECTIVES)}
    non_blocking = non_blocking_turn(job // 4 % NON_BLOCKING_TURNS)
    ways: list[dict[str, object]] = [{}, dict(non_blocking), {"check": 1}, {"adapt": "on"}]
    return stretto_env(**ways[job % len(ways)]) | names


def run_programs(program: Path, seeds: range, ranks: int, env: dict[str, str], limit_s: float = 120) -> Digests:
    """Each rank's digest of each program. Fails, saying which program it was in, where a job does not end well."""
    outcome = run_mpi([program, str(seeds.start), str(len(seeds))], ranks, env, limit_s=limit_s).check()
    found: Digests = {}
    for seed, rank, digest in _LINE.findall(outcome.output):
        found.setdefault(int(seed), {})[int(rank)] = digest
    assert sorted(found) == list(seeds), f"programs {sorted(set(seeds) - set(found))} have said nothing"
    return found


def find_differences(program: Path, seeds: range, ranks: int, job: int) -> list[int]:
    """The seeds of programs that see something else under Stretto than natively."""
    native = run_programs(program, seeds, ranks, dict(NATIVE_ENV))
    ours = run_programs(program, seeds, ranks, settings(job))
    return [seed for seed in seeds if native[seed] != ours[seed]]


@dataclass(frozen=True)
class Ending:
    """What has become of an illegal program. `kind`: of the call, by its number in calls.h; by rank the classes of the
    errors in the call and in the barrier after it, and a digest of what it has `seen`; `how` it is wrong; whether
    Stretto has `served` any rank's call."""

    ended: bool
    kind: int
    classes: dict[int, tuple[int, int]]
    seen: dict[int, str]
    how: str
    served: bool

    @property
    def told(self) -> bool:
        return any(any(pair) for pair in self.classes.values())


def run_illegal(program: Path, seed: int, ranks: int, env: dict[str, str]) -> Ending:
    with tempfile.TemporaryDirectory() as directory:
        try:
            run_mpi([program, "illegal", str(seed), directory], ranks, env, limit_s=ILLEGAL_LIMIT_S)
        except pytest.fail.Exception:
            pass  # no end: which ranks have come to theirs, the files say
        left = {int(path.name[5:]): path.read_text().split() for path in Path(directory).glob("rank-?")}
    how = DEVIATIONS[int(next(iter(left.values()))[0])] if left else "unknown"
    classes = {rank: (int(words[2]), int(words[3])) for rank, words in left.items()}
    kind = int(next(iter(left.values()))[1]) if left else -1
    seen = {rank: words[4] for rank, words in left.items()}
    return Ending(len(left) == ranks, kind, classes, seen, how, any(words[5] == "1" for words in left.values()))


def judge(program: Path, seed: int, ranks: int, env: dict[str, str]) -> tuple[str, str]:
    """What is wrong with an illegal program, and how it ended.

    `error`, `error, then waits`, `as natively`, `hangs as natively`, `left to MPI` with what nobody has written for
    data, `as far as there is data`; or, which must not be, `in silence`, `hangs`.
    """
    ours = run_illegal(program, seed, ranks, env)
    if ours.told:  # a rank that goes on after it may wait for calls that the others have made already
        return ours.how, "error" if ours.ended else "error, then waits"
    native = run_illegal(program, seed, ranks, dict(NATIVE_ENV))
    how = ours.how if ours.how != "unknown" else native.how
    if not ours.ended:
        # Whether a program hangs may be a matter of time.
        natively = not native.ended or any(
            not run_illegal(program, seed, ranks, dict(NATIVE_ENV)).ended for _ in range(6)
        )
        return how, "hangs as natively" if natively else "hangs"
    if native.ended and native.seen == ours.seen:
        return how, "as natively"
    if native.ended and not ours.served:
        return how, "left to MPI"
    # Data goes as far as there is room, where the MPI library may wait for more.
    return how, "as far as there is data" if how == "another count" and ours.kind in _MOVED else "in silence"


def _compile(directory: str) -> Path:
    program = Path(directory) / "fuzz"
    source = Path(__file__).with_name("fuzz.c")
    subprocess.run([MPICC, "-std=gnu11", "-O1", "-g", "-pthread", str(source), "-o", str(program)], check=True)
    return program


def _batches(first: int, count: int, size: int) -> Iterator[range]:
    for start in range(first, first + count, size):
        yield range(start, min(start + size, first + count))


app = typer.Typer(add_completion=False, help=__doc__)


@app.command()
def legal(first: int = 1, count: int = 10_000, ranks: int = 4, batch: int = 50) -> None:
    """Programs that are right: what they see must be the same."""
    bad = 0
    with tempfile.TemporaryDirectory() as directory:
        program = _compile(directory)
        for job, seeds in enumerate(_batches(first, count, batch)):
            try:
                found = find_differences(program, seeds, ranks, job)
                text = f"differ: {found}" if found else ""
            except (AssertionError, pytest.fail.Exception) as error:
                text = str(error)
            if text:
                bad += 1
                print(f"seeds {seeds.start}-{seeds.stop - 1}, job {job}: {text[-3000:]}", flush=True)
    print(f"{count} programs on {ranks} ranks from seed {first} on, {bad} jobs bad")
    raise typer.Exit(1 if bad else 0)


@app.command()
def illegal(first: int = 1, count: int = 500, ranks: int = 3, check: bool = False) -> None:
    """Programs that are wrong: an error, or what happens natively. --check: under STRETTO_CHECK=1."""
    endings: Counter[tuple[str, str]] = Counter()
    env = stretto_env(check=1) if check else stretto_env()
    with tempfile.TemporaryDirectory() as directory:
        program = _compile(directory)
        for seed in range(first, first + count):
            how, ending = judge(program, seed, ranks, env)
            endings[how, ending] += 1
            if ending in ("hangs", "in silence") or (check and not ending.startswith("error")):
                print(f"seed {seed}: {how}: {ending}", flush=True)
    for (how, ending), times in sorted(endings.items()):
        print(f"{how:20} {ending:24} {times:5}")
    bad = sum(times for (_, ending), times in endings.items() if ending in ("hangs", "in silence"))
    raise typer.Exit(1 if bad else 0)


if __name__ == "__main__":
    app()
