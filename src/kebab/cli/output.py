"""Where all output passes: stdout and stderr, on which nothing that a text holds is obeyed.

Colours and links are escape sequences too. Kebab writes their first character as ``ESC``, a secret of this
run that no document can hold, so that they can be told from those of a text.
"""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from kebab.domain.controls import harmless

ESC = f"\uf8ff{os.urandom(8).hex()}\uf8ff"


def shown(text: str) -> str:
    """What is written for a text: it can style nothing, and kebab's own styles are escape sequences."""
    return harmless(text).replace(ESC, "\x1b")


class HarmlessStream:
    """A stream that writes ``shown`` text; in everything else it is the stream behind it."""

    def __init__(self, behind: IO[str]) -> None:
        self.behind = behind

    def write(self, text: str) -> int:
        self.behind.write(shown(text))
        return len(text)

    def writelines(self, lines: Iterator[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.behind, name)


def bare(stream: Any) -> IO[str]:
    """The stream itself, for what moves the cursor; whoever writes there makes every text harmless."""
    found: IO[str] = stream.behind if isinstance(stream, HarmlessStream) else stream
    return found


@contextmanager
def harmless_output() -> Iterator[None]:
    """Let nothing past that a terminal would obey, on stdout and stderr, while the block runs."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _guarded(sys.stdout), _guarded(sys.stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _guarded(stream: Any) -> Any:
    if isinstance(stream, HarmlessStream):
        return stream
    # click would replace an ASCII stream with one of its own, which is not guarded.
    if _is_ascii(stream) and hasattr(stream, "reconfigure"):
        stream.reconfigure(encoding="utf-8")
    return HarmlessStream(stream)


def _is_ascii(stream: Any) -> bool:
    try:
        return codecs.lookup(getattr(stream, "encoding", None) or "").name == "ascii"
    except LookupError:
        return False
