"""From a folder of records to the model's files, by one command.

    python -m training.train --data FOLDER --teacher FOLDER --out FOLDER
        [--collections FOLDER] [--variants FILE.json]

The vocabulary and the pairs are made once; each variant (settings that differ from the defaults, by name) is
trained and written to OUT/NAME. Without variants there is one, named "model".
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from os import cpu_count
from pathlib import Path
from typing import Any

import numpy as np
import torch

from training import vocabulary
from training.evaluate import measure_all
from training.export import export
from training.model import DOCUMENT, QUERY, DeviceBags, StaticModel, contrast, on_device, sampler
from training.pairs import TYPES, PairSet, make_pairs
from training.settings import Settings
from training.teacher import Lessons, lessons

DEV_LIMIT = 4000
VERSION = "2"


class Material:
    """Pairs of one vocabulary on the device, sorted by source and type; the held-out ones beside them."""

    def __init__(self, train: list[PairSet], dev: list[PairSet], device: torch.device) -> None:
        self.sets, self.device = train, device
        self.names = names = sorted({part.source for part in train})
        group = np.concatenate([names.index(part.source) * len(TYPES) + part.types for part in train])
        sort = np.argsort(group, kind="stable")
        self.groups = group[sort]
        self.rows = torch.from_numpy(sort).to(device)
        owner = np.concatenate([names.index(part.source) * 10_000_000 + part.records for part in train])
        self.records = torch.from_numpy(owner).to(device)
        self.queries = on_device([part.queries for part in train], device)
        self.documents = on_device([part.documents for part in train], device)
        self.dev = dev
        self.dev_types = np.concatenate([part.types for part in dev])
        self.dev_queries = on_device([part.queries for part in dev], device)
        self.dev_documents = on_device([part.documents for part in dev], device)

    def frequencies(self, size: int) -> torch.Tensor:
        """Return each token's share of all document tokens."""
        counts = torch.bincount(self.documents.tokens.long(), minlength=size).float()
        return counts / counts.sum()


@torch.no_grad()
def reciprocal_rank(
    model: StaticModel, queries: DeviceBags, documents: DeviceBags, rows: np.ndarray
) -> float:
    """Return the mean reciprocal rank of each pair's document among those of up to DEV_LIMIT pairs."""
    chosen = torch.from_numpy(np.random.default_rng(0).permutation(rows)[:DEV_LIMIT]).to(
        queries.tokens.device
    )
    scores = model(queries.select(chosen), QUERY) @ model(documents.select(chosen), DOCUMENT).T
    ranks = (scores > scores.diagonal()[:, None]).sum(1) + 1
    return float((1.0 / ranks).mean())


def dev_figures(model: StaticModel, material: Material, held_out: tuple[str, ...]) -> dict[str, float]:
    """Return figures by type: of pages held out of training and, as "far-…", of whole sources held out."""
    figures: dict[str, float] = {}
    for number, name in enumerate(TYPES):
        rows = np.flatnonzero(material.dev_types == number)
        if len(rows) > 1:
            figures[name] = reciprocal_rank(model, material.dev_queries, material.dev_documents, rows)
    figures["mean"] = float(np.mean(list(figures.values())))
    far: dict[str, float] = {}
    for source in held_out:
        for number, name in enumerate(TYPES):
            group = material.names.index(source) * len(TYPES) + number
            rows = material.rows.cpu().numpy()[material.groups == group]
            if len(rows) > 200:
                mrr = reciprocal_rank(model, material.queries, material.documents, rows)
                far[f"far-{source}-{name}"] = mrr
    return figures | far | ({"far-mean": float(np.mean(list(far.values())))} if far else {})


def rate(step: int, settings: Settings) -> float:
    """Return the learning rate's factor: a short rise, then half a cosine down to zero."""
    if step < settings.warmup:
        return (step + 1) / settings.warmup
    return 0.5 * (1 + math.cos(math.pi * (step - settings.warmup) / max(1, settings.steps - settings.warmup)))


@dataclass(frozen=True, slots=True)
class Fitted:
    """A trained model and the random vectors it began with."""

    model: StaticModel
    start: torch.Tensor

    def blended(self, share: float) -> StaticModel:
        """Return the model some share of the way from its start to its end (Wortsman et al. 2022).

        Random vectors tell words apart, which is worth more on text unlike the training text.
        """
        model = copy.deepcopy(self.model)
        model.vectors.data = self.start + share * (self.model.vectors.data - self.start)
        return model


def fit(material: Material, settings: Settings, lessons: Lessons | None = None) -> Fitted:
    """Return a model trained with these settings; the same settings on the same device repeat it."""
    torch.manual_seed(settings.start)
    model = StaticModel(material.frequencies(settings.vocabulary).cpu(), settings).to(material.device)
    torch.manual_seed(settings.seed)
    draws = sampler(
        material.sets,
        material.groups,
        shares=settings.shares,
        boosts=settings.boosts | dict.fromkeys(settings.held_out, 0.0),
        damping=settings.damping,
        homogeneous=settings.homogeneous,
        device=material.device,
        seed=settings.seed,
    )
    start = model.vectors.detach().clone()
    optimizer = torch.optim.Adam(
        [
            {"params": [model.vectors], "lr": settings.learning_rate},
            {
                "params": [model.log_weights, model.log_scale, model.log_teacher_scale],
                "lr": settings.weight_learning_rate,
            },
        ],
        eps=settings.epsilon,
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rate(step, settings))
    for _ in range(settings.steps):
        loss = contrast_loss(model, material, material.rows[draws.draw(settings.batch)], settings)
        if lessons is not None and settings.teacher:
            loss = loss + settings.teacher * lessons.loss(model, settings)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return Fitted(model, start)


def contrast_loss(
    model: StaticModel, material: Material, rows: torch.Tensor, settings: Settings
) -> torch.Tensor:
    """Return the loss of one batch, the pairs in these rows."""
    queries = model(material.queries.select(rows), QUERY, dropout=settings.dropout)
    documents = model(material.documents.select(rows), DOCUMENT, dropout=settings.dropout)
    owners = material.records[rows]
    same = (owners[:, None] == owners[None, :]).fill_diagonal_(False)
    return contrast(model, queries, documents, same)


def fit_averaged(material: Material, settings: Settings, lessons: Lessons | None = None) -> Fitted:
    """Return the mean of `runs` models that began with the same vectors (Wortsman et al. 2022).

    What a run owes to the order of its pairs and to dropout, the mean loses; what all runs learned stays.
    """
    runs = [
        fit(material, replace(settings, seed=settings.seed + number), lessons)
        for number in range(settings.runs)
    ]
    mean: Fitted = average(runs)
    return mean


@torch.no_grad()
def average(runs: list[Fitted]) -> Fitted:
    """Return the mean of models with the same start."""
    mean = copy.deepcopy(runs[0].model)
    for name, parameter in mean.named_parameters():
        parameter.copy_(torch.stack([run.model.get_parameter(name) for run in runs]).mean(0))
    return Fitted(mean, runs[0].start)


def save(
    model: StaticModel,
    folder: Path,
    pieces: list[tuple[str, float]],
    settings: dict[str, Any],
    *,
    version: str,
) -> None:
    """Write the model's files and the settings they came from."""
    pieces, continuing = vocabulary.ordered(pieces)
    export(
        folder,
        pieces=pieces,
        continuing=continuing,
        vectors=model.vectors.detach().cpu().numpy(),
        weights=model.log_weights.detach().exp().cpu().numpy(),
        power=model.power,
        version=version,
    )
    (folder / "settings.json").write_text(json.dumps(settings, indent=1) + "\n", "utf-8")


def variants(path: Path | None) -> dict[str, Settings]:
    """Return the named settings to train; differences from the defaults are given in a JSON object."""
    if path is None:
        return {"model": Settings()}
    return {name: replace(Settings(), **changes) for name, changes in json.loads(path.read_text()).items()}


def pieces_for(data: Path, out: Path, settings: Settings, *, workers: int) -> Path:
    """Return the vocabulary file for these settings, made if it is not there yet."""
    path = out / f"vocabulary-{settings.vocabulary}-{settings.hangul}.tsv"
    if not path.is_file():
        out.mkdir(parents=True, exist_ok=True)
        vocabulary.write(
            path, vocabulary.build(data, size=settings.vocabulary, hangul=settings.hangul, workers=workers)
        )
    return path


def prepare(
    arguments: argparse.Namespace, path: Path, device: torch.device, *, workers: int
) -> tuple[Material, Lessons | None]:
    """Return the pairs of a vocabulary and, where there is a teacher, its lessons."""
    made = make_pairs(arguments.data, path, workers=workers, limit=arguments.sample)
    teacher: Path | None = arguments.teacher
    taught = lessons(arguments.data, path, teacher, device, workers=workers) if teacher else None
    return Material(*made, device), taught


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--teacher", type=Path, help="all-MiniLM-L6-v2, in the form of transformers")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--collections", type=Path)
    parser.add_argument("--variants", type=Path)
    parser.add_argument(
        "--sample", type=int, help="use only the first N parts of each source, to try the code"
    )
    arguments = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    workers = cpu_count() or 1
    began = time.monotonic()
    ready: dict[Path, tuple[Material, Lessons | None]] = {}
    fitted: tuple[Settings, Fitted] | None = None
    # Judged beside the training of the next variant; a forked process cannot use the device's library.
    judges, jobs = ProcessPoolExecutor(4, mp_context=get_context("spawn")), []
    for name, settings in variants(arguments.variants).items():
        path = pieces_for(arguments.data, arguments.out, settings, workers=workers)
        if path not in ready:
            ready = {path: prepare(arguments, path, device, workers=workers)}
            print(f"{time.monotonic() - began:6.0f}s  ready for {path.name}", flush=True)
        material, taught = ready[path]
        recipe = replace(settings, blend=1.0)
        if fitted is None or fitted[0] != recipe:
            fitted = (recipe, fit_averaged(material, recipe, taught))
        model = fitted[1].blended(settings.blend)
        dev = dev_figures(model, material, settings.held_out)
        print(f"{time.monotonic() - began:6.0f}s  {name}: {_short(_means(dev))}", flush=True)
        save(model, arguments.out / name, vocabulary.load(path), asdict(settings), version=VERSION)
        jobs.append(judges.submit(judge, arguments.out / name, dev, arguments.collections))
    for job in jobs:
        print(job.result(), flush=True)


def judge(folder: Path, dev: dict[str, float], collections: Path | None) -> str:
    """Measure an exported model, write the figures beside it, and return them in a readable form."""
    figures = {"dev": dev} | (measure_all(folder, collections) if collections else {})
    (folder / "figures.json").write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    return "\n".join([folder.name, *(f"    {name:22} {_short(values)}" for name, values in figures.items())])


def _means(figures: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in figures.items() if name.endswith("mean")}


def _short(figures: dict[str, float]) -> str:
    return " ".join(f"{name} {value:.4f}" for name, value in figures.items())


if __name__ == "__main__":
    main()
