"""A small CNN for handwritten digits, trained here on scikit-learn's real images (8x8, 1,797 of them).

The data set is the test part of the UCI "Optical Recognition of Handwritten Digits" set (Alpaydin and Kaynak, 1998), which
comes with scikit-learn. Training takes seconds, is seeded and runs on one thread; the weights are kept by the hash of this
file and of torch's version.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
from dataclasses import dataclass
from pathlib import Path

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

from bench.cache import BUILD, write_atomically
from bench.model import ModelDefinition
from bench.models._synthetic import images_last

SEED = 1998
TEST, CALIBRATION = 540, 128
EPOCHS = 30
BATCH = 64


@dataclass(frozen=True)
class Split:
    """Images N x 1 x 8 x 8 in [0, 1] and classes, in three parts without overlap, each with all classes in proportion."""

    train: tuple[torch.Tensor, torch.Tensor]
    calibration: tuple[torch.Tensor, torch.Tensor]
    test: tuple[torch.Tensor, torch.Tensor]
    rows: tuple[tuple[int, ...], ...]
    sha256: str


class DigitsCnn(nn.Module):
    """Three convolutions, global average pooling and a classifier; 1x1x8x8 to 10 logits."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for inputs, outputs, stride in ((1, 16, 1), (16, 32, 2), (32, 32, 1)):
            layers += [
                nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False),
                nn.BatchNorm2d(outputs),
                nn.ReLU(),
            ]
        self.features = nn.Sequential(*layers)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(32, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Return the logits."""
        features = self.features(images)
        logits: torch.Tensor = self.classifier(torch.flatten(self.pool(features), 1))
        return logits


def split() -> Split:
    """Return the data, always split alike."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    classes = torch.tensor(digits.target, dtype=torch.int64)
    rows = list(range(len(classes)))
    rest, test = train_test_split(rows, test_size=TEST, stratify=digits.target, random_state=SEED)
    train, calibration = train_test_split(
        rest, test_size=CALIBRATION, stratify=digits.target[rest], random_state=SEED
    )
    digest = hashlib.sha256(digits.images.tobytes() + digits.target.tobytes())
    digest.update(str((train, calibration, test)).encode())

    def part(chosen: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
        return images[chosen], classes[chosen]

    return Split(
        part(train),
        part(calibration),
        part(test),
        (tuple(train), tuple(calibration), tuple(test)),
        digest.hexdigest(),
    )


def train(images: torch.Tensor, classes: torch.Tensor) -> DigitsCnn:
    """Return a network trained on the images; the same on each run of one machine and torch version."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the order of a sum depends on the number of threads
    torch.manual_seed(SEED)
    try:
        network = DigitsCnn()
        optimizer = torch.optim.AdamW(network.parameters(), lr=1e-2, weight_decay=1e-3)
        steps = EPOCHS * (len(classes) // BATCH + 1)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=steps)
        network.train()
        for _ in range(EPOCHS):
            for chosen in torch.split(torch.randperm(len(classes)), BATCH):
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(network(images[chosen]), classes[chosen])
                torch.autograd.backward(loss)
                optimizer.step()
                schedule.step()
        return network.eval()
    finally:
        torch.set_num_threads(threads)


def build() -> ModelDefinition:
    """Return the trained model with its calibration and test images."""
    data = split()
    module = _trained(data)

    def inputs(images: torch.Tensor) -> tuple[tuple[torch.Tensor, ...], ...]:
        return tuple((images_last(image),) for image in torch.split(images, 1))

    tests = inputs(data.test[0])
    return ModelDefinition(
        module=module,
        example_inputs=tests[0],
        calibration=inputs(data.calibration[0]),
        test_inputs=tests,
        labels=tuple(int(c) for c in data.test[1]),
        classes=10,
        trained=True,
        dataset_sha256=data.sha256,
        description="handwritten digits, trained on scikit-learn's images",
    )


def _trained(data: Split) -> DigitsCnn:
    """Return the kept weights, or train and keep them."""
    versions = [importlib.metadata.version(p) for p in ("torch", "scikit-learn")]
    key = hashlib.sha256(Path(__file__).read_bytes() + " ".join(versions).encode()).hexdigest()
    kept = BUILD / "cache" / "weights" / f"{key}.pt"
    if kept.is_file():
        network = DigitsCnn()
        network.load_state_dict(torch.load(kept, weights_only=True))
        return network.eval()
    network = train(*data.train)
    buffer = io.BytesIO()
    torch.save(network.state_dict(), buffer)
    write_atomically(kept, buffer.getvalue())
    return network
