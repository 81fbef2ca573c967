"""What a program on disk is: found or not, static or not, and which MPI it is linked against."""

import os
import re
import shutil
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# A program names its MPI by the libraries it needs. Debian renames MPICH's libmpi.so.12 to libmpich.so.12.
_MPI_LIBRARIES = (
    (re.compile(r"libmpi(_\w+)?\.so\.40$"), "openmpi"),
    (re.compile(r"libmpi(ch|fort|cxx|chfort|chcxx)?\.so\.12$"), "mpich"),
    (re.compile(r"libmpi_abi\.so\.\d+$"), "mpi_abi"),
)
_PT_LOAD, _PT_DYNAMIC, _PT_INTERP = 1, 2, 3
_DT_NULL, _DT_NEEDED, _DT_STRTAB = 0, 1, 5


@dataclass(frozen=True)
class Elf:
    """What matters of an ELF program: whether a dynamic loader starts it, and the libraries it names itself."""

    has_loader: bool
    needed: tuple[str, ...]


def find_program(name: str, directory: str | None = None) -> Path | None:
    """The file that a launcher would start for `name`, or None.

    A name with a slash is taken as it is (relative to `directory`), another is looked for on PATH and then in
    `directory`, as Open MPI and hydra do. `directory` is the working directory where None.
    """
    base = Path(directory or os.getcwd())
    found = None if "/" in name else shutil.which(name)
    path = Path(found) if found else base / name
    return path if path.is_file() and os.access(path, os.X_OK) else None


def read_elf(path: Path) -> Elf | None:
    """Read the headers of a 64-bit ELF file; None for anything else (a script, another format, a broken file).

    Raises OSError where the file cannot be read.
    """
    with open(path, "rb") as file:
        head = file.read(64)
        if len(head) < 64 or head[:5] != b"\x7fELF\x02":
            return None
        file.seek(0)
        data = file.read()
    try:
        return _parse_elf(data, "<" if data[5] == 1 else ">")
    except (struct.error, ValueError):
        return None


def _parse_elf(data: bytes, order: str) -> Elf:
    """Parse a 64-bit ELF image of byte order `order`. Raises struct.error or ValueError where it is broken."""
    table, entry_bytes, entries = struct.unpack_from(order + "Q14xHH", data, 32)
    loads: list[tuple[int, int, int]] = []  # (virtual address, file offset, bytes)
    dynamic: tuple[int, int] | None = None
    has_loader = False
    for index in range(entries):
        kind, _, offset, address, _, length = struct.unpack_from(order + "IIQQQQ", data, table + index * entry_bytes)
        has_loader |= kind == _PT_INTERP
        if kind == _PT_LOAD:
            loads.append((address, offset, length))
        elif kind == _PT_DYNAMIC:
            dynamic = (offset, length)
    if dynamic is None:
        return Elf(has_loader, ())
    tags = list(_dynamic_tags(data, order, *dynamic))
    strings_address = next((value for tag, value in tags if tag == _DT_STRTAB), None)
    needed = [value for tag, value in tags if tag == _DT_NEEDED]
    if strings_address is None or not needed:
        return Elf(has_loader, ())
    for address, offset, length in loads:
        if address <= strings_address < address + length:
            start = strings_address - address + offset
            return Elf(has_loader, tuple(_string(data, start + value) for value in needed))
    raise ValueError("string table outside of every segment")


def _dynamic_tags(data: bytes, order: str, offset: int, length: int) -> Iterator[tuple[int, int]]:
    for position in range(offset, offset + length, 16):
        tag, value = struct.unpack_from(order + "qQ", data, position)
        if tag == _DT_NULL:
            return
        yield tag, value


def _string(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode(errors="replace")


def mpi_family(needed: tuple[str, ...]) -> str | None:
    """The MPI family (a key of library.FAMILIES) among the libraries that a program needs, or None."""
    for library in needed:
        for pattern, family in _MPI_LIBRARIES:
            if pattern.match(library):
                return family
    return None
