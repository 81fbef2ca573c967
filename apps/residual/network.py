"""A small residual network, as the programs of apps/horovod and apps/torch train it."""

import hashlib

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


def residual_network(more_stages: int = 0) -> nn.Sequential:
    """20 layers, 1.1 million parameters; takes images of shape (batch, 3, SIDE, SIDE). The same on all ranks.

    `more_stages` stages go behind the others, each of twice the channels on half the image: it has four times the
    parameters of the one before and no more to compute, so there is more to send, in longer messages.
    """
    torch.manual_seed(1)
    layers: list[nn.Module] = [nn.Conv2d(3, WIDTHS[0], 3, padding=1, bias=False), nn.BatchNorm2d(WIDTHS[0]), nn.ReLU()]
    channels = WIDTHS[0]
    widths = [*WIDTHS, *(WIDTHS[-1] << (more + 1) for more in range(more_stages))]
    for stage, width in enumerate(widths):
        for block in range(BLOCKS):
            layers.append(ResidualBlock(channels, width, stride=2 if stage and not block else 1))
            channels = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, CLASSES))


def parameters_sha256(model: nn.Module) -> str:
    """Of the trained parameters, bit for bit; running statistics of the normalisation are each rank's own."""
    content = hashlib.sha256()
    for parameter in model.parameters():
        content.update(parameter.detach().numpy().tobytes())
    return content.hexdigest()
