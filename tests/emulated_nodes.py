"""Two nodes on one machine: namespaces of network, host name and IPC, joined by a virtual cable. Needs root."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

_SETUP_LIMIT_S = 20
_NETWORK = "10.99.77"


def missing() -> str | None:
    """Why there can be no nodes here; None if there can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    for tool in ("ip", "unshare", "nsenter"):
        if shutil.which(tool) is None:
            return f"no `{tool}`: install iproute2 and util-linux"
    name = f"st{uuid.uuid4().hex[:6]}"
    for command in (
        ["ip", "netns", "add", name],
        ["ip", "netns", "exec", name, "unshare", "--uts", "--ipc", "mount", "-t", "tmpfs", "tmpfs", "/dev/shm"],
        ["ip", "-n", name, "link", "add", "eth0", "type", "veth", "peer", "name", "eth1"],
        ["ip", "netns", "del", name],
    ):
        probe = subprocess.run(command, capture_output=True, text=True, timeout=_SETUP_LIMIT_S)
        if probe.returncode != 0:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, timeout=_SETUP_LIMIT_S)
            return f"this machine permits no such namespaces: {probe.stderr.strip()}"
    return None


class TwoNodes:
    """The nodes' names, and words that start Open MPI's mpirun on the first with both at its disposal."""

    def __init__(self, directory: Path) -> None:
        token = uuid.uuid4().hex[:6]
        self.names = [f"st{token}a", f"st{token}b"]
        self._directory = directory

    def up(self) -> None:
        hosts = "127.0.0.1 localhost\n" + "".join(f"{_NETWORK}.{i + 1} {n}\n" for i, n in enumerate(self.names))
        (self._directory / "hosts").write_text(hosts)
        for name in self.names:
            _run("ip", "netns", "add", name)
        first, second = self.names
        _run("ip", "link", "add", "eth0", "netns", first, "type", "veth", "peer", "name", "eth0", "netns", second)
        for index, name in enumerate(self.names):
            _run("ip", "-n", name, "link", "set", "lo", "up")
            _run("ip", "-n", name, "addr", "add", f"{_NETWORK}.{index + 1}/24", "dev", "eth0")
            _run("ip", "-n", name, "link", "set", "eth0", "up")
        agent = self._directory / "rsh"
        # As ssh does: the host, then one string for a shell. Options before the host are ssh's.
        agent.write_text(
            '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\nhost=$1; shift\n'
            f'exec {self._directory}/on "$host" /bin/sh -c "$*"\n'
        )
        on = self._directory / "on"
        on.write_text(
            "#!/bin/sh\nhost=$1; shift\n"
            'exec ip netns exec "$host" unshare --uts --ipc /bin/sh -c '
            f'\'hostname "$0"; mount --bind {self._directory}/hosts /etc/hosts; mount -t tmpfs tmpfs /dev/shm; '
            'exec "$@"\' "$host" "$@"\n'
        )
        for script in (agent, on):
            script.chmod(0o755)

    def down(self) -> None:
        for name in self.names:
            found = subprocess.run(
                ["ip", "netns", "pids", name], capture_output=True, text=True, timeout=_SETUP_LIMIT_S
            )
            for process in found.stdout.split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(process), 9)
            subprocess.run(["ip", "netns", "del", name], capture_output=True, timeout=_SETUP_LIMIT_S)

    def mpirun(self, ranks: int) -> list[str]:
        """Words before the options and the program: `ranks` ranks, on the nodes in turn."""
        folder = self._directory
        return [
            f"{folder}/on", self.names[0], "mpirun", "--mca", "plm_rsh_agent", f"{folder}/rsh",
            "--mca", "plm_rsh_no_tree_spawn", "1", "--mca", "oob_tcp_if_include", "eth0",
            "--mca", "btl_tcp_if_include", "eth0", "--mca", "pml", "ob1", "--mca", "btl", "tcp,self",
            "--mca", "mpi_yield_when_idle", "1", "--host", ",".join(f"{name}:{ranks}" for name in self.names),
            "--map-by", "node", "--bind-to", "none", "-n", str(ranks),
        ]  # fmt: skip


@contextlib.contextmanager
def two_nodes(directory: Path) -> Iterator[TwoNodes]:
    """Nodes that are gone, with all their processes, when the block ends."""
    nodes = TwoNodes(directory)
    try:
        nodes.up()
        yield nodes
    finally:
        nodes.down()


def _run(*command: Sequence[str] | str) -> None:
    subprocess.run([str(word) for word in command], check=True, capture_output=True, timeout=_SETUP_LIMIT_S)
