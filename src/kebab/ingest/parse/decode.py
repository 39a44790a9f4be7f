"""Bytes to text: UTF-8, UTF-16 with a byte order mark, and the Korean code page of older Windows notes.

A file with a few bad bytes is still a text: they become U+FFFD, and ``fault`` says where the first one is.
"A few" means at most one character in ten of the result (``_BAD_SHARE``). That covers a torn copy, a pasted
control code, or Western European prose in Latin-1, which has an accent in every twentieth letter. A file with
more bad bytes, or with a NUL, is binary.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from kebab.domain.ids import nfc

_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# What a Korean note is made of: ASCII, Hangul, the signs and the few Chinese characters written beside it.
_KOREAN_TEXT = re.compile(r"[\t\n\r\x20-\x7e\uac00-\ud7a3\u3131-\u318e\u2010-\u2026\u3000-\u301f\u00b7]")
_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_KOREAN_SHARE = 0.95
_BAD_SHARE = 0.1
_REPLACEMENT = "\ufffd"


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text; ``fault`` names the first of the bytes that were replaced, None where all could be read."""

    text: str
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Undecodable:
    """The bytes are no text; ``reason`` says why, for people."""

    reason: str


def decode(content: bytes) -> Decoded | Undecodable:
    """The text in NFC with lines ended by ``\\n`` and no byte order mark, or why there is none.

    The number of lines is that of the file: ``\\r\\n`` and a lone ``\\r`` end a line as ``\\n`` does.
    """
    found = _decoded(content)
    if isinstance(found, Undecodable):
        return found
    text = found.text
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return Decoded(nfc(text), found.fault)


def _decoded(content: bytes) -> Decoded | Undecodable:
    if content.startswith(_UTF16_MARKS):
        found = _read_as(content, "utf-16")
        return Undecodable("binary: it holds a NUL character") if "\0" in found.text else _judged(found)
    if 0 in content:
        return Undecodable("binary: it holds a NUL byte")
    utf8 = _read_as(content, "utf-8-sig" if content.startswith(codecs.BOM_UTF8) else "utf-8")
    if utf8.fault is None:
        return utf8
    korean = _korean(content)
    if korean is not None and korean.fault is None:
        return korean
    salvaged = _judged(utf8)
    return korean if korean is not None and isinstance(salvaged, Undecodable) else salvaged


def _read_as(content: bytes, encoding: str) -> Decoded:
    """The text, with a replacement character for what cannot be read."""
    try:
        return Decoded(content.decode(encoding))
    except UnicodeDecodeError as error:
        name = {"utf-16": "UTF-16", "cp949": "code page 949"}.get(encoding, "UTF-8")
        return Decoded(content.decode(encoding, "replace"), f"not valid {name}: byte {error.start}")


def _judged(found: Decoded) -> Decoded | Undecodable:
    if found.fault is None or found.text.count(_REPLACEMENT) <= _BAD_SHARE * len(found.text):
        return found
    return Undecodable("binary, or text in an unknown encoding")


def _korean(content: bytes) -> Decoded | None:
    """The text in code page 949 if it reads as Korean; almost any bytes decode, so the result is judged."""
    found = _read_as(content, "cp949")
    fitting = len(_KOREAN_TEXT.findall(found.text))
    return found if _HANGUL.search(found.text) and fitting >= _KOREAN_SHARE * len(found.text) else None
