"""Regular expressions by RE2, which comes with Arrow: the time grows with the text, whatever the pattern."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from kebab.errors import InvalidInput

_MOST_SPANS = 50
"""Of one text; more are not marked."""
_LONGEST = 1000
_PRIVATE = range(0xE000, 0xF8FF)
"""Characters that mean nothing by themselves."""


class ArrowPatternMatcher:
    """PatternMatcher. Arrow is imported when the first pattern is looked for."""

    def holds(self, pattern: str, texts: Sequence[str]) -> list[bool]:
        import pyarrow as pa
        import pyarrow.compute as pc

        with _readable_errors(pattern):
            found = pc.match_substring_regex(
                pa.array(texts, pa.large_string()), _lined(pattern), ignore_case=True
            )
        return list(found.to_pylist())

    def spans(self, pattern: str, text: str) -> list[tuple[int, int]]:
        """Every match is put between two signs that the text has not: one pass, whatever groups there are."""
        import pyarrow as pa
        import pyarrow.compute as pc

        opening, closing = islice((sign for sign in map(chr, _PRIVATE) if sign not in text), 2)
        with _readable_errors(pattern):
            signed = pc.replace_substring_regex(
                pa.array([text], pa.large_string()), f"(?i){_lined(pattern)}", f"{opening}\\0{closing}"
            )[0].as_py()
        return list(_between(signed, opening, closing))


def _between(signed: str, opening: str, closing: str) -> Iterator[tuple[int, int]]:
    """Where what stands between the signs stood without them; empty matches are left out."""
    at = 0
    for part in signed.split(opening)[: _MOST_SPANS + 1]:
        inside, closed, behind = part.partition(closing)
        if closed and inside:
            yield at, at + len(inside)
        at += len(inside) + len(behind)


def _lined(pattern: str) -> str:
    """The pattern with ^ and $ at the ends of lines. Raises InvalidInput for one that is too long."""
    if len(pattern) > _LONGEST:
        raise InvalidInput(f"the pattern is {len(pattern)} characters long", hint=f"at most {_LONGEST}")
    return f"(?m:{_WORD.sub(_worldwide, pattern)})"


# An escaped character, or a set up to its closing bracket: what \w means depends on where it stands.
_WORD = re.compile(r"\\.|\[\^?\]?(?:[^\]\\]|\\.)*+", re.DOTALL)


def _worldwide(found: re.Match[str]) -> str:
    r"""\w as letters of every script: RE2's own are those of English alone."""
    if found[0].startswith("["):
        return _ESCAPED.sub(lambda sign: _LETTERS if sign[0] == r"\w" else sign[0], found[0])
    return {r"\w": f"[{_LETTERS}]", r"\W": f"[^{_LETTERS}]"}.get(found[0], found[0])


_ESCAPED = re.compile(r"\\.", re.DOTALL)
_LETTERS = r"\pL\pM\pN_"


@contextmanager
def _readable_errors(pattern: str) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowInvalid, UnicodeEncodeError) as error:
        said = str(error).removeprefix("Invalid regular expression: ").partition(": ")
        what = said[0] or "it cannot be read"
        raise InvalidInput(
            f"/{pattern}/ is no pattern that can be looked for: {what}",
            hint="RE2 syntax, which has no lookaround and no backreferences; quotes look for a text as it is",
        ) from error
