"""Synthetic training of a small residual network with Horovod and PyTorch: images and labels are random.

The benchmark that Alizadeh 2021, 3.2.1 profiles has ResNet50 instead, GPUs, and 10 iterations of 10 batches of 32.

    mpirun -n 4 python train.py --out training.json
"""

import sys
from pathlib import Path

import horovod.torch as hvd
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "residual"))

from network import parameters_sha256, residual_network
from training import argument_parser, check_identical, report, train


def main() -> None:
    parser = argument_parser(__doc__)
    parser.add_argument("--fp16", action="store_true", help="gradients travel in half precision")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    hvd.init()
    model = residual_network(arguments.more_stages)
    optimizer = hvd.DistributedOptimizer(
        torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9),
        named_parameters=model.named_parameters(),
        compression=hvd.Compression.fp16 if arguments.fp16 else hvd.Compression.none,
    )
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    result = train(model, optimizer, hvd.rank(), hvd.size(), arguments)
    result["parameters_sha256"] = hvd.allgather_object(parameters_sha256(model))
    if hvd.rank() == 0:
        report(result, arguments.out)
    hvd.shutdown()
    check_identical(result["parameters_sha256"])


if __name__ == "__main__":
    main()
