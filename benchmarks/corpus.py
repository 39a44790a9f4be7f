"""Real notes in any number: the note folders of ``shared/data``, multiplied with edits, and queries for them.

    python -m benchmarks.corpus FOLDER --copies 5    # writes 5 editions of the notes below FOLDER

The first edition is the notes as they are. Every further one is edited: the sections of a note are put in
another order, a tenth of the lines is left out, and a tenth of the words is replaced by words of other notes
in the same script. So no two chunks are alike, words keep their frequencies, and vectors come from the
model that reads the text. Everything follows from the seed.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from benchmarks.ingesting import unpacked_notes

PROJECT = Path(__file__).resolve().parent.parent
SEED = 7
LEFT_OUT = 0.1
REPLACED = 0.1
_SECTION = re.compile(r"^(?=#{1,6} )", re.MULTILINE)
# Links, code and tags stay: replacing inside them would make words that nobody writes.
_WORD = re.compile(r"(?<![\w/.:@#`<-])(?:[가-힣]{2,}|[A-Za-z]{3,})(?![\w/.:@`>-])")


class Corpus:
    """The notes below a folder as texts, and editions of them."""

    def __init__(self, notes: Path) -> None:
        files = sorted(path for path in notes.rglob("*.md") if path.is_file())
        self.texts = {
            str(path.relative_to(notes)): path.read_text("utf-8", errors="replace") for path in files
        }
        words = [word for text in self.texts.values() for word in _WORD.findall(text)]
        self._latin: list[str] = [word for word in words if word.isascii()]
        self._hangul = [word for word in words if not word.isascii()] or self._latin

    @property
    def size(self) -> int:
        """Bytes of one edition, roughly."""
        return sum(len(text.encode()) for text in self.texts.values())

    def edition(self, number: int) -> Iterator[tuple[str, str]]:
        """Path and text of every note of an edition; number 0 is the notes as they are."""
        for path, text in self.texts.items():
            yield path, self._edited(text, random.Random(f"{SEED}/{number}/{path}")) if number else text

    def write(self, number: int, folder: Path) -> None:
        for path, text in self.edition(number):
            target = folder / f"{number:03d}" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")

    def queries(self, count: int, *, seed: int = SEED) -> list[str]:
        """What people type: names of notes, headings, and two to six words that stand together."""
        chance = random.Random(f"{seed}/queries")
        texts = list(self.texts.values())
        found: dict[str, None] = {}
        while len(found) < count:
            query = _query(chance.choice(texts), chance)
            if query:
                found[query] = None
        return list(found)

    def _edited(self, text: str, chance: random.Random) -> str:
        head, *sections = _SECTION.split(text)
        chance.shuffle(sections)
        lines = "".join([head, *sections]).splitlines(keepends=True)
        kept = "".join(line for line in lines if line.startswith("#") or chance.random() > LEFT_OUT)
        return _WORD.sub(lambda match: self._other(str(match[0]), chance), kept)

    def _other(self, word: str, chance: random.Random) -> str:
        others = self._latin if word.isascii() else self._hangul
        return others[int(chance.random() * len(others))] if chance.random() < REPLACED else word


def _query(text: str, chance: random.Random) -> str:
    headings = re.findall(r"^#{1,6} +(\S.{2,60})$", text, re.MULTILINE)
    if headings and chance.random() < 0.4:
        return str(chance.choice(headings)).strip()
    lines = [words for line in text.splitlines() if len(words := _WORD.findall(line)) >= 4]
    if not lines:
        return ""
    words = chance.choice(lines)
    start = chance.randrange(max(1, len(words) - 3))
    return " ".join(words[start : start + chance.randint(2, 6)])


@cache
def notes_of(data: Path, work: Path) -> Corpus:
    """The corpus of the note folders, unpacked below ``work``; the sample vault where they are absent."""
    return Corpus(unpacked_notes(data, PROJECT / "examples" / "vault", work / "originals"))


def editions_for(chunks: int, *, of_one: int) -> int:
    """How many editions hold at least so many chunks, where one holds ``of_one``."""
    return -(-chunks // of_one)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--data", type=Path, default=PROJECT.parent / "shared" / "data")
    options = parser.parse_args(arguments)
    corpus = notes_of(options.data, options.folder)
    for number in range(options.copies):
        corpus.write(number, options.folder / "notes")
    (options.folder / "queries.txt").write_text("\n".join(corpus.queries(300)), encoding="utf-8")


if __name__ == "__main__":
    main()
