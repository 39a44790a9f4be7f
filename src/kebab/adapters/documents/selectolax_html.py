"""HTML through Lexbor, which repairs it by the rules that browsers follow."""

from __future__ import annotations

from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from kebab.ports import HtmlEvent, HtmlEventKind

_UNREAD = frozenset({"-comment", "!doctype", "script", "style", "template", "noscript"})


class SelectolaxHtmlReader:
    def events(self, html: str) -> Iterator[HtmlEvent]:
        """The tree walked without recursion: pages of strangers nest tags by the ten thousand."""
        node = LexborHTMLParser(html).root
        while node is not None:
            name = (node.tag or "").lower()
            child = None
            if name == "-text":
                yield HtmlEvent(HtmlEventKind.TEXT, node.text_content or "")
            elif name not in _UNREAD:
                attributes = {key: value or "" for key, value in node.attributes.items()}
                yield HtmlEvent(HtmlEventKind.OPEN, name, attributes)
                child = node.first_child
                if child is None:
                    yield HtmlEvent(HtmlEventKind.CLOSE, name)
            if child is not None:
                node = child
                continue
            while node is not None and node.next is None:
                node = node.parent
                if node is None or _is_document(node):
                    return
                yield HtmlEvent(HtmlEventKind.CLOSE, (node.tag or "").lower())
            node = node.next if node is not None else None


def _is_document(node: LexborNode) -> bool:
    return (node.tag or "").startswith("-")
