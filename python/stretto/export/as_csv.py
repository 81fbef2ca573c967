"""A profile as comma-separated values: a line of names, then one line a record."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from stretto.export.rows import ROW, Column, Columns


def write(blocks: Iterable[NDArray[np.void]], columns: Columns, file: BinaryIO) -> None:
    """Write `blocks`, each (n,) of ROW, to `file`."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(column.name for column in columns.of(np.empty(0, ROW)))
    for rows in blocks:
        writer.writerows(zip(*map(_cells, columns.of(rows)), strict=True))
    text.detach()  # which also flushes: the file is the caller's to close


def _cells(column: Column) -> list[str]:
    words = ("false", "true") if column.values.dtype == bool else column.words
    cells = zip(column.values.tolist(), column.known.tolist(), strict=True)
    return [("" if not known else str(value) if words is None else words[value]) for value, known in cells]
