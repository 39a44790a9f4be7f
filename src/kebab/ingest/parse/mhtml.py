"""Saved web pages (MHTML): a message with the page and its images; only the page is read."""

from __future__ import annotations

import email
from email.message import Message

from kebab.domain.documents import Media
from kebab.ingest.chunk import by_place
from kebab.ingest.parse.html import html_text, read_page
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable

VERSION = "mhtml-v3"


def parse_mhtml(content: bytes, defaults: Defaults) -> Parsed | Unreadable:
    page = next((part for part in email.message_from_bytes(content).walk() if _is_page(part)), None)
    if page is None:
        return Unreadable("no web page in it")
    body = page.get_payload(decode=True)
    found = html_text(body if isinstance(body, bytes) else b"", declared=page.get_content_charset() or "")
    return found if isinstance(found, Unreadable) else read_page(found, defaults)


FORMAT = Format(Media.HTML, VERSION, parse_mhtml, by_place.CHUNKER, isolated=True)


def _is_page(part: Message) -> bool:
    return part.get_content_type() in ("text/html", "application/xhtml+xml")
