"""The simple form, for who has no other: a line `leaf0 = n[00-15]` a switch, comments behind #."""

from __future__ import annotations

import re

from stretto.topology.names import expand
from stretto.topology.tree import Described, Network, Source, build

LINE = re.compile(r"\s*([^\s=#,\[\]]+)\s*=([^=#]*)")


def read(source: Source) -> Network:
    """The network of lines NAME = LIST: names in the lists that have a line are switches, the others are hosts.

    Raises StrettoError with the line.
    """
    lists: list[tuple[int, str, list[str]]] = []
    for number, line in source.lines:
        text = line.partition("#")[0]
        if not text.strip():
            continue
        found = LINE.fullmatch(text)
        if not found:
            raise source.error("not of the form SWITCH = LIST, such as leaf0 = n[00-15]", number)
        try:
            lists.append((number, found[1], expand(re.sub(r"\s*,\s*", ",", found[2].strip()))))
        except ValueError as error:
            raise source.error(str(error), number) from None
        if any(re.search(r"\s", name) for name in lists[-1][2]):
            raise source.error("names are separated by commas", number)
    switches = {name for _, name, _ in lists}
    described = [
        Described(
            name,
            [each for each in names if each not in switches],
            [each for each in names if each in switches],
            number,
        )
        for number, name, names in lists
    ]
    return build(source, described)
