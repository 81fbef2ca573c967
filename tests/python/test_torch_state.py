"""stretto.torch without PyTorch and without ranks: what it imports, and what it refuses. MPI is a stand-in."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace

import pytest

from stretto.torch import State, allreduce_hook

LEVELS = ("SINGLE", "FUNNELED", "SERIALIZED", "MULTIPLE")


class Communicator:
    """As much of an mpi4py communicator as a State needs before its first allreduce."""

    def __init__(self) -> None:
        self.made, self.freed = 0, 0

    def Dup(self) -> Communicator:  # noqa: N802
        self.made += 1
        return self

    def Free(self) -> None:  # noqa: N802
        self.freed += 1


def use_mpi(monkeypatch: pytest.MonkeyPatch, level: str, initialised: bool = True) -> Communicator:
    """Let mpi4py be one whose MPI gives threads these rights; returns its communicator of all processes."""
    world = Communicator()
    mpi = SimpleNamespace(
        COMM_WORLD=world,
        Is_initialized=lambda: initialised,
        Is_finalized=lambda: False,
        Query_thread=lambda: LEVELS.index(level),
        **{f"THREAD_{name}": number for number, name in enumerate(LEVELS)},
    )
    module = ModuleType("mpi4py")
    module.__dict__["MPI"] = mpi
    monkeypatch.setitem(sys.modules, "mpi4py", module)
    return world


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[Communicator]:
    """All processes of an MPI that gives threads every right; it must get back what was made of it."""
    world = use_mpi(monkeypatch, "MULTIPLE")
    yield world
    assert world.freed == world.made


def test_imports_nothing_before_it_is_used() -> None:
    program = "import stretto.torch, sys; sys.exit(bool({'torch', 'mpi4py', 'numpy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_without_mpi4py(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(ImportError, match="python3-mpi4py"):
        State()


def test_without_pytorch(monkeypatch: pytest.MonkeyPatch, world: Communicator) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with State() as state, pytest.raises(ImportError, match="python3-torch"):
        state.average(None)


@pytest.mark.parametrize("level", ("SINGLE", "FUNNELED"))
def test_threads_have_too_few_rights(monkeypatch: pytest.MonkeyPatch, level: str) -> None:
    world = use_mpi(monkeypatch, level)
    with pytest.raises(RuntimeError, match=rf"MPI_THREAD_{level}, .* set mpi4py\.rc\.thread_level = 'multiple'"):
        State()
    assert world.made == 0


def test_serialized_allows_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    world = use_mpi(monkeypatch, "SERIALIZED")
    for _ in range(2):
        with State(), pytest.raises(RuntimeError, match="another State is open"):
            State()
    assert world.made == world.freed == 2


def test_outside_of_mpi(monkeypatch: pytest.MonkeyPatch) -> None:
    use_mpi(monkeypatch, "MULTIPLE", initialised=False)
    with pytest.raises(RuntimeError, match="not initialised"):
        State()


def test_closing(world: Communicator) -> None:
    state = State()
    state.close()
    state.close()
    assert world.freed == 1


def test_an_error_is_not_held_up_by_freeing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Freeing is collective, and the other ranks may not come."""
    world = use_mpi(monkeypatch, "MULTIPLE")
    with pytest.raises(KeyError), State():
        raise KeyError
    assert world.freed == 0


@pytest.mark.usefixtures("world")
def test_wrong_arguments_are_named() -> None:
    with pytest.raises(TypeError, match="give an mpi4py communicator"):
        State(17)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"register the hook with stretto\.torch\.State"):
        allreduce_hook("gloo", None)  # type: ignore[arg-type]
