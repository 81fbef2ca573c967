"""Synthetic training of a small residual network with PyTorch's DistributedDataParallel: images and labels are random.

    mpirun -n 4 python train.py --backend gloo --out training.json
    stretto run -- mpirun -n 4 python train.py --hook --out training.json

Either way mpirun starts the ranks, and DDP sets itself up over a process group of gloo. By `--backend gloo` its
gradients go that way, too; by `--hook` they go over MPI, by stretto.torch. Running statistics of the normalisation stay
each rank's own, as with Horovod: otherwise gloo would broadcast them in every step of both.
"""

import contextlib
import hashlib
import sys
from pathlib import Path

import torch
from mpi4py import MPI
from torch import distributed, nn

from stretto.torch import State, allreduce_hook, init_process_group

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "residual"))

from network import residual_network
from training import argument_parser, report, train


def hash_of(model: nn.Module) -> str:
    """Of all parameters, bit for bit."""
    content = hashlib.sha256()
    for parameter in model.parameters():
        content.update(parameter.detach().numpy().tobytes())
    return content.hexdigest()


def main() -> None:
    parser = argument_parser(__doc__)
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--backend", choices=["gloo"], help="DDP averages gradients by itself, over this")
    way.add_argument("--hook", action="store_true", help="MPI averages them, by stretto.torch")
    parser.add_argument(
        "--bucket-mb", type=float, default=1, help="of gradients averaged at once (default: %(default)s)"
    )
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    world = MPI.COMM_WORLD
    init_process_group(world)
    model = nn.parallel.DistributedDataParallel(
        residual_network(), bucket_cap_mb=arguments.bucket_mb, broadcast_buffers=False
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    with contextlib.ExitStack() as stack:
        if arguments.hook:
            model.register_comm_hook(stack.enter_context(State(world)), allreduce_hook)
        result = train(model, optimizer, world.rank, world.size, arguments)
    result["parameter_hashes"] = world.allgather(hash_of(model))
    distributed.destroy_process_group()
    if world.rank == 0:
        report(result, arguments.out)
    if len(set(result["parameter_hashes"])) > 1:
        sys.exit("the ranks have different parameters")


if __name__ == "__main__":
    main()
