"""How well asking refuses and cites: the questions of tests/golden/answers on the Rust book.

``python -m benchmarks.answers`` ingests ../shared/data/rust-book into a temporary place, asks every question
in extractive mode and prints, for each split, precision and recall of refusal and how often a right document
is cited; then the same with only the pages of the *other* language to answer from, and then the questions
about the sample vault, on which nothing was fitted. ``--wrong`` lists what went wrong. The weights are fitted
by ``training/answers``.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from kebab import Kebab
from kebab.domain.answers import Answer
from kebab.domain.queries import SearchFilters
from kebab.evaluate.golden import Entry, read

ROOT = Path(__file__).parents[1]
QUESTIONS = ROOT / "tests" / "golden" / "answers" / "rust-book.yaml"
VAULT_QUESTIONS = QUESTIONS.with_name("vault.yaml")
VAULT = ROOT / "examples" / "vault"
BOOK = ROOT / ".." / "shared" / "data" / "rust-book"


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


def print_wrong(asked: Sequence[Asked]) -> None:
    for one in asked:
        if not one.right:
            gate = one.answer.gate
            confidence = gate.confidence if gate else 0.0
            print(f"\n{one.entry.id} {one.split} {confidence:.2f} {one.entry.query}")
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
    for title, part in (("Both languages", asked), ("Only the other language", foreign)):
        print(f"\n{title}\n")
        print_scores(by_split(part))
        if arguments.wrong:
            print_wrong(part)


if __name__ == "__main__":
    main()
