"""Hints: a program tells Stretto of its progress, so that the others know when it will arrive (docs/anticipation.md).

from stretto import hints
hints.compute_begin()
...                       # half of the computation
hints.progress_mark(0.5)
...                       # the other half
comm.Gather(mine, all)
"""

from __future__ import annotations

import ctypes

_LIBRARY = ctypes.CDLL(None)  # what is loaded already: Stretto, if `stretto run` has preloaded it
_REFUSED = {
    3: "MPI is not initialised, or finalised already",
    4: "no compute_begin() before this mark",
    5: "a fraction lies above 0 and is at most 1",
    6: "fractions must rise from mark to mark",
}


def available() -> bool:
    """Whether Stretto is there to take hints; without it they do nothing."""
    return hasattr(_LIBRARY, "Stretto_compute_begin")


def compute_begin() -> None:
    """A computation begins, at whose end this rank calls a collective. Raises RuntimeError outside MPI."""
    if available():
        _check(_LIBRARY.Stretto_compute_begin())


def progress_mark(fraction: float) -> None:
    """`fraction` of it is done, in (0, 1], rising from mark to mark.

    Raises ValueError for another fraction, RuntimeError for a mark without compute_begin() or outside MPI.
    """
    if available():
        _check(_LIBRARY.Stretto_progress_mark(ctypes.c_double(fraction)))


def _check(code: int) -> None:
    if code in (5, 6):
        raise ValueError(f"progress_mark: {_REFUSED[code]}")
    if code != 0:
        raise RuntimeError(f"hint refused: {_REFUSED[code]}")
