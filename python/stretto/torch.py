"""A communication hook of PyTorch's DistributedDataParallel: gradients go over MPI, and so by Stretto (docs/torch.md).

stretto.torch.init_process_group()        # of gloo, which DDP needs to set itself up
model = DistributedDataParallel(network)
with stretto.torch.State() as state:
    model.register_comm_hook(state, stretto.torch.allreduce_hook)
    ...                                   # train

A bucket's gradients are averaged by MPI_Allreduce while the backward pass computes the next ones: a thread makes the
blocking calls, in the order of the buckets, which DDP keeps the same on all ranks. Where Stretto is preloaded it
chooses the algorithm (STRETTO_ALLREDUCE), otherwise the MPI library does. PyTorch and mpi4py are imported when used.
"""

from __future__ import annotations

import functools
import socket
import weakref
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from mpi4py import MPI

_OWN_TYPES = ("float32", "float64")  # those that MPI adds up as they are
_BY_FLOAT32 = ("float16", "bfloat16")  # those that it does not know: added up and divided as float32, rounded once


class State:
    """What the hook works with: a communicator, and a thread that averages on it.

    `communicator` is an mpi4py intracommunicator of the processes of DDP's process group, all processes if left out. It
    is duplicated, so that calls of the program's own cannot get between the buckets: making a State and closing it are
    collective. The thread needs MPI_THREAD_MULTIPLE, which mpi4py asks for by default. MPI_THREAD_SERIALIZED will do
    for one State at a time, if the program itself calls MPI only outside of backward().

    Raises ImportError without mpi4py, TypeError for what is no communicator, RuntimeError where MPI is not initialised
    or gives too few rights to threads.
    """

    _open: ClassVar[weakref.WeakSet[State]] = weakref.WeakSet()

    def __init__(self, communicator: MPI.Intracomm | None = None) -> None:
        self._mpi = _import_mpi()
        _check_threads(self._mpi, others=bool(State._open))
        if communicator is None:
            communicator = self._mpi.COMM_WORLD
        if not hasattr(communicator, "Dup"):
            raise TypeError(f"State({communicator!r}): give an mpi4py communicator, or nothing for all processes")
        self._communicator = communicator.Dup()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="stretto-torch")  # ends with the process, too
        self._failure: Exception | None = None
        State._open.add(self)

    def average(self, tensor: Any) -> Any:
        """Average a tensor over all ranks, in place; returns a torch.futures.Future of it. Calls are served in order.

        The sum of all ranks is divided once, by their number: neither is scaled before. float32 and float64 are added
        up as they are, float16 and bfloat16 in a copy as float32, which is rounded once, at the end.

        Raises TypeError for tensors of other types or on other devices, and RuntimeError after close(). What fails
        later is raised by the future, and by all futures after it, since ranks may then be at different buckets.
        """
        torch = _import_torch()
        _check_tensor(tensor)
        if self not in State._open:
            raise RuntimeError("this State is closed: make another, and register the hook on a new model with it")
        done = torch.futures.Future()
        self._thread.submit(self._serve, tensor.detach(), done)
        # A failure set on a future reaches Python only; one that a callback raises also reaches DDP, which is C++.
        return done.then(lambda finished: finished.value())

    def close(self) -> None:
        """End the thread when it has done its work, and free the communicator; on all ranks. Later calls do nothing."""
        if self not in State._open:
            return
        State._open.discard(self)
        self._thread.shutdown()
        self._communicator.Free()

    def __enter__(self) -> State:
        return self

    def __exit__(self, kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        if kind is None:
            self.close()
            return
        # The other ranks may never come: neither wait for a call under way nor free together, or nobody sees the error.
        State._open.discard(self)
        self._thread.shutdown(wait=False)

    def _serve(self, tensor: Any, done: Any) -> None:
        """One turn of the thread: average, and tell the future `done`."""
        try:
            if self._failure is not None:
                raise RuntimeError(f"an earlier bucket has failed: {self._failure}") from self._failure
            self._average(tensor)
        except Exception as error:
            self._failure = self._failure or error
            done.set_exception(error)
        else:
            done.set_result(tensor)

    def _average(self, tensor: Any) -> None:
        wide = tensor.float() if _type_of(tensor) in _BY_FLOAT32 else tensor
        self._communicator.Allreduce(self._mpi.IN_PLACE, wide.numpy())
        wide.div_(self._communicator.size)
        if wide is not tensor:
            tensor.copy_(wide)


# DDP compares what is annotated as bucket and as result with its own types, which are not imported here.
def allreduce_hook(state: State | None, bucket):  # type: ignore[no-untyped-def]
    """Average a bucket of gradients, for register_comm_hook(state, allreduce_hook): returns a torch.futures.Future.

    `state` is a State, or None for one of all processes that is made at the first call and ends with the process.
    Raises as State and State.average do; DDP passes it on to backward() as an error with the same message.
    """
    if state is None:
        state = _state_of_all()
    if not isinstance(state, State):
        raise TypeError(f"state {state!r}: register the hook with stretto.torch.State(communicator), or with None")
    return state.average(bucket.buffer())


def init_process_group(communicator: MPI.Intracomm | None = None) -> None:
    """torch.distributed's process group, of gloo, with the ranks of an mpi4py communicator, all processes if left out.

    For programs that mpirun starts. They meet at a port of rank 0's, which chooses it and tells the others by MPI. On
    several nodes its host name must lead to it, and gloo takes the interface of each rank's host name, or that of
    GLOO_SOCKET_IFNAME. Raises ImportError without mpi4py or PyTorch.
    """
    mpi, distributed = _import_mpi(), _import_torch().distributed
    world = mpi.COMM_WORLD if communicator is None else communicator
    node = world.Split_type(mpi.COMM_TYPE_SHARED)
    host = "localhost" if node.size == world.size else socket.gethostname()
    node.Free()
    store = None
    if world.rank == 0:
        store = distributed.TCPStore(host, 0, world.size, is_master=True, wait_for_workers=False)
    host, port = world.bcast((host, store.port) if store else None)
    if store is None:
        store = distributed.TCPStore(host, port, world.size, is_master=False)
    distributed.init_process_group("gloo", store=store, rank=world.rank, world_size=world.size)


@functools.cache
def _state_of_all() -> State:
    return State()


def _type_of(tensor: Any) -> str:
    """float32, say."""
    return str(tensor.dtype).removeprefix("torch.")


def _check_tensor(tensor: Any) -> None:
    """Raises TypeError for a tensor that MPI cannot be handed."""
    if tensor.device.type != "cpu":
        raise TypeError(
            f"gradients on device {tensor.device}: the hook averages gradients in the host's memory only: train on the "
            "CPU, or leave the hook out and let DDP's own backend (nccl) average them"
        )
    if _type_of(tensor) not in _OWN_TYPES + _BY_FLOAT32:
        raise TypeError(
            f"gradients of {tensor.dtype}: the hook averages {', '.join(_OWN_TYPES + _BY_FLOAT32)}: convert the "
            "parameters to one of these, model.float() for example"
        )


def _check_threads(mpi: ModuleType, others: bool) -> None:
    """Raises RuntimeError unless MPI lets a thread of ours call it; are there `others` like it?"""
    if not mpi.Is_initialized() or mpi.Is_finalized():
        raise RuntimeError(
            "MPI is not initialised, or finalised already: make the State after MPI.Init_thread() and before "
            "MPI.Finalize(), or leave mpi4py.rc.initialize as it is"
        )
    level = mpi.Query_thread()
    if level == mpi.THREAD_MULTIPLE or (level == mpi.THREAD_SERIALIZED and not others):
        return
    names = {getattr(mpi, f"THREAD_{name}"): name for name in ("SINGLE", "FUNNELED", "SERIALIZED")}
    second = " and another State is open" if level == mpi.THREAD_SERIALIZED else ""
    raise RuntimeError(
        f"MPI runs with MPI_THREAD_{names[level]}{second}, but the hook calls it from a thread of its own: set "
        "mpi4py.rc.thread_level = 'multiple' (the default) before `from mpi4py import MPI`, or call "
        "MPI.Init_thread(MPI.THREAD_MULTIPLE) where you initialise MPI; an MPI that cannot must be built with threads"
    )


def _import_mpi() -> ModuleType:
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise ImportError(
            "stretto.torch needs mpi4py, of the MPI whose mpirun you use: install Debian's python3-mpi4py for Debian's "
            f"Open MPI, else `pip install mpi4py` ({error})"
        ) from error
    return MPI


def _import_torch() -> ModuleType:
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            f"stretto.torch needs PyTorch: install Debian's python3-torch, or `pip install torch` ({error})"
        ) from error
    module: ModuleType = torch
    return module
