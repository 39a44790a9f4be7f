"""Changing a section of the configuration file, and nothing else in it: comments and order stay."""

from __future__ import annotations

import os
import re
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kebab.errors import ConfigInvalid, StorageError

_HEADER = re.compile(r"^\s*\[")


def edited(text: str, section: str, values: Mapping[str, str]) -> str:
    """The text with these keys of ``[section]`` set; an empty value takes the key away.

    Raises ConfigInvalid where the section is written in a way that cannot be edited line by line.
    """
    lines = text.splitlines()
    start = _section_start(lines, section)
    if start is None:
        lines += [*([""] if lines and lines[-1].strip() else []), f"[{section}]"]
        start = len(lines)
    for key, value in values.items():
        _set(lines, start, key, value)
    result = "\n".join(lines) + "\n"
    _verify(text, result, section, values)
    return result


def write_whole(file: Path, text: str) -> None:
    """Replace a file in one step, keeping its permissions. Raises StorageError."""
    try:
        # A file that is a link is replaced where it points to, so that the link stays.
        real = file.resolve(strict=True)
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=real.parent, prefix=f".{real.name}.", delete=False
        ) as draft:
            draft.write(text)
            draft.flush()
            os.fsync(draft.fileno())
        os.chmod(draft.name, real.stat().st_mode & 0o777)
        os.replace(draft.name, real)
    except OSError as error:
        raise StorageError(f"{file} cannot be written: {error.strerror}") from error


def quoted(value: str) -> str:
    """A string as TOML writes it; what cannot be seen is written by its number."""
    return '"' + "".join(map(_escaped, value)) + '"'


def _escaped(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}" if ord(char) <= 0xFFFF else f"\\U{ord(char):08x}"


def _section_start(lines: list[str], section: str) -> int | None:
    """The line after the header; None where there is none."""
    header = re.compile(rf"^\s*\[\s*{re.escape(section)}\s*\]\s*(#.*)?$")
    return next((at + 1 for at, line in enumerate(lines) if header.match(line)), None)


def _set(lines: list[str], start: int, key: str, value: str) -> None:
    end = next((at for at in range(start, len(lines)) if _HEADER.match(lines[at])), len(lines))
    stated = _find(lines, start, end, rf"^\s*{key}\s*=")
    commented = _find(lines, start, end, rf"^\s*#\s*{key}\s*=")
    line = f"{key} = {quoted(value)}"
    if stated is not None:
        lines[stated : stated + 1] = [line] if value else []
    elif value:
        at = commented + 1 if commented is not None else start
        lines.insert(at, line)


def _find(lines: list[str], start: int, end: int, pattern: str) -> int | None:
    wanted = re.compile(pattern)
    return next((at for at in range(start, end) if wanted.match(lines[at])), None)


def _verify(before: str, after: str, section: str, values: Mapping[str, str]) -> None:
    """Read both: exactly the wanted keys may differ."""
    try:
        old, new = tomllib.loads(before), tomllib.loads(after)
        table, wanted = _table(new, section), _table(old, section)
    except (tomllib.TOMLDecodeError, AttributeError) as error:
        raise _uneditable(section, values) from error
    for key, value in values.items():
        wanted.pop(key, None)
        if value:
            wanted[key] = value
    if table != wanted or old != new:
        raise _uneditable(section, values)


def _table(document: dict[str, Any], section: str) -> dict[str, Any]:
    """The section's table, taken out of the document together with parents that it leaves empty."""
    head, _, rest = section.partition(".")
    inner = document.get(head, {})
    found = _table(inner, rest) if rest else dict(inner)
    if not rest or not inner:
        document.pop(head, None)
    return found


def _uneditable(section: str, values: Mapping[str, str]) -> ConfigInvalid:
    wanted = ", ".join(f"{key} = {quoted(value)}" for key, value in values.items())
    return ConfigInvalid(
        f"[{section}] is written in a way that kebab does not edit", hint=f"set it by hand: {wanted}"
    )
