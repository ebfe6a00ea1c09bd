"""The zoo: sizes of the published architectures, honest splits, and outputs that mean something."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from bench.export.programs import ProgramFiles
from bench.model import ModelSource, build_model, list_models, resolve_model
from bench.models import digits_cnn

UPSTREAM_MODELS = ("autoencoder", "ds_cnn", "linear", "mobilenet_v1_025", "resnet8")
Zoo = Callable[..., dict[str, ProgramFiles]]


def figures(upstream: Path, model: str, cpu: str) -> dict[str, str]:
    """Return upstream's row of a model and a cpu."""
    with (upstream / "figures.csv").open() as file:
        return next(r for r in csv.DictReader(file) if (r["model"], r["cpu"]) == (model, cpu))


@pytest.mark.parametrize("cpu", ["cortex-m4", "cortex-m55"])
@pytest.mark.parametrize("model", UPSTREAM_MODELS)
def test_sizes_equal_upstreams(zoo: Zoo, upstream: Path, model: str, cpu: str) -> None:
    """MACs and planned RAM of the reference architectures are those of upstream's own programs."""
    manifest = zoo(model)[cpu].manifest
    row = figures(upstream, model, cpu)

    assert int(row["macs"]) == manifest.macs
    assert int(row["planned_bytes"]) == manifest.planned_bytes
    assert manifest.int8_mac_fraction == 1.0


@pytest.mark.parametrize("model", UPSTREAM_MODELS)
def test_untrained_models_say_so(zoo: Zoo, model: str) -> None:
    """Random weights claim no accuracy: no labels, a finding."""
    manifest = zoo(model)["cortex-m4"].manifest

    assert (manifest.trained, manifest.labelled) == (False, False)
    assert "untrained" in [f.code for f in manifest.findings]


@pytest.mark.parametrize("model", list_models())
def test_outputs_depend_on_inputs(model: str) -> None:
    """Weights are no degenerate draw: outputs differ between inputs by a fair part of their size."""
    source = resolve_model(model)
    assert isinstance(source, ModelSource)
    definition = build_model(source)
    with torch.no_grad():
        outputs = torch.cat([definition.module(*x) for x in definition.test_inputs[:4]])

    assert float(outputs.std(dim=0).mean() / outputs.abs().mean()) > 0.02


def test_digits_split_is_disjoint_stratified_and_stable() -> None:
    """Train, calibration and test share no image, hold all classes in proportion, and are always the same."""
    first, second = digits_cnn.split(), digits_cnn.split()
    train, calibration, test = (set(rows) for rows in first.rows)

    assert len(train) + len(calibration) + len(test) == 1797
    assert len(train | calibration | test) == 1797
    assert len(test) >= 360
    assert torch.bincount(first.test[1]).tolist() == pytest.approx([54] * 10, abs=2)
    assert (first.rows, first.sha256) == (second.rows, second.sha256)


def test_digits_training_is_deterministic() -> None:
    """Two trainings on the same images give the same weights, bit for bit."""
    images, classes = digits_cnn.split().train
    one, two = (digits_cnn.train(images[:256], classes[:256]).state_dict() for _ in range(2))

    assert all(torch.equal(one[key], two[key]) for key in one)


@pytest.mark.parametrize("cpu", ["cortex-m4", "cortex-m55"])
def test_digits_int8_accuracy(zoo: Zoo, cpu: str) -> None:
    """digits_cnn reaches 96 % in int8 on its whole test split, close to float."""
    made = zoo("digits_cnn")[cpu]
    labels = np.frombuffer(made.files["labels.bin"], "<i4")

    def top1(name: str) -> float:
        logits = np.frombuffer(made.files[name], "<f4").reshape(-1, made.manifest.classes)
        return float((logits.argmax(axis=1) == labels).mean())

    assert len(labels) == made.manifest.sample_count == digits_cnn.TEST
    assert made.manifest.trained
    assert top1("host_int8_0.bin") >= 0.96
    assert top1("host_int8_0.bin") == pytest.approx(top1("float_0.bin"), abs=0.01)
    assert [f for f in made.manifest.findings if f.code == "degenerate-range"] == []


def test_digits_weights_are_cached(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The second build loads the first one's weights."""
    monkeypatch.setattr(digits_cnn, "BUILD", tmp_path)
    first = digits_cnn.build().module.state_dict()
    monkeypatch.setattr(digits_cnn, "train", None)
    second = digits_cnn.build().module.state_dict()

    assert all(torch.equal(first[key], second[key]) for key in first)
    assert json.dumps([p.suffix for p in (tmp_path / "cache" / "weights").iterdir()]) == '[".pt"]'
