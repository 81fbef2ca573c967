"""MPICH's selection files, of what was measured of its own algorithms.

MPICH goes through a tree of conditions to the first that hold (src/mpi/coll/src/csel.c), and does so twice: for how a
collective goes through the machine, its nodes first or all ranks alike, and for the algorithm. A file takes the place
of a whole tree, so both are here as the library has them built in, and before that what was measured: all ranks alike,
by the algorithm, which is how it was forced. MPICH takes a file at its word. So an algorithm stands behind all that it
needs, and what has parameters is left out.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from stretto.errors import StrettoError
from stretto.tune.rules import Rules
from stretto.tune.surely_better import Steps, find_surely_better

Tree = dict[str, Any]

_PAGE_BYTES = 4096
_MOST_BYTES = (1 << 31) - 1  # MPICH reads an int
_ALGORITHMS = {
    "allgather": ("brucks", "recursive_doubling", "ring"),
    "allreduce": ("recursive_doubling", "reduce_scatter_allgather", "ring"),
    "barrier": ("dissemination",),
    "bcast": ("binomial", "scatter_recursive_doubling_allgather", "scatter_ring_allgather"),
    "reduce": ("binomial", "reduce_scatter_gather"),
}
_POWER_OF_TWO = {("allgather", "recursive_doubling"), ("bcast", "scatter_recursive_doubling_allgather")}
_ELEMENT_A_RANK = {"reduce_scatter_allgather", "reduce_scatter_gather"}  # of the power of two below
# The composition that has all ranks alike; an allgather goes so anyway.
_ALIKE = {"allreduce": "beta", "barrier": "beta", "bcast": "gamma", "reduce": "gamma"}
_VARIABLES = ("MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE")


def _find_library() -> Path:
    program = shutil.which("mpichversion")
    if program is None:
        raise StrettoError(
            "mpichversion: not found: it leads to MPICH's library, whose own choices are kept: check PATH"
        )
    needed = subprocess.run(["ldd", program], capture_output=True, text=True, timeout=60, check=False).stdout
    found = re.search(r"libmpi(?:ch)?\.so\S* => (\S+)", needed)
    if found is None:
        raise StrettoError(f"{program}: `ldd` does not tell which libmpi.so it loads: is the MPICH complete?")
    return Path(found[1])


def _built_in(library: Path) -> tuple[Tree, Tree, bytes]:
    """The trees of algorithms and of compositions that `library` has in it, and all of it."""
    content = library.read_bytes()
    texts = [match[0].decode() for match in re.finditer(rb'\{"collective=[ -~]+', content)]
    algorithms = [text for text in texts if "algorithm=MPIR_" in text]
    compositions = [text for text in texts if "composition=" in text]
    if len(algorithms) != 1 or len(compositions) != 1:
        raise StrettoError(f"{library}: has no selection trees of its own: MPICH 4.0 or newer, device ch4, is needed")
    return json.loads(algorithms[0]), json.loads(compositions[0]), content


def _key(collective: str, name: str) -> str:
    return f"algorithm=MPIR_{collective.capitalize()}_intra_{name}"


def _guarded(collective: str, name: str, otherwise: Tree) -> Tree:
    leaf: Tree = {_key(collective, name): {}}
    if name in _ELEMENT_A_RANK:
        leaf = {"count<pow2": otherwise, "count=any": leaf}
    if collective in ("allreduce", "reduce"):
        leaf = {"is_op_built_in=yes": leaf, "is_op_built_in=no": otherwise}
        leaf = {"is_commutative=yes": leaf, "is_commutative=no": otherwise}
    return leaf


def _by_length(collective: str, ranks: int, steps: Steps, leaves: list[Tree]) -> Tree:
    if collective == "barrier":
        return leaves[0]
    what, brings = ("total_msg_size", ranks) if collective == "allgather" else ("avg_msg_size", 1)
    ends = [brings * from_bytes for from_bytes, _ in steps[1:]]
    tree: Tree = {f"{what}<{end}": leaf for end, leaf in zip(ends, leaves, strict=False) if end <= _MOST_BYTES}
    return tree | {f"{what}=any": leaves[len(tree)]}


def _by_ranks(branches: dict[int, Tree], otherwise: Tree) -> Tree:
    """For as many ranks as were measured, and no others."""
    tree: Tree = {}
    for ranks, branch in branches.items():
        if ranks - 1 not in branches:
            tree[f"comm_size<{ranks}"] = otherwise
        tree[f"comm_size<={ranks}"] = branch
    return tree | {"comm_size=any": otherwise}


def _may_be(collective: str, ranks: int, steps: Steps) -> Steps:
    def legal(name: str | None) -> str | None:
        is_power = ranks & (ranks - 1) == 0
        return name if is_power or (collective, name) not in _POWER_OF_TWO else None

    return [(from_bytes, legal(name)) for from_bytes, name in steps]


def add(collective: str, found: dict[int, Steps], algorithms: Tree, compositions: Tree) -> None:
    """Puts what is better for so many ranks before what both trees have."""
    key = f"collective={collective}"
    own, through = algorithms[key]["comm_type=intra"], compositions[key]["comm_type=intra"]
    alike: Tree = {f"composition=MPIDI_{collective.capitalize()}_intra_composition_{_ALIKE.get(collective)}": {}}
    branches: dict[int, Tree] = {}
    ways: dict[int, Tree] = {}
    for ranks, measured in found.items():
        steps = _may_be(collective, ranks, measured)
        leaves = [own if name is None else _guarded(collective, name, own) for _, name in steps]
        branches[ranks] = _by_length(collective, ranks, steps, leaves)
        ways[ranks] = _by_length(collective, ranks, steps, [through if name is None else alike for _, name in steps])
    algorithms[key]["comm_type=intra"] = _by_ranks(branches, own)
    if collective in _ALIKE:
        compositions[key]["comm_type=intra"] = _by_ranks(ways, through)


def _write_tree(tree: Tree, file: Path) -> None:
    text = json.dumps(tree) + "\n"
    # MPICH maps the file and reads on to a zero, which a page that is full does not have.
    file.write_text(text + " " * (len(text) % _PAGE_BYTES == 0))


def write(rules: Rules, output: Path) -> str:
    """Writes `output` and its neighbour, and returns what to say of them. Raises StrettoError where MPICH's own choices
    cannot be read."""
    library = _find_library()
    algorithms, compositions, content = _built_in(library)
    counted = 0
    for collective, names in _ALGORITHMS.items():
        has = [name for name in names if f"{_key(collective, name)}\0".encode() in content]
        if found := find_surely_better(rules, collective, has):
            add(collective, found, algorithms, compositions)
            counted += 1
    neighbour = output.with_name(f"{output.stem}-compositions{output.suffix}")
    files = (output, neighbour)
    for tree, file in zip((algorithms, compositions), files, strict=True):
        _write_tree(tree, file)
    settings = " ".join(f"{name}={file.absolute()}" for name, file in zip(_VARIABLES, files, strict=True))
    return (
        f"rules for {counted} collectives, beside the own choices of {library}, written to {output} and {neighbour}. "
        f"Then: {settings} mpiexec ..."
    )
