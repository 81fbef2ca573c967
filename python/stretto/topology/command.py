"""`stretto topo`: a description of a network, or of a node, as a tree, a drawing, a topology.conf or a matrix."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rich.console import Console

from stretto.errors import StrettoError
from stretto.topology import slurm
from stretto.topology.draw import draw
from stretto.topology.forms import read_network
from stretto.topology.matrix import matrix_csv
from stretto.topology.node import read_here
from stretto.topology.ranks import place_ranks
from stretto.topology.show import as_json, print_network
from stretto.topology.tree import Network


def topo(
    file: Path | None,
    here: bool,
    form: str | None,
    hostfile: Path | None,
    ranks: str | None,
    output: Path | None,
    drawing: Path | None,
    matrix: Path | None,
    wants_json: bool,
) -> None:
    """Print the network in `file`, and write the files that were asked for. Raises StrettoError.

    Every text is made before the first file is written, so that an error in the input leaves none behind.
    """
    recognised, network = _read(file, here, form)
    placed = place_ranks(network, hostfile, ranks)
    texts: dict[Path, str] = {}
    if output is not None:
        if file is None or recognised == "hwloc":
            raise StrettoError("--output: the library finds the inside of nodes by itself: name a network's file")
        texts[output] = slurm.write(network, file.name)
    if drawing is not None:
        texts[drawing] = draw(network, placed)
    if matrix is not None:
        texts[matrix] = matrix_csv(network, placed)
    for path in texts:
        if file is not None and path.exists() and path.samefile(file):
            raise StrettoError(f"{path}: the description itself: give another name")
    for path, text in texts.items():
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise StrettoError(
                f"{path}: cannot be written: {error.strerror}: name a file in a directory you may write to"
            ) from error
    if wants_json:
        print(json.dumps(as_json(network, recognised, placed), indent=2))
    else:
        print_network(Console(width=None if sys.stdout.isatty() else 160), network, recognised, placed)


def _read(file: Path | None, here: bool, form: str | None) -> tuple[str, Network]:
    """The form and the tree of what was named."""
    if here:
        if file is not None or form is not None:
            raise StrettoError("--here is this machine, FILE another description: give one of them")
        return "hwloc", read_here()
    if file is None:
        raise StrettoError(
            "name a file that describes the network: stretto topo FILE, from ibnetdiscover, `opareport -o topology`, "
            "Slurm's topology.conf, or with lines such as leaf0 = n[00-15]; or --here for the inside of this machine"
        )
    return read_network(file, form)
