"""Learns what learned fusion counts, and how likely its searches are right.

python -m training.ranking --collection DIR --collection DIR --golden FILE=ROOT --folder DIR

Runs the legs once for every judged query, for queries made from each folder (headings, sentences without half
of their words) and for queries of the other sets, which have no answer here. Then prints nDCG@10 under the
weights that ship and, for each set, under those that are best on all others; and the weights of the
likelihood. Needs scipy and the extra ``eval``.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import yaml
from scipy.optimize import minimize  # type: ignore[import-untyped]

from kebab import config
from kebab.assembly.engines import Engines
from kebab.assembly.evaluate import MeasuredBases, build_laboratory
from kebab.domain.chunks import StoredChunk
from kebab.evaluate import collections, golden, metrics
from kebab.evaluate.laboratory import Task
from kebab.evaluate.tune import METRIC, LegResults
from kebab.search.learned import Learned
from kebab.search.likelihood import facts_of

STEPS = (0.0, 0.1, 0.15, 0.2, 0.3)
MADE = 120
STRANGE = 40
Sets = dict[str, list[LegResults]]


def made_queries(chunks: Sequence[StoredChunk], *, drawn: Random) -> Iterator[tuple[str, str]]:
    """Headings that one note has, and sentences without half of their words; each with the note's path."""
    owners: dict[str, set[str]] = {}
    for stored in chunks:
        for heading in stored.chunk.heading_path[-1:]:
            owners.setdefault(heading, set()).add(stored.path)
    headings = sorted((text, *paths) for text, paths in owners.items() if len(paths) == 1 and _telling(text))
    yield from ((text, path) for text, path in drawn.sample(headings, min(MADE, len(headings))))
    sentences = [(words, stored.path) for stored in chunks for words in _sentences(stored.chunk.text)]
    for words, path in drawn.sample(sentences, min(MADE, len(sentences))):
        kept = sorted(drawn.sample(range(len(words)), max(3, len(words) // 2)))
        yield " ".join(words[place] for place in kept), path


def _telling(heading: str) -> bool:
    return len(heading.split()) > 1 or re.search("[가-힣]{3}", heading) is not None


def _sentences(text: str) -> Iterator[list[str]]:
    for sentence in re.split(r"(?<=[.!?다])\s+|\n", text):
        words = sentence.split()
        if 8 <= len(words) <= 30 and not re.search(r'https?:|[|`":]', sentence):
            yield words


def golden_of(folder: Path, bases: MeasuredBases, scratch: Path) -> Task:
    """The queries made from a folder, as a golden file."""
    with bases.of_folder(folder) as base:
        made = list(made_queries(list(base.documents.stored_chunks()), drawn=Random(0)))
    entries = [
        {"id": f"q{number}", "query": text, "expect": {"paths": [path]}}
        for number, (text, path) in enumerate(made)
    ]
    file = scratch / f"{folder.name}-made.yaml"
    file.write_text(yaml.safe_dump({"queries": entries}, allow_unicode=True), "utf-8")
    return Task(golden=file, root=folder)


def texts(task: Task) -> list[str]:
    """The queries of a task, to ask elsewhere."""
    if task.collection is not None:
        return [query.text for query in collections.read(task.collection).queries.judged]
    assert task.golden is not None
    return [entry.query for entry in golden.read(task.golden)]


def quality(results: Sequence[LegResults], policy: Learned) -> float:
    """Mean nDCG@10 of the judged queries."""
    judged = [item for item in results if item.query.targets]
    rankings = {}
    for item in judged:
        fused = policy.fuse(item.rankings, item.evidence)[0]
        rankings[item.key] = list(dict.fromkeys(item.units[one.id] for one in fused if one.id in item.units))
    scored = metrics.score(
        {item.key: dict(item.query.targets) for item in judged}, rankings, metrics=(METRIC,)
    )
    return sum(row[METRIC] for row in scored.values()) / len(scored)


def held_out(sets: Sets) -> Iterator[tuple[str, float, float, tuple[float, ...]]]:
    """For each set its figure as shipped, and under the weights that are best on all others."""
    grid = list(product(STEPS, STEPS, STEPS))
    table = {
        name: [quality(found, Learned(name=n, coverage=c, nearness=near)) for n, c, near in grid]
        for name, found in sets.items()
    }
    for name in sets:
        others = np.mean([row for other, row in table.items() if other != name], axis=0)
        best = int(np.argmax(others))
        yield name, quality(sets[name], Learned()), table[name][best], grid[best]


def likelihood(sets: Sets) -> list[float]:
    """Weights of a logistic model of whether one of the first three is right, none below zero; start last."""
    facts, right = [], []
    for item in (item for found in sets.values() for item in found):
        fused = Learned().fuse(item.rankings, item.evidence)[0][:3]
        facts.append(facts_of(item.rankings["lexical"], item.rankings["vector"], item.evidence))
        right.append(any(item.units.get(one.id) in item.query.targets for one in fused))
    rows, wanted = np.column_stack([np.array(facts), np.ones(len(facts))]), np.array(right, dtype=float)

    def loss(weights: np.ndarray) -> float:
        total = rows @ weights
        return float(np.sum(np.logaddexp(0, total) - wanted * total) + 1e-3 * weights @ weights)

    bounds = [(0, None)] * (rows.shape[1] - 1) + [(None, None)]
    fitted = minimize(loss, np.zeros(rows.shape[1]), bounds=bounds, method="L-BFGS-B")
    return [round(float(weight), 2) for weight in fitted.x]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("collection", "golden", "folder"):
        parser.add_argument(f"--{name}", action="append", default=[])
    given = parser.parse_args()
    engines = Engines(config.load(None))
    laboratory = build_laboratory(engines)
    with TemporaryDirectory() as scratch:
        tasks = [Task(collection=Path(folder)) for folder in given.collection]
        tasks += [Task(golden=Path(f), root=Path(r)) for f, r in (one.split("=") for one in given.golden)]
        tasks += [golden_of(Path(one), MeasuredBases(engines), Path(scratch)) for one in given.folder]
        asked = {id(task): texts(task) for task in tasks}
        sets: Sets = {}
        for task in tasks:
            elsewhere = [text for key, own in asked.items() if key != id(task) for text in own]
            strange = Random(0).sample(elsewhere, min(STRANGE, len(elsewhere)))
            found = laboratory.legs(task, strange=strange)
            sets[found[0].collection] = found
        for name, shipped, learned, weights in held_out(sets):
            print(f"{name:24} shipped {shipped:.3f}  best on the others {learned:.3f} {weights}", flush=True)
        print("held, cosine, margin, lead, foreign, start:", likelihood(sets))


if __name__ == "__main__":
    main()
