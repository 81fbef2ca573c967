"""scripts/bundle.sh: that what it makes runs where there is nothing but a C library and a shell."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# What `check` itself calls, and what mpirun looks for.
PROGRAMS = ("sh", "dirname", "grep", "env", "ls", "mount")


def copy_program(program: Path, root: Path) -> None:
    """With the libraries that it needs, where they are here."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    for file in {program, *(Path(word) for word in listed.split() if word.startswith("/"))}:
        target = root / str(file).lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file.resolve(), target)


def make_bare_root(root: Path) -> None:
    for folder in ("bin", "dev", "proc", "tmp", "sys", "etc", "bundle", "results"):
        (root / folder).mkdir(parents=True)
    for name in PROGRAMS:
        found = shutil.which(name, path="/usr/bin:/bin")
        assert found
        copy_program(Path(found), root)
        if not (root / "bin" / name).exists():
            (root / "bin" / name).symlink_to(found)
    for library in (
        "libc.so.6",
        "libm.so.6",
        "libdl.so.2",
        "librt.so.1",
        "libpthread.so.0",
        "libutil.so.1",
        "libresolv.so.2",
    ):
        target = root / "usr/lib/x86_64-linux-gnu" / library
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(Path("/usr/lib/x86_64-linux-gnu") / library, target)
    (root / "etc/passwd").write_text("root:x:0:0:root:/:/bin/sh\n")


@pytest.mark.night
def test_a_bundle_runs_without_anything_else(tmp_path: Path) -> None:
    """Its tests and the quick figures, with no network, no compiler, no Python and no MPI but its own."""
    unshare = shutil.which("unshare")
    if not unshare or os.geteuid() != 0 or subprocess.run([unshare, "-mn", "true"], check=False).returncode != 0:
        pytest.skip("needs `unshare -mn` and chroot, which only root has")
    subprocess.run([ROOT / "scripts/bundle.sh"], check=True, timeout=1800)
    root = tmp_path / "root"
    make_bare_root(root)
    script = (
        f"mount --bind {ROOT}/build-bundle/stretto {root}/bundle && mount -t proc proc {root}/proc && "
        f"mount --rbind /dev {root}/dev && mount -t tmpfs tmpfs {root}/tmp && mount -t tmpfs tmpfs {root}/dev/shm && "
        f"ip link set lo up; exec chroot {root} /bin/env -i PATH=/bin HOME=/ /bundle/check /results cpp mpi quick"
    )
    result = subprocess.run(
        [unshare, "-mn", "sh", "-c", script], capture_output=True, text=True, timeout=900, check=False
    )
    details = "".join(file.read_text(errors="replace")[-3000:] for file in (root / "results").glob("*.txt"))
    assert result.returncode == 0, f"{result.stdout}\n{result.stderr}\n{details}"
