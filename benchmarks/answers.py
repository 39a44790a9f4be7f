"""How well asking refuses and cites: the questions of tests/golden/answers on the Rust book.

``python -m benchmarks.answers`` ingests ../shared/data/rust-book into a temporary place, asks every question
in extractive mode and prints, for each split, precision and recall of refusal and how often a right document
is cited; then the same with only the pages of the *other* language to answer from, and then the questions
about the sample vault, on which nothing was fitted. ``--fit`` fits the gate's weights on the calibration
split and prints them as settings; ``--wrong`` lists what went wrong.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from kebab import Kebab
from kebab.answer.gate import NEUTRAL
from kebab.domain.answers import GATE_FEATURES, Answer, GateFeatures
from kebab.domain.queries import SearchFilters
from kebab.evaluate.golden import Entry, read

ROOT = Path(__file__).parents[1]
QUESTIONS = ROOT / "tests" / "golden" / "answers" / "rust-book.yaml"
VAULT_QUESTIONS = QUESTIONS.with_name("vault.yaml")
VAULT = ROOT / "examples" / "vault"
BOOK = ROOT / ".." / "shared" / "data" / "rust-book"
# Just enough that no weight runs away: the calibration questions are almost separable.
RIDGE = 0.02


@dataclass(frozen=True, slots=True)
class Asked:
    entry: Entry
    answer: Answer

    @property
    def split(self) -> str:
        return "test" if int(self.entry.id.rsplit("-", 1)[1]) % 2 == 0 else "calibration"

    @property
    def refused(self) -> bool:
        return not self.answer.grounded

    @property
    def documents(self) -> list[str]:
        """The cited documents in order of first use."""
        return list(dict.fromkeys(quote.citation.path for quote in self.answer.citations))

    @property
    def right(self) -> bool:
        """A refusal where one is due, else an answer that cites an expected document."""
        if self.entry.refuse:
            return self.refused
        return not self.refused and bool(set(self.documents) & set(self.entry.expect.paths))


@dataclass(frozen=True, slots=True)
class Score:
    precision: float
    recall: float
    cited: float
    """Share of the answerable questions whose answer cites an expected document."""
    first: float
    """The same for the first citation alone."""


def open_book(folder: Path, overrides: Mapping[str, object] | None = None) -> Kebab:
    """A knowledge base of both languages of the book, ingested below a folder."""
    left_out = {"workspace.exclude": ["README.md", "xlang-*", "SUMMARY.md"]}
    return _opened(BOOK.resolve(), folder, {**left_out, **(overrides or {})})


def open_vault(folder: Path, overrides: Mapping[str, object] | None = None) -> Kebab:
    """The sample vault, ingested below a folder."""
    return _opened(VAULT, folder, overrides or {})


def _opened(root: Path, folder: Path, overrides: Mapping[str, object]) -> Kebab:
    config = folder / "config.toml"
    config.write_text("", encoding="utf-8")  # nothing from this machine's own configuration
    base = Kebab.open(config, root=root, data_dir=folder / "data", overrides=overrides)
    base.ingest()
    return base


def ask_all(base: Kebab, entries: Sequence[Entry]) -> list[Asked]:
    return [Asked(entry, base.ask(entry.query)) for entry in entries]


def ask_foreign(base: Kebab, entries: Sequence[Entry]) -> list[Asked]:
    """Ask about the pages of the other language, where those hold the answer."""
    asked = []
    for entry in entries:
        other = "ko" if entry.lang == "en" else "en"
        if entry.refuse or any(path.startswith(other) for path in entry.expect.paths):
            asked.append(Asked(entry, base.ask(entry.query, filters=SearchFilters(path=(f"{other}/**",)))))
    return asked


def score(asked: Sequence[Asked]) -> Score:
    refused = [one for one in asked if one.refused]
    due = [one for one in asked if one.entry.refuse]
    answerable = [one for one in asked if not one.entry.refuse]
    both = sum(one.entry.refuse for one in refused)
    first = sum(one.documents[:1] != [] and one.documents[0] in one.entry.expect.paths for one in answerable)
    return Score(
        precision=both / len(refused) if refused else 0.0,
        recall=both / len(due) if due else 0.0,
        cited=sum(one.right for one in answerable) / len(answerable),
        first=first / len(answerable),
    )


def features_of(one: Asked) -> list[float]:
    gate = one.answer.gate
    found = gate.features if gate and gate.features else GateFeatures(0.0, 0.0, 0.0, 0.0, 0.0)
    values = [getattr(found, name) for name in GATE_FEATURES]
    return [
        NEUTRAL[name] if value is None else value for name, value in zip(GATE_FEATURES, values, strict=True)
    ]


def fit(asked: Sequence[Asked], names: Sequence[str] = GATE_FEATURES) -> dict[str, float]:
    """Logistic regression by Newton's method with a small ridge; weights are kept from going negative."""
    columns = [GATE_FEATURES.index(name) for name in names]
    x = np.array([[1.0, *(features_of(one)[column] for column in columns)] for one in asked])
    y = np.array([0.0 if one.entry.refuse else 1.0 for one in asked])
    # The ridge acts on features of equal spread, or it would starve those of small scale.
    scale = np.array([1.0, *np.maximum(x[:, 1:].std(axis=0), 1e-6)])
    x = x / scale
    active = list(range(x.shape[1]))
    while True:
        weights = _newton(x[:, active], y, RIDGE)
        # More evidence never speaks against an answer: a negative weight is an accident of the sample.
        negative = [place for place, index in enumerate(active) if index > 0 and weights[place] < 0]
        if not negative:
            break
        active.pop(min(negative, key=lambda place: weights[place]))
    full = np.zeros(x.shape[1])
    full[active] = weights
    full = full / scale
    return dict(zip(("bias", *names), (round(float(w), 3) for w in full), strict=True))


def _newton(x: np.ndarray, y: np.ndarray, ridge: float) -> np.ndarray:
    weights = np.zeros(x.shape[1])
    penalty = np.full(x.shape[1], ridge * len(y))
    penalty[0] = 0.0
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ weights))
        gradient = x.T @ (p - y) + penalty * weights
        hessian = (x.T * (p * (1 - p))) @ x + np.diag(penalty) + 1e-9 * np.eye(x.shape[1])
        step = np.linalg.solve(hessian, gradient)
        weights = weights - step
        if np.abs(step).max() < 1e-8:
            break
    return weights


def probability(one: Asked, weights: Mapping[str, float]) -> float:
    values = dict(zip(GATE_FEATURES, features_of(one), strict=True))
    total = weights["bias"] + sum(weight * values[name] for name, weight in weights.items() if name != "bias")
    return 1 / (1 + math.exp(-total))


def gate_score(asked: Sequence[Asked], weights: Mapping[str, float], threshold: float) -> tuple[float, float]:
    """Precision and recall of refusal by the gate alone."""
    refused = [one for one in asked if probability(one, weights) < threshold]
    both = sum(one.entry.refuse for one in refused)
    due = sum(one.entry.refuse for one in asked)
    return (both / len(refused) if refused else 0.0), both / due


def print_fit(asked: Sequence[Asked], names: Sequence[str] = GATE_FEATURES) -> None:
    calibration = [one for one in asked if one.split == "calibration"]
    test = [one for one in asked if one.split == "test"]
    weights = fit(calibration, names)
    print("\nfitted:", ", ".join(f"{name} = {value}" for name, value in weights.items()))
    means = np.array([features_of(one) for one in calibration]).mean(axis=0).round(3).tolist()
    print("means:", ", ".join(f"{name} {mean}" for name, mean in zip(GATE_FEATURES, means, strict=True)))
    for threshold in (0.3, 0.4, 0.5, 0.6, 0.7):
        here, there = (gate_score(part, weights, threshold) for part in (calibration, test))
        calibrated = f"calibration P/R {here[0]:.3f}/{here[1]:.3f}"
        print(f"threshold {threshold}: {calibrated}, test {there[0]:.3f}/{there[1]:.3f}")


def print_wrong(asked: Sequence[Asked]) -> None:
    for one in asked:
        if not one.right:
            gate = one.answer.gate
            shown = " ".join(f"{value:.2f}" for value in features_of(one))
            confidence = gate.confidence if gate else 0.0
            print(f"\n{one.entry.id} {one.split} {confidence:.2f} [{shown}] {one.entry.query}")
            print(f"    refusal {one.answer.refusal}; cited {', '.join(one.documents)}")


def by_split(asked: Sequence[Asked]) -> dict[str, list[Asked]]:
    parts = {name: [one for one in asked if one.split == name] for name in ("calibration", "test")}
    for lang in ("en", "ko"):
        parts[f"test, {lang}"] = [one for one in parts["test"] if one.entry.lang == lang]
    return parts


def print_scores(parts: Mapping[str, Sequence[Asked]]) -> None:
    print("| questions | answerable | refusal precision | recall | right document cited | first citation |")
    print("|---|---|---|---|---|---|")
    for name, part in parts.items():
        result = score(part)
        answerable = sum(not one.entry.refuse for one in part)
        print(
            f"| {name} | {answerable} of {len(part)} | {result.precision:.3f} | {result.recall:.3f} "
            f"| {result.cited:.3f} | {result.first:.3f} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fit", action="store_true", help="fit the gate on the calibration split")
    parser.add_argument("--wrong", action="store_true", help="list what went wrong")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a setting")
    arguments = parser.parse_args()
    overrides = dict(item.split("=", 1) for item in arguments.set)
    entries = read(QUESTIONS)
    with TemporaryDirectory(prefix="kebab-answers-") as folder, open_book(Path(folder), overrides) as base:
        asked, foreign = ask_all(base, entries), ask_foreign(base, entries)
    with TemporaryDirectory(prefix="kebab-answers-") as folder, open_vault(Path(folder), overrides) as base:
        vault = ask_all(base, read(VAULT_QUESTIONS))
    print("\nThe sample vault\n")
    print_scores({"all": vault} | {x: [o for o in vault if o.entry.lang == x] for x in ("en", "ko")})
    if arguments.wrong:
        print_wrong(vault)
    for title, part, names in (
        ("Both languages", asked, GATE_FEATURES),
        ("Only the other language", foreign, ("semantic",)),
    ):
        print(f"\n{title}\n")
        print_scores(by_split(part))
        if arguments.wrong:
            print_wrong(part)
        if arguments.fit:
            print_fit(part, names)


if __name__ == "__main__":
    main()
