"""Does a question find the right symbol? By mode, beside plain text chunks and ripgrep.

    python -m benchmarks.code --tokio CHECKOUT [--split tune|judge|documented] [--misses]

Prints Markdown for docs/quality.md. Asks the questions of ``code_questions.yaml`` about Python's standard
library, as installed, without its tests, and about a checkout of tokio-rs/tokio. Both are copied to a
temporary folder and read by ``Kebab.ingest``. A question is answered where one of the first five hits is a
symbol that its author named.

The same files named ``.txt`` are what plain text chunks get to see; there a hit counts where its lines and
those of the symbol meet. ripgrep looks for the words of the question: files with the most different words
first, and lines likewise; a file counts where the symbol stands in it, a line where it is in the symbol.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sysconfig
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import yaml

from kebab.adapters.tree_sitter_code import TreeSitterCodeReader
from kebab.app import Kebab
from kebab.domain.hits import SearchHit
from kebab.domain.queries import SearchMode

QUESTIONS = Path(__file__).with_name("code_questions.yaml")
FIRST = 5
SPLITS = ("tune", "judge", "documented")
GRAMMARS = {".py": "python", ".rs": "rust"}
_NOT_THE_LIBRARY = ("test", "tests", "idle_test", "site-packages", "__pycache__")
_GLUE = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be by can do does for from get has have how i in is it its of on one or that the "
        "this to what which who with without",
    )
)


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    answers: tuple[tuple[str, str], ...]
    """File and symbol of each right answer."""


@dataclass(frozen=True, slots=True)
class Target:
    """The lines of a right answer."""

    path: str
    start: int
    end: int


Asking = Callable[[Question, list[Target]], bool]


def main() -> None:
    options = _options()
    columns = "hybrid | words | meaning | plain text chunks, hybrid | ripgrep, file | ripgrep, line"
    print(f"| collection | split | questions | {columns} |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="kebab-code-") as work:
        for name, source in (("library", _library()), ("tokio", options.tokio)):
            if source is not None:
                _measure(name, Path(source), Path(work) / name, options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tokio", type=Path)
    parser.add_argument("--split", choices=SPLITS)
    parser.add_argument("--misses", action="store_true", help="name the tune questions that hybrid misses")
    return parser.parse_args()


def _library() -> Path:
    return Path(sysconfig.get_path("stdlib"))


def _measure(name: str, source: Path, work: Path, options: argparse.Namespace) -> None:
    ignore = (
        shutil.ignore_patterns(*_NOT_THE_LIBRARY) if name == "library" else shutil.ignore_patterns(".git")
    )
    code = Path(shutil.copytree(source, work / "code", ignore=ignore))
    plain = _as_text(code, work / "plain")
    files = [file for file in code.rglob("*") if file.suffix in GRAMMARS]
    with _opened(code, work / "data-code") as kb, _opened(plain, work / "data-plain") as texts:
        seconds = _timed(kb)
        _timed(texts)
        ways = _ways(kb, texts, code)
        for split in [options.split] if options.split else SPLITS:
            questions = _questions(name, split)
            print(f"| {name} | {split} | {len(questions)} | {_shares(questions, ways, code)} |")
            if options.misses and split == "tune":
                _print_misses(questions, kb)
    size = sum(file.stat().st_size for file in files) / 1e6
    print(f"\n{name}: {len(files)} files, {size:.1f} MB, read in {seconds:.1f} s: ", end="")
    print(f"{size / seconds:.2f} MB/s, {len(files) / seconds:.0f} files/s\n")


def _as_text(code: Path, folder: Path) -> Path:
    for file in code.rglob("*"):
        if file.suffix in GRAMMARS:
            copy = folder / f"{file.relative_to(code)}.txt"
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
    return folder


def _opened(root: Path, data: Path) -> Kebab:
    return Kebab.open(root=root, data_dir=data, overrides={"workspace.exclude": []})


def _timed(kb: Kebab) -> float:
    started = perf_counter()
    kb.ingest()
    return perf_counter() - started


def _questions(name: str, split: str) -> list[Question]:
    found = yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))[name][split]
    return [
        Question(
            one["q"],
            (
                *((one["file"], symbol) for symbol in one["symbols"]),
                *(tuple(other.split("#")) for other in one.get("also", ())),
            ),
        )
        for one in found
    ]


def _ways(kb: Kebab, texts: Kebab, code: Path) -> list[Asking]:
    def by(mode: SearchMode) -> Asking:
        return lambda question, _: _names_it(question, kb.search(question.text, mode=mode, k=FIRST).hits)

    def by_text(question: Question, targets: list[Target]) -> bool:
        hits = texts.search(question.text, k=FIRST).hits
        return any(_meets(target, hit) for target in targets for hit in hits)

    def by_file(question: Question, targets: list[Target]) -> bool:
        files = dict.fromkeys(path for path, _ in _ripgrep(question.text, code, by_file=True))
        return any(target.path in list(files)[:FIRST] for target in targets)

    def by_line(question: Question, targets: list[Target]) -> bool:
        lines = _ripgrep(question.text, code, by_file=False)[:FIRST]
        return any(t.path == path and t.start <= line <= t.end for t in targets for path, line in lines)

    modes = (SearchMode.HYBRID, SearchMode.LEXICAL, SearchMode.VECTOR)
    return [*map(by, modes), by_text, by_file, by_line]


def _names_it(question: Question, hits: tuple[SearchHit, ...]) -> bool:
    return any((hit.doc_path, hit.symbol) in question.answers for hit in hits)


def _meets(target: Target, hit: SearchHit) -> bool:
    cited = hit.citation
    same = hit.doc_path == f"{target.path}.txt"
    return same and cited.start <= target.end and target.start <= cited.end


def _shares(questions: list[Question], ways: list[Asking], code: Path) -> str:
    targets = {question: list(_targets(question, code)) for question in questions}
    shares = (sum(way(q, targets[q]) for q in questions) / len(questions) for way in ways)
    return " | ".join(f"{share:.3f}".lstrip("0") if share < 1 else "1.000" for share in shares)


def _targets(question: Question, code: Path) -> Iterator[Target]:
    for path, symbol in question.answers:
        file = code / path
        outline = TreeSitterCodeReader().outline(file.read_text(), grammar=GRAMMARS[file.suffix])
        for definition in outline.definitions:
            if ".".join(definition.path) == symbol:
                yield Target(path, definition.start, definition.end)


def _ripgrep(question: str, code: Path, *, by_file: bool) -> list[tuple[str, int]]:
    """Places by how many different words of the question they hold, best first."""
    held: dict[tuple[str, int], set[str]] = defaultdict(set)
    counts: dict[tuple[str, int], int] = defaultdict(int)
    for word in {w for w in re.findall(r"\w+", question.lower()) if w not in _GLUE}:
        globs = [part for ending in GRAMMARS for part in ("-g", f"*{ending}")]
        command = ["rg", "-n", "-i", "-F", "--no-heading", "--no-ignore", *globs, "-e", word, "."]
        found = subprocess.run(command, cwd=code, capture_output=True, text=True, check=False)
        for line in found.stdout.splitlines():
            path, number, _ = line.split(":", 2)
            place = (path.removeprefix("./"), 0 if by_file else int(number))
            held[place].add(word)
            counts[place] += 1
    return sorted(held, key=lambda place: (-len(held[place]), -counts[place], place))


def _print_misses(questions: list[Question], kb: Kebab) -> None:
    for question in questions:
        hits = kb.search(question.text, k=FIRST).hits
        if not _names_it(question, hits):
            shown = ", ".join(f"{hit.doc_path}#{hit.symbol}" for hit in hits)
            print(f"  missed: {question.text} → {shown}")


if __name__ == "__main__":
    main()
