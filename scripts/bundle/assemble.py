#!/usr/bin/env python3
"""Puts together what scripts/bundle.sh has fetched and built: BASE/stretto from BASE/{mpi,packages,build}.

Usage: assemble.py BASE PROGRAM...   (programs of BASE/build/bin)

The folder has the repository's layout where the repository has one, so that all finds its files as in a checkout. It
fails if the folder is too large, or needs a library that is neither in it nor part of the C library.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
MOST_MIB = 60
# What every Linux with glibc has.
C_LIBRARY = re.compile(r"(ld-linux-x86-64|libc|libm|libdl|librt|libpthread|libutil|libresolv|libcrypt)\.so\.\d+$")
# Of Python's own library: what nothing here imports.
UNNEEDED = {
    *("test", "tests", "idlelib", "lib2to3", "tkinter", "turtledemo", "ensurepip", "distutils", "pydoc_data"),
    *("site-packages", "dist-packages", "lib-dynload", "__pycache__"),
}
UNNEEDED_MODULES = re.compile(
    r"(_test|_codecs_|_ssl|_hashlib|_ctypes_test|_sqlite3|_tkinter|_curses|_dbm|_gdbm|_xx|readline|nis|xx)"
)
# Of the packages: what pytest looks for by its place; and what pip brought that nothing here imports.
READ_AS_FILES = {"_pytest", "pytest", "pluggy", "iniconfig", "xdist", "execnet", "packaging", "py.py"}
NOT_IN_BUNDLE = re.compile(r"(bin$|__pycache__|pydantic)")
TEST_PROGRAMS = ("tests/mpi/*.c", "bench/experiments/overlap.c", "bench/experiments/background_cost.c")


def elf_files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


def without_caches(folder: str, names: list[str]) -> set[str]:
    return {name for name in names if name == "__pycache__"}


def copy_mpi(installed: Path, target: Path) -> None:
    """What starts and runs programs. Fabrics between nodes stay away: the bundle is for one."""
    (target / "bin").mkdir(parents=True)
    for name in ("mpirun", "mpiexec", "prte", "prted", "prterun", "ompirun_wrapper", "ompi_info"):
        shutil.copy2(installed / "bin" / name, target / "bin")
    left_out = shutil.ignore_patterns("python*", "ucx", "libfabric", "*.la", "pkgconfig")
    shutil.copytree(installed / "lib", target / "lib", symlinks=True, ignore=left_out)
    shutil.copytree(installed / "share", target / "share", ignore=shutil.ignore_patterns("man", "doc"))
    if (installed / "etc").is_dir():
        shutil.copytree(installed / "etc", target / "etc")


def copy_stretto(build: Path, programs: list[str], target: Path) -> None:
    for folder in ("build/bin", "build/lib", "tests"):
        (target / folder).mkdir(parents=True)
    for library in ("libstretto_openmpi.so", "libstretto_last.so", "libstretto_nospin.so"):
        shutil.copy2(build / "lib" / library, target / "build/lib")
    for program in programs:
        shutil.copy2(build / "bin" / program, target / "build/bin")
    shutil.copytree(ROOT / "python/stretto", target / "python/stretto", ignore=without_caches)
    shutil.copytree(ROOT / "tests/mpi", target / "tests/mpi", ignore=without_caches)
    for file in ("tests/conftest.py", "tests/mpi_jobs.py"):
        shutil.copy2(ROOT / file, target / file)
    for file in ("pyproject.toml", "LICENSE"):
        shutil.copy2(ROOT / file, target)


def compile_test_programs(mpicc: Path, target: Path) -> None:
    """What tests/conftest.py would compile, each where it then looks for it."""
    for pattern in TEST_PROGRAMS:
        for source in sorted(ROOT.glob(pattern)):
            program = target / source.relative_to(ROOT).with_suffix("")
            program.parent.mkdir(parents=True, exist_ok=True)
            flags = ("-std=gnu11", "-O1", "-pthread", "-ldl", "-lm")
            subprocess.run([mpicc, source, "-o", program, *flags], check=True)
    standard = subprocess.run(
        [mpicc, "-E", "-P", "-x", "c", "-"], input="#include <mpi.h>\nMPI_VERSION\n",
        capture_output=True, text=True, check=True)  # fmt: skip
    (target / "mpi_version").write_text(standard.stdout.split()[-1] + "\n")


def copy_python(packages: Path, target: Path) -> None:
    """This interpreter; its own library in an archive, which Python reads as it is, but for what is compiled."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    library = Path(sysconfig.get_path("stdlib"))
    compiled = target / "lib" / name / "lib-dynload"
    compiled.mkdir(parents=True)
    (target / "bin").mkdir()
    shutil.copy2(Path(sys.base_prefix) / "bin" / name, target / "bin" / name)
    (target / "bin/python3").symlink_to(name)
    shutil.copy2(library / "os.py", compiled.parent)  # by which an interpreter knows its home
    for module in (library / "lib-dynload").glob("*.so"):
        if not UNNEEDED_MODULES.match(module.name):
            shutil.copy2(module, compiled)
    with zipfile.ZipFile(target / "lib" / f"{name.replace('.', '')}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(library.rglob("*.py")):
            parts = path.relative_to(library).parts
            if not UNNEEDED.intersection(parts) and not parts[0].startswith("config-"):
                archive.write(path, "/".join(parts))
    copy_packages(packages, target / "packages")


def copy_packages(packages: Path, target: Path) -> None:
    """Those that can be read from an archive go into one; not what is compiled, nor pytest, which reads files."""
    unneeded = shutil.ignore_patterns("tests", "__pycache__", "f2py", "distutils", "*.pyi", "include", "bin", "*.a")
    target.mkdir()
    with zipfile.ZipFile(target / "pure.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(packages.iterdir()):
            if NOT_IN_BUNDLE.match(path.name) or path.suffix == ".pyi":
                continue
            as_files = path.name in READ_AS_FILES or path.suffix == ".dist-info" or any(path.rglob("*.so"))
            if as_files and path.is_dir():
                shutil.copytree(path, target / path.name, ignore=unneeded)
            elif as_files:
                shutil.copy2(path, target)
            else:
                for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
                    archive.write(file, file.relative_to(packages))


def libraries_of(program: Path) -> dict[str, Path | None]:
    """Library name -> where the loader finds it, without any setting of its own."""
    text = subprocess.run(["ldd", program], env={}, capture_output=True, text=True, check=False).stdout
    found: dict[str, Path | None] = {}
    for name, place in re.findall(r"^\s*(\S+) => (.*?)(?: \(0x.*)?$", text, re.MULTILINE):
        found[Path(name).name] = None if place == "not found" else Path(place)
    return found


def bring_libraries(folder: Path, place: Path) -> list[Path]:
    """Copy what the programs of `folder` need beside the C library, and find elsewhere; the programs that need any."""
    programs = []
    for program in list(elf_files(folder)):
        libraries = {name: path for name, path in libraries_of(program).items() if not C_LIBRARY.match(name)}
        for name, path in libraries.items():
            if path and folder not in path.parents and not (place / name).exists():
                shutil.copy2(path.resolve(), place / name)
        if libraries:
            programs.append(program)
    return programs


def find_mpi_from_here(folder: Path, patchelf: Path) -> None:
    """Let the programs find the bundle's MPI, wherever the bundle is."""
    for program in [*elf_files(folder / "build"), *elf_files(folder / "programs")]:
        up = Path(*[".."] * len(program.parent.relative_to(folder).parts))
        subprocess.run([patchelf, "--set-rpath", f"$ORIGIN/{up}/mpi/lib", program], check=True)


def complete_python(python: Path, patchelf: Path) -> None:
    """Its interpreter and modules find their libraries by places of the one that they were copied from."""
    place = python / "lib"
    for program in [*bring_libraries(python, place), *place.glob("*.so*")]:
        up = Path(*[".."] * len(program.parent.relative_to(python).parts))
        subprocess.run([patchelf, "--set-rpath", f"$ORIGIN/{up}/lib", program], check=True)


def strip(folder: Path) -> None:
    for path in elf_files(folder):
        path.chmod(path.stat().st_mode | 0o200)
        subprocess.run(["strip", "--strip-unneeded", path], check=True)


def glibc_needed(folder: Path) -> str:
    versions: set[tuple[int, ...]] = set()
    for path in elf_files(folder):
        symbols = subprocess.run(["objdump", "-T", path], capture_output=True, text=True, check=True).stdout
        versions |= {tuple(map(int, text.split("."))) for text in re.findall(r"GLIBC_(\d+\.\d+)", symbols)}
    return ".".join(map(str, max(versions)))


def check_whole(folder: Path) -> None:
    """Exit where something needs what a bare Linux does not have, or the folder is too large."""
    for path in elf_files(folder):
        for name, place in libraries_of(path).items():
            if not C_LIBRARY.match(name) and (place is None or folder not in place.resolve().parents):
                sys.exit(f"bundle: {path.relative_to(folder)} needs {name}, which is {place or 'not found'}")
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    mib = sum(path.stat().st_size for path in files) / 2**20
    print(f"bundle: {folder}: {mib:.1f} MiB in {len(files)} files; needs glibc {glibc_needed(folder)}")
    if mib > MOST_MIB:
        sys.exit(f"bundle: that is over {MOST_MIB} MiB")


def main() -> None:
    base, programs = Path(sys.argv[1]).resolve(), sys.argv[2:]
    folder = base / "stretto"
    shutil.rmtree(folder, ignore_errors=True)
    copy_mpi(base / "mpi", folder / "mpi")
    copy_stretto(base / "build", programs, folder)
    compile_test_programs(base / "mpi/bin/mpicc", folder / "programs")
    copy_python(base / "packages", folder / "runtime")
    patchelf = base / "patchelf/bin/patchelf"
    find_mpi_from_here(folder, patchelf)
    complete_python(folder / "runtime", patchelf)
    bring_libraries(folder / "mpi", folder / "mpi/lib/openmpi")  # where its own libraries look
    strip(folder)
    for file in ("README.md", "check", "check.py", "environment", "stretto"):
        shutil.copy2(HERE / file, folder)
    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
    (folder / "version").write_text(f"commit {commit.stdout.strip()}\nglibc {glibc_needed(folder)}\n")
    check_whole(folder)


if __name__ == "__main__":
    main()
