"""Synthetic training of the residual network: images and labels are random, each rank's own, the same in every step.

How gradients are averaged is the program's: apps/horovod and apps/torch hand over a model and an optimizer that do it.
"""

import argparse
import json
import sys
import time
from typing import Any

import torch
from network import CLASSES, SIDE
from torch import nn
from torch.nn import functional


def argument_parser(description: str | None) -> argparse.ArgumentParser:
    """The options that all programs have; the first line of `description` is shown."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0] if description else None)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--batches", type=int, default=10, help="an iteration")
    parser.add_argument("--batch", type=int, default=8, help="images a rank and batch")
    parser.add_argument("--more-stages", type=int, default=0, help="1: 4.4 million parameters, 2: 17.5 million")
    parser.add_argument("--out", help="write what was done to this JSON file")
    return parser


def train(
    model: nn.Module, optimizer: torch.optim.Optimizer, rank: int, ranks: int, arguments: argparse.Namespace
) -> dict[str, Any]:
    """Train on this rank's random images; returns its loss of each step, images a second of all ranks, ..."""
    torch.manual_seed(2 + rank)
    images = torch.randn(arguments.batch, 3, SIDE, SIDE)
    labels = torch.randint(CLASSES, (arguments.batch,))
    losses, speeds = [], []
    for _ in range(arguments.iterations):
        start = time.perf_counter()
        for _ in range(arguments.batches):
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        speeds.append(ranks * arguments.batches * arguments.batch / (time.perf_counter() - start))
    return {
        "ranks": ranks,
        "steps": len(losses),
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "losses": losses,
        "images_per_second": speeds,
    }


def report(result: dict[str, Any], out: str | None) -> None:
    """Tell of a training in one line, and in the JSON file `out` if there is one; for one rank to call."""
    speeds = sorted(result["images_per_second"])
    print(f"{result['steps']} steps of {result['parameters']:,} parameters on {result['ranks']} ranks, "
          f"loss {result['losses'][0]:.3f} -> {result['losses'][-1]:.3f}, "
          f"{speeds[len(speeds) // 2]:.1f} images/s", file=sys.stderr)  # fmt: skip
    if out:
        with open(out, "w") as file:
            json.dump(result, file)


def check_identical(hashes: list[str]) -> None:
    """Ends the program with an error if the ranks have trained different parameters."""
    if len(set(hashes)) > 1:
        sys.exit("the ranks have different parameters")
