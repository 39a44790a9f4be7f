"""The model while it is trained: one vector a token, one weight a token and kind, summed and normalised."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from training.pairs import TYPES, Bags, PairSet
from training.settings import Settings

QUERY, DOCUMENT = 0, 1


@dataclass(frozen=True, slots=True)
class DeviceBags:
    """Token bags on the training device."""

    tokens: Tensor
    counts: Tensor
    offsets: Tensor

    def select(self, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the tokens, counts and bag starts of some bags, flat."""
        starts, ends = self.offsets[rows], self.offsets[rows + 1]
        lengths = ends - starts
        firsts = torch.cumsum(lengths, 0) - lengths
        places = torch.arange(int(lengths.sum()), device=rows.device)
        places += torch.repeat_interleave(starts - firsts, lengths)
        return self.tokens[places].long(), self.counts[places].float(), firsts


def on_device(parts: list[Bags], device: torch.device) -> DeviceBags:
    """Join bags into one and move them to the device."""
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return DeviceBags(
        torch.from_numpy(np.concatenate([part.tokens for part in parts])).to(device),
        torch.from_numpy(np.concatenate([part.counts for part in parts])).to(device),
        torch.from_numpy(offsets).to(device),
    )


class StaticModel(nn.Module):
    """Sums weighted token vectors; a power below 1 saturates how often a token counts in one text."""

    def __init__(self, frequencies: Tensor, settings: Settings) -> None:
        super().__init__()
        size = len(frequencies)
        self.vectors = nn.Parameter(torch.randn(size, settings.dimensions) / settings.dimensions**0.5)
        # Smooth inverse frequency (Arora, Liang & Ma 2017) to begin with.
        start = torch.log(settings.smoothing / (settings.smoothing + frequencies))
        self.log_weights = nn.Parameter(torch.stack([start, start]))
        self.log_scale = nn.Parameter(torch.tensor(3.0))
        self.log_teacher_scale = nn.Parameter(torch.tensor(3.0))
        self.power = settings.count_power
        self.highest_scale = math.log(settings.highest_scale)

    def forward(self, bags: tuple[Tensor, Tensor, Tensor], kind: int, *, dropout: float = 0.0) -> Tensor:
        tokens, counts, firsts = bags
        weights = self.log_weights[kind][tokens].exp() * counts**self.power
        if dropout:
            weights = weights * (torch.rand_like(weights) >= dropout)
        pooled = functional.embedding_bag(
            tokens, self.vectors, firsts, mode="sum", per_sample_weights=weights
        )
        return functional.normalize(pooled, dim=-1)


def contrast(model: StaticModel, queries: Tensor, documents: Tensor, same: Tensor) -> Tensor:
    """Return the loss of picking each pair's partner among all of the batch, in both directions.

    `same` marks pairs of one record: they are no negatives of each other.
    """
    scale = model.log_scale.clamp(max=model.highest_scale).exp()
    if queries.is_cuda:
        queries, documents = queries.bfloat16(), documents.bfloat16()
    scores = (queries @ documents.T).float() * scale
    scores = scores.masked_fill(same, -1e4)
    target = torch.arange(len(scores), device=scores.device)
    return (functional.cross_entropy(scores, target) + functional.cross_entropy(scores.T, target)) / 2


def imitate(model: StaticModel, student: tuple[Tensor, Tensor], teacher: Tensor) -> Tensor:
    """Return how far the student's choice among the batch is from the teacher's (Hinton et al. 2015).

    `teacher` holds the teacher's scores of every query and document, sharpened already.
    """
    queries, documents = (side.bfloat16() if side.is_cuda else side for side in student)
    scores = (queries @ documents.T).float() * model.log_teacher_scale.exp()
    return (_divergence(scores, teacher) + _divergence(scores.T, teacher.T)) / 2


def _divergence(mine: Tensor, wanted: Tensor) -> Tensor:
    found, asked = functional.log_softmax(mine, -1), functional.log_softmax(wanted, -1)
    return functional.kl_div(found, asked, log_target=True, reduction="batchmean")


@dataclass(frozen=True, slots=True)
class Sampler:
    """Draws batches of pairs; a share of the batches from one source, where the negatives are hard."""

    starts: Tensor
    sizes: Tensor
    group_source: Tensor
    weights: Tensor
    homogeneous: float
    generator: torch.Generator

    def draw(self, size: int) -> Tensor:
        weights = self.weights
        if float(torch.rand((), generator=self.generator, device=self.generator.device)) < self.homogeneous:
            by_source = torch.zeros(int(self.group_source.max()) + 1, device=weights.device)
            by_source.index_add_(0, self.group_source, weights)
            chosen = torch.multinomial(by_source, 1, generator=self.generator)
            weights = torch.where(self.group_source == chosen, weights, 0.0)
        groups = torch.multinomial(weights, size, replacement=True, generator=self.generator)
        places = torch.rand(size, generator=self.generator, device=weights.device, dtype=torch.float64)
        return self.starts[groups] + (places * self.sizes[groups]).long()


def sampler(
    sets: list[PairSet],
    order: np.ndarray,
    *,
    shares: dict[str, float],
    boosts: dict[str, float],
    damping: float,
    homogeneous: float,
    device: torch.device,
    seed: int,
) -> Sampler:
    """Return a sampler over sorted pairs; `order` holds the (source, type) group of every pair, ascending."""
    groups, starts, sizes = np.unique(order, return_index=True, return_counts=True)
    names = sorted({part.source for part in sets})
    kinds, owners = groups % len(TYPES), groups // len(TYPES)
    weights = sizes.astype(np.float64) ** damping * [boosts.get(names[owner], 1.0) for owner in owners]
    for kind, name in enumerate(TYPES):
        chosen = kinds == kind
        if weights[chosen].sum() > 0:
            weights[chosen] *= shares[name] / weights[chosen].sum()

    def move(array: np.ndarray) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(device)

    return Sampler(
        move(starts),
        move(sizes),
        move(owners),
        move(weights).float(),
        homogeneous,
        torch.Generator(device).manual_seed(seed),
    )
