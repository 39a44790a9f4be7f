"""Text files with headings of their own kind: Org, reStructuredText, AsciiDoc, LaTeX. Lines are cited.

Only headings and verbatim blocks are looked for; all else is paragraphs between blank lines, as written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kebab.domain.documents import BlockKind, Media
from kebab.domain.language import detect
from kebab.ingest.chunk import md_heading
from kebab.ingest.parse.lines import Lines
from kebab.ingest.parse.metadata import read_metadata, text_value
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, ParsedBlock
from kebab.ingest.parse.text import first_words
from kebab.ingest.parse.textual import Decoding

VERSION = "markup-v3"

_ORG_HEADING = re.compile(r"(\*{1,9})[ \t]{1,9}(\S.*)")
_ORG_STATE = re.compile(r"(?:TODO|DONE|NEXT|WAITING|CANCELLED)[ \t]{1,9}|\[#[A-Z0-9]\][ \t]{1,9}")
_ORG_TAGS = re.compile(r"[ \t]:[\w@#%:]{1,200}:$")
_ORG_SETTING = re.compile(r"#\+(\w{1,30}):[ \t]{0,9}(\S.*)")
_ORG_VERBATIM = ("src", "example", "export", "comment", "html", "latex", "ascii")
_ORG_LINK = re.compile(r"\[\[(?:[^\[\]]{1,500}\]\[)?([^\[\]]{1,500})\]\]")
_ADOC_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]{1,9}(\S.*)")
_ADOC_SETTING = re.compile(r":([\w-]{1,30}):[ \t]{1,9}(\S.*)")
_TEX_HEADING = re.compile(
    r"[ \t]{0,20}\\(part|chapter|section|subsection|subsubsection|paragraph)\*?"
    r"(?:\[[^\]]{0,200}\])?\{(.{1,500})"
)
_TEX = (".tex", ".latex")
_TEX_SETTING = re.compile(r"[ \t]{0,20}\\(title|date|author)(?:\[[^\]]{0,200}\])?\{(.{0,2000})")
_TEX_ASIDE = re.compile(
    r"\\(?:thanks|footnote)[ \t]*\{[^{}]{0,2000}(?:\{[^{}]{0,200}\}[^{}]{0,2000}){0,9}\}"
    r"|\\footnotemark(?:\[\d*\])?|\\(?:begin|end)\{[^{}]*\}"
)
_TEX_LOGO = re.compile(r"\\((?:La|Bib|pdf|Xe|Lua)?(?:La)?TeX)(?:e|3)?(?![a-zA-Z])")
_TEX_COMMENT = re.compile(r"(?<!\\)%.*")
_TEX_WIDEST = 2000
"""Letters of a line that are looked at for the brace that closes."""
_TEX_MORE, _TEX_MORE_AUTHORS = 3, 40
"""Lines below that are: of a heading, and of a title or a list of authors."""
_TEX_COMMAND = re.compile(r"\\[a-zA-Z]{1,30}\*?|\\\\(?:\[[^\]]{0,20}\])?|\\ |[{}~$]")
_TEX_LEVELS = {"part": 1, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5}
_RST_SIGNS = frozenset("=-`:.'\"~^_*+#<>!$%&(),/;?@[]{|}\\")
_RST_INLINE = re.compile(
    r"``([^`]{1,300})``|(?::[\w-]{1,30}:)?`([^`<]{1,300}?)(?:[ \t]{0,9}<[^`<>]{1,300}>)?`_{0,2}"
)
_RST_FIELD = re.compile(r":([\w ]{1,30}):[ \t]{1,9}(\S.*)")


class _Heading(NamedTuple):
    """Lines ``start`` to ``end``, from 1."""

    start: int
    end: int
    level: int
    words: str


class _Found(NamedTuple):
    headings: list[_Heading]
    verbatim: list[tuple[int, int]]
    settings: dict[str, object]


def parse_markup(lines: Lines, defaults: Defaults) -> Parsed:
    found = _READERS[defaults.extension](lines.text.split("\n")[: len(lines)])
    metadata, warnings = read_metadata(found.settings, defaults)
    blocks = tuple(_blocks(lines, found))
    first = next((heading.words for heading in sorted(found.headings, key=lambda one: one.level)), "")
    return Parsed(
        title=text_value(found.settings, "title") or first or _first_words(lines, defaults) or defaults.stem,
        lang=(text_value(found.settings, "lang") or detect(lines.text)).lower(),
        metadata=metadata,
        blocks=blocks,
        lines=lines,
        warnings=warnings,
    )


def _first_words(lines: Lines, defaults: Defaults) -> str:
    """Those of the text; a file of LaTeX that has no title and no section begins with what no reader sees."""
    words = first_words(lines.text)
    return "" if defaults.extension in _TEX and words[:1] in ("\\", "%", "{") else words


FORMAT = Format(Media.MARKUP, VERSION, Decoding(parse_markup), md_heading.CHUNKER)


def _blocks(lines: Lines, found: _Found) -> Iterator[ParsedBlock]:
    marks: list[tuple[int, int, _Heading | None]] = [(one.start, one.end, one) for one in found.headings]
    marks += [(start, end, None) for start, end in found.verbatim]
    opened: list[_Heading] = []
    free = 1
    for start, end, heading in sorted(marks, key=lambda mark: mark[:2]):
        path = tuple(one.words for one in opened)
        yield from (ParsedBlock(BlockKind.PARAGRAPH, *run, path) for run in lines.runs(free, start - 1))
        free = end + 1
        if heading is None:
            yield ParsedBlock(BlockKind.CODE, start, lines.last_with_text(start, end), path)
            continue
        opened = [one for one in opened if one.level < heading.level] + [heading]
        path = tuple(one.words for one in opened)
        yield ParsedBlock(BlockKind.HEADING, start, end, path, min(heading.level, 6), heading.words)
    path = tuple(one.words for one in opened)
    yield from (ParsedBlock(BlockKind.PARAGRAPH, *run, path) for run in lines.runs(free, len(lines)))


def _read_org(lines: Sequence[str]) -> _Found:
    found = _Found([], list(_fenced(lines, _org_fence)), {})
    inside = _covered(found.verbatim)
    for number, line in enumerate(lines, 1):
        if number in inside:
            continue
        if heading := _ORG_HEADING.fullmatch(line):
            words = _ORG_TAGS.sub("", _ORG_STATE.sub("", heading[2], count=2)).strip()
            words = _ORG_LINK.sub(r"\1", words)
            found.headings.append(_Heading(number, number, len(heading[1]), words))
        elif setting := _ORG_SETTING.fullmatch(line):
            name = {"filetags": "tags"}.get(setting[1].lower(), setting[1].lower())
            if name in ("title", "tags", "date", "language", "author"):
                value = setting[2].strip()
                found.settings.setdefault(
                    name, value.strip(":").replace(":", " ") if name == "tags" else value
                )
    return found


def _org_fence(line: str) -> str | None:
    """Only what is taken as it is written: a quotation or a verse is prose, and may hold other blocks."""
    words = line.strip().lower().split(None, 1)
    name = words[0].removeprefix("#+begin_") if words else ""
    return f"#+end_{name}" if name in _ORG_VERBATIM and words[0] != name else None


def _read_adoc(lines: Sequence[str]) -> _Found:
    found = _Found([], list(_fenced(lines, _adoc_fence)), {})
    inside = _covered(found.verbatim)
    for number, line in enumerate(lines, 1):
        if number in inside:
            continue
        if heading := _ADOC_HEADING.fullmatch(line):
            found.headings.append(_Heading(number, number, len(heading[1]), heading[2].rstrip("= ")))
        elif (setting := _ADOC_SETTING.fullmatch(line)) and setting[1] in (
            "author",
            "revdate",
            "lang",
            "keywords",
        ):
            name = {"revdate": "date", "keywords": "tags"}.get(setting[1], setting[1])
            found.settings.setdefault(name, setting[2].strip())
    return found


def _adoc_fence(line: str) -> str | None:
    bare = line.rstrip()
    if len(bare) >= 4 and set(bare) in ({"-"}, {"."}, {"+"}, {"/"}):
        return bare
    return "```" if bare.startswith("```") else None


def _read_tex(lines: Sequence[str]) -> _Found:
    found = _Found([], list(_fenced(lines, _tex_fence)), {})
    inside = _covered(found.verbatim)
    for number, line in enumerate(lines, 1):
        if number in inside:
            continue
        if heading := _TEX_HEADING.match(line):
            words = _tex_words(_tex_rest(heading[2], lines[number : number + _TEX_MORE]))
            found.headings.append(_Heading(number, number, _TEX_LEVELS[heading[1]], words))
        elif (setting := _TEX_SETTING.match(line)) and setting[1] not in found.settings:
            words = _tex_words(_tex_rest(setting[2], lines[number : number + _TEX_MORE_AUTHORS]))
            if words:
                found.settings[setting[1]] = words
    return found


def _tex_rest(begun: str, below: Sequence[str]) -> str:
    """What follows a brace that was opened, as far as it closes, maybe some lines below."""
    read: list[str] = []
    depth = 1
    for line in (begun, *below):
        read.append(_TEX_COMMENT.sub("", line[:_TEX_WIDEST]))
        depth += read[-1].count("{") - read[-1].count("}")
        if depth < 1:
            return _TEX_ASIDE.sub("", " ".join(read))
    return _TEX_COMMENT.sub("", begun)


def _tex_words(text: str) -> str:
    """What stands before the brace that closes, without commands."""
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign == "{") - (sign == "}")
        if depth < 0:
            text = text[:at]
            break
    return " ".join(_TEX_COMMAND.sub(" ", _TEX_LOGO.sub(r"\1", text)).split())


def _tex_fence(line: str) -> str | None:
    for name in ("verbatim", "lstlisting", "minted", "Verbatim"):
        if line.lstrip().startswith(f"\\begin{{{name}}}"):
            return f"\\end{{{name}}}"
    return None


def _read_rst(lines: Sequence[str]) -> _Found:
    """Levels by the order in which the signs of their lines first come, as the format has it."""
    found = _Found([], [], {})
    styles: dict[tuple[str, bool], int] = {}
    for at in range(1, len(lines)):
        title, under = lines[at - 1], lines[at]
        if not _is_ruler(under) or not title.strip() or _is_ruler(title) or title[0] in " \t":
            over = at >= 2 and _is_overlined(lines, at)
            if not over:
                continue
        over = at >= 2 and lines[at - 2].rstrip() == under.rstrip()
        if len(under.rstrip()) < min(len(title.strip()), 4):
            continue
        level = styles.setdefault((under[0], over), len(styles) + 1)
        found.headings.append(_Heading(at - 1 if over else at, at + 1, level, _rst_words(title)))
    for line in lines[:40]:
        if (field := _RST_FIELD.fullmatch(line)) and field[1].lower() in ("date", "author", "title", "tags"):
            found.settings.setdefault(field[1].lower(), field[2].strip())
    return found


def _rst_words(title: str) -> str:
    """A heading without the marks of code, and with links and roles as their words."""
    return _RST_INLINE.sub(lambda found: found[1] or found[2], title.strip())


def _is_ruler(line: str) -> bool:
    bare = line.rstrip()
    return len(bare) >= 2 and bare[0] in _RST_SIGNS and not bare.strip(bare[0])


def _is_overlined(lines: Sequence[str], at: int) -> bool:
    """Whether lines ``at`` - 2 to ``at`` are a title between two rulers, which may be indented."""
    over, title, under = lines[at - 2], lines[at - 1], lines[at]
    return (
        _is_ruler(under) and over.rstrip() == under.rstrip() and bool(title.strip()) and not _is_ruler(title)
    )


def _fenced(lines: Sequence[str], opening: Callable[[str], str | None]) -> Iterator[tuple[int, int]]:
    """Runs of lines from one that opens to the one that closes, or to the end, both from 1."""
    start, close = 0, None
    for number, line in enumerate(lines, 1):
        if close is None:
            start, close = number, opening(line)
        elif line.strip().lower().startswith(close.lower()):
            yield start, number
            close = None
    if close is not None:
        yield start, len(lines)


def _covered(runs: Sequence[tuple[int, int]]) -> frozenset[int]:
    return frozenset(number for start, end in runs for number in range(start, end + 1))


_READERS: Mapping[str, Callable[[Sequence[str]], _Found]] = {
    ".org": _read_org,
    ".rst": _read_rst,
    ".adoc": _read_adoc,
    ".asciidoc": _read_adoc,
    ".asc": _read_adoc,
    ".tex": _read_tex,
    ".latex": _read_tex,
}
