"""The documentation tells the truth: its walk through is executed, its table generated, its references exist.

In docs/add-an-algorithm.md a comment before a block of code says what to do with it:
    <!-- file: PATH -->                      the block is a new file
    <!-- run -->                             the block is run as a shell script, in the root of the sources
"""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stretto.launch.processes import run_limited

ROOT = Path(__file__).resolve().parents[2]
WALK = ROOT / "docs" / "add-an-algorithm.md"
PAGES = sorted([ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")])
RUN_LIMIT_S = 1200  # the walk builds everything: a cold cache on a slow machine takes ten minutes

BLOCK = re.compile(r"^<!-- (?P<order>[^\n]+) -->\n```\w+\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!\w+:)(?P<path>[^)#\s]+)(#[^)]*)?\)")
REFERENCE = re.compile(
    r"`(?P<path>(?:src|include|tests|bench|python|scripts|docs|cmake|apps|tools|sim)/[\w./-]+)(?:::(?P<name>\w+))?`"
)


def copy_sources(tree: Path) -> None:
    """What the C++ build needs, as it is in the working tree."""
    ignore = shutil.ignore_patterns("__pycache__", ".*_cache", "results")
    for part in ("cmake", "src", "include", "bench", "sim", "apps", "tools", "scripts", "python", "docs"):
        shutil.copytree(ROOT / part, tree / part, ignore=ignore)
    (tree / "tests").mkdir()
    shutil.copy(ROOT / "tests/CMakeLists.txt", tree / "tests")
    for path in ROOT.glob("tests/**/*/CMakeLists.txt"):
        shutil.copytree(path.parent, tree / path.parent.relative_to(ROOT), ignore=ignore)
    shutil.copy(ROOT / "CMakeLists.txt", tree)


def run_script(script: str, tree: Path, environment: dict[str, str]) -> str:
    # As scripts/environment.sh does: tools of the .venv are found where the machine has none.
    path = f"{environment['PATH']}:{ROOT / '.venv/bin'}"
    command = ["bash", "-euo", "pipefail", "-c", f"cd {shlex.quote(str(tree))}\n{script}"]
    return run_limited(command, environment | {"PATH": path}, RUN_LIMIT_S)


def follow(order: str, text: str, tree: Path, environment: dict[str, str]) -> str:
    """Do what one block of the walk asks for; returns what a script has printed."""
    if order == "run":
        return run_script(text, tree, environment)
    assert order.startswith("file: "), f"{WALK.name}: what does `{order}` mean?"
    path = tree / order.removeprefix("file: ")
    assert not path.exists(), f"{path} is there already: the walk must add something new"
    path.write_text(text, encoding="utf-8")
    return ""


@pytest.mark.long
def test_the_walk_through_adding_an_algorithm_works(tmp_path: Path, environment: dict[str, str]) -> None:
    blocks = list(BLOCK.finditer(WALK.read_text(encoding="utf-8")))
    orders = [block["order"].split()[0] for block in blocks]
    assert orders == ["file:", "run", "run", "run"], "a block has lost its comment, or has a new one"
    copy_sources(tmp_path)
    # What has been compiled for the sources themselves need not be for their copy.
    environment |= {"CCACHE_BASEDIR": str(tmp_path), "COLUMNS": "200"}
    _, _, tested, known = (follow(block["order"], block["text"], tmp_path, environment) for block in blocks)
    passed = re.search(r"^\[  PASSED  \] (\d+) tests?\.$", tested, re.MULTILINE)
    assert passed, tested
    assert int(passed[1]) > 0, f"the filter fits no test:\n{tested}"
    assert "[  SKIPPED ]" not in tested
    assert "everybody sends to rank 0, which sends the result back" in known
    assert "(P - 1) (2α + 2nβ + nγ)" in known
    assert re.search(r"^\| \[`linear`\]\(\.\./src/algorithms/allreduce/linear\.cpp\) \|", known, re.MULTILINE), known


def test_the_table_of_algorithms_is_up_to_date(environment: dict[str, str]) -> None:
    command = [sys.executable, str(ROOT / "scripts" / "generate_algorithm_table.py"), "--check"]
    result = subprocess.run(command, env=environment, check=False, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    broken = [link["path"] for link in LINK.finditer(page.read_text()) if not (page.parent / link["path"]).exists()]
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_and_tests_that_are_named_exist(page: Path) -> None:
    missing = []
    for reference in REFERENCE.finditer(page.read_text(encoding="utf-8")):
        path, name = ROOT / reference["path"], reference["name"]
        if not path.exists() or (name and not re.search(rf"\b{name}\b", path.read_text(encoding="utf-8"))):
            missing.append(reference[0])
    assert missing == []


def test_pages_name_no_machine() -> None:
    words = re.compile(r"(?<![\w.])/(home|root|work|Users|opt)/")
    assert {page.name for page in PAGES if words.search(page.read_text(encoding="utf-8"))} == set()
