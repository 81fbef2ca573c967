"""A profile as a Parquet table, row group by row group. The words are dictionaries, which other tools show as text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from stretto.export.rows import ROW, Column, Columns


def write(blocks: Iterable[NDArray[np.void]], columns: Columns, file: BinaryIO) -> None:
    """Write `blocks`, each (n,) of ROW, to `file`; a block becomes a row group."""
    schema = _table(columns.of(np.empty(0, ROW))).schema
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for rows in blocks:
            if len(rows):
                writer.write_table(_table(columns.of(rows)))


def _table(columns: list[Column]) -> pa.Table:
    return pa.table({column.name: _array(column) for column in columns})


def _array(column: Column) -> pa.Array:
    if column.words is None:
        return pa.array(column.values, mask=~column.known)
    # A dictionary names each word once, and `words` may not: ranks of one host, communicators of one name.
    words, places = np.unique(np.array(column.words, object), return_inverse=True)
    indices = np.append(places, 0).astype(np.int32)[column.values.astype(np.int64)]  # unknown ones are -1: the last
    return pa.DictionaryArray.from_arrays(pa.array(indices, mask=~column.known), pa.array(words, pa.string()))
