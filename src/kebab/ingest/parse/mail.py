"""E-mail: one message (``.eml``) or many (``.mbox``, each a part), with what is attached, by paragraph."""

from __future__ import annotations

import email
import re
from base64 import b64decode
from dataclasses import replace
from email.header import decode_header, make_header
from email.message import Message
from email.utils import parsedate_to_datetime
from itertools import islice

from kebab.domain.documents import BlockKind, Media, Metadata
from kebab.ingest.chunk import by_place
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.embedded import add_parsed
from kebab.ingest.parse.html import html_text, paragraphs
from kebab.ingest.parse.html_blocks import Placing, add_html
from kebab.ingest.parse.html_main import readable_part
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable

VERSION = "mail-v3"

_HEADERS = ("From", "To", "Cc", "Date")
_DEEPEST = 5
"""Messages inside messages."""
_MOST_PARTS = 200
_BEGIN = re.compile(rb"^From .{1,200}\n", re.MULTILINE)
_BLANK = re.compile(r"\n[ \t]*\n")


def parse_mail(content: bytes, defaults: Defaults) -> Parsed | Unreadable:
    if defaults.extension == ".mbox":
        return _read_box(content, defaults)
    message = email.message_from_bytes(content)
    if not message.keys():
        return Unreadable("no message: it has no header")
    reader = _MailReader(Composer(), defaults)
    reader.message(message, paragraphs())
    metadata = Metadata(
        source_type=defaults.source_type,
        trust_level=defaults.trust_level,
        created_at=_date(message),
        user={"author": _header(message, "From")} if message["From"] else {},
    )
    return reader.composer.parsed(
        _header(message, "Subject"), defaults, metadata=metadata, warnings=reader.warnings
    )


FORMAT = Format(Media.MAIL, VERSION, parse_mail, by_place.CHUNKER, isolated=True)


def _read_box(content: bytes, defaults: Defaults) -> Parsed | Unreadable:
    reader = _MailReader(Composer(), defaults)
    limit = defaults.reading.limits.pages
    starts = [found.end() for found in islice(_BEGIN.finditer(content), limit + 1)]
    if not starts:
        return Unreadable("no mailbox: no line such as 'From someone@example.org Mon …'")
    if len(starts) > limit:
        reader.warnings.append(f"only the first {limit} messages are read (ingest.max_pages)")
    for number, start in enumerate(starts[:limit], 1):
        end = content.rfind(b"\nFrom ", start, starts[number]) if number < len(starts) else len(content)
        reader.composer.close_sections()
        reader.message(email.message_from_bytes(content[start:end]), paragraphs(number))
    return reader.composer.parsed(defaults.stem, defaults, warnings=reader.warnings)


class _MailReader:
    def __init__(self, composer: Composer, defaults: Defaults) -> None:
        self.composer = composer
        self.warnings: list[str] = []
        self._defaults = defaults

    def message(self, message: Message, placing: Placing, *, depth: int = 0) -> None:
        self.composer.heading(1 + depth, _header(message, "Subject") or "(no subject)", placing())
        about = [f"{name}: {value}" for name in _HEADERS if (value := _header(message, name))]
        self.composer.block(BlockKind.PARAGRAPH, "\n".join(about), placing())
        body, attached = _parts(message)
        if body is not None:
            self._body(body, placing)
        for part in attached:
            self._attachment(part, placing, depth=depth + 1)

    def _body(self, part: Message, placing: Placing) -> None:
        text = html_text(_payload(part), declared=part.get_content_charset() or "")
        if isinstance(text, Unreadable):
            self.warnings.append(f"a message is not read: {text.reason}")
        elif part.get_content_type() == "text/html":
            events = list(self._defaults.reading.engines.html().events(text))
            add_html(self.composer, readable_part(events), placing)
        else:
            for paragraph in _BLANK.split(text.replace("\r\n", "\n")):
                if paragraph.strip():
                    self.composer.block(BlockKind.PARAGRAPH, paragraph, placing())

    def _attachment(self, part: Message, placing: Placing, *, depth: int) -> None:
        if part.get_content_type() == "message/rfc822":
            inner = _attached_message(part)
            if inner is not None and depth <= _DEEPEST:
                self.message(inner, placing, depth=depth)
            return
        name = _decoded(part.get_filename() or "")
        reason = self._attached_file(name, _payload(part), placing, depth) if name else None
        if reason:
            self.warnings.append(f"attachment {name!r} is not read: {reason}")

    def _attached_file(self, name: str, content: bytes, placing: Placing, depth: int) -> str | None:
        """Reads what is attached by its own parser; returns why not."""
        from kebab.ingest.parse.formats import FORMATS, extension

        ending = extension(name)
        if ending not in FORMATS or FORMATS[ending].media is Media.MAIL:
            return f"unsupported format {ending}" if ending else "no file extension"
        parsed = FORMATS[ending].parse(content, replace(self._defaults, stem=name, extension=ending))
        if isinstance(parsed, Unreadable):
            return parsed.reason
        self.composer.heading(1 + depth, name, placing())
        add_parsed(self.composer, parsed, placing, deeper=1 + depth)
        return None


def _parts(message: Message) -> tuple[Message | None, list[Message]]:
    """The body, as plain text where there is some, and what is attached."""
    plain = page = None
    attached: list[Message] = []
    pending = [message]
    while pending and len(attached) < _MOST_PARTS:
        part = pending.pop()
        kind = part.get_content_type()
        if kind == "message/rfc822" and part is not message:
            attached.append(part)
        elif part.is_multipart():
            inner = part.get_payload()
            pending.extend(reversed([one for one in inner if isinstance(one, Message)]))
        elif part.get_filename():
            attached.append(part)
        elif kind == "text/plain":
            plain = part if plain is None else plain
        elif kind == "text/html":
            page = part if page is None else page
    # Asked for None, because a part without a header of its own is false.
    return page if plain is None else plain, attached


def _attached_message(part: Message) -> Message | None:
    """The message in this part, also where it was written in base64, which the standard forbids."""
    inner = part.get_payload(0) if part.is_multipart() else None
    if not isinstance(inner, Message):
        return None
    coded = None if inner.keys() else inner.get_payload()
    if not isinstance(coded, str) or _header(part, "Content-Transfer-Encoding").lower() != "base64":
        return inner
    try:
        return email.message_from_bytes(b64decode(coded))
    except ValueError:
        return None


def _payload(part: Message) -> bytes:
    body = part.get_payload(decode=True)
    return body if isinstance(body, bytes) else b""


def _header(message: Message, name: str) -> str:
    return _decoded(str(message.get(name, "")))


def _decoded(value: str) -> str:
    try:
        return " ".join(str(make_header(decode_header(value))).split())
    except (ValueError, LookupError):
        return " ".join(value.split())


def _date(message: Message) -> str | None:
    try:
        return parsedate_to_datetime(str(message.get("Date", ""))).isoformat()
    except (ValueError, TypeError, IndexError):
        return None
