"""Growing an input and watching the time: what every test of growth shares."""

from __future__ import annotations

import ast
import gc
import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from re import _constants as opcodes  # type: ignore[attr-defined, unused-ignore]
from re import _parser as parser  # type: ignore[attr-defined, unused-ignore]
from time import process_time
from typing import Any

import kebab

PACKAGE = Path(kebab.__file__).parent
TAKES_PATTERN = {"compile", "sub", "subn", "match", "search", "findall", "finditer", "split", "fullmatch"}
ANYWHERE = " a1A가.\n-"
"""Letters of the kinds that patterns ask for, beside those that they name."""


@dataclass(frozen=True)
class Found:
    """A regular expression of the package and where it stands."""

    place: str
    pattern: re.Pattern[str]


def compiled_patterns() -> Iterator[Found]:
    """Every compiled pattern that a module of the package holds, also inside its tuples and dicts."""
    for module in pkgutil.walk_packages([str(PACKAGE)], "kebab."):
        if not module.name.endswith("__main__"):
            for name, value in _names_of(module.name).items():
                yield from (Found(f"{module.name}.{name}", pattern) for pattern in _held(value))


def _names_of(module: str) -> dict[str, object]:
    """What a module holds; nothing for the adapter of an engine that is not installed here."""
    try:
        return vars(importlib.import_module(module))
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("kebab") or ".adapters." not in module:
            raise
        return {}


def _held(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif isinstance(value, dict):
        yield from _held(tuple(value.values()))
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _held(item)


def inline_patterns() -> Iterator[tuple[str, str | None]]:
    """Every call of ``re`` in a function: its file, and its pattern where that is a plain string."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                for pattern in _given_to_re(node):
                    value = pattern.value if isinstance(pattern, ast.Constant) else None
                    text = value if isinstance(value, str) else None
                    yield str(path.relative_to(PACKAGE)), text


def _given_to_re(function: ast.FunctionDef) -> Iterator[ast.expr]:
    return (node.args[0] for node in ast.walk(function) if isinstance(node, ast.Call) and _is_re(node.func))


def _is_re(called: ast.expr) -> bool:
    return (
        isinstance(called, ast.Attribute)
        and isinstance(called.value, ast.Name)
        and called.value.id == "re"
        and called.attr in TAKES_PATTERN
    )


def attacks(pattern: re.Pattern[str], *, size: int) -> Iterator[str]:
    """Texts of about this many characters made of what the pattern looks for, over and over.

    Backtracking costs where a text nearly matches: its signs, each alone, in pairs, as whole words of the
    pattern, behind one of them, and with an end that spoils the match.
    """
    spoilt = "\x00\u00e6"  # a sign, and a letter: one of them stops whatever may repeat up to the end
    words = list(_words(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)))
    signs = list(dict.fromkeys([*"".join(words), *ANYWHERE]))[:9]
    longer = [word for word in dict.fromkeys(words) if len(word) > 1][:12]
    pumps = [*signs, *longer, *("".join(pair) for pair in permutations(signs, 2))]
    for pump in pumps:
        yield (pump * size)[:size] + spoilt
    for start in longer[:4]:
        yield from (start + sign * size + spoilt for sign in signs)


def _words(parsed: Any) -> Iterator[str]:
    """The runs of literal characters in a pattern, and the first members of its sets."""
    run = ""
    for operation, value in parsed:
        if operation is opcodes.LITERAL:
            run += chr(value)
            continue
        if run:
            yield run
        run = ""
        yield from _inside(operation, value)
    if run:
        yield run


def _inside(operation: Any, value: Any) -> Iterator[str]:
    if operation is opcodes.IN:
        members = [item for kind, item in value if kind in (opcodes.LITERAL, opcodes.RANGE)]
        yield from (chr(item[0] if isinstance(item, tuple) else item) for item in members[:4])
    elif operation is opcodes.NOT_LITERAL:
        yield chr(value)
    elif operation is opcodes.BRANCH:
        for branch in value[1]:
            yield from _words(branch)
    elif operation in (opcodes.MAX_REPEAT, opcodes.MIN_REPEAT, opcodes.POSSESSIVE_REPEAT):
        yield from _words(value[2])
    elif operation is opcodes.SUBPATTERN:
        yield from _words(value[3])
    elif operation is opcodes.ATOMIC_GROUP:
        yield from _words(value)
    elif operation in (opcodes.ASSERT, opcodes.ASSERT_NOT):
        yield from _words(value[1])


def seconds(work: Callable[[], object], *, times: int = 1) -> float:
    """The shortest of several runs, in the processor's time, so that other work adds little."""
    best = float("inf")
    gc.disable()
    try:
        for _ in range(times):
            begin = process_time()
            work()
            best = min(best, process_time() - begin)
    finally:
        gc.enable()
    return best


def scan(pattern: re.Pattern[str], text: str) -> Callable[[], object]:
    return lambda: sum(1 for _ in pattern.finditer(text))
