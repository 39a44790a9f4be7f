"""Front matter: YAML between ``---`` or TOML between ``+++`` at the top of a Markdown file.

It comes from strangers' files, so it is read with limits: 64 KB, 50 levels, no YAML aliases (a few lines of
them expand to gigabytes). What breaks a limit or the syntax is a warning, and the body is indexed all the
same.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar

from kebab.domain.ids import nfc

if TYPE_CHECKING:
    import yaml

MAX_CHARS = 64 * 1024
MAX_DEPTH = 50

# Truth values and numbers only where they read back as they were written: YAML 1.1 would make True of a title
# "On", False of the language "no", 7 of a tag "007", 1.1 of "1.10" and 750 of "12:30".
_PLAIN = {
    "tag:yaml.org,2002:bool": re.compile(r"(?:true|false)$"),
    "tag:yaml.org,2002:int": re.compile(r"(?:0|-?[1-9][0-9]{0,17})$"),
    "tag:yaml.org,2002:float": re.compile(r"-?(?:0|[1-9][0-9]{0,8})\.(?:0|[0-9]{0,3}[1-9])$"),
}

_FENCES = re.compile(
    r"\A(?:---[ \t]*\n(?P<yaml>.*?)(?:^)(?:---|\.\.\.)|\+\+\+[ \t]*\n(?P<toml>.*?)(?:^)\+\+\+)"
    r"[ \t]*(?:\n|\Z)",
    re.DOTALL | re.MULTILINE,
)
_OPENING_KEY = re.compile(r"\A(?:---|\+\+\+)[ \t]*\n[\w-]+[ \t]*[:=]")
_TOO_LONG = f"it is longer than {MAX_CHARS // 1024} KB"


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The values that stand at the top of a file and how many lines they take there; maybe none."""

    values: Mapping[str, object] = field(default_factory=dict)
    lines: int = 0
    warnings: tuple[str, ...] = ()


class _TooComplex(ValueError):
    pass


def read_front_matter(text: str) -> FrontMatter:
    """The front matter of a text; every value is a JSON value, dates are strings as written.

    A fence that is never closed, or that holds no keys, is a thematic break and no front matter.
    """
    if not text.startswith(("---", "+++")):
        return FrontMatter()
    match = _FENCES.match(text, 0, MAX_CHARS)
    if match is None:
        # A long text between two thematic breaks looks the same, but does not begin with a key.
        too_long = _OPENING_KEY.match(text) and _FENCES.match(text)
        return FrontMatter(warnings=(f"front matter not read: {_TOO_LONG}",) if too_long else ())
    lines = match.group().count("\n") + (not match.group().endswith("\n"))
    yaml_text = match["yaml"]
    try:
        values = _load_yaml(yaml_text) if yaml_text is not None else _load_toml(match["toml"])
    except (ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        return FrontMatter(lines=lines, warnings=(f"front matter not read: {reason}",))
    if values is None:
        return FrontMatter(lines=lines)
    if not isinstance(values, dict):
        return FrontMatter()
    return FrontMatter({nfc(str(key)): _json_value(value) for key, value in values.items()}, lines)


def _load_toml(text: str) -> object:
    return tomllib.loads(text)


def _load_yaml(text: str) -> object:
    import yaml

    try:
        if not _is_simple(text):
            _check_yaml(text)
        return yaml.load(text, Loader=_yaml_loader())
    except yaml.MarkedYAMLError as error:
        raise ValueError(_told(error)) from error
    except yaml.YAMLError as error:
        raise ValueError(str(error).partition("\n")[0]) from error


def _told(error: yaml.MarkedYAMLError) -> str:
    """What is wrong and where, by the lines of the file: the fence is its first."""
    mark = error.problem_mark or error.context_mark
    place = f"line {mark.line + 2}, column {mark.column + 1}: " if mark else ""
    return place + ", ".join(part for part in (error.problem, error.context) if part)


def _is_simple(text: str) -> bool:
    """Whether there is no alias, and too few signs that open a level to go deep: then nothing is to check."""
    return "*" not in text and sum(map(text.count, "[{-:?")) <= MAX_DEPTH


def _check_yaml(text: str) -> None:
    """Walk the events, which takes no memory, before anything is built from them."""
    import yaml

    depth = 0
    for event in yaml.parse(text, Loader=_yaml_loader()):
        if isinstance(event, yaml.AliasEvent):
            raise _TooComplex("YAML aliases are not allowed")
        if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            depth += 1
            if depth > MAX_DEPTH:
                raise _TooComplex(f"more than {MAX_DEPTH} levels deep")
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            depth -= 1


@cache
def _yaml_loader() -> Any:
    """The safe C loader where PyYAML has it, with dates left as written: 2024-13-40 must not be an error."""
    import yaml

    safe: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(safe):  # type: ignore[misc]
        yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, Any]]]] = {
            first: [
                (tag, _PLAIN.get(tag, own))
                for tag, own in resolvers
                if not tag.endswith((":timestamp", ":value"))
            ]
            for first, resolvers in safe.yaml_implicit_resolvers.items()
        }

    return Loader


def _json_value(value: object) -> object:
    match value:
        case None | bool() | int():
            return value
        case str():
            return nfc(value)
        case float():
            return value if isfinite(value) else str(value)
        case dict():
            return {nfc(str(key)): _json_value(item) for key, item in value.items()}
        case list() | tuple() | set():
            return [_json_value(item) for item in value]
        case _:
            return str(value)
