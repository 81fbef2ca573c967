"""Which clusters are up: one directory each, in the user's runtime directory, with what it takes to find it again."""

import contextlib
import dataclasses
import json
import os
import re
import select
import tempfile
from dataclasses import dataclass
from pathlib import Path

from stretto.errors import StrettoError

_STATE = "state.json"


@dataclass(frozen=True)
class Process:
    """A process that is not mistaken for a later one of the same number."""

    pid: int
    started: int  # in clock ticks since boot

    @classmethod
    def of(cls, pid: int) -> "Process":
        """The living process of a number. Raises ProcessLookupError where there is none."""
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except FileNotFoundError:
            raise ProcessLookupError(pid) from None
        if fields[0] in "ZX":  # it has ended, and nobody has asked how
            raise ProcessLookupError(pid)
        return cls(pid, int(fields[19]))

    def alive(self) -> bool:
        """Whether it has not ended."""
        try:
            return Process.of(self.pid) == self
        except ProcessLookupError:
            return False

    def signal(self, number: int) -> None:
        """Send a signal, or do nothing where it has ended."""
        if self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def ended_within(self, limit_s: float) -> bool:
        """Wait for its end, for so long at most, and tell whether it came. It need not be our child."""
        try:
            handle = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return True
        try:
            return not self.alive() or bool(select.select([handle], [], [], limit_s)[0])
        finally:
            os.close(handle)


@dataclass(frozen=True)
class State:
    """What is known of a cluster that is up."""

    init: Process  # the first process of its process namespace: nothing of the cluster outlives it
    keeper: Process  # waits for init, then removes the directory
    nodes: int
    rate: str


def directory_of(name: str) -> Path:
    """Where the cluster of this name lies, if it is there. Raises StrettoError where it can lie nowhere."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,32}", name):
        raise StrettoError(f"--name {name}: use up to 32 letters, digits, - and _")
    path = _base() / f"{_prefix()}{name}"
    if re.search(r"[\s:]", str(path)):
        raise StrettoError(f"{path}: launchers cannot start what has blanks or colons in its path: set XDG_RUNTIME_DIR")
    return path


def claim(name: str) -> Path:
    """A new directory for a cluster of this name. Raises StrettoError where one is up."""
    path = directory_of(name)
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        raise StrettoError(
            f"the cluster {name} is there already: `stretto cluster down --name {name}` removes it, "
            "another --name makes another"
        ) from None
    except OSError as error:
        raise StrettoError(
            f"{path}: {error.strerror}: set XDG_RUNTIME_DIR to a directory that can be written"
        ) from error
    return path


def save(directory: Path, state: State) -> None:
    """Note a state. Who reads meanwhile sees the old one or the new one."""
    fresh = directory / f"{_STATE}.new"
    fresh.write_text(json.dumps(dataclasses.asdict(state)))
    fresh.replace(directory / _STATE)


def load(directory: Path) -> State | None:
    """The state that was noted in a directory, None where there is none."""
    # What lies there is run with our rights, and the base may be a directory in which anyone can make one.
    if directory not in directories():
        return None
    try:
        fields = json.loads((directory / _STATE).read_text())
    except FileNotFoundError:
        return None
    return State(Process(**fields.pop("init")), Process(**fields.pop("keeper")), **fields)


def directories() -> list[Path]:
    """Those of all clusters of this user, whether alive or left behind."""
    return sorted(path for path in _base().glob(f"{_prefix()}*") if path.lstat().st_uid == os.geteuid())


def name_of(directory: Path) -> str:
    """The name of the cluster that a directory belongs to."""
    return directory.name[len(_prefix()) :]


def _base() -> Path:
    return Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()).absolute()


def _prefix() -> str:
    return f"stretto-cluster-{os.geteuid()}-"
