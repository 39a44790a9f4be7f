"""How close the product's token estimate is to a real multilingual tokenizer.

``python -m benchmarks.tokens NAME=FOLDER …`` reads the Markdown below each folder, counts tokens with
Mistral's tekken tokenizer (`pip install mistral-common`, which ships its vocabulary) and prints how the
estimate compares. ``--write FILE`` records the real counts of the first folders' prose for the tests, which
then need no tokenizer.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kebab.domain.ids import content_hash
from kebab.domain.tokens import estimate_tokens

_FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)
_NOT_PROSE = re.compile(r"\s*([|<#*\-+>\[!:]|\d+\.)")
_FILES = 100
_SHORTEST = 300


@dataclass(frozen=True, slots=True)
class Page:
    path: str
    text: str
    real: int

    @property
    def error(self) -> float:
        return estimate_tokens(self.text) / self.real - 1


def prose(text: str) -> str:
    """The paragraphs of a Markdown text: no code, lists, tables, headings or bare links."""
    paragraphs = re.split(r"\n\s*\n", _FENCE.sub("", text))
    return "\n\n".join(p for p in paragraphs if len(p) > 80 and not _NOT_PROSE.match(p) and "http" not in p)


def pages(root: Path, *, prose_only: bool, count: Callable[[str], int]) -> Iterator[Page]:
    """Up to a hundred pages of a folder, chosen by a fixed shuffle, long enough to judge by."""
    files = sorted(root.rglob("*.md"))
    random.Random(0).shuffle(files)
    for file in files[:_FILES]:
        text = file.read_text(encoding="utf-8", errors="replace")
        text = prose(text) if prose_only else text
        if len(text) > _SHORTEST:
            yield Page(file.relative_to(root).as_posix(), text, count(text))


def tekken() -> Callable[[str], int]:
    import mistral_common
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    data = Path(mistral_common.__file__).parent / "data"
    tokenizer = Tekkenizer.from_file(data / "tekken_240911.json")
    return lambda text: len(tokenizer.encode(text, bos=False, eos=False))


def report(name: str, found: list[Page]) -> str:
    real = sum(page.real for page in found)
    estimated = sum(estimate_tokens(page.text) for page in found)
    errors = sorted(abs(page.error) for page in found)
    median, p90 = errors[len(errors) // 2], errors[int(len(errors) * 0.9)]
    return f"| {name} | {len(found)} | {real:,} | {estimated / real:.3f} | {median:.1%} | {p90:.1%} |"


def recorded(found: list[Page]) -> list[dict[str, object]]:
    return [{"path": p.path, "prose": content_hash(p.text.encode())[:16], "tokens": p.real} for p in found]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", metavar="NAME=FOLDER")
    parser.add_argument("--write", type=Path, help="record real counts of prose here")
    arguments = parser.parse_args()
    count = tekken()
    records: dict[str, list[dict[str, object]]] = {}
    print("| text | pages | real tokens | estimate / real | median page error | p90 |")
    print("|---|---|---|---|---|---|")
    for name, folder in (item.split("=", 1) for item in arguments.folders):
        for prose_only in (True, False):
            found = list(pages(Path(folder), prose_only=prose_only, count=count))
            print(report(f"{name}, {'prose' if prose_only else 'everything'}", found))
            if prose_only:
                records[name] = recorded(found)
    if arguments.write:
        arguments.write.write_text(json.dumps(records, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
