"""The forms that a description of a network, or of the inside of a node, may have, and which of them a file has."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from stretto.errors import StrettoError
from stretto.topology import infiniband, node, omnipath, simple, slurm
from stretto.topology.tree import Network, Source

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f]")


@dataclass(frozen=True)
class Form:
    """How a description is read, and a pattern that only files of this form have at the begin of a line."""

    read: Callable[[Source], Network]
    mark: re.Pattern[str]


def _mark(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"^[ \t]*(?:{pattern})", re.MULTILINE | re.IGNORECASE)


# In this order: a line of topology.conf is also one of the simple form.
FORMS = {
    "hwloc": Form(node.read, _mark(r"<!DOCTYPE topology\b")),
    "ibnetdiscover": Form(infiniband.read, _mark(r'# Topology file: generated|(?:Switch|Ca)\s+\d+\s+"[SH]-')),
    "opareport": Form(omnipath.read, _mark(r"<\?xml|<Report|Link Summary\s*$|<->\s+0x")),
    "slurm": Form(slurm.read, _mark(r"(?:SwitchName|BlockName|Nodes|Switches)\s*=\s*\S+(?:\s+\w+\s*=|\s*$)")),
    "simple": Form(simple.read, _mark(simple.LINE.pattern + "$")),
}


def read_network(path: Path, form: str | None) -> tuple[str, Network]:
    """The form of a file, recognised where `form` is None, and the tree in it. Raises StrettoError."""
    source = read_source(path)
    if not source.text.strip():
        raise source.error("empty: is this the right file?")
    if form is None:
        form = next((name for name, each in FORMS.items() if each.mark.search(source.text)), None)
    if form is None:
        raise source.error(f"no description of a network that is known: name its form, --form {'|'.join(FORMS)}")
    if form not in FORMS:
        raise StrettoError(f"--form={form}: no such form; choose from {', '.join(FORMS)}")
    return form, FORMS[form].read(source)


def read_source(path: Path) -> Source:
    """A text file. Raises StrettoError where it cannot be read or is none."""
    try:
        source = Source(str(path), path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StrettoError(f"{path}: cannot be read: {error.strerror}: name a file that you may read") from error
    except UnicodeDecodeError:
        raise StrettoError(f"{path}: not text: is this the right file?") from None
    if _CONTROL.search(source.text):
        raise source.error("not text: is this the right file?")
    return source
