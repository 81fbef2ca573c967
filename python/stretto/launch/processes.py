"""Running a program with a time limit and leaving none of its processes behind."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

from stretto.errors import ProgramFailedError

_ENDING = (signal.SIGTERM, signal.SIGHUP)


def leave_when_ended() -> None:
    """From now on SIGTERM and SIGHUP end this program as Ctrl-C does, by an exception.

    What is to be taken away is then taken away by the blocks that made it.
    """
    for number in _ENDING:
        signal.signal(number, _leave)


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    for other in _ENDING:  # a second one, such as `timeout` sends, would only disturb the taking away
        signal.signal(other, signal.SIG_IGN)
    sys.exit(128 + number)


def run_limited(command: Sequence[str], environment: Mapping[str, str], timeout_s: float) -> str:
    """Run a command in a process group of its own and return what it printed, stdout and stderr together.

    Raises ProgramFailedError, with the end of the output, where it fails or takes longer than `timeout_s` seconds.
    In any case, an interrupt of ours included, the group is gone afterwards: it is asked to end, then killed.
    """
    process = subprocess.Popen(
        command,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        output = _end_group(process)
        raise ProgramFailedError(f"took longer than {timeout_s:.0f} s: {' '.join(command)}\n{output[-2000:]}") from None
    except BaseException:
        _end_group(process)
        raise
    if process.returncode != 0:
        raise ProgramFailedError(f"exit code {process.returncode} of: {' '.join(command)}\n{output[-4000:]}")
    return output


def _end_group(process: subprocess.Popen[str]) -> str:
    """End the process group, and return what it printed.

    SIGTERM, which launchers pass on to their ranks; SIGKILL once its output has ended or 5 s later, for those who hold
    no output and have missed the first. Waits up to 5 s for the kernel to take away what has been killed.
    """
    output = ""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            output = output or process.communicate(timeout=5)[0]
    until = time.monotonic() + 5
    while _lives(process.pid) and time.monotonic() < until:
        time.sleep(0.01)
    return output


def _lives(group: int) -> bool:
    """Whether a process of the group is more than a zombie, which in a container may have nobody to wait for it."""
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it is gone by now
            state, _, of = entry.read_text().rpartition(")")[2].split()[:3]
            if int(of) == group and state not in "ZX":
                return True
    return False
