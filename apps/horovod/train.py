"""Synthetic training of a small residual network with Horovod and PyTorch: images and labels are random.

The benchmark that Alizadeh 2021, 3.2.1 profiles has ResNet50 instead, GPUs, and 10 iterations of 10 batches of 32.

    mpirun -n 4 python train.py --out training.json
"""

import argparse
import json
import sys
import time

import horovod.torch as hvd
import torch
from torch import nn
from torch.nn import functional

CLASSES = 10
WIDTHS = (32, 64, 128)  # channels of the three stages; each after the first halves the image
BLOCKS = 3  # a stage
SIDE = 16  # pixels


class ResidualBlock(nn.Module):
    """Two 3 x 3 convolutions beside a short-cut, which is a 1 x 1 convolution where the shape changes."""

    def __init__(self, channels_in: int, channels_out: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels_in, channels_out, 3, stride, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(channels_out)
        self.second = nn.Conv2d(channels_out, channels_out, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(channels_out)
        same = channels_in == channels_out and stride == 1
        self.short_cut = nn.Identity() if same else nn.Conv2d(channels_in, channels_out, 1, stride, bias=False)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        inner = functional.relu(self.first_norm(self.first(images)))
        return functional.relu(self.second_norm(self.second(inner)) + self.short_cut(images))


def residual_network() -> nn.Sequential:
    """20 layers, 1.1 million parameters; takes images of shape (batch, 3, SIDE, SIDE)."""
    layers: list[nn.Module] = [nn.Conv2d(3, WIDTHS[0], 3, padding=1, bias=False), nn.BatchNorm2d(WIDTHS[0]), nn.ReLU()]
    channels = WIDTHS[0]
    for stage, width in enumerate(WIDTHS):
        for block in range(BLOCKS):
            layers.append(ResidualBlock(channels, width, stride=2 if stage and not block else 1))
            channels = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, CLASSES))


def train(iterations: int, batches: int, batch: int, compression: type) -> dict[str, object]:
    """Train on this rank's random images; returns what rank 0 reports: loss of each step, images a second, ..."""
    torch.manual_seed(1)
    model = residual_network()
    optimizer = hvd.DistributedOptimizer(
        torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9),
        named_parameters=model.named_parameters(),
        compression=compression,
    )
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    torch.manual_seed(2 + hvd.rank())
    images, labels = torch.randn(batch, 3, SIDE, SIDE), torch.randint(CLASSES, (batch,))
    losses, speeds = [], []
    for _ in range(iterations):
        start = time.perf_counter()
        for _ in range(batches):
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        speeds.append(hvd.size() * batches * batch / (time.perf_counter() - start))
    return {
        "ranks": hvd.size(),
        "steps": len(losses),
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "losses": losses,
        "images_per_second": speeds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--batches", type=int, default=10, help="an iteration")
    parser.add_argument("--batch", type=int, default=8, help="images a rank and batch")
    parser.add_argument("--fp16", action="store_true", help="gradients travel in half precision")
    parser.add_argument("--out", help="write what was done to this JSON file")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    hvd.init()
    compression = hvd.Compression.fp16 if arguments.fp16 else hvd.Compression.none
    result = train(arguments.iterations, arguments.batches, arguments.batch, compression)
    if hvd.rank() == 0:
        speeds = sorted(result["images_per_second"])
        print(f"{result['steps']} steps of {result['parameters']:,} parameters on {result['ranks']} ranks, "
              f"loss {result['losses'][0]:.3f} -> {result['losses'][-1]:.3f}, "
              f"{speeds[len(speeds) // 2]:.1f} images/s", file=sys.stderr)  # fmt: skip
        if arguments.out:
            with open(arguments.out, "w") as file:
                json.dump(result, file)
    hvd.shutdown()


if __name__ == "__main__":
    main()
