"""Reading real programs: static or not, and the MPI they are linked against."""

from pathlib import Path

import pytest
from cli_support import Compile

from stretto.launch.program import find_program, mpi_family, read_elf


def test_static_program_has_no_loader(compile_c: Compile) -> None:
    elf = read_elf(compile_c("int main(void) { return 0; }", "-static"))
    assert elf is not None
    assert not elf.has_loader


def test_static_pie_has_no_loader(compile_c: Compile) -> None:
    elf = read_elf(compile_c("int main(void) { return 0; }", "-static-pie"))
    assert elf is not None
    assert not elf.has_loader


def test_dynamic_program_names_its_libraries(compile_c: Compile) -> None:
    elf = read_elf(compile_c("int main(void) { return 0; }"))
    assert elf is not None
    assert elf.has_loader
    assert elf.needed == ("libc.so.6",)
    assert mpi_family(elf.needed) is None


def test_mpi_program_names_the_family_of_mpicc(compile_c: Compile) -> None:
    text = "#include <mpi.h>\nint main(void) { MPI_Init(0, 0); return MPI_Finalize(); }"
    elf = read_elf(compile_c(text, compiler="mpicc"))
    assert elf is not None
    assert mpi_family(elf.needed) == "openmpi"


def test_program_of_another_mpi(foreign_program: Path) -> None:
    elf = read_elf(foreign_program)
    assert elf is not None
    assert mpi_family(elf.needed) == "mpich"


@pytest.mark.parametrize(
    ("library", "family"),
    [
        ("libmpi.so.40", "openmpi"),
        ("libmpi_mpifh.so.40", "openmpi"),
        ("libmpi_usempif08.so.40", "openmpi"),
        ("libmpi.so.12", "mpich"),
        ("libmpich.so.12", "mpich"),
        ("libmpifort.so.12", "mpich"),
        ("libmpichfort.so.12", "mpich"),
        ("libmpi_abi.so.0", "mpi_abi"),
        ("libmpi.so.1", None),
        ("libmpigen.so.12x", None),
        ("libm.so.6", None),
    ],
)
def test_family_of_a_library(library: str, family: str | None) -> None:
    assert mpi_family(("libc.so.6", library)) == family


def test_script_is_no_elf(tmp_path: Path) -> None:
    path = tmp_path / "script"
    path.write_text("#!/bin/sh\n" + "#" * 100)
    assert read_elf(path) is None


def test_broken_elf_is_none_at_every_length(compile_c: Compile, tmp_path: Path) -> None:
    whole = compile_c("int main(void) { return 0; }").read_bytes()
    for length in (0, 10, 63, 64, 100, 600, 1000, 3000):
        path = tmp_path / "cut"
        path.write_bytes(whole[:length])
        elf = read_elf(path)
        assert elf is None or elf.needed in ((), ("libc.so.6",))


def test_find_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tool").write_text("#!/bin/sh\n")
    assert find_program(str(tmp_path / "tool")) is None  # not executable
    (tmp_path / "tool").chmod(0o755)
    assert find_program(str(tmp_path / "tool")) == tmp_path / "tool"
    assert find_program("./tool", str(tmp_path)) == tmp_path / "tool"
    assert find_program("tool") is None
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert find_program("tool") == tmp_path / "tool"
    assert find_program(str(tmp_path)) is None  # a directory
