"""Starting MPI programs on the nodes: what launchers must be told, and the command line for the first node.

Launchers read their settings from the environment of the first node, each its own, so that a bare `mpirun -n 8 PROGRAM`
there does the right thing and no version has to be asked for. Their agent is not ssh but the cluster's own, which keeps
the environment: all variables reach all ranks.
"""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from stretto.errors import StrettoError
from stretto.launch.launchers import identify
from stretto.launch.run import build_command, collect_settings
from stretto.library import nospin_library

_OPENMPI_HOSTS = "hosts.openmpi"
_HYDRA_HOSTS = "hosts.hydra"


def write_host_files(directory: Path, names: Sequence[str]) -> None:
    """The lists of nodes, as launchers read them."""
    (directory / _OPENMPI_HOSTS).write_text("".join(f"{name} slots=1\n" for name in names))
    (directory / _HYDRA_HOSTS).write_text("".join(f"{name}:1\n" for name in names))


def launcher_settings(directory: Path) -> dict[str, str]:
    """Variables that tell launchers and MPI libraries about the nodes."""
    agent = str(directory / "agent")
    return {
        "TMPDIR": str(directory / "tmp"),  # each node's own: launchers keep files there, which go with the cluster
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        # Open MPI 4.
        "OMPI_MCA_plm_rsh_agent": agent,
        "OMPI_MCA_plm_rsh_no_tree_spawn": "1",
        "OMPI_MCA_oob_tcp_if_include": "eth0",
        "OMPI_MCA_orte_default_hostfile": str(directory / _OPENMPI_HOSTS),
        "OMPI_MCA_rmaps_base_mapping_policy": "node:oversubscribe",
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        # Open MPI 5, whose launcher is PRRTE.
        "PRTE_MCA_plm_ssh_agent": agent,
        "PRTE_MCA_plm_ssh_no_tree_spawn": "1",
        "PRTE_MCA_prte_if_include": "eth0",
        "PRTE_MCA_prte_default_hostfile": str(directory / _OPENMPI_HOSTS),
        "PRTE_MCA_rmaps_default_mapping_policy": "node:oversubscribe",
        "PRTE_MCA_hwloc_default_binding_policy": "none",
        # Both: TCP between nodes, and nothing that would find real network hardware, which has no namespaces.
        "OMPI_MCA_pml": "ob1",
        "OMPI_MCA_btl": "^openib,ofi,uct,usnic,ugni",
        "OMPI_MCA_btl_tcp_if_include": "eth0",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        # MPICH, whose launcher is Hydra, and which uses libfabric or UCX.
        "HYDRA_LAUNCHER": "ssh",
        "HYDRA_LAUNCHER_EXEC": agent,
        "HYDRA_HOST_FILE": str(directory / _HYDRA_HOSTS),
        "HYDRA_IFACE": "eth0",
        "FI_PROVIDER": "tcp",
        "FI_TCP_IFACE": "eth0",
        "UCX_TLS": "tcp,sm,self",
        "UCX_NET_DEVICES": "eth0",
    }


def launch_line(
    mpirun: str,
    ranks: int,
    program: Sequence[str | Path],
    nospin: bool,
    stretto: bool,
    preload: Sequence[Path],
    environment: Mapping[str, str],
) -> tuple[list[str], dict[str, str]]:
    """The command line that starts a program, and variables to set for it. `mpirun` is the launcher, perhaps with
    options. Raises StrettoError for what cannot work."""
    if ranks < 1:
        raise StrettoError(f"{ranks} ranks: choose 1 or more")
    launcher = shlex.split(mpirun)
    if not launcher:
        raise StrettoError("--mpirun is empty: name a launcher, as mpirun")
    kind, _ = identify(launcher[0], environment)
    if kind == "srun":
        raise StrettoError(f"{mpirun}: Slurm knows no emulated nodes: name the mpirun of an MPI by --mpirun")
    for path in preload:
        if not path.is_file():
            raise StrettoError(f"--preload {path}: no such file")
    libraries = [*environment.get("LD_PRELOAD", "").replace(" ", ":").split(":"), *(str(p.absolute()) for p in preload)]
    libraries += [str(nospin_library())] if nospin else []
    preloaded = ":".join(filter(None, libraries))
    # Only the ranks are to have the libraries, so no variable of ours but an option.
    option = ["-genv", "LD_PRELOAD", preloaded] if kind == "hydra" else ["-x", f"LD_PRELOAD={preloaded}"]
    line = [*launcher, "-n", str(ranks), *(option if preloaded else []), *map(str, program)]
    if not stretto:
        return line, {}
    settings = collect_settings(environment, {})
    return build_command(line, settings, environment)[0], settings
