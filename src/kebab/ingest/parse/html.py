"""HTML: the main part of a page, its headings, lists, tables and code, counted in paragraphs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count

from kebab.domain.documents import Media, Metadata
from kebab.domain.places import Items
from kebab.ingest.chunk import by_place
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.decode import Undecodable, decode
from kebab.ingest.parse.html_blocks import Placing, add_html
from kebab.ingest.parse.html_main import main_part
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable
from kebab.ports import HtmlEvent, HtmlEventKind

VERSION = "html-v3"

_CHARSET = re.compile(rb"""(?:charset|encoding)\s{0,4}=\s{0,4}["']?([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)
_DECLARED_WITHIN = 4096
# What the names mean to browsers.
_READ_AS = {
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "us-ascii": "cp1252",
    "gb2312": "gb18030",
    "shift_jis": "cp932",
}
_DATES = ("article:published_time", "date", "dc.date", "dcterms.created", "pubdate")


def parse_html(content: bytes, defaults: Defaults) -> Parsed | Unreadable:
    """The page as blocks; Unreadable for what is no text, and for a page that says nothing."""
    found = html_text(content)
    if isinstance(found, Unreadable):
        return found
    return read_page(found, defaults)


def read_page(html: str, defaults: Defaults) -> Parsed | Unreadable:
    events = list(defaults.reading.engines.html().events(html))
    composer = Composer()
    add_html(composer, main_part(events), paragraphs())
    head = _Head(events)
    metadata = Metadata(
        source_type=defaults.source_type,
        trust_level=defaults.trust_level,
        created_at=next((head.meta[name] for name in _DATES if head.meta.get(name)), None),
        user={"url": head.url} if head.url else {},
    )
    return composer.parsed(head.title, defaults, metadata=metadata, lang=head.lang)


FORMAT = Format(Media.HTML, VERSION, parse_html, by_place.CHUNKER, isolated=True)


def paragraphs(part: int = 0, *, start: int = 1) -> Placing:
    """Places that count from ``start``."""
    numbers = count(start)

    def following() -> Items:
        number = next(numbers)
        return Items("par", number, number, part)

    return following


def html_text(content: bytes, *, declared: str = "") -> str | Unreadable:
    """The bytes in the encoding that was declared, here or in the page itself, else in one that fits."""
    names = [declared] if declared else []
    names += _declared(content[:_DECLARED_WITHIN])
    decoded = next((text for name in names if (text := _in(name, content)) is not None), None)
    if decoded is not None:
        return decoded
    found = decode(content)
    if isinstance(found, Undecodable) or found.fault:
        # Some pages say it behind long scripts, where only a reader who is at a loss looks.
        late = (text for name in _declared(content) if (text := _in(name, content)) is not None)
        if text := next(late, ""):
            return text
    return Unreadable(found.reason) if isinstance(found, Undecodable) else found.text


def _declared(head: bytes) -> list[str]:
    match = _CHARSET.search(head)
    return [match[1].decode()] if match and b"\0" not in head else []


def _in(name: str, content: bytes) -> str | None:
    """The text in an encoding; None where it is not in that one, as many a page declares."""
    try:
        return content.decode(_READ_AS.get(name.lower(), name))
    except (LookupError, UnicodeDecodeError, ValueError):
        return None


class _Head:
    """What a page says of itself in its head."""

    def __init__(self, events: Sequence[HtmlEvent]) -> None:
        self.title = ""
        self.lang = ""
        self.url = ""
        self.meta: dict[str, str] = {}
        for at, event in enumerate(events):
            if event.kind is HtmlEventKind.CLOSE and event.value == "head":
                break
            if event.kind is HtmlEventKind.OPEN:
                self._take(event, events[at + 1] if at + 1 < len(events) else None)

    def _take(self, event: HtmlEvent, following: HtmlEvent | None) -> None:
        attributes = event.attributes
        if event.value == "html":
            self.lang = _language(attributes.get("lang") or attributes.get("xml:lang") or "")
        elif event.value == "title" and following and following.kind is HtmlEventKind.TEXT:
            self.title = self.title or following.value
        elif event.value == "meta":
            name = attributes.get("name") or attributes.get("property") or ""
            self.meta.setdefault(name.lower(), attributes.get("content", "").strip())
        elif event.value == "link" and "canonical" in attributes.get("rel", "").lower().split():
            self.url = attributes.get("href", "")


def _language(tag: str) -> str:
    """The language of a tag such as ``ko-KR``; English is what editors write whatever the text is."""
    language = tag.strip().lower().split("-")[0].split("_")[0]
    return "" if language == "en" or not language.isalpha() or len(language) > 3 else language
