"""Markdown as a person reads it: link targets, callout marks, shortcodes and wikilinks cleaned away.

Only for the eye and for measuring: what is quoted stays as it stands in the source.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from kebab.domain.hits import Snippet

_CODE = re.compile(r"(?<!`)(`++)[^`\n]*+\1")
_RULES: tuple[tuple[str, re.Pattern[str], str], ...] = tuple(
    (sign, re.compile(pattern), replacement)
    for sign, pattern, replacement in (
        ("![[", r"!\[\[[^\]\n]*\]\]", ""),  # an embedded picture or note
        ("[[", r"\[\[(?:[^\]|\n]*\|)?([^\]|\n]*)\]\]", r"\1"),
        ("![", r"!\[[^\]\n]*\](?:\([^()\n]*\)|\[[^\]\n]*\])", ""),
        ("](", r"\[([^\[\]\n]*)\]\((?:[^()\n]|\([^()\n]*\))*\)", r"\1"),
        ("][", r"\[([^\[\]\n]+)\]\[[^\[\]\n]*\]", r"\1"),
        ("[^", r"\[\^[^\]\n]*\]", ""),
        ("[!", r"\[![\w-]+\][-+]?\s?", ""),  # the mark of a callout
        (
            "{{",
            r"\{\{[<%]\s*(?:\w*tooltip|\w*link|\w*definition)\b[^<>{}]*?\btext=\"([^\"\n]*)\"[^{}\n]*[>%]\}\}",
            r"\1",
        ),
        ("{{", r"\{\{[<%#/]?[^{}\n]*\}\}", ""),
        ("{%", r"\{%[^{}\n]*%\}", ""),
        ("{", r"\{[#.:][^{}\n]*\}", ""),
        (">", r"^\s*(?:>\s?)+", ""),
        (":::", r"^:::+ ?\w*\s*", ""),
        (":", r"^:\s+", ""),  # what a list of definitions says of its term
        ("[", r"^\s*\[[ xX]\]\s", ""),
        ("<", r"</?[a-zA-Z][^<>\n]*>", ""),
        ("**", r"(?<![\w*])\*\*(?=\S)([^*\n]+)\*\*", r"\1"),
        ("*", r"(?<![\w*])\*(?=\S)([^*\n]+)\*(?!\w)", r"\1"),
        ("_", r"(?<!\w)__?(?=\S)([^_\n]+?)__?(?!\w)", r"\1"),
        ("~~", r"~~([^~\n]+)~~", r"\1"),
        ("==", r"==([^=\n]+)==", r"\1"),
        ("<", r"<((?:https?|mailto)[^<>\s]+)>", r"\1"),
        ("^", r"\s\^[\w-]+$", ""),
        ("\\", r"\\([\\`*_{}\[\]()#+.!|<>-])", r"\1"),
    )
)
"""A sign without which there is nothing to do, what is looked for, and what stays of it."""
_LONGEST = 1500
_MARKED = re.compile(r"[\[\]{}<>*_~=\\^|]|^\s*:")
_SPACES = re.compile(r"\s+")
_BEFORE_SIGN = re.compile(r" ([.,;:!?](?: |$))")


def readable(text: str) -> str:
    """One line of text without markup; code between backticks is kept as it is.

    Of a text longer than any passage only the spaces are cleaned.
    """
    if len(text) > _LONGEST or not _MARKED.search(text):
        return _SPACES.sub(" ", text).strip()
    parts: list[str] = []
    begin = 0
    kept: list[str] = []
    for found in _CODE.finditer(text):
        parts.append(text[begin : found.start()])
        parts.append(f"\x00{len(kept)}\x00")
        kept.append(found[0])
        begin = found.end()
    plain = "".join((*parts, text[begin:]))
    for sign, pattern, replacement in _RULES:
        if sign in plain:
            plain = pattern.sub(replacement, plain)
    plain = _BEFORE_SIGN.sub(r"\1", _SPACES.sub(" ", plain)).strip()
    return re.sub(r"\x00(\d+)\x00", lambda mark: kept[int(mark[1])], plain)


_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_RULER = re.compile(r"\s*+\|?[\s:|-]*-[\s:|-]*$")
_DEFINITION = re.compile(r"\s{0,3}\[[^\]\n^][^\]\n]*\]:\s")
# Where a table of contents is to be put in, or attributes of the block above.
_CONTENTS = re.compile(
    r"\s*+(?:[-*+]\s+)?(?:\{:.*\}|\[\[?_?TOC_?\]\]?|TOC(?:\s*\{:.*\})?)\s*$", re.IGNORECASE
)
_LINE_RULES = (
    ("#", re.compile(r"^\s{0,3}#{1,6}\s+"), ""),
    ("[^", re.compile(r"^\[\^[^\]\n]*\]:\s*"), ""),  # what a footnote says
    ("|", re.compile(r"^\s*\|\s?|\s*\|\s*$"), ""),  # the outer bars of a table's row
    ("[", re.compile(r"(?<=^[-*+] )\[[ xX]\]\s"), ""),
)
_UNSEEN = "\x01"


def legible(snippet: Snippet, *, inside_code: bool = False) -> Snippet:
    """The snippet without markup, line by line, its marks where the same characters stand now.

    Comments, rulers of tables and definitions of links go as a whole; code stays as it is, also where the
    text begins inside a block of it. A mark of which nothing is left is dropped.
    """
    hidden = _COMMENT.sub(lambda found: _UNSEEN * len(found[0]), snippet.text)
    places = _kept(hidden, inside_code=inside_code)
    kept = [place for place in places if place < len(hidden) and hidden[place] != _UNSEEN]
    return Snippet("".join(snippet.text[place] for place in kept), _moved(snippet.marks, kept))


def _kept(text: str, *, inside_code: bool) -> Iterator[int]:
    """The places of the characters that stay; those of comments are not looked at."""
    begin, code = 0, inside_code
    for line in text.split("\n"):
        fence = line.lstrip().startswith(("```", "~~~"))
        if code or fence:
            yield from () if fence else range(begin, begin + len(line) + 1)
        else:
            yield from (begin + place for place in _kept_of_line(line))
        code ^= fence
        begin += len(line) + 1


def _kept_of_line(line: str) -> Sequence[int]:
    """The places in one line that stay, its end included; none of a line that says nothing to the eye."""
    whole = range(len(line) + 1)
    if len(line) > _LONGEST:
        return whole
    if _RULER.match(line) or _DEFINITION.match(line) or _CONTENTS.match(line):
        return ()
    if not _MARKED.search(line) and not line.lstrip().startswith("#"):
        return whole
    plain = _CODE.sub(lambda found: "\x02" * len(found[0]), line)
    places: Sequence[int] = whole
    for sign, pattern, replacement in (*_LINE_RULES, *_RULES):
        if sign in plain and pattern.search(plain):
            left = [at for part in _left(pattern, plain, inner=replacement != "") for at in part]
            plain, places = "".join(plain[at] for at in left), [*(places[at] for at in left), places[-1]]
    return places if plain.strip(" \t\x01-*+") else ()


def _left(pattern: re.Pattern[str], text: str, *, inner: bool) -> Iterator[range]:
    """What is left of a text without the matches, or with their first group in place of each."""
    begin = 0
    for found in pattern.finditer(text):
        yield range(begin, found.start())
        if inner:
            yield range(*found.span(1))
        begin = found.end()
    yield range(begin, len(text))


def _moved(marks: Sequence[tuple[int, int]], kept: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """The marks in a text of which these places are left."""
    found = ((bisect_left(kept, start), bisect_left(kept, end)) for start, end in marks)
    return tuple((start, end) for start, end in found if start < end)
