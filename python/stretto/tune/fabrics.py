"""Usual networks, for predictions where nothing can be measured: machine.toml of each (docs/machine.md)."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import stretto
from stretto.errors import StrettoError
from stretto.tune.machine import SCHEMA
from stretto.tune.toml_file import read_toml

_LENGTHS = [8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 2 << 20, 16 << 20]  # bytes, of schema 1
# Of nodes, of which a network tells nothing: the round numbers of `stretto model`.
_NODE_NS, _NODE_BYTES_PER_NS = 500, 10.0
_REDUCE_BYTES_PER_NS, _COPY_BYTES_PER_NS = 10.0, 20.0
_LINE_NS, _WAKE_NS, _CALL_NS = 200, 5000, 100


@dataclass(frozen=True)
class Fabric:
    """One way between two nodes: `latency_ns` of 8 bytes, `gap_ns` between short messages; `source`: who says so."""

    latency_ns: int
    bytes_per_ns: float
    gap_ns: int
    eager_bytes: int
    source: str


@cache
def fabrics() -> dict[str, Fabric]:
    """All that are known, by name."""
    return {name: Fabric(**figures) for name, figures in read_toml(Path(__file__).with_name("fabrics.toml")).items()}


def _times(start_ns: int, bytes_per_ns: float) -> list[int]:
    return [start_ns + round(length / bytes_per_ns) for length in _LENGTHS]


def _link(level: str, latency_ns: int, gap_ns: int, bytes_per_ns: float, eager_bytes: int) -> str:
    return (
        f"[link.{level}]\neager_bytes = {eager_bytes}\nmessage_ns = {_times(latency_ns, bytes_per_ns)}\n"
        f"gap_ns = {_times(gap_ns, bytes_per_ns)}\n"
    )


def describe(name: str) -> str:
    """machine.toml of a cluster of that fabric, with nodes of no machine in particular. Of no MPI library and no
    processor, so ranks do not take it for their own."""
    fabric = fabrics()[name]
    return (
        f"# {name}: {fabric.source}.\n"
        f"schema = {SCHEMA}\nlengths = {_LENGTHS}\n"
        f'[measured]\ndate = "never"\nstretto = "{stretto.__version__}"\nmpi = "none: a usual {name}"\n'
        f'cpu = "none: a usual {name}"\ncores = 1\nranks = 2\nnodes = 2\n'
        f"[times]\nline_ns = {_LINE_NS}\nwake_ns = {_WAKE_NS}\ncall_ns = {_CALL_NS}\n"
        + _link("machine", fabric.latency_ns, fabric.gap_ns, fabric.bytes_per_ns, fabric.eager_bytes)
        + _link("node", _NODE_NS, _NODE_NS // 4, _NODE_BYTES_PER_NS, fabric.eager_bytes)
        + f"[[work]]\ncores = 1\ncopy_ns = {_times(0, _COPY_BYTES_PER_NS)}\n"
        f"reduce_ns = {_times(0, _REDUCE_BYTES_PER_NS)}\n"
    )


@contextmanager
def machine_file(given: str | None) -> Iterator[Path | None]:
    """The file of that name, or else one for the fabric of that name; None where none is given. Raises StrettoError
    where there is neither."""
    if given is None:
        yield None
        return
    if given in fabrics() and not Path(given).exists():
        with tempfile.TemporaryDirectory(prefix="stretto-") as folder:
            path = Path(folder) / f"{given}.toml"
            path.write_text(describe(given))
            yield path
        return
    if not Path(given).exists():
        raise StrettoError(f"--machine {given}: no such file, nor one of {', '.join(fabrics())}")
    yield Path(given)
