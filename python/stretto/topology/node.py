"""The inside of a node, as hwloc's `lstopo --of xml` describes it: packages, NUMA domains, caches; cores and devices.

They are read into the tree that networks have: what has cores or devices in it takes the place of switches, and these
that of hosts. Of devices those count that take part in communication: network adapters, GPUs, other coprocessors.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from dataclasses import replace
from xml.etree import ElementTree

from stretto.errors import ProgramFailedError, StrettoError
from stretto.launch.processes import run_limited
from stretto.topology.tree import Described, Network, Source, build

_LSTOPO = "lstopo-no-graphics"
_LIMIT_S = 60
# hwloc's object types that are levels of the tree, and what they are called in it. A group holds a NUMA domain where a
# package has several.
_UNITS = {"Package": "package", "Die": "die", "Group": "group", "L3Cache": "L3.", "L2Cache": "L2."}
_NUMA = "NUMANode"
# osdev_type (hwloc.h): OpenFabrics, coprocessor (CUDA), GPU, network; not blocks and DMA engines. A card may be several
# of them at once, and has the name of the first.
_DEVICES = ("3", "5", "1", "2")


def read(source: Source) -> Network:
    """The tree in the text of `lstopo --of xml`. Raises StrettoError."""
    try:
        root = ElementTree.fromstring(source.text.encode())
    except ElementTree.ParseError as error:
        raise source.error(f"not XML: {error}: write it again by `lstopo --of xml`", error.position[0]) from None
    machine = root.find("object[@type='Machine']") if root.tag == "topology" else None
    if machine is None:
        raise source.error("no machine in it: write it by `lstopo --of xml`")
    described: list[Described] = []
    _describe(machine, "machine", described, Counter())
    return replace(build(source, described), words=("place", "unit"))


def read_here() -> Network:
    """The node that this runs on. Raises StrettoError where lstopo is missing or fails."""
    if shutil.which(_LSTOPO) is None:
        raise StrettoError(f"--here asks hwloc, and {_LSTOPO} is not on PATH: install it (Debian: hwloc-nox)")
    try:
        text = run_limited([_LSTOPO, "--of", "xml", "-"], os.environ, _LIMIT_S)
    except ProgramFailedError as failed:
        raise StrettoError(f"--here: {failed}") from failed
    return read(Source(_LSTOPO, text[max(text.find("<?xml"), 0) :]))


def _describe(unit: ElementTree.Element, name: str, described: list[Described], seen: Counter[str]) -> None:
    """Adds a unit, and before it those in it. `seen`: how many of each kind there have been, for their names."""
    cores: list[str] = []
    parts: list[str] = []
    open_objects = list(unit.findall("object"))
    while open_objects:
        each = open_objects.pop(0)
        kind = each.get("type", "")
        if kind in _UNITS and _has_several(each):
            part = _name(each, kind, seen)
            parts.append(part)
            _describe(each, part, described, seen)
        elif kind == "Core":
            cores.append(f"core{seen['Core']}")
            seen["Core"] += 1
        elif kind in ("PCIDev", "OSDev"):
            cores += _devices(each)[:1]
        else:
            open_objects[:0] = each.findall("object")
    described.append(Described(name, cores, parts))


def _devices(card: ElementTree.Element) -> list[str]:
    """What the operating system calls a card, or parts of it."""
    found = [each for each in card.iter("object") if each.get("osdev_type") in _DEVICES]
    found.sort(key=lambda each: _DEVICES.index(each.get("osdev_type", "")))
    return [each.get("name", "device") for each in found]


def _has_several(unit: ElementTree.Element) -> bool:
    """A cache that one core has alone tells nothing of who is near."""
    return unit.get("type") != "L2Cache" or len(unit.findall(".//object[@type='Core']")) > 1


def _name(unit: ElementTree.Element, kind: str, seen: Counter[str]) -> str:
    memory = unit.find(f"object[@type='{_NUMA}']")
    if kind == "Group" and memory is not None:
        return f"numa{memory.get('os_index', '')}"
    seen[kind] += 1
    return f"{_UNITS[kind]}{seen[kind] - 1}"
