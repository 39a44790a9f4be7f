"""The annotated config.toml, written from the settings' own definitions so that it cannot drift from them."""

from __future__ import annotations

import ast
import inspect
import itertools
import textwrap
from pathlib import Path
from typing import Any

import msgspec

from kebab.config import sections
from kebab.upkeep.edit_config import quoted

WIDTH = 100
HEAD = """\
# kebab's settings. Every key is listed with its default; remove the # to change one.
# Any key can also be set by the environment, as in KEBAB_SEARCH__DEFAULT_K=5.
# Relative paths are relative to this file.
"""


def template(*, root: str | None = None, data_dir: str | None = None) -> str:
    """The text of a new file. What is given is set; all else stands there as a comment."""
    given = {("workspace", "root"): root, ("storage", "data_dir"): data_dir}
    parts = [HEAD]
    for field in msgspec.structs.fields(sections.File):
        if field.name == "sources":
            parts.append(_sources())
        else:
            parts.append(_section(field.name, field.default, given))
    return "\n".join(parts)


def _section(name: str, values: msgspec.Struct, given: dict[tuple[str, str], str | None]) -> str:
    notes = documented(type(values))
    lines, nested = [], []
    for field in msgspec.structs.fields(type(values)):
        value = getattr(values, field.name)
        if isinstance(value, msgspec.Struct):
            nested.append(_section(f"{name}.{field.name}", value, given))
            continue
        lines += _comment(notes.get(field.name, ""))
        chosen = given.get((name, field.name))
        lines.append(
            f"# {field.name} = {toml(value)}" if chosen is None else f"{field.name} = {toml(chosen)}"
        )
    own = [f"[{name}]", *lines, ""] if lines else []
    return "\n".join([*own, *nested])


def _sources() -> str:
    """``[[sources]]`` has no default to show, so an example stands in its place."""
    notes = documented(sections.Source)
    example = sections.Source(id="work", root="~/office/notes")
    lines = ["# Several folders instead of workspace.root; each is a source of its own.", "# [[sources]]"]
    for field in msgspec.structs.fields(sections.Source):
        lines += _comment(notes.get(field.name, ""))
        lines.append(f"# {field.name} = {toml(getattr(example, field.name))}")
    return "\n".join([*lines, ""])


def _comment(note: str) -> list[str]:
    return [f"## {line}" for line in textwrap.wrap(" ".join(note.split()), WIDTH)]


def toml(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    return quoted(str(value))


def documented(section: type[msgspec.Struct]) -> dict[str, str]:
    """What the source says of each key: the string below it, as documentation tools read it."""
    body = _class_bodies()[section.__name__]
    found: dict[str, str] = {}
    for statement, following in itertools.pairwise(body):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            match following:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    found[statement.target.id] = text
    return found


def _class_bodies() -> dict[str, list[ast.stmt]]:
    source = Path(inspect.getfile(sections)).read_text(encoding="utf-8")
    return {node.name: node.body for node in ast.parse(source).body if isinstance(node, ast.ClassDef)}
