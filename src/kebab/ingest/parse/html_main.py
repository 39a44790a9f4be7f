"""Which part of a web page is worth reading: what is navigation, advertising or hidden goes.

By what the page says of itself (``main``, ``nav``, roles, a few class names), never by guessing from density:
a list of links may be the page. Where that would leave almost nothing, only what is never text goes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from kebab.ports import HtmlEvent, HtmlEventKind

_NEVER = frozenset({
    "head", "svg", "iframe", "object", "embed", "canvas", "audio", "video", "map", "button", "select",
    "textarea", "input", "datalist", "dialog", "annotation", "en-crypt",
})  # fmt: skip
_AROUND = frozenset({"nav", "footer", "aside", "menu", "search"})
_ROLES = frozenset({
    "navigation", "banner", "contentinfo", "search", "complementary", "menu", "menubar", "doc-toc",
})  # fmt: skip
_CLASSES = frozenset({
    "nav", "navbar", "navigation", "menu", "sidebar", "side-bar", "breadcrumb", "breadcrumbs", "footer",
    "site-footer", "site-header", "page-footer", "cookie-banner", "cookie-consent", "headerlink",
    "pagination", "skip-link", "skiplink", "sphinxsidebar", "related", "share", "social", "noprint",
    "navheader", "navfooter", "mw-editsection", "mw-jump-link", "navbox", "advertisement", "ads", "topnav",
    "bottomnav", "subnav", "toplink", "sr-only", "visually-hidden", "permalink", "anchor-link", "nav-panel",
    "contents_element", "element-contents", "mini_toc",
})  # fmt: skip
_CONTENTS = frozenset({"toc", "table-of-contents", "tableofcontents", "list-of-figures", "list-of-tables"})
_BESIDE = frozenset(
    {"next", "prev", "previous", "up", "start", "contents", "index", "prevchapter", "nextchapter"}
)
"""What links to the pages around this one say of themselves."""
_ROWS = frozenset({"p", "div", "td", "th", "li", "center", "header"})
_LABELS = 60
"""Letters beside such links, such as "Next:", in a row that is made of them."""
_UNTOUCHED = frozenset({"html", "body", "main", "article"})
_LEAST_SHARE = 0.2
"""A main part that holds less of the text is not what its name says."""
_UNSEEN = re.compile(r"display\s{0,4}:\s{0,4}none|visibility\s{0,4}:\s{0,4}hidden", re.IGNORECASE)


def readable_part(events: Sequence[HtmlEvent]) -> list[HtmlEvent]:
    """All that is text: for messages, which have nothing around them."""
    return list(_without(events, _is_never_text))


def chapter_part(events: Sequence[HtmlEvent]) -> list[HtmlEvent]:
    """All that is text but for lists of what stands elsewhere in the book."""
    return list(_without(readable_part(events), _is_contents))


def main_part(events: Sequence[HtmlEvent]) -> list[HtmlEvent]:
    """The events of what the page is about, tags still paired."""
    shown = readable_part(events)
    whole = _length(shown)
    named = list(_inside(shown))
    if _length(named) >= max(1, _LEAST_SHARE * whole):
        shown = named
    kept = _without_rows_of_links(list(_without(shown, _is_around)))
    return kept if _length(kept) >= max(1, _LEAST_SHARE * _length(shown)) else shown


def _length(events: Sequence[HtmlEvent]) -> int:
    return sum(len(event.value.strip()) for event in events if event.kind is HtmlEventKind.TEXT)


def _is_never_text(name: str, attributes: Mapping[str, str]) -> bool:
    if name in _NEVER:
        return True
    hidden = "hidden" in attributes or attributes.get("aria-hidden") == "true"
    return name not in _UNTOUCHED and (hidden or bool(_UNSEEN.search(attributes.get("style", ""))))


def _is_around(name: str, attributes: Mapping[str, str]) -> bool:
    if name in _UNTOUCHED:
        return False
    if name in _AROUND or attributes.get("role") in _ROLES:
        return True
    return not _CLASSES.isdisjoint(_names(attributes)) or _is_contents(name, attributes)


def _is_contents(name: str, attributes: Mapping[str, str]) -> bool:
    kind = f"{attributes.get('epub:type', '')} {attributes.get('role', '').removeprefix('doc-')}".split()
    return name not in _UNTOUCHED and not _CONTENTS.isdisjoint([*_names(attributes), *kind])


def _names(attributes: Mapping[str, str]) -> list[str]:
    return f"{attributes.get('class', '')} {attributes.get('id', '')}".lower().split()


def _without(
    events: Sequence[HtmlEvent], unwanted: Callable[[str, Mapping[str, str]], bool]
) -> Iterator[HtmlEvent]:
    depth = 0
    for event in events:
        if event.kind is HtmlEventKind.OPEN:
            if depth or unwanted(event.value, event.attributes):
                depth += 1
                continue
        elif event.kind is HtmlEventKind.CLOSE and depth:
            depth -= 1
            continue
        if not depth:
            yield event


def _without_rows_of_links(events: Sequence[HtmlEvent]) -> list[HtmlEvent]:
    """The events without the rows that lead to the pages before and after, and say nothing else."""
    dropped: set[int] = set()
    row = _Row(-1)
    for at, event in enumerate(events):
        if event.kind is HtmlEventKind.OPEN and event.value in _ROWS:
            row = _Row(at)
        elif event.kind is HtmlEventKind.CLOSE and event.value in _ROWS:
            if row.start >= 0 and row.is_beside():
                dropped.update(range(row.start, at + 1))
            row = _Row(-1)
        else:
            row.take(event)
    return [event for at, event in enumerate(events) if at not in dropped]


class _Row:
    """An innermost block: whether it links to neighbours, and how much it says besides."""

    def __init__(self, start: int) -> None:
        self.start = start
        self._in_link = 0
        self._leads = False
        self._said = 0

    def take(self, event: HtmlEvent) -> None:
        if event.kind is HtmlEventKind.TEXT:
            self._said += 0 if self._in_link else len(event.value.strip())
        elif event.value == "a" and event.kind is HtmlEventKind.OPEN:
            self._in_link += 1
            named = event.attributes.get("rel", "").lower().split()
            self._leads = self._leads or not _BESIDE.isdisjoint(named)
        elif event.value == "a":
            self._in_link = max(0, self._in_link - 1)

    def is_beside(self) -> bool:
        return self._leads and self._said <= _LABELS


def _inside(events: Sequence[HtmlEvent]) -> Iterator[HtmlEvent]:
    """What stands in ``main``; where the page has none, in its only ``article``."""
    articles = sum(event.kind is HtmlEventKind.OPEN and event.value == "article" for event in events)
    depth = 0
    for event in events:
        if event.kind is HtmlEventKind.OPEN and (depth or _is_main(event, only_article=articles == 1)):
            depth += 1
        if depth:
            yield event
        if event.kind is HtmlEventKind.CLOSE and depth:
            depth -= 1


def _is_main(event: HtmlEvent, *, only_article: bool) -> bool:
    if event.value == "main" or event.attributes.get("role") == "main":
        return True
    return only_article and event.value == "article"
