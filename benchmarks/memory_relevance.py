"""How well "never done before" is told: known items against unrelated questions, in both languages.

    python -m benchmarks.memory_relevance [--fit]

The memory holds commits and software tasks. Known items are records asked for again with two words in five
left out and the rest in another order, whole or as a short line; unrelated are claims of medicine, questions
of aeronautics, Korean questions of finance and law, and everyday Korean sentences. Half of each fits the
weights (``--fit`` prints them), the other half gives the rates.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.memory import HANGUL, PROJECT, open_memory, real_records
from kebab.domain.executions import Execution
from kebab.memory import relevance
from kebab.memory.room import ExecutionMemory

SAMPLE = 300


@dataclass(frozen=True)
class Asked:
    kind: str
    text: str
    target: str | None
    """The record that was meant; None for a question that nothing answers."""


@dataclass(frozen=True)
class Seen:
    asked: Asked
    covered: float
    cosine: float
    found: bool


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=PROJECT.parent / "shared" / "data")
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--fit", action="store_true", help="also fit the weights anew")
    options = parser.parse_args()
    records = list(real_records(options.data))[: options.records]
    with tempfile.TemporaryDirectory(prefix="kebab-memory-") as folder:
        memory = open_memory(Path(folder))
        memory.record_many(records)
        seen = [look(memory, asked) for asked in questions(records, options.data)]
        memory.close()
    if options.fit:
        fit([each for place, each in enumerate(seen) if place % 2 == 0])
    report([each for place, each in enumerate(seen) if place % 2])


def questions(records: Sequence[Execution], data: Path) -> Iterator[Asked]:
    dice = random.Random(5)
    korean = [item for item in records if HANGUL.search(item.task_description)]
    english = [item for item in records if not HANGUL.search(item.task_description)]
    for language, pool in (("English", english), ("Korean", korean)):
        for item in dice.sample(pool, min(SAMPLE, len(pool))):
            yield Asked(f"{language}, whole", shortened(item.task_description.split()[:40], dice), item.id)
            title = item.task_description.split("\n")[0].split()
            if len(title) >= 4:
                yield Asked(f"{language}, a line", shortened(title, dice), item.id)
    for name, told in (
        ("scifact", "medicine (English)"),
        ("cranfield", "aeronautics (English)"),
        ("autorag-ko", "finance and law (Korean)"),
        ("tatoeba-ko2en", "everyday (Korean)"),
    ):
        lines = (data / name / "queries.jsonl").read_text(encoding="utf-8").splitlines()
        texts = [json.loads(line)["text"] for line in lines]
        for text in dice.sample(texts, min(SAMPLE, len(texts))):
            yield Asked(told, text, None)


def shortened(words: Sequence[str], dice: random.Random) -> str:
    return " ".join(dice.sample(list(words), max(1, round(len(words) * 0.6))))


def look(memory: ExecutionMemory, asked: Asked) -> Seen:
    """The two measures of the best hit, or of the record that was meant where it is among the first five."""
    assert memory.analyzer is not None
    hits = memory.hybrid_search(asked.text, limit=5, min_score=0).hits
    chosen = next((hit for hit in hits if hit.execution.id == asked.target), hits[0] if hits else None)
    if chosen is None:
        return Seen(asked, 0.0, 0.0, False)
    weights = memory.analyzer.query_weights(asked.text)
    held = memory.executions.held({chosen.execution.id: chosen.execution.searched_text}, list(weights))
    covered = relevance.coverage(
        weights, held[chosen.execution.id], memory.executions.frequencies(list(weights))
    )
    cosine = float(re.search(r"cosine (-?[\d.]+)", chosen.reason)[1]) if "cosine" in chosen.reason else 0.0  # type: ignore[index]
    return Seen(asked, covered, max(0.0, cosine), chosen.execution.id == asked.target)


def fit(seen: Sequence[Seen]) -> None:
    """Logistic regression by Newton's method, both sides weighing the same."""
    print("\n| features | weights |\n|---|---|")
    for name, columns in (("bias, coverage, cosine", (0, 1)), ("bias, coverage", (0,))):
        rows = np.array([[1.0, *(np.array([each.covered, each.cosine])[list(columns)])] for each in seen])
        wanted = np.array([float(each.asked.target is not None) for each in seen])
        share = wanted.mean()
        balance = np.where(wanted == 1, 0.5 / share, 0.5 / (1 - share))
        weights = np.zeros(rows.shape[1])
        for _ in range(50):
            guess = 1 / (1 + np.exp(-rows @ weights))
            slope = rows.T @ (balance * (wanted - guess)) - 1e-3 * weights
            bend = (rows.T * (balance * guess * (1 - guess))) @ rows + 1e-3 * np.eye(rows.shape[1])
            weights = weights + np.linalg.solve(bend, slope)
        print(f"| {name} | {', '.join(f'{weight:.2f}' for weight in weights)} |")


def report(seen: Sequence[Seen]) -> None:
    print("\n| asked | questions | accepted with words and meaning | with words alone |\n|---|---|---|---|")
    groups: dict[str, list[Seen]] = {}
    for each in seen:
        side = "known" if each.asked.target else "unrelated"
        groups.setdefault(f"{side}: {each.asked.kind}", []).append(each)
        groups.setdefault(f"all {side}", []).append(each)
    for name, group in groups.items():
        both = sum(_accepted(each, words_alone=False) for each in group) / len(group)
        words = sum(_accepted(each, words_alone=True) for each in group) / len(group)
        print(f"| {name} | {len(group)} | {both:.1%} | {words:.1%} |")
    print("\nFalse accepts are what unrelated questions accept; false rejects are what known ones do not.")


def _accepted(each: Seen, *, words_alone: bool) -> bool:
    score = relevance.relevance(covered=each.covered, cosine=None if words_alone else each.cosine)
    return score >= relevance.DEFAULT_MIN_SCORE


if __name__ == "__main__":
    main()
