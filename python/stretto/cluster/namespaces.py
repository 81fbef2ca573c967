"""The nodes of an emulated cluster: making them, running commands in them, and leaving nothing of them.

Everything belongs to one namespace of processes, with namespaces of mounts and of the network around it. Nothing has a
name outside, and when the first process in there ends, the kernel ends the others and takes mounts and links away. That
process ends with us unless it was told to stay; see scripts.py.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from stretto.cluster import network, scripts
from stretto.cluster.launch import launch_line, launcher_settings, write_host_files
from stretto.cluster.registry import Process, State, claim, directories, directory_of, load, name_of, save
from stretto.errors import ProgramFailedError, StrettoError

_LIMIT_S = 30
_PACKAGES = {"ip": "iproute2", "tc": "iproute2", "unshare": "util-linux", "nsenter": "util-linux"}
_PROBE = """
ip link add switch type bridge && ip link add eth0 type veth peer name eth1 && mount -t tmpfs tmpfs /dev/shm &&
tc qdisc add dev eth0 root tbf rate 1mbit burst 9kb limit 9kb
"""


def why_impossible() -> str | None:
    """Why there can be no cluster on this machine, and what to do about it; None if there can."""
    if os.geteuid() != 0:
        return (
            "an emulated cluster needs root, to make namespaces: use sudo, or a container or virtual machine of yours"
        )
    absent = [tool for tool in _PACKAGES if shutil.which(tool) is None]
    if absent:
        packages = " and ".join(sorted({_PACKAGES[tool] for tool in absent}))
        return f"{', '.join(absent)}: not found: install {packages}"
    words = ["unshare", "--mount", "--net", "--uts", "--ipc", "--pid", "--fork", "--mount-proc", "sh", "-c", _PROBE]
    probe = subprocess.run(words, check=False, capture_output=True, text=True, timeout=_LIMIT_S)
    if probe.returncode == 0:
        return None
    return (
        f"this machine does not permit what an emulated cluster needs ({probe.stderr.strip()}): in a container give it "
        "the capabilities SYS_ADMIN and NET_ADMIN (docker run --privileged); the kernel needs bridge, veth and sch_tbf"
    )


class Nodes:
    """A cluster that is up."""

    def __init__(self, directory: Path, state: State) -> None:
        self.directory = directory
        self.name = name_of(directory)
        self.rate = state.rate
        self.names = [network.node_name(index) for index in range(state.nodes)]
        self._state = state

    def execute(
        self,
        node: str,
        command: Sequence[str | Path],
        *,
        environment: Mapping[str, str] | None = None,
        capture: bool = False,
        timeout_s: float | None = None,
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command in a node, in the present directory, and leave nothing of it.

        `environment` is added to ours. With `capture` the result holds what was printed, stdout and stderr together.
        Raises ProgramFailedError where it takes longer than `timeout_s`. An exit code is for the caller to judge.
        """
        if node not in self.names:
            raise StrettoError(f"{node}: no such node: choose from {self.names[0]} to {self.names[-1]}")
        end, lifeline = os.pipe()
        try:
            process = subprocess.Popen(
                self._command(node, command, end),
                env={**os.environ, **launcher_settings(self.directory), **(environment or {})},
                pass_fds=[end],
                stdin=subprocess.DEVNULL if capture else None,
                stdout=subprocess.PIPE if capture else None,
                stderr=subprocess.STDOUT if capture else None,
                text=True,
                errors="replace",
            )
        except BaseException:
            os.close(lifeline)
            raise
        finally:
            os.close(end)
        try:
            output, _ = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            output = _cut(process, lifeline)
            raise ProgramFailedError(f"{command[0]}: took longer than {timeout_s:.0f} s\n{output[-2000:]}") from None
        except BaseException:
            _cut(process, lifeline)
            raise
        os.close(lifeline)
        return subprocess.CompletedProcess(list(command), process.returncode, output)

    def run(
        self,
        program: Sequence[str | Path],
        *,
        ranks: int | None = None,
        nospin: bool | None = None,
        stretto: bool = False,
        preload: Sequence[Path] = (),
        mpirun: str = "mpirun",
        environment: Mapping[str, str] | None = None,
        capture: bool = False,
        timeout_s: float | None = None,
    ) -> "subprocess.CompletedProcess[str]":
        """Run an MPI program on the nodes in turn, one rank each if not told otherwise.

        `nospin`: idle ranks sleep, see tools/nospin.c; by default where no two ranks share a node. `stretto`:
        with Stretto's library. `preload`: with these libraries. The others are those of `execute`.
        """
        ranks = len(self.names) if ranks is None else ranks
        environment = dict(environment or {})
        nospin = ranks <= len(self.names) if nospin is None else nospin
        line, more = launch_line(mpirun, ranks, program, nospin, stretto, preload, {**os.environ, **environment})
        return self.execute(self.names[0], line, environment=environment | more, capture=capture, timeout_s=timeout_s)

    def set_rate(self, rate: str) -> None:
        """Give every node another rate, as in `network.bits_per_s`."""
        network.bits_per_s(rate)
        self._batch("tc", [network.rate_line(name, rate) for name in self.names])
        for name in self.names:
            self._batch("tc", [network.rate_line("eth0", rate)], name)
        self.rate = rate
        self._state = State(self._state.init, self._state.keeper, self._state.nodes, rate)
        save(self.directory, self._state)

    def drops(self) -> int:
        """How many packets the queues had no room for: above 0 the network was not that of a real switch."""
        shown = self._inside(["tc", "-s", "-j", "qdisc", "show"])
        shown += "".join(self._inside(["./on", name, "tc", "-s", "-j", "qdisc", "show"]) for name in self.names)
        return sum(queue["drops"] for line in shown.splitlines() for queue in json.loads(line))

    def down(self) -> None:
        """End every process of the cluster, and with them its namespaces, mounts and files."""
        _bring_down(self.directory, self._state)

    def _command(self, node: str, command: Sequence[str | Path], lifeline: int) -> list[str]:
        """Words that run a command in a node, in a namespace of processes below the cluster's.

        The outer `unshare` has our process number, does not die of Ctrl-C before the command, and takes what is below
        it along when it is killed.
        """
        return [
            "nsenter", f"--target={self._state.init.pid}", "--mount", "--pid", "--no-fork",
            "unshare", "--fork", "--kill-child", "env", f"--chdir={Path.cwd()}",
            "unshare", "--pid", "--fork", "--kill-child", "--mount-proc",
            "sh", "-c", scripts.RUN, str(lifeline), str(self.directory / "on"), node, *map(str, command),
        ]  # fmt: skip

    def _inside(self, words: Sequence[str], text: str = "") -> str:
        """Run one of our own commands in the cluster's namespaces, in its directory; `text` is its input."""
        enter = ["nsenter", f"--target={self._state.init.pid}", "--mount", "--pid", "--net"]
        result = subprocess.run(
            [*enter, "env", f"--chdir={self.directory}", *words],
            check=False,
            capture_output=True,
            text=True,
            input=text,
            timeout=_LIMIT_S,
        )
        if result.returncode != 0:
            raise StrettoError(f"the cluster {self.name}: {' '.join(words)[:80]}: {result.stderr.strip()}")
        return result.stdout

    def _batch(self, tool: str, lines: Sequence[str], node: str | None = None) -> None:
        """Hand lines to `ip` or `tc`, in a node or at the bridge."""
        self._inside([*(["./on", node] if node else []), tool, "-batch", "-"], "\n".join(lines) + "\n")

    def _connect(self) -> None:
        """Make the nodes' namespaces and the network between them."""
        self._inside(["sh", "-c", scripts.NODES, "nodes", *(str(self.directory / name) for name in self.names)])
        self._batch("ip", network.switch_lines(len(self.names)))
        settings = " && ".join(f"echo {value} >{file}" for file, value in network.TCP_SETTINGS.items())
        for index, name in enumerate(self.names):
            self._batch("ip", network.node_lines(index, len(self.names)), name)
            self._inside(["./on", name, "sh", "-c", f"cd /proc/sys/net/ipv4 && {settings}"])
        self.set_rate(self.rate)


@contextlib.contextmanager
def cluster(nodes: int, rate: str = "1gbit") -> Iterator[Nodes]:
    """A cluster that is gone when the block ends, also where this process is killed."""
    made, keeper = _start(f"once-{uuid.uuid4().hex[:8]}", nodes, rate, scripts.ATTEND)
    try:
        yield made
    finally:
        made.down()
        keeper.communicate()


@contextlib.contextmanager
def cluster_if(nodes: int | None, rate: str = "1gbit") -> Iterator[Nodes | None]:
    """Such a cluster where a number of nodes is asked for, else None: this machine."""
    if nodes is None:
        yield None
        return
    with cluster(nodes, rate) as made:
        yield made


def bring_up(name: str, nodes: int, rate: str) -> Nodes:
    """A cluster that stays until `bring_down`."""
    return _start(name, nodes, rate, scripts.KEEP)[0]


def find(name: str) -> Nodes:
    """The cluster of this name. Raises StrettoError where it is not up."""
    directory = directory_of(name)
    state = load(directory)
    if state is None or not state.init.alive():
        up = ", ".join(nodes.name for nodes in all_up()) or "none"
        raise StrettoError(f"no cluster {name} is up (up: {up}): make it by `stretto cluster up NODES --name {name}`")
    return Nodes(directory, state)


def all_up() -> list[Nodes]:
    """All clusters of this user."""
    found = [(directory, load(directory)) for directory in directories()]
    return [Nodes(directory, state) for directory, state in found if state and state.init.alive()]


def bring_down(name: str) -> None:
    """Remove the cluster of this name, or what a killed front end left of it. Raises StrettoError without any."""
    directory = directory_of(name)
    if directory not in directories():
        raise StrettoError(f"no cluster {name} is up: see `stretto cluster status`")
    _bring_down(directory, load(directory))


def _bring_down(directory: Path, state: State | None) -> None:
    if state:
        state.init.signal(signal.SIGKILL)
        if not (state.init.ended_within(_LIMIT_S) and state.keeper.ended_within(_LIMIT_S)):
            raise StrettoError(f"{directory}: process {state.init.pid} does not end: `ps` may tell what holds it")
    shutil.rmtree(directory, ignore_errors=True)


def _start(name: str, nodes: int, rate: str, life: str) -> tuple[Nodes, "subprocess.Popen[str]"]:
    """A new cluster with its keeper. Where anything fails or interrupts us, nothing stays."""
    network.bits_per_s(rate)
    if not 1 <= nodes <= network.MAX_NODES:
        raise StrettoError(f"{nodes} nodes: choose 1 to {network.MAX_NODES}")
    if (reason := why_impossible()) is not None:
        raise StrettoError(reason)
    directory = claim(name)
    try:
        _write_files(directory, nodes)
        keeper = subprocess.Popen(
            ["sh", "-c", scripts.KEEPER, str(directory), scripts.INIT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd="/",
            start_new_session=True,
        )
        assert keeper.stdin is not None
        try:
            state = State(_first_process(keeper), Process.of(keeper.pid), nodes, rate)
            made = Nodes(directory, state)
            made._connect()
            keeper.stdin.write(f"{life}\n")
            keeper.stdin.flush()
        except BaseException:
            keeper.communicate()
            raise
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise
    return made, keeper


def _write_files(directory: Path, nodes: int) -> None:
    names = [network.node_name(index) for index in range(nodes)]
    (directory / "tmp").mkdir()
    for name in names:
        for mount in ("shm", "tmp"):
            (directory / name / mount).mkdir(parents=True)
        for namespace in ("net", "uts", "ipc"):
            (directory / name / namespace).touch()
    lines = [f"{network.address(index)} {name}" for index, name in enumerate(names)]
    (directory / "hosts").write_text("\n".join(["127.0.0.1 localhost", *lines]) + "\n")
    write_host_files(directory, names)
    for file, text in (("on", scripts.ON), ("agent", scripts.AGENT)):
        (directory / file).write_text(text)
        (directory / file).chmod(0o755)


def _first_process(keeper: "subprocess.Popen[str]") -> Process:
    """The cluster's first process, once it has told its number."""
    assert keeper.stdout is not None
    watchdog = threading.Timer(_LIMIT_S, os.killpg, (keeper.pid, signal.SIGKILL))
    watchdog.start()
    try:
        line = keeper.stdout.readline().strip()
    finally:
        watchdog.cancel()
    if not line.isdigit():
        raise StrettoError(f"the cluster's namespaces could not be made: {line or 'no answer'}")
    return Process.of(int(line))


def _cut(process: "subprocess.Popen[str]", lifeline: int) -> str:
    """End a command by its lifeline, or by force where that does not help; what it had printed."""
    os.close(lifeline)
    try:
        return process.communicate(timeout=_LIMIT_S)[0] or ""
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[0] or ""
