"""Makes training records from one or two Markdown trees: sections of aligned pages, English and Korean.

    python -m training.markdown_pairs --en TREE --ko TREE --out FILE.jsonl.xz

Pages are aligned by relative path, sections by their position when both pages have the same headings levels.
Each record is `[title_en, body_en, title_ko, body_ko]`; titles carry the heading path, joined by U+241F.
"""

from __future__ import annotations

import argparse
import json
import lzma
import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

SEPARATOR = "\u241f"
_FRONT_MATTER = re.compile(r"\A---\s*\n(.*?)\n---\s*\n", re.DOTALL)
_TITLE = re.compile(r"^title\s*:\s*[\"']?(.+?)[\"']?\s*$", re.MULTILINE)
_NOISE = (
    (re.compile(r"```.*?```|~~~.*?~~~", re.DOTALL), " "),
    (re.compile(r"<!--.*?-->", re.DOTALL), " "),
    (re.compile(r"!\[[^\]]*\]\([^)]*\)"), " "),
    (re.compile(r"\[([^\]]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"\[!\w+[^\]]*\]|:::[^\n]*|\{:?[^}\n]*\}|<[^>\n]{1,200}>"), " "),
    (re.compile(r"[*`|>\\]+|(?<=\s)[-=_]{2,}"), " "),
)
_HEADING = re.compile(r"^(#{1,4})\s+(.+?)\s*#*$")

Section = tuple[int, str, str]
"""Heading level, heading path, text."""


def plain(text: str) -> str:
    """Return Markdown as running text: no code, links, tags or table rules, single spaces."""
    for pattern, replacement in _NOISE:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())


def sections(page: str) -> list[Section]:
    """Return the sections of a page in order; the first is the lead under the page's title."""
    front = _FRONT_MATTER.match(page)
    named = _TITLE.search(front.group(1)) if front else None
    title = plain(named.group(1)) if named else ""
    found: list[tuple[int, str, list[str]]] = [(1, "", [])]
    for line in re.sub(r"```.*?```", " ", page[front.end() if front else 0 :], flags=re.DOTALL).splitlines():
        heading = _HEADING.match(line)
        if heading is None:
            found[-1][2].append(line)
        elif len(heading.group(1)) == 1:
            title = title or plain(heading.group(2))
        else:
            found.append((len(heading.group(1)), plain(heading.group(2)), []))
    return [
        (level, SEPARATOR.join(part for part in (title, name) if part), plain("\n".join(lines)))
        for level, name, lines in found
    ]


def aligned(english: list[Section], korean: list[Section]) -> Iterator[tuple[str, str, str, str]]:
    """Yield records; a page whose outline differs between languages gives one-language records only."""
    same = [level for level, _, _ in english] == [level for level, _, _ in korean]
    if same:
        pairs = list(zip_longest(english, korean))
    else:
        pairs = [*((one, None) for one in english), *((None, one) for one in korean)]
    for left, right in pairs:
        record = (*(left[1:] if left else ("", "")), *(right[1:] if right else ("", "")))
        if max(len(record[1]), len(record[3])) >= 40:
            yield record


def records(english: Path | None, korean: Path | None) -> Iterator[tuple[str, str, str, str]]:
    """Yield the records of two trees, in path order; either tree may be missing."""
    roots = [root for root in (english, korean) if root]
    paths = sorted({path.relative_to(root) for root in roots for path in root.rglob("*.md")})
    for path in paths:
        pages = [
            sections((root / path).read_text("utf-8", "replace")) if root and (root / path).is_file() else []
            for root in (english, korean)
        ]
        yield from aligned(pages[0], pages[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--en", type=Path)
    parser.add_argument("--ko", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    count = 0
    with lzma.open(arguments.out, "wt", encoding="utf-8") as out:
        for record in records(arguments.en, arguments.ko):
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
            count += 1
    print(f"{arguments.out.name}: {count} records")


if __name__ == "__main__":
    main()
