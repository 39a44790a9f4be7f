"""Bytes to text: UTF-8, UTF-16 with a byte order mark, and the Korean code page of older Windows notes."""

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


@dataclass(frozen=True, slots=True)
class Undecodable:
    """The bytes are no text; ``reason`` says why, for people."""

    reason: str


def decode(content: bytes) -> str | Undecodable:
    """The text in NFC with lines ended by ``\\n`` and no byte order mark, or why there is none.

    The number of lines is that of the file: ``\\r\\n`` and a lone ``\\r`` end a line as ``\\n`` does.
    """
    text = _decoded(content)
    if isinstance(text, Undecodable):
        return text
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return nfc(text)


def _decoded(content: bytes) -> str | Undecodable:
    if content.startswith(_UTF16_MARKS):
        try:
            return _without_nul(content.decode("utf-16"))
        except UnicodeDecodeError as error:
            return Undecodable(f"not valid UTF-16: byte {error.start}")
    if 0 in content:
        return Undecodable(f"binary file: NUL at byte {content.index(0)}")
    try:
        return content.decode("utf-8-sig" if content.startswith(codecs.BOM_UTF8) else "utf-8")
    except UnicodeDecodeError as error:
        korean = _korean(content)
        return korean if korean is not None else Undecodable(f"not valid UTF-8: byte {error.start}")


def _without_nul(text: str) -> str | Undecodable:
    return Undecodable("binary file: NUL character") if "\0" in text else text


def _korean(content: bytes) -> str | None:
    """The text in code page 949 if it reads as Korean; almost any bytes decode, so the result is judged."""
    try:
        text = content.decode("cp949")
    except UnicodeDecodeError:
        return None
    fitting = len(_KOREAN_TEXT.findall(text))
    return text if _HANGUL.search(text) and fitting >= _KOREAN_SHARE * len(text) else None
