"""Synthetic training of a small residual network with PyTorch's DistributedDataParallel: images and labels are random.

    mpirun -n 4 python train.py --backend gloo --out training.json
    stretto run -- mpirun -n 4 python train.py --hook --out training.json

Either way mpirun starts the ranks, and DDP sets itself up over a process group of gloo. By `--backend gloo` its
gradients go that way, too; by `--hook` they go over MPI, by stretto.torch. Running statistics of the normalisation stay
each rank's own, as with Horovod: otherwise gloo would broadcast them in every step of both.
"""

import contextlib
import sys
from pathlib import Path

import torch
from mpi4py import MPI
from torch import distributed, nn

from stretto.torch import State, allreduce_hook, init_process_group

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "residual"))

from network import parameters_sha256, residual_network
from training import argument_parser, check_identical, report, train


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
        residual_network(arguments.more_stages), bucket_cap_mb=arguments.bucket_mb, broadcast_buffers=False
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    with contextlib.ExitStack() as stack:
        if arguments.hook:
            model.register_comm_hook(stack.enter_context(State(world)), allreduce_hook)
        result = train(model, optimizer, world.rank, world.size, arguments)
    result["parameters_sha256"] = world.allgather(parameters_sha256(model))
    distributed.destroy_process_group()
    if world.rank == 0:
        report(result, arguments.out)
    check_identical(result["parameters_sha256"])


if __name__ == "__main__":
    main()
