"""How well near-copies are told from other notes: the same notes in other formats, edited, and others.

    python -m benchmarks.copies FOLDER [--notes 24]

Takes Markdown notes of 3,000 to 15,000 characters, writes each as a web page, lets LibreOffice (``soffice``)
make a DOCX of that and a PDF of the DOCX, and ingests all four. Prints the resemblance of each pair of
formats, of notes with lines dropped, and the highest among different notes of the folder.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import statistics
import subprocess
import time
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import pyromark

from kebab import Kebab
from kebab.domain.sketches import ALIKE, Sketch, resemblance
from kebab.ingest.sketch import sketch

SEED = 3
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--notes", type=int, default=24)
    options = parser.parse_args()
    texts = {path: path.read_text("utf-8", "replace") for path in sorted(options.folder.rglob("*.md"))}
    chosen = [path for path, text in texts.items() if 3000 < len(text) < 15_000]
    chosen = random.Random(SEED).sample(chosen, min(options.notes, len(chosen)))
    with TemporaryDirectory(prefix="kebab-copies-") as work:
        _write(chosen, texts, Path(work))
        for pair, found in _formats(Path(work)):
            print(_line(pair, found))
    for share in (0.03, 0.1, 0.2):
        print(_line(f"{share:.0%} of the lines dropped", [_edited(texts[path], share) for path in chosen]))
    print(_others(list(texts.values())))


def _line(what: str, found: list[float]) -> str:
    alike = sum(value >= ALIKE for value in found)
    mean = statistics.mean(found)
    return f"{what}: mean {mean:.2f}, least {min(found):.2f}, {alike} of {len(found)} taken for copies"


def _write(notes: list[Path], texts: dict[Path, str], work: Path) -> None:
    for number, note in enumerate(notes):
        (work / f"{number}.md").write_text(texts[note], encoding="utf-8")
        body = pyromark.html(_FRONT.sub("", texts[note]))
        page = f"<!doctype html><meta charset=utf-8><title>{number}</title><main>{body}</main>"
        (work / f"{number}.html").write_text(page, encoding="utf-8")
    if not (office := shutil.which("soffice")):
        print("LibreOffice is not installed: no DOCX and no PDF")
        return
    word = ["--infilter=HTML (StarWriter)", "--convert-to", "docx:MS Word 2007 XML"]
    for options, ending in ((word, "html"), (["--convert-to", "pdf"], "docx")):
        files = sorted(str(file) for file in work.glob(f"*.{ending}"))
        command = [office, "--headless", *options, "--outdir", str(work), *files]
        subprocess.run(command, check=True, capture_output=True)


def _formats(work: Path) -> Iterator[tuple[str, list[float]]]:
    """Of each two formats how much the files of one note resemble each other."""
    found: dict[str, list[float]] = {}
    with TemporaryDirectory() as data, Kebab.open(root=work, data_dir=Path(data)) as kb:
        kb.ingest()
        made: dict[str, dict[str, Sketch]] = {}
        for document in kb.list_docs():
            stem, _, ending = document.path.rpartition(".")
            text = kb.fetch(document.doc_id).text
            made.setdefault(stem, {})[ending] = Sketch.of(sketch(text))
    for formats in made.values():
        for one, other in combinations(sorted(formats), 2):
            found.setdefault(f"{one} and {other}", []).append(resemblance(formats[one], formats[other]))
    yield from sorted(found.items())


def _edited(text: str, share: float) -> float:
    chance = random.Random(SEED)
    kept = "\n".join(line for line in text.split("\n") if chance.random() > share)
    return resemblance(Sketch.of(sketch(text)), Sketch.of(sketch(kept)))


def _others(texts: list[str]) -> str:
    """The highest resemblances among all notes of the folder, and the speed."""
    begun = time.process_time()
    made = [Sketch.of(sketch(text)) for text in texts]
    rate = sum(len(text.encode()) for text in texts) / 1e6 / (time.process_time() - begun)
    holders: dict[int, list[int]] = {}
    for place, one in enumerate(made):
        for number in one.numbers:
            holders.setdefault(number, []).append(place)
    pairs = {pair for some in holders.values() if len(some) < 50 for pair in combinations(some, 2)}
    best = sorted((resemblance(made[one], made[other]) for one, other in pairs), reverse=True)[:5]
    shown = ", ".join(f"{value:.2f}" for value in best)
    return f"highest among {len(texts)} notes: {shown}; {rate:.0f} MB of text a core-second"


if __name__ == "__main__":
    main()
