"""Trains version 2 on: new pieces for everyday words, and everyday records beside those it knows.

    python -m training.more --start FOLDER --data FOLDER --vocabulary FOLDER --out FOLDER
        [--collections FOLDER] [--pairs FILE.json ...] [--variants FILE.json]

START holds the files of version 2, the vocabulary's folder what `training.new_words` wrote. Each variant
(settings that differ from those of `More`, by name) is trained and written to OUT/NAME; without variants
there is one, version 3, named "model". A FILE of `--pairs` holds `[[text, text that says the same], ...]`;
the mean reciprocal rank of those is written into figures.json beside the rest.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from os import cpu_count
from pathlib import Path

import numpy as np
import torch

from training import new_words, vocabulary
from training.beginning import Start, begin
from training.evaluate import measure_pairs
from training.export import read_table
from training.model import Sampler, StaticModel, sampler
from training.pairs import make_pairs
from training.settings import More, Settings
from training.train import Material, contrast_loss, judge, rate, reciprocal_rank, save

VERSION = "3"
_BETAS = (0.9, 0.999)
_FEWEST_HELD_OUT = 30


class RowAdam:
    """Adam (Kingma & Ba 2015) with a learning rate for every row or column of a parameter."""

    def __init__(self, parameters: Sequence[tuple[torch.Tensor, torch.Tensor]], *, epsilon: float) -> None:
        """Take each parameter with its rates, of a shape that broadcasts to the parameter's."""
        self.parameters, self.epsilon, self.steps = parameters, epsilon, 0
        self.first = [torch.zeros_like(parameter) for parameter, _ in parameters]
        self.second = [torch.zeros_like(parameter) for parameter, _ in parameters]

    @torch.no_grad()
    def step(self, factor: float) -> None:
        """Move the parameters by their gradients, at `factor` of their rates."""
        self.steps += 1
        grown = [1 - beta**self.steps for beta in _BETAS]
        for (parameter, rates), first, second in zip(self.parameters, self.first, self.second, strict=True):
            gradient = parameter.grad
            first.mul_(_BETAS[0]).add_(gradient, alpha=1 - _BETAS[0])
            second.mul_(_BETAS[1]).addcmul_(gradient, gradient, value=1 - _BETAS[1])
            pace = (second / grown[1]).sqrt() + self.epsilon
            parameter -= (factor / grown[0]) * rates * first / pace
            parameter.grad = None


@dataclass(frozen=True, slots=True)
class Began:
    """A start on the training device."""

    vectors: torch.Tensor
    log_weights: torch.Tensor
    new: torch.Tensor

    @classmethod
    def on(cls, device: torch.device, start: Start) -> Began:
        weights = np.log(np.maximum(start.weights, 1e-6))
        arrays = (start.vectors, weights, start.new)
        return cls(*(torch.from_numpy(np.ascontiguousarray(array)).to(device) for array in arrays))


def base(settings: More, *, size: int) -> Settings:
    """Return the settings of the model and of its batches that are those of version 2."""
    return Settings(
        vocabulary=size,
        steps=settings.steps,
        warmup=settings.steps // 10,
        dropout=settings.dropout,
        boosts=Settings().boosts | {"kedict": 2.0, "cldr": 1.0},
    )


def draws(material: Material, settings: More, *, size: int, seed: int) -> Sampler:
    """Return what draws batches: everyday sources by size, the others as they were, each with its mass."""
    plain = base(settings, size=size)
    old = sampler(
        material.sets,
        material.groups,
        shares=plain.shares,
        boosts=plain.boosts,
        damping=plain.damping,
        homogeneous=plain.homogeneous,
        device=material.device,
        seed=seed,
    )
    names = [material.names[owner] for owner in old.group_source.tolist()]
    weights = settings.masses(names, old.sizes.cpu().numpy(), old.weights.cpu().numpy(), plain.damping)
    return replace(old, weights=torch.from_numpy(weights).float().to(material.device))


def fit(material: Material, began: Began, settings: More, *, seed: int) -> StaticModel:
    """Return the model trained on from its start; the seed gives the batches and what dropout takes."""
    plain = base(settings, size=len(began.vectors))
    model: StaticModel = StaticModel(material.frequencies(plain.vocabulary).cpu(), plain)
    model.to(material.device)
    model.vectors.data, model.log_weights.data = began.vectors.clone(), began.log_weights.clone()
    model.log_scale.data.fill_(settings.log_scale)
    batches = draws(material, settings, size=plain.vocabulary, seed=seed)
    torch.manual_seed(seed)
    optimizer = RowAdam(rates(model, began.new, settings), epsilon=plain.epsilon)
    for step in range(settings.steps):
        loss = contrast_loss(model, material, material.rows[batches.draw(settings.batch)], plain)
        loss.backward()
        optimizer.step(rate(step, plain))
    return model


def rates(model: StaticModel, new: torch.Tensor, settings: More) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Return the model's parameters with their rates: new pieces learn faster than known ones."""
    vectors = torch.where(new, settings.new_rate, settings.old_rate)[:, None]
    kept = settings.weight_rate if settings.old_rate else 0.0
    weights = torch.where(new, settings.weight_rate * 5, kept)[None, :]
    scale = torch.tensor(settings.scale_rate, device=new.device)
    return [(model.vectors, vectors), (model.log_weights, weights), (model.log_scale, scale)]


@torch.no_grad()
def blended(began: Began, runs: Sequence[StaticModel], share: float) -> StaticModel:
    """Return the mean of the runs; known pieces go only `share` of the way to it (Wortsman et al. 2022).

    New pieces had no meaning to keep and go the whole way.
    """
    model = runs[0]
    way = torch.where(began.new, 1.0, share)
    vectors = torch.stack([run.vectors.data for run in runs]).mean(0)
    weights = torch.stack([run.log_weights.data for run in runs]).mean(0)
    model.vectors.data = began.vectors + way[:, None] * (vectors - began.vectors)
    model.log_weights.data = began.log_weights + way[None, :] * (weights - began.log_weights)
    return model


def dev_figures(model: StaticModel, material: Material, everyday: Sequence[str]) -> dict[str, float]:
    """Return the mean reciprocal rank of what is held out, by source, and the means of old and new ones."""
    owners = np.concatenate([[part.source] * len(part.types) for part in material.dev])
    figures = {
        name: reciprocal_rank(
            model, material.dev_queries, material.dev_documents, np.flatnonzero(owners == name)
        )
        for name in material.names
        if (owners == name).sum() > _FEWEST_HELD_OUT
    }

    def mean(chosen: Callable[[str], bool]) -> float:
        return float(np.mean([figure for name, figure in figures.items() if chosen(name)] or [math.nan]))

    means = {"old-mean": mean(lambda name: name not in everyday), "new-mean": mean(everyday.__contains__)}
    return {**figures, **means}


def variants(path: Path | None) -> dict[str, More]:
    """Return the named settings to train; differences from version 3's are given in a JSON object."""
    if path is None:
        return {"model": More()}
    return {name: replace(More(), **changes) for name, changes in json.loads(path.read_text()).items()}


def measured(folder: Path, figures: dict[str, float], collections: Path | None, pairs: list[Path]) -> str:
    """Measure an exported model on pairs and collections, and return the figures in a readable form."""
    found = {path.stem: measure_pairs(folder, path) for path in pairs}
    return judge(folder, figures | found, collections)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--start", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--collections", type=Path)
    parser.add_argument("--pairs", type=Path, nargs="*", default=[])
    parser.add_argument("--variants", type=Path)
    parser.add_argument(
        "--sample", type=int, help="use only the first N parts of each source, to try the code"
    )
    return parser.parse_args()


def main() -> None:
    given = options()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    began = time.monotonic()
    path = given.vocabulary / "vocabulary.tsv"
    pieces, weights = vocabulary.load(path), new_words.load(given.vocabulary / "new.tsv")
    made = make_pairs(given.data, path, workers=cpu_count() or 1, limit=given.sample)
    material = Material(*made, device)
    print(f"{time.monotonic() - began:6.0f}s  {sum(len(part.types) for part in made[0])} pairs", flush=True)
    # Judged beside the training of the next variant; a forked process cannot use the device's library.
    judges, jobs = ProcessPoolExecutor(4, mp_context=get_context("spawn")), []
    for name, settings in variants(given.variants).items():
        start = Began.on(device, begin(read_table(given.start), pieces, weights, mix=settings.mix))
        runs = [fit(material, start, settings, seed=seed) for seed in range(1, settings.runs + 1)]
        model = blended(start, runs, settings.blend)
        dev = dev_figures(model, material, settings.everyday)
        print(f"{time.monotonic() - began:6.0f}s  {name}: {dev}", flush=True)
        save(model, given.out / name, pieces, asdict(settings), version=VERSION)
        jobs.append(judges.submit(measured, given.out / name, dev, given.collections, given.pairs))
    for job in jobs:
        print(job.result(), flush=True)


if __name__ == "__main__":
    main()
