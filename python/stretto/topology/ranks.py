"""Where ranks are: `--hosts`, a launcher's hostfile, or `--ranks`, a host for each rank."""

from __future__ import annotations

import re
from pathlib import Path

from stretto.errors import StrettoError
from stretto.topology.forms import read_source
from stretto.topology.names import expand
from stretto.topology.tree import Network, Source

_MOST_NAMED = 5  # of hosts in a message
# Open MPI's `n0 slots=4 max_slots=8`, MPICH's `n0:4`.
_HOST_LINE = re.compile(r"([^\s:=]+)(?::(\d+))?((?:\s+\w+\s*=\s*\S+)*)")
_SLOTS = re.compile(r"\bslots\s*=\s*(\d+)")


def place_ranks(network: Network, hostfile: Path | None, ranks: str | None) -> list[str]:
    """The host of each rank, as the network calls it; empty where neither is given. Raises StrettoError.

    From a hostfile, hosts are filled one after the other, as launchers do by default.
    """
    if hostfile is not None and ranks is not None:
        raise StrettoError("--hosts and --ranks both say where ranks are: give one of them")
    if hostfile is not None:
        return _on_network(network, f"--hosts {hostfile}", _read_hostfile(read_source(hostfile)))
    if ranks is not None:
        return _on_network(network, "--ranks", _read_ranks(ranks))
    return []


def _read_hostfile(source: Source) -> list[str]:
    hosts: list[str] = []
    for number, line in source.lines:
        text = line.partition("#")[0].strip()
        if not text:
            continue
        found = _HOST_LINE.fullmatch(text)
        if not found:
            raise source.error("not of the form HOST, HOST slots=N or HOST:N", number)
        slots = found[2] or (_SLOTS.findall(found[3]) or ["1"])[0]
        hosts += [found[1]] * int(slots)
    if not hosts:
        raise source.error("it names no hosts: write one a line")
    return hosts


def _read_ranks(text: str) -> list[str]:
    """A list in the words of the command line, or a file with a host a line."""
    if Path(text).is_file():
        source = read_source(Path(text))
        hosts = [line.strip() for _, line in source.lines if line.strip()]
        if not hosts:
            raise source.error("it names no hosts: write that of rank r in line r + 1")
        return hosts
    try:
        return expand(text)
    except ValueError as error:
        raise StrettoError(f"--ranks: {error}") from None


def _on_network(network: Network, option: str, hosts: list[str]) -> list[str]:
    found = {host: network.find(host) for host in dict.fromkeys(hosts)}
    unknown = [host for host, known in found.items() if known is None]
    if unknown:
        more = f" and {len(unknown) - _MOST_NAMED} more" if len(unknown) > _MOST_NAMED else ""
        raise StrettoError(
            f"{option}: the network does not have {', '.join(unknown[:_MOST_NAMED])}{more}: "
            "correct the names or describe these hosts, too"
        )
    return [found[host] or host for host in hosts]
