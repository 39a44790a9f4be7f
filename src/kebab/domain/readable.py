"""Markdown as a person reads it: link targets, callout marks, shortcodes and wikilinks cleaned away.

Only for the eye and for measuring: what is quoted stays as it stands in the source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from kebab.domain.hits import Snippet

_CODE = re.compile(r"(?<!`)(`++)[^`\n]*+\1")
Rule = tuple[str, re.Pattern[str], str]

_RULES: tuple[Rule, ...] = tuple(
    (sign, re.compile(pattern), replacement)
    for sign, pattern, replacement in (
        ("![[", r"!\[\[[^\]\n]*\]\]", ""),  # an embedded picture or note
        ("[[", r"\[\[(?:[^\]|\n]*\|)?([^\]|\n]*)\]\]", r"\1"),
        ("![", r"!\[[^\]\n]*\](?:\([^()\n]*\)|\[[^\]\n]*\])", ""),
        ("](", r"\[([^\[\]\n]*)\]\((?:[^()\n]|\([^()\n]*\))*\)", r"\1"),
        ("][", r"\[([^\[\]\n]+)\]\[[^\[\]\n]*\]", r"\1"),
        ("[^", r"\[\^[^\]\n]*\]", ""),
        ("[!", r"\[![\w-]+\][-+]?\s?", ""),  # the mark of a callout
        ("[!", r"\[![A-Z]+ ([^\[\]\n]*)\]", r"\1"),  # a word with a mark for who translates it
        ("&", r"&(?:#x200[BbCcDd]|#8203|ZeroWidthSpace);", ""),
        (
            "{{",
            r"\{\{[<%]\s*(?:\w*tooltip|\w*link|\w*definition)\b[^<>{}]*?\btext=\"([^\"\n]*)\"[^{}\n]*[>%]\}\}",
            r"\1",
        ),
        ("{{", r"\{\{[<%#/]?[^{}\n]*\}\}", ""),
        ("{%", r"\{%[^{}\n]*%\}", ""),
        ("{", r"\{[#.:][^{}\n]*\}", ""),
        ("{", r"\{\w+=\"[^{}\n]*\"\}", ""),  # the width of an image
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
_MARKED = re.compile(r"[\[\]{}<>*_~=\\^|&]|^\s*:")
_SPACES = re.compile(r"\s+")
_BEFORE_SIGN = re.compile(r" ([.,;:!?](?: |$))")
_KEPT = re.compile(r"\x00(\d+)\x00")


def readable(text: str) -> str:
    """One line of text without markup; code between backticks is kept as it is.

    Of a text longer than any passage only the spaces are cleaned.
    """
    if len(text) > _LONGEST or not _MARKED.search(text):
        return _SPACES.sub(" ", text).strip()
    return _cleaned(text, _RULES, tidy=True)


def _cleaned(text: str, rules: Iterable[Rule], *, tidy: bool = False) -> str:
    """The text after the rules; with ``tidy`` its spaces are cleaned before code is put back."""
    kept: list[str] = []

    def keep(found: re.Match[str]) -> str:
        kept.append(found[0])
        return f"\x00{len(kept) - 1}\x00"

    plain = _CODE.sub(keep, text) if "`" in text else text
    for sign, pattern, replacement in rules:
        if sign in plain:
            plain = pattern.sub(replacement, plain)
    if tidy:
        plain = _BEFORE_SIGN.sub(r"\1", _SPACES.sub(" ", plain)).strip()
    return _KEPT.sub(lambda mark: kept[int(mark[1])], plain) if kept else plain


_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
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
_LETTERS = range(0xA000, 0xA100)
"""Letters of a script that notes hardly have: two that a text has not stand for the ends of its marks."""


def legible(snippet: Snippet, *, inside_code: bool = False) -> Snippet:
    """The snippet without markup, its marks where the same characters stand now.

    Lines of one paragraph become one; comments, rulers of tables and definitions of links go as a whole.
    Code stays as it is, also where the text begins inside a block of it. A mark of which nothing is left is
    dropped.
    """
    text = snippet.text.replace("\x00", " ")
    begin, end = islice((sign for sign in map(chr, _LETTERS) if sign not in text), 2)
    # Cleaning brings in no sign: what the text has none of, no line will have.
    rules = [rule for rule in (*_LINE_RULES, *_RULES) if rule[0] in text]
    marked = _with_ends(text, snippet.marks, begin, end)
    if "<!--" in marked:
        marked = _COMMENT.sub("", marked)
    return _without_ends("".join(_lines(marked, rules, begin + end, inside_code=inside_code)), begin, end)


def _lines(text: str, rules: Sequence[Rule], ends: str, *, inside_code: bool) -> Iterator[str]:
    """The lines that say something to the eye, cleaned, with spaces for the breaks inside of paragraphs.

    Those of code as they are, without their fences.
    """
    code, goes_on, broken = inside_code, False, ""
    for line in text.splitlines(keepends=True):
        fence = line.lstrip().startswith(("```", "~~~"))
        shown = "" if fence else line if code else _seen(line, rules, ends)
        bare = line.replace(ends[0], "").replace(ends[1], "") if ends[0] in line else line
        said = shown.strip()
        if said or (code and shown):
            soft = goes_on and not code and not _OPENS.match(bare)
            yield " " if soft else broken
            yield said if soft else shown.rstrip()
            broken = shown[len(shown.rstrip("\r\n")) :]
        goes_on = not code and said != "" and not _ends(bare)
        code ^= fence
    yield broken


def _ends(line: str) -> bool:
    """Whether the next line begins anew: behind a heading, a row of a table or a break that was asked for."""
    return _CLOSED.match(line) is not None or line.rstrip("\r\n").endswith(("  ", "\\"))


# A heading, an entry, a quotation, a row or a note begins a line.
_OPENS = re.compile(r"^\s*+(?:#{1,6} |[-*+] |\d{1,9}[.)] |>|\||\[\^)")
_CLOSED = re.compile(r"^\s*+(?:#{1,6} |\|)")


def _seen(line: str, rules: Sequence[Rule], ends: str) -> str:
    if len(line) > _LONGEST:
        return line
    if not _MARKED.search(line) and not line.lstrip(ends + " ").startswith("#"):
        return "" if _is_ruler(line) else line
    if _is_ruler(line) or _DEFINITION.match(line) or _CONTENTS.match(line):
        return ""
    body = line.rstrip("\r\n")
    clean = _cleaned(body, rules)
    return clean + line[len(body) :] if clean.strip(f" \t-*+{ends}") else ""


def _is_ruler(line: str) -> bool:
    """Whether a line is that between the head of a table and its rows, or across the page."""
    return "-" in line and not line.strip(" \t\r\n:|-")


def _with_ends(text: str, marks: Sequence[tuple[int, int]], begin: str, end: str) -> str:
    pieces, at = [], 0
    for start, stop in marks:
        pieces += [text[at:start], begin, text[start:stop], end]
        at = stop
    return "".join((*pieces, text[at:]))


def _without_ends(text: str, begin: str, end: str) -> Snippet:
    """The text, and the marks whose two ends are left."""
    first, *rest = text.split(begin)
    plain, marks = [first.replace(end, "")], []
    at = len(plain[0])
    for piece in rest:
        inside, closed, behind = piece.partition(end)
        marks += [(at, at + len(inside))] if closed and inside else []
        plain.append(inside + behind.replace(end, ""))
        at += len(plain[-1])
    return Snippet("".join(plain), tuple(marks))
