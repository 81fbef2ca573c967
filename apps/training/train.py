"""Data-parallel training of a small network on handwritten digits, with plain mpi4py and NumPy.

Every rank draws its own mini-batches, augments them and averages its gradient with all others by MPI_Allreduce before
each update. As in real training the input pipeline is what makes ranks uneven: a batch has a varying number of images
that must be rotated (computing), and reading it from storage takes a time of its own, at times long (waiting).

    mpirun -n 4 python train.py --steps 100 --out losses.json
"""

import argparse
import json
import time
from itertools import pairwise
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

Floats = NDArray[np.float32]

LAYERS = (64, 1024, 1024, 10)  # 1.13 million weights: 4.5 MB of gradient
BATCH = 24  # images a rank and step
LEARNING_RATE = 0.05


def load_digits(communicator: MPI.Intracomm) -> tuple[Floats, NDArray[np.int64]]:
    """All ranks get the images, (1797, 64) in 0..1, and the labels, (1797,). Only rank 0 reads the data set."""
    images, labels = np.empty((1797, 64), np.float32), np.empty(1797, np.int64)
    if communicator.rank == 0:
        from sklearn.datasets import load_digits as read  # slow, and only one rank needs it

        data = read()
        images[:], labels[:] = data.data / 16, data.target
    communicator.Bcast(images)
    communicator.Bcast(labels)
    return images, labels


class Pipeline:
    """One rank's input: the same batches and the same delays in every run with the same seed."""

    def __init__(self, images: Floats, labels: NDArray[np.int64], seed: int, rank: int) -> None:
        self.images, self.labels = images, labels
        self.random = np.random.default_rng([seed, rank])

    def next_batch(self) -> tuple[Floats, NDArray[np.int64]]:
        """Read and augment a batch: images of shape (BATCH, 64) and their labels."""
        chosen = self.random.integers(len(self.images), size=BATCH)
        time.sleep(self._storage_latency())
        images = self.images[chosen]
        for index in range(self.random.integers(BATCH + 1)):
            images[index] = self._rotated(images[index], self.random.uniform(-0.25, 0.25))
        return images, self.labels[chosen]

    def _storage_latency(self) -> float:
        """Seconds that reading a batch takes: some ms, and every eighth time a file that is not in any cache."""
        miss = self.random.random() < 1 / 8
        return float(self.random.exponential(0.030 if miss else 0.004))

    @staticmethod
    def _rotated(image: Floats, angle: float) -> Floats:
        """An 8 x 8 image (64,) rotated by `angle` radians, drawn on a four times finer grid and averaged back."""
        fine = (np.arange(32) - 15.5) / 4
        rows, columns = np.meshgrid(fine, fine, indexing="ij")
        cosine, sine = np.cos(angle), np.sin(angle)
        from_row = np.clip(np.rint(cosine * rows - sine * columns + 3.5), 0, 7).astype(int)
        from_column = np.clip(np.rint(sine * rows + cosine * columns + 3.5), 0, 7).astype(int)
        drawn = image.reshape(8, 8)[from_row, from_column]
        averaged: Floats = drawn.reshape(8, 4, 8, 4).mean(axis=(1, 3), dtype=np.float32)
        return averaged.ravel()


class Network:
    """A multi-layer perceptron whose weights, and whose gradient, are each one flat array."""

    def __init__(self, seed: int) -> None:
        shapes: list[tuple[int, ...]] = [shape for i, o in pairwise(LAYERS) for shape in ((i, o), (o,))]
        size = sum(int(np.prod(shape)) for shape in shapes)
        self.weights, self.gradient = np.zeros(size, np.float32), np.zeros(size, np.float32)
        self.parameters, self.slopes = self._views(self.weights, shapes), self._views(self.gradient, shapes)
        random = np.random.default_rng(seed)
        for matrix in self.parameters[::2]:
            matrix[:] = random.normal(0, np.sqrt(2 / len(matrix)), matrix.shape)

    @staticmethod
    def _views(flat: Floats, shapes: list[tuple[int, ...]]) -> list[Floats]:
        ends = np.cumsum([np.prod(shape) for shape in shapes])
        return [part.reshape(shape) for part, shape in zip(np.split(flat, ends[:-1]), shapes, strict=True)]

    def learn(self, images: Floats, labels: NDArray[np.int64]) -> float:
        """Fill `gradient` for one batch; returns the batch's mean cross-entropy."""
        outputs = [images]
        for weight, bias in zip(self.parameters[::2], self.parameters[1::2], strict=True):
            outputs.append(outputs[-1] @ weight + bias)
            if len(outputs) < len(LAYERS):
                np.maximum(outputs[-1], 0, out=outputs[-1])
        scores = outputs[-1] - outputs[-1].max(axis=1, keepdims=True)
        error = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        rows = np.arange(len(labels))
        loss = -np.log(error[rows, labels] + 1e-12).mean()
        error[rows, labels] -= 1
        error /= np.float32(len(labels))
        for layer in reversed(range(len(LAYERS) - 1)):
            np.matmul(outputs[layer].T, error, out=self.slopes[2 * layer])
            error.sum(axis=0, out=self.slopes[2 * layer + 1])
            if layer:
                error = (error @ self.parameters[2 * layer].T) * (outputs[layer] > 0)
        return float(loss)


def train(communicator: MPI.Intracomm, steps: int, seed: int) -> dict[str, Any]:
    """Train; returns the loss of every step (mean over ranks) and the wall-clock seconds of every step on rank 0."""
    images, labels = load_digits(communicator)
    pipeline, network = Pipeline(images, labels, seed, communicator.rank), Network(seed)
    total = np.empty_like(network.gradient)
    mean_loss = np.empty(1)
    losses, seconds = [], []
    communicator.Barrier()
    for _ in range(steps):
        start = time.perf_counter()
        loss = network.learn(*pipeline.next_batch())
        communicator.Allreduce(network.gradient, total)
        total *= np.float32(LEARNING_RATE / communicator.size)
        network.weights -= total
        communicator.Allreduce(np.array([loss]), mean_loss)
        losses.append(float(mean_loss[0]) / communicator.size)
        seconds.append(time.perf_counter() - start)
    return {"ranks": communicator.size, "losses": losses, "step_seconds": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", help="write losses and step times to this JSON file")
    arguments = parser.parse_args()
    communicator = MPI.COMM_WORLD
    result = train(communicator, arguments.steps, arguments.seed)
    if communicator.rank == 0:
        last = float(np.mean(result["losses"][-10:]))
        milliseconds = 1000 * float(np.median(result["step_seconds"]))
        print(f"loss {result['losses'][0]:.3f} -> {last:.3f}, median step {milliseconds:.1f} ms")
        if arguments.out:
            with open(arguments.out, "w") as file:
                json.dump(result, file)


if __name__ == "__main__":
    main()
