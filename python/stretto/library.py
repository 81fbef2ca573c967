"""Where the compiled parts are: the preload libraries and the programs that were built beside them."""

import os
from pathlib import Path

from stretto.errors import StrettoError

# MPI family -> (the name a reader knows, the preload library built for it).
FAMILIES = {
    "openmpi": ("Open MPI", "libstretto_openmpi.so"),
    "mpich": ("MPICH or Intel MPI", "libstretto_mpich.so"),
    "mpi_abi": ("the MPI standard ABI", "libstretto_mpi_abi.so"),
}

_PACKAGE = Path(__file__).resolve().parent


def library_directory() -> Path:
    """The directory of the preload libraries: $STRETTO_LIB_DIR, else the package's own, else the repository's build.

    Raises StrettoError where there is none.
    """
    named = os.environ.get("STRETTO_LIB_DIR")
    if named:
        directory = Path(named)
        if not directory.is_dir():
            raise StrettoError(f"STRETTO_LIB_DIR={named}: no such directory; unset it or name where the libraries are")
        return directory.resolve()
    candidates = [_PACKAGE / "lib", _PACKAGE.parent.parent / "build" / "lib"]
    for directory in candidates:
        if any(directory.glob("libstretto_*.so")):
            return directory
    places = ", ".join(str(directory) for directory in candidates)
    raise StrettoError(f"Stretto's libraries are not built (looked in {places}): run `make build`")


def available_families() -> list[str]:
    """The MPI families that a library was built for, in the order of FAMILIES. Raises StrettoError without any."""
    directory = library_directory()
    return [family for family, (_, name) in FAMILIES.items() if (directory / name).is_file()]


def preload_library(family: str) -> Path:
    """The preload library for an MPI family (a key of FAMILIES).

    Raises StrettoError where it was not built, or where its path cannot stand in LD_PRELOAD.
    """
    label, name = FAMILIES[family]
    return _loadable(
        name,
        f"no library for {label}: run `make build` with that MPI's mpicc first on PATH, "
        "or set STRETTO_LIB_DIR to where it is",
    )


def nospin_library() -> Path:
    """The library that makes idle ranks sleep (tools/nospin.c). Raises StrettoError as `preload_library` does."""
    return _loadable("libstretto_nospin.so", "not built: run `make build`")


def _loadable(name: str, absent: str) -> Path:
    path = library_directory() / name
    if not path.is_file():
        raise StrettoError(f"{path}: {absent}")
    if any(character in str(path) for character in " :"):
        raise StrettoError(f"{path}: LD_PRELOAD cannot hold a path with a blank or colon: move Stretto to another one")
    return path


def built_program(name: str) -> Path:
    """A program built beside the libraries (`<libraries>/../bin/name`). Raises StrettoError where it is missing."""
    path = library_directory().parent / "bin" / name
    if not path.is_file():
        raise StrettoError(f"{path}: not built: run `make build`")
    return path
