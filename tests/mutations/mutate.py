"""Plants each defect of mutations.py in a copy of the sources: `make mutations`."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

sys.path.append(str(Path(__file__).resolve().parents[1]))

from mpi_jobs import FAMILY
from mutations import MUTATIONS, REPOSITORY, Mutation
from rich.console import Console
from rich.table import Table

from stretto.errors import ProgramFailedError
from stretto.launch.processes import run_limited

LIMIT_S = 900  # a defect may make ranks wait for ever; pytest has limits of its own for each of its jobs
LIBRARY = f"stretto_{FAMILY}"


def copy_sources(to: Path) -> None:
    """What git knows of, as it is now. Files that are the same keep their time, so that little is compiled anew."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, check=True, capture_output=True, text=True)
    names = set(filter(None, listed.stdout.split("\0")))
    for there in to.rglob("*"):
        place = there.relative_to(to)
        if there.is_file() and not place.parts[0].startswith("build") and str(place) not in names:
            there.unlink()
    for name in names:
        source, target = REPOSITORY / name, to / name
        if not source.exists() or (target.exists() and target.read_bytes() == source.read_bytes()):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


class Copy:
    """The sources under build-mutations, built as a defect's test needs them, by paths that ccache knows."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        self.log = tree.parent / "log"
        self.settings = {
            "CCACHE_BASEDIR": str(tree),
            "STRETTO_SEEDS": "2",
            "TSAN_OPTIONS": "halt_on_error=1",  # where a fence is missing there is no end of reports
        }

    def builds(self, mutation: Mutation) -> bool:
        build = self._build_of(mutation)
        if not (build / "CMakeCache.txt").exists():
            settings = ["-DSTRETTO_TESTS=ON", f"-DSTRETTO_SANITIZE={mutation.sanitize}"]
            self._run(["cmake", "-S", str(self.tree), "-B", str(build), "-G", "Ninja", *settings])
        # Python tests ask the registry for algorithms, and skip those of which it names none.
        targets = [LIBRARY, "stretto-registry"] if mutation.test[0] == "pytest" else [mutation.test[0]]
        return self._run(["cmake", "--build", str(build), "--target", *targets])

    def passes(self, mutation: Mutation) -> bool:
        test, which = mutation.test
        if test != "pytest":
            program = self._build_of(mutation) / "bin" / test
            return self._run([str(program), f"--gtest_filter={which}", "--gtest_brief=1"])
        library = self._build_of(mutation) / "lib" / f"lib{LIBRARY}.so"
        command = [sys.executable, "-m", "pytest", "-x", "-q", *shlex.split(which)]
        return self._run(command, {"STRETTO_TEST_LIBRARY": str(library)})

    def _build_of(self, mutation: Mutation) -> Path:
        return self.tree / (f"build-{mutation.sanitize}" if mutation.sanitize else "build")

    def _run(self, command: list[str], env: dict[str, str] | None = None) -> bool:
        try:
            output, well = run_limited(command, {**os.environ, **self.settings, **(env or {})}, LIMIT_S), True
        except ProgramFailedError as error:
            output, well = str(error), False
        with self.log.open("a") as log:
            log.write(output)
        return well


def try_one(copy: Copy, mutation: Mutation) -> str:
    """`found`, or what else has become of it."""
    file = copy.tree / mutation.file
    sound = file.read_text()
    if not copy.builds(mutation) or not copy.passes(mutation):
        return f"its test does not pass without it: see {copy.log}"
    file.write_text(sound.replace(mutation.passage, mutation.replaced_by))
    try:
        if not copy.builds(mutation):
            return f"does not compile: see {copy.log}"
        return "not found" if copy.passes(mutation) else "found"
    finally:
        file.write_text(sound)


app = typer.Typer(add_completion=False, help=__doc__)


@app.command()
def mutate(only: Annotated[str, typer.Option(help="Those whose defect has this in its name.")] = "") -> None:
    os.chdir(REPOSITORY)  # where pytest is told its tests from
    tree = REPOSITORY / "build-mutations" / "tree"
    tree.mkdir(parents=True, exist_ok=True)
    copy_sources(tree)
    copy = Copy(tree)
    copy.log.unlink(missing_ok=True)
    table = Table("defect", "in", "its test", "")
    console = Console(width=None if sys.stdout.isatty() else 160)
    missed = 0
    for mutation in (each for each in MUTATIONS if only in each.defect):
        result = try_one(copy, mutation)
        missed += result != "found"
        table.add_row(mutation.defect, mutation.file, " ".join(mutation.test), result)
        console.print(f"{mutation.defect}: {result}", highlight=False)
    console.print(table)
    raise typer.Exit(1 if missed else 0)


if __name__ == "__main__":
    app()
