"""A sentence encoder as a second teacher, for English only: the model learns to score as it does.

all-MiniLM-L6-v2 (Apache-2.0) gives the scores, read from a folder by `transformers`. Titles and sentences
are scored against texts of the same records, half of the batches from one source, where details decide.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from training.model import DOCUMENT, QUERY, DeviceBags, StaticModel, imitate, on_device
from training.pairs import Bags, Side, bags, side
from training.records import is_dev, read, sources
from training.settings import Settings
from training.vocabulary import cutter

_MOST, _LETTERS, _LONGEST, _BATCH, _PARTS = 20_000, 1500, 256, 512, 8
_ONE_SOURCE = 0.5

Job = tuple[Path, Path, int, int]


class Texts(NamedTuple):
    """What a teacher is asked about a part of one source, and the same as the student reads it."""

    source: str
    queries: list[str]
    documents: list[str]
    query_bags: Bags
    document_bags: Bags


def _asked(side: Side, chance: random.Random) -> tuple[str, str] | None:
    """Return a title or a sentence, and a stretch of the text without that sentence."""
    texts = side.texts
    place = chance.randrange(len(texts))
    if side.title_tokens and (len(texts) < 3 or chance.random() < 0.5):
        return side.title, " ".join(texts[place : place + 6])
    if len(texts) < 3:
        return None
    return texts[place], " ".join([*texts[max(0, place - 3) : place], *texts[place + 1 : place + 4]])


def _texts(job: Job) -> Texts:
    path, vocabulary, part, parts = job
    subwords, chance = cutter(vocabulary), random.Random(f"{path.name} {part}")
    records = [
        record
        for number, record in enumerate(read(path))
        if number % parts == part and record.body_en and not is_dev(record)
    ]
    chosen = chance.sample(records, min(len(records), _MOST // parts))
    sides = (side(subwords, "en", record.title_en, record.body_en) for record in chosen)
    pairs = [pair for one in sides if one and (pair := _asked(one, chance))]
    queries, documents = [query[:_LETTERS] for query, _ in pairs], [text[:_LETTERS] for _, text in pairs]
    return Texts(
        path.name,
        queries,
        documents,
        bags([subwords.numbers(query) for query in queries]),
        bags([subwords.numbers(document) for document in documents]),
    )


@torch.no_grad()
def encode(folder: Path, texts: list[str], device: torch.device) -> Tensor:
    """Return the teacher's vectors of the texts, of length 1, on the device."""
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder).to(device).eval()
    model = model.half() if device.type == "cuda" else model
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    vectors = torch.empty(len(texts), model.config.hidden_size, dtype=torch.float16, device=device)
    for first in range(0, len(order), _BATCH):
        places = order[first : first + _BATCH]
        batch = tokenizer(
            [texts[place] for place in places],
            padding=True,
            truncation=True,
            max_length=_LONGEST,
            return_tensors="pt",
        ).to(device)
        mask = batch["attention_mask"][..., None]
        hidden = model(**batch).last_hidden_state * mask
        pooled = functional.normalize(hidden.sum(1).float() / mask.sum(1), dim=-1)
        vectors[torch.tensor(places, device=device)] = pooled.half()
    return vectors


@dataclass(frozen=True, slots=True)
class Lessons:
    """Texts with the teacher's vectors, on the device; `starts` says where each source begins and all end."""

    queries: DeviceBags
    documents: DeviceBags
    query_vectors: Tensor
    document_vectors: Tensor
    starts: np.ndarray

    def loss(self, model: StaticModel, settings: Settings) -> Tensor:
        """Return how far the model's scores of a batch are from the teacher's."""
        first, last = 0, int(self.starts[-1])
        if float(torch.rand(())) < _ONE_SOURCE:
            source = int(torch.randint(len(self.starts) - 1, ()))
            first, last = int(self.starts[source]), int(self.starts[source + 1])
        rows = torch.randint(first, last, (settings.teacher_batch,), device=self.query_vectors.device)
        student = (
            model(self.queries.select(rows), QUERY, dropout=settings.dropout),
            model(self.documents.select(rows), DOCUMENT, dropout=settings.dropout),
        )
        taught = (self.query_vectors[rows] @ self.document_vectors[rows].T).float() * settings.teacher_scale
        return imitate(model, student, taught)


def lessons(data: Path, vocabulary: Path, teacher: Path, device: torch.device, *, workers: int) -> Lessons:
    """Return the lessons of every source of a folder that has English text."""
    jobs = [(path, vocabulary, part, _PARTS) for path in sources(data) for part in range(_PARTS)]
    with Pool(workers) as pool:
        made = [part for part in pool.map(_texts, jobs, chunksize=1) if part.queries]
    sizes: dict[str, int] = {}
    for part in made:
        sizes[part.source] = sizes.get(part.source, 0) + len(part.queries)
    return Lessons(
        on_device([part.query_bags for part in made], device),
        on_device([part.document_bags for part in made], device),
        encode(teacher, [text for part in made for text in part.queries], device),
        encode(teacher, [text for part in made for text in part.documents], device),
        np.cumsum([0, *sizes.values()]),
    )
